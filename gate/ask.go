package gate

import (
	"weir"
	"weir/mention"
)

// named is one thing that an input hands over, and where the client named it.
type named struct {
	weir.Reference
	mention bool // by the n-th mention in the text, not the n-th reference
	n       int
}

// fault names in err what the client has to look at.
func (n *named) fault(err *weir.Error) *weir.Error {
	if n.mention {
		return err.With("mention", n.n)
	}
	return err.With("reference", n.n)
}

// asking is what an input asks for, before anything is looked up.
type asking struct {
	things []named // merged, in order
	scan   mention.Scan
	accept func(ordinal int) bool
}

// ask reads an input's references and accepted mentions, in this order, and
// refuses what is malformed. The same thing named twice keeps its first place;
// a person's confirmation counts wherever among the references it was given.
func ask(in *weir.Input) (asking, error) {
	var q asking
	places := map[weir.Reference]int{}
	add := func(n named) {
		key := weir.Reference{Type: n.Type, Conversation: n.Conversation, Message: n.Message}
		at, known := places[key]
		if !known {
			places[key] = len(q.things)
			q.things = append(q.things, n)
			return
		}
		if first := &q.things[at]; !first.Confirmed && n.Confirmed {
			first.Confirmed, first.Seen = true, n.Seen
		}
	}
	for i, ref := range in.Asked {
		n := named{Reference: ref, n: i}
		if err := wellFormed(ref); err != nil {
			return asking{}, n.fault(err)
		}
		add(n)
	}
	if err := q.read(in); err != nil {
		return asking{}, err
	}
	for i, m := range q.scan.Mentions {
		if !q.accept(i) {
			continue
		}
		n := named{Reference: m.Reference, mention: true, n: i}
		if err := wellFormed(m.Reference); err != nil {
			return asking{}, n.fault(err)
		}
		add(n)
	}
	return q, nil
}

// read scans the text. Where no mention counts, what only looks like one is
// text and cannot be wrong; the backslash of \@[ goes all the same.
func (q *asking) read(in *weir.Input) error {
	scan, err := mention.Parse(in.Text)
	if err != nil && (in.Mentions.All || len(in.Mentions.Only) > 0) {
		return err
	}
	q.scan = scan
	chosen := make(map[int]bool, len(in.Mentions.Only))
	for _, n := range in.Mentions.Only {
		if n < 0 || n >= len(scan.Mentions) {
			return weir.Fault(weir.Invalid, "reference_invalid",
				"The text has no mention number %d; reload the draft and send it again.", n).With("mention", n)
		}
		chosen[n] = true
	}
	q.accept = func(i int) bool { return in.Mentions.All || chosen[i] }
	return nil
}

// maxSeen is longer than any digest.
const maxSeen = 256

// wellFormed checks the form of a reference, nil for a good one.
func wellFormed(r weir.Reference) *weir.Error {
	bad := func(sentence string) *weir.Error {
		return weir.Fault(weir.Invalid, "reference_invalid", "%s", sentence)
	}
	switch {
	case r.Type != weir.Quote && r.Type != weir.Pointer && r.Type != weir.RecallT:
		return bad("A reference's type is quote, pointer or recall.")
	case !weir.ValidID(string(r.Conversation)):
		return bad("A reference names a conversation by its id of 1 to 512 bytes.")
	case r.Type == weir.Quote && !weir.ValidID(string(r.Message)):
		return bad("A quote names a message by its id of 1 to 512 bytes.")
	case r.Type != weir.Quote && r.Message != "":
		return bad("Only a quote names a message; take it out of this reference.")
	case len(r.Seen) > maxSeen:
		return bad("The seen of a reference is the digest of its preview; preview it again.")
	case r.Type == weir.RecallT && (r.Confirmed || r.Seen != ""):
		return bad("A recall cannot be confirmed; quote the messages one by one.")
	case r.Type == weir.RecallT:
		return bad("Recalls are not yet available; quote single messages, or send a pointer.")
	}
	return nil
}

// within refuses what is over a limit, then what points at the target itself.
func (g *Gate) within(target weir.ConversationID, things []named) error {
	quotes, recalls := 0, 0
	for i := range things {
		n := &things[i]
		if n.Type == weir.RecallT {
			recalls++
		} else {
			quotes++
		}
		if quotes > g.cfg.Quotes || recalls > g.cfg.Recalls {
			return n.fault(weir.Fault(weir.Unprocessable, "reference_too_many",
				"A message carries at most %d quotes and pointers and %d recalls; remove some.", g.cfg.Quotes, g.cfg.Recalls))
		}
	}
	for i := range things {
		if things[i].Conversation == target {
			return things[i].fault(weir.Fault(weir.Unprocessable, "reference_self",
				"A conversation cannot hand something to itself; remove this reference."))
		}
	}
	return nil
}
