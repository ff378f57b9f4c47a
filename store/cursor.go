package store

import (
	"encoding/base64"
	"encoding/json"

	"weir"
)

// A cursor names the last item of a page by its place in the order, so the
// next page begins behind it whatever was added or removed meanwhile. Clients
// must not look into it.

func encodeCursor(parts ...string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(toJSON(parts)))
}

func decodeCursor(cursor string, n int) ([]string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return nil, badCursor()
	}
	var parts []string
	if json.Unmarshal(raw, &parts) != nil || len(parts) != n || valid(parts...) != nil {
		return nil, badCursor()
	}
	return parts, nil
}

func badCursor() error {
	return weir.Fault(weir.Invalid, "cursor_invalid", "The cursor is not one that this server gave; start the list again without it.")
}

// pageSize bounds the number of items of one page.
func pageSize(limit int) int {
	if limit <= 0 {
		return 100
	}
	return min(limit, 1000)
}
