package turn

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"weir"
)

// check refuses what cannot be admitted whatever the store holds.
func (ad *Admission) check() error {
	switch {
	case ad.ID != "" && !weir.ValidID(string(ad.ID)):
		return weir.Fault(weir.Invalid, "id_invalid", "The message's id is not valid: use 1 to %d bytes of UTF-8 without NUL, or leave it out.", weir.MaxIDBytes)
	case ad.Text == "":
		return weir.Fault(weir.Invalid, "text_invalid", "The message is empty; write something.")
	case len(ad.Text) > weir.MaxTextBytes:
		return weir.Fault(weir.TooLarge, "text_too_long", "The message has %d bytes; %d are allowed. Shorten it.", len(ad.Text), weir.MaxTextBytes)
	case !utf8.ValidString(ad.Text):
		return weir.Fault(weir.Invalid, "text_invalid", "The message is not valid UTF-8.")
	case strings.IndexByte(ad.Text, 0) >= 0:
		return weir.Fault(weir.Invalid, "text_invalid", "The message contains a NUL character; take it out.")
	}
	return checkDelivery(ad.Delivery, true)
}

func checkDelivery(d weir.Delivery, mayBeEmpty bool) error {
	if d == weir.Steer || d == weir.Queue || d == "" && mayBeEmpty {
		return nil
	}
	return weir.Fault(weir.Invalid, "delivery_invalid", "A delivery is “steer” or “queue”.")
}

func (ad *Admission) delivery() weir.Delivery {
	if ad.Delivery == "" {
		return weir.Steer
	}
	return ad.Delivery
}

// digest is that of the canonical body: what makes a message the same message
// when its id comes again. A confirmation is a decision about the message and
// no part of it.
func (ad *Admission) digest() string {
	type pointer struct {
		Type         weir.ReferenceType
		Conversation weir.ConversationID
		Message      weir.MessageID
	}
	body := struct {
		Version    int
		Text       string
		References []pointer
		Mentions   weir.Mentions
		Delivery   weir.Delivery
	}{Version: 1, Text: ad.Text, Mentions: ad.Mentions, Delivery: ad.delivery()}
	for _, r := range ad.References {
		body.References = append(body.References, pointer{r.Type, r.Conversation, r.Message})
	}
	raw, err := json.Marshal(body)
	if err != nil {
		panic("turn: an admission does not encode: " + err.Error()) // strings, numbers and lists of them
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

func notThere() error {
	return weir.Fault(weir.NotFound, weir.CodeConversationNotFound, "There is no such conversation.")
}

func noInput() error {
	return weir.Fault(weir.NotFound, weir.CodeInputNotFound, "There is no such message waiting here.")
}

func movedOn(head weir.Seq) error {
	return weir.Fault(weir.Conflict, weir.CodeMoved,
		"The conversation has moved on since you looked; look again and repeat what you want.").With("head_seq", head)
}

func editedMeanwhile(in *weir.Input) error {
	return weir.Fault(weir.Conflict, weir.CodeMoved,
		"The message was changed meanwhile; look at it again and repeat what you want.").With("revision", in.Revision)
}

// owned returns a conversation of the actor's. One of someone else, a deleted
// one and one that never was are answered alike.
func owned(ctx context.Context, r Reader, a weir.Actor, id weir.ConversationID) (weir.Conversation, error) {
	c, err := r.Conversation(ctx, id)
	switch {
	case err != nil && weir.KindOf(err) == weir.NotFound:
		return weir.Conversation{}, notThere()
	case err != nil:
		return weir.Conversation{}, err
	case c.Deleted || c.Owner != a.Owner:
		return weir.Conversation{}, notThere()
	}
	return c, nil
}
