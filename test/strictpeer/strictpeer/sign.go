package strictpeer

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"io"

	"weir/model/strict"
)

// digest is a SHA-256.
type digest = [sha256.Size]byte

// signer signs reasoning. A signature binds the words of a block to the exact
// bytes before its message: model, tools, system and messages, without cache
// marks, and to the block of reasoning before it. Reasoning itself is not part
// of those bytes, because it may be dropped from the front; a gap in the
// middle is found by the second bond.
type signer []byte

// Signing sets the secret with which a peer signs. One with another secret
// refuses all reasoning that was signed before, as a vendor does who has moved
// an account.
func Signing(secret string) Option { return func(p *Peer) { p.signer = signer(secret) } }

// bond is what a block of reasoning is bound to.
type bond struct {
	prefix digest
	before digest // of the signature before, zero for the first
}

// sign makes a signature of a block that says text.
func (s signer) sign(kind, text string, b bond) string {
	raw := append(b.prefix[:], b.before[:]...)
	return base64.StdEncoding.EncodeToString(append(raw, s.mac(kind, text, raw)...))
}

func (s signer) mac(kind, text string, bound []byte) []byte {
	m := hmac.New(sha256.New, s)
	fmt.Fprintf(m, "%s %d:", kind, len(text))
	io.WriteString(m, text)
	m.Write(bound)
	return m.Sum(nil)
}

// open returns what a block is bound to, if the signature is of its words.
func (s signer) open(kind, text, signature string) (b bond, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || len(raw) != 3*sha256.Size {
		return b, false
	}
	bound := raw[:2*sha256.Size]
	copy(b.prefix[:], bound)
	copy(b.before[:], bound[sha256.Size:])
	return b, hmac.Equal(raw[2*sha256.Size:], s.mac(kind, text, bound))
}

// verify checks all reasoning of a request and returns the bond of what is
// answered to it.
func (s signer) verify(q *strict.Request) (bond, *strict.Refusal) {
	h := sha256.New()
	head(h, q)
	var now bond
	for i := range q.Messages {
		m := &q.Messages[i]
		copy(now.prefix[:], h.Sum(nil))
		for j := range m.Blocks {
			kind, text, signature := reasoning(q, &m.Blocks[j])
			if kind == "" {
				continue
			}
			b, ok := s.open(kind, text, signature)
			switch {
			case !ok && kind == "thinking":
				return now, refusal("messages.%d.content.%d: Invalid `signature` in `thinking` block", i, j)
			case !ok:
				return now, refusal("messages.%d.content.%d: Invalid `data` in `redacted_thinking` block", i, j)
			case b.prefix != now.prefix, now.before != digest{} && b.before != now.before:
				return now, refusal("messages.%d.content.%d: Invalid `signature` in `thinking` block. The block is bound to a different conversation. "+
					"Everything before a thinking block must be sent exactly as it was when the block was made.", i, j)
			}
			now.before = sha256.Sum256([]byte(signature))
		}
		message(h, q, m)
	}
	copy(now.prefix[:], h.Sum(nil))
	return now, nil
}

func refusal(format string, args ...any) *strict.Refusal {
	return &strict.Refusal{Status: 400, Type: "invalid_request_error", Message: fmt.Sprintf(format, args...)}
}

// reasoning returns what is signed of a block, "" for any other block.
func reasoning(q *strict.Request, b *strict.Block) (kind, text, signature string) {
	switch b.Type {
	case "thinking":
		return b.Type, b.Value.Get("thinking").Text(q.Body), b.Value.Get("signature").Text(q.Body)
	case "redacted_thinking":
		return b.Type, "", b.Value.Get("data").Text(q.Body)
	}
	return "", "", ""
}

// head writes what stands before the messages.
func head(h hash.Hash, q *strict.Request) {
	for _, name := range []string{"model", "tools", "system"} {
		fmt.Fprintf(h, "%s:", name)
		if v := q.Root.Get(name); v != nil {
			q.Unmarked(h, v.Span)
		}
		h.Write([]byte{'\n'})
	}
}

// message writes the bytes of a message without cache marks and reasoning.
func message(h hash.Hash, q *strict.Request, m *strict.Message) {
	if !m.Content.Is(strict.Array) {
		q.Unmarked(h, m.Value.Span)
		h.Write([]byte{'\n'})
		return
	}
	q.Unmarked(h, strict.Span{Start: m.Value.Start, End: m.Content.Start})
	for j := range m.Blocks {
		if kind, _, _ := reasoning(q, &m.Blocks[j]); kind == "" {
			q.Unmarked(h, m.Blocks[j].Value.Span)
			h.Write([]byte{','})
		}
	}
	q.Unmarked(h, strict.Span{Start: m.Content.End, End: m.Value.End})
	h.Write([]byte{'\n'})
}
