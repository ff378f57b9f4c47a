package wire

import "encoding/json"

// Count is a number of tokens that is 0 where a server sends something else,
// for a count is not worth an answer.
type Count int64

// UnmarshalJSON implements [json.Unmarshaler].
func (c *Count) UnmarshalJSON(raw []byte) error {
	var n float64
	if json.Unmarshal(raw, &n) == nil && n > 0 && n < 1<<53 {
		*c = Count(n)
	}
	return nil
}
