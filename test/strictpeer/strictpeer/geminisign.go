package strictpeer

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"weir/model/strict"
)

// verifyGemini checks all thought signatures of a request for a model and
// returns the bond of what is answered to it. A signature binds the words of
// its part to the exact bytes before its content: model, system instruction,
// tools and contents, signatures included. The bypass is taken anywhere.
func (s signer) verifyGemini(q *strict.GeminiRequest, model string) (bond, *strict.Refusal) {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s\n", model, q.System.Raw(q.Body), q.Root.Get("tools").Raw(q.Body))
	var now bond
	for i := range q.Contents {
		g := &q.Contents[i]
		copy(now.prefix[:], h.Sum(nil))
		for j := range g.Parts {
			p := &g.Parts[j]
			if p.Signature == "" || p.Signature == strict.GeminiBypass {
				continue
			}
			b, ok := s.openGemini(q, p)
			switch {
			case !ok || g.Role != "model":
				return now, refusal("Corrupted thought signature in contents[%d].parts[%d].", i, j)
			case b.prefix != now.prefix:
				return now, refusal("Thought signature is not valid in contents[%d].parts[%d]: it is bound to a different conversation.", i, j)
			}
		}
		fmt.Fprintf(h, "%s\n", g.Value.Raw(q.Body))
	}
	copy(now.prefix[:], h.Sum(nil))
	return now, nil
}

// openGemini returns what a part is bound to, if its signature is of its words.
func (s signer) openGemini(q *strict.GeminiRequest, p *strict.GeminiPart) (bond, bool) {
	if p.Data != "functionCall" {
		return s.open(p.Data, p.Text, p.Signature)
	}
	name := p.Call().Get("name").Text(q.Body)
	words := callWords(name, p.Call().Get("args").Raw(q.Body))
	b, ok := s.open(p.Data, words, p.Signature)
	if !ok { // it was made for arguments that were no object
		b, ok = s.open(p.Data, name, p.Signature)
	}
	return b, ok
}

// callWords is what of a call is signed: its name and the meaning of its
// arguments, which every JSON library spells in its own way; of arguments that
// are no object, the name alone.
func callWords(name string, args []byte) string {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var object map[string]any
	if !isObject(args) || d.Decode(&object) != nil {
		return name
	}
	canonical, _ := json.Marshal(object) // cannot fail: it was JSON
	return name + " " + string(canonical)
}
