package modelview

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"weir"
)

// responsesRaw is what is read of a part's raw bytes: of the reasoning item,
// or of what the vendor gave beside a text or a call.
type responsesRaw struct {
	Type      string  `json:"type"`
	ID        string  `json:"id"`
	Phase     string  `json:"phase"`
	Encrypted string  `json:"encrypted_content"`
	Arguments *string `json:"arguments"` // as the model wrote them, where Input is spelled otherwise
}

func readResponsesRaw(p *weir.Part) (r responsesRaw) {
	if !isObject(p.Raw) || json.Unmarshal(p.Raw, &r) != nil {
		return responsesRaw{}
	}
	return r
}

// responsesItems renders an answer. The vendor wants reasoning together with
// the items that followed it, by their ids, or none of both: so an answer goes
// back whole, or its texts and calls do, without ids. The phase of a text stays
// in any case.
func responsesItems(f Form, m *weir.AssistantMessage) []byte {
	shown := visible(m)
	if f.Signed && !m.Interrupted {
		if whole := responsesWhole(f, m, shown); whole != nil {
			return whole
		}
	}
	var dst []byte
	call := 0
	for i := range m.Parts {
		p := &m.Parts[i]
		text, ok := shown[i]
		if !ok && p.Type != weir.PartToolCall {
			continue
		}
		if dst != nil {
			dst = append(dst, ',')
		}
		if ok {
			dst = appendString(append(dst, responsesAnswer...), text)
			dst = append(appendMember(dst, "phase", readResponsesRaw(p).Phase), '}')
			continue
		}
		arguments := string(appendObject(nil, p.Input))
		dst = append(appendResponsesCall(dst, f.Calls[call], p.Name, arguments), '}')
		call++
	}
	if dst == nil {
		dst = append(appendString([]byte(responsesAnswer), noAnswer), '}')
	}
	return dst
}

// whole is an answer in the making that goes back with all that binds.
type whole struct {
	dst      []byte
	ids      []string
	saying   string // id of the message that is open
	phase    string // of that message
	thinking bool   // the last item is reasoning
}

// responsesWhole returns nil where an item has no id or reasoning no follower.
func responsesWhole(f Form, m *weir.AssistantMessage, shown map[int]string) []byte {
	w := &whole{}
	call := 0
	for i := range m.Parts {
		p := &m.Parts[i]
		raw := readResponsesRaw(p)
		text, said := shown[i]
		switch {
		case p.Type == weir.PartReasoning:
			if !returnable(p.Raw, &raw) || !w.item(raw.ID, "rs") {
				return nil
			}
			w.dst, w.thinking = append(w.dst, p.Raw...), true
		case p.Type == weir.PartToolCall:
			if !w.item(raw.ID, "fc") {
				return nil
			}
			arguments := string(appendObject(nil, p.Input))
			if raw.Arguments != nil && isObject(bytes.TrimSpace([]byte(*raw.Arguments))) {
				arguments = *raw.Arguments
			}
			w.dst = appendResponsesCall(w.dst, f.Calls[call], p.Name, arguments)
			w.dst = append(appendMember(w.dst, "id", raw.ID), '}')
			call++
		case said:
			if !w.say(text, &raw) {
				return nil
			}
		}
	}
	w.hush()
	if w.thinking || w.dst == nil {
		return nil
	}
	return w.dst
}

// returnable reports whether raw bytes are a reasoning item that the vendor
// can read, and that nothing here takes for an item of another kind.
func returnable(raw []byte, r *responsesRaw) bool {
	if r.Type != "reasoning" || r.Encrypted == "" {
		return false
	}
	for _, own := range []string{responsesResult, responsesDeveloper, responsesText, responsesCall} {
		if bytes.HasPrefix(raw, []byte(own)) {
			return false
		}
	}
	return true
}

// item begins an item, if its id is one of its kind and new.
func (w *whole) item(id, prefix string) bool {
	w.hush()
	if !strings.HasPrefix(id, prefix) || slices.Contains(w.ids, id) {
		return false
	}
	w.ids = append(w.ids, id)
	w.thinking = false
	if w.dst != nil {
		w.dst = append(w.dst, ',')
	}
	return true
}

// say adds a text to its message; the texts of one message follow each other.
func (w *whole) say(text string, raw *responsesRaw) bool {
	if w.saying != "" && w.saying == raw.ID {
		w.dst = append(w.dst, ',')
	} else {
		if !w.item(raw.ID, "msg") {
			return false
		}
		w.dst = append(append(w.dst, responsesAnswer...), '[')
		w.saying, w.phase = raw.ID, raw.Phase
	}
	w.dst = appendString(append(w.dst, `{"type":"output_text","text":`...), text)
	w.dst = append(w.dst, `,"annotations":[]}`...)
	return true
}

// hush ends the message that is open.
func (w *whole) hush() {
	if w.saying == "" {
		return
	}
	w.dst = append(w.dst, ']')
	w.dst = appendMember(w.dst, "id", w.saying)
	w.dst = append(w.dst, `,"status":"completed"`...)
	w.dst = append(appendMember(w.dst, "phase", w.phase), '}')
	w.saying = ""
}

func appendResponsesCall(dst []byte, call, name, arguments string) []byte {
	dst = append(append(dst, responsesCall...), call...)
	dst = appendString(append(dst, `","name":`...), scrub(name, toolNameLimit, fallbackTool))
	return appendString(append(dst, `,"arguments":`...), arguments)
}

// appendMember writes a member that is left out when it is empty.
func appendMember(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	return appendString(dst, value)
}
