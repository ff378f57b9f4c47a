package mention

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"weir"
)

const (
	scheme   = "weir:"
	fragment = "#pointer"
	// maxURI is longer than any URI that two ids of the greatest length can
	// make: each byte may need six ("\u0000"), each three make four in base64.
	maxURI = len(scheme) + (2*(6*weir.MaxIDBytes+2)+3+2)/3*4 + len(fragment)
)

// Address is what a reference URI names: a conversation, or one message of it
// when Message is set. Pointer asks for a conversation as an address only; it
// means nothing beside a message.
type Address struct {
	Conversation weir.ConversationID
	Message      weir.MessageID
	Pointer      bool
}

// Encode spells an address. Every address whose ids are 1 to 512 bytes of
// valid UTF-8 has exactly one spelling, and [Decode] takes no other; of any
// other address Encode makes a URI that Decode refuses.
func Encode(a Address) string {
	var payload []byte
	if a.Message == "" {
		payload = appendString(nil, string(a.Conversation))
	} else {
		payload = append(payload, '[')
		payload = appendString(payload, string(a.Conversation))
		payload = append(payload, ',')
		payload = appendString(payload, string(a.Message))
		payload = append(payload, ']')
	}
	uri := scheme + base64.RawURLEncoding.EncodeToString(payload)
	if a.Pointer && a.Message == "" {
		uri += fragment
	}
	return uri
}

// Decode reads the canonical spelling of an address and refuses every other
// with code reference_invalid.
func Decode(uri string) (Address, error) {
	a, ok := decode(uri)
	if !ok {
		return Address{}, weir.Fault(weir.Invalid, codeInvalid,
			"This is not the address of a conversation or message; copy the reference again.")
	}
	return a, nil
}

// decode is lenient in its parts and strict at the end: what does not spell
// the same again was not canonical.
func decode(uri string) (a Address, ok bool) {
	if len(uri) > maxURI {
		return a, false
	}
	encoded, ok := strings.CutPrefix(uri, scheme)
	if !ok {
		return a, false
	}
	encoded, a.Pointer = strings.CutSuffix(encoded, fragment)
	payload, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || !utf8.Valid(payload) {
		return a, false
	}
	rest := string(payload)
	var conversation, message string
	if inner, isMessage := strings.CutPrefix(rest, "["); !isMessage {
		conversation, rest, ok = cutString(rest)
	} else {
		conversation, rest, ok = cutString(inner)
		if ok {
			rest, ok = strings.CutPrefix(rest, ",")
		}
		if ok {
			message, rest, ok = cutString(rest)
		}
		ok = ok && rest == "]" && validID(message)
		rest = ""
	}
	a.Conversation, a.Message = weir.ConversationID(conversation), weir.MessageID(message)
	return a, ok && rest == "" && validID(conversation) && Encode(a) == uri
}

// validID is wider than [weir.ValidID]: an address may name what no
// conversation of ours can be called, and then names nothing.
func validID(id string) bool { return 0 < len(id) && len(id) <= weir.MaxIDBytes }

// appendString spells s as ECMAScript's JSON.stringify does, which
// encoding/json does not.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, `\b`...)
		case '\t':
			dst = append(dst, `\t`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\r':
			dst = append(dst, `\r`...)
		default:
			if c < 0x20 {
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
				continue
			}
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// cutString reads a string that appendString may have written from the front
// of text. It knows only the escapes that appendString uses.
func cutString(text string) (s, rest string, ok bool) {
	body, ok := strings.CutPrefix(text, `"`)
	if !ok {
		return "", "", false
	}
	var b strings.Builder
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '"':
			return b.String(), body[i+1:], true
		case '\\':
			c, size := cutEscape(body[i:])
			if size == 0 {
				return "", "", false
			}
			b.WriteByte(c)
			i += size - 1
		default:
			b.WriteByte(body[i])
		}
	}
	return "", "", false
}

// cutEscape returns what the escape at the front of s stands for and its size,
// or size 0 for one that is never used.
func cutEscape(s string) (c byte, size int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch s[1] {
	case '"', '\\':
		return s[1], 2
	case 'b':
		return '\b', 2
	case 't':
		return '\t', 2
	case 'n':
		return '\n', 2
	case 'f':
		return '\f', 2
	case 'r':
		return '\r', 2
	case 'u':
		if len(s) >= 6 && s[2] == '0' && s[3] == '0' && (s[4] == '0' || s[4] == '1') {
			if low := strings.IndexByte("0123456789abcdef", s[5]); low >= 0 {
				return (s[4]-'0')<<4 | byte(low), 6
			}
		}
	}
	return 0, 0
}
