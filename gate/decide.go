package gate

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"

	"weir"
)

// The codes of a missing and of an outdated decision.
const (
	codeRequired = "confirmation_required"
	codeStale    = "confirmation_stale"
)

// Question is a decision that only a person can take. About is anything else
// that the answer must not outlive: the digest covers it.
type Question struct {
	Form        weir.FlowForm
	Source      weir.ConversationID
	Target      weir.ConversationID
	SourceScope weir.Scope
	TargetScope weir.Scope
	Reasons     []weir.Reason
	Sentence    string
	About       string
}

// Decide returns nil when a person has answered q: confirmed, having seen
// exactly this question. Else confirmation_required or confirmation_stale,
// which carry confirmation, digest and reasons. Whether there is a question at
// all is the caller's to know; Decide does not answer one by itself.
func (g *Gate) Decide(a weir.Actor, q Question, confirmed bool, seen string) error {
	digest := g.digest(1, string(a.Owner), "decision", string(q.Form), string(q.Source), string(q.Target),
		q.SourceScope, q.TargetScope, plain(q.Reasons), q.Sentence, q.About)
	code := undecided(a, confirmed, seen, digest)
	if code == "" {
		return nil
	}
	return unconfirmed(a, code, q.Sentence).
		With("confirmation", q.Sentence).
		With("digest", digest).
		With("reasons", append([]weir.Reason{}, q.Reasons...))
}

// undecided returns the code of what is missing from a decision, "" for nothing.
func undecided(a weir.Actor, confirmed bool, seen, digest string) string {
	switch {
	case !a.MayConfirm || !confirmed || seen == "":
		return codeRequired
	case !hmac.Equal([]byte(seen), []byte(digest)):
		return codeStale
	}
	return ""
}

// unconfirmed makes the fault for it.
func unconfirmed(a weir.Actor, code, sentence string) *weir.Error {
	says := "This needs a confirmation. "
	switch {
	case !a.MayConfirm:
		says = "Only a person can confirm this, and not from here. "
	case code == codeStale:
		says = "Something has changed since you confirmed; look again. "
	}
	return weir.Fault(weir.Conflict, code, "%s", says+sentence)
}

// confirm checks the decisions of all passages that need one. The fault
// carries fresh previews of all of them, so that a person decides once.
func (g *Gate) confirm(a weir.Actor, passages []passage, to *weir.Conversation) error {
	var fault *weir.Error
	previews := []Preview{}
	for i := range passages {
		p := &passages[i]
		if len(p.reasons) == 0 {
			continue
		}
		previews = append(previews, p.preview(a, to))
		if code := undecided(a, p.Confirmed, p.Seen, p.digest); code != "" && fault == nil {
			fault = p.fault(unconfirmed(a, code, p.confirmation))
		}
	}
	if fault == nil {
		return nil
	}
	return fault.With("previews", previews)
}

// digest signs values, so that nobody but this server can say that a person
// has seen them.
func (g *Gate) digest(values ...any) string {
	var c canonical
	c.add(values...)
	return sum(g.cfg.Key, string(c))
}

func sum(key []byte, s string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(s))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (p *passage) messageOrNull() any {
	if p.Type != weir.Quote {
		return nil
	}
	return string(p.Message)
}

// textDigest returns the SHA-256 of a quote's full text, in hex, else null.
func (p *passage) textDigest() any {
	if p.Type != weir.Quote {
		return nil
	}
	d := sha256.Sum256([]byte(p.text))
	return hex.EncodeToString(d[:])
}
