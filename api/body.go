package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"weir"
)

// Limits of a body.
const (
	MaxBody  = 4 << 20
	maxDepth = 16
	// maxDiscard is how much of a body that is too long is read all the same:
	// a client that is still sending would not read our answer.
	maxDiscard = 64 << 20
)

// readBody reads a JSON body whole and refuses what is not one object of plain
// JSON: a decoder would replace broken text, keep the last of two members with
// one name, and take "TEXT" for "text".
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	empty := r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody
	if empty && r.Header.Get("Content-Type") == "" {
		return nil, nil
	}
	if err := mustBeJSON(r.Header); err != nil {
		return nil, err
	}
	tooLarge := weir.Fault(weir.TooLarge, "body_too_large", "The body is over %d bytes; send less at once.", MaxBody)
	if r.ContentLength > MaxBody && r.Header.Get("Expect") != "" {
		return nil, tooLarge // it has not begun to send
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	if err != nil {
		return nil, bodyInvalid("The body broke off or did not come in time.")
	}
	if len(data) > MaxBody {
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, maxDiscard))
		w.Header().Set("Connection", "close")
		return nil, tooLarge
	}
	if len(data) == 0 {
		return nil, nil
	}
	return data, checkJSON(data, freeMember(r.URL.Path))
}

func mustBeJSON(h http.Header) error {
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset := params["charset"]
	if err != nil || media != "application/json" || charset != "" && !strings.EqualFold(charset, "utf-8") || h.Get("Content-Encoding") != "" {
		return weir.Fault(weir.Unsupported, "media_type_unsupported",
			"Send the body as application/json in UTF-8, not compressed.")
	}
	return nil
}

// checkJSON refuses what the decoder behind it would quietly repair. In the
// member free ("" for none) of the body any names may stand.
func checkJSON(data []byte, free string) error {
	if !utf8.Valid(data) {
		return bodyInvalid("The body is not valid UTF-8.")
	}
	if loneSurrogate(data) {
		return bodyInvalid("The body has half of a surrogate pair in a string; that is no text.")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	s := &jsonScan{dec: dec, free: free}
	if err := s.value(0); err != nil {
		var fault *weir.Error
		if errors.As(err, &fault) {
			return fault
		}
		return bodyInvalid("The body is not valid JSON (byte %d).", dec.InputOffset())
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return bodyInvalid("There is something after the JSON value in the body.")
	}
	return nil
}

type jsonScan struct {
	dec    *json.Decoder
	free   string // a member of the body
	inFree bool
}

func (s *jsonScan) value(depth int) error {
	tok, err := s.dec.Token()
	if err != nil {
		return err
	}
	delim, ok := tok.(json.Delim)
	if !ok {
		return nil
	}
	if depth == maxDepth {
		return bodyInvalid("The body is nested more than %d deep.", maxDepth)
	}
	if delim == '{' {
		return s.object(depth)
	}
	for s.dec.More() {
		if err := s.value(depth + 1); err != nil {
			return err
		}
	}
	_, err = s.dec.Token()
	return err
}

func (s *jsonScan) object(depth int) error {
	seen := map[string]bool{}
	for s.dec.More() {
		tok, err := s.dec.Token()
		if err != nil {
			return err
		}
		name, ok := tok.(string)
		if !ok {
			return errors.New("a member without a name")
		}
		if seen[name] {
			return bodyInvalid("The member %s occurs twice.", shown(name)).With("member", cut(name))
		}
		if !plainName(name) && !s.inFree {
			return unknownMember(name)
		}
		seen[name] = true
		enters := depth == 0 && s.free != "" && name == s.free
		s.inFree = s.inFree || enters
		if err := s.value(depth + 1); err != nil {
			return err
		}
		s.inFree = s.inFree && !enters
	}
	_, err := s.dec.Token()
	return err
}

// plainName reports whether a member may be one of ours. The decoder compares
// names without regard to case; this keeps it exact.
func plainName(name string) bool {
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return name != ""
}

func unknownMember(name string) *weir.Error {
	return bodyInvalid("The member %s is not known here.", shown(name)).With("member", cut(name))
}

// shown quotes a name that a client sent for a sentence.
func shown(name string) string { return "“" + cut(name) + "”" }

func cut(name string) string {
	const longest = 80
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, name)
	if len(clean) <= longest {
		return clean
	}
	end := longest
	for !utf8.RuneStart(clean[end]) {
		end--
	}
	return clean[:end] + "…"
}

// loneSurrogate finds a \uD800 to \uDFFF that is not half of a pair. In valid
// JSON a backslash stands in strings only; in anything else the syntax check
// that follows says so.
func loneSurrogate(data []byte) bool {
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' {
			continue
		}
		i++
		u, ok := hexEscape(data, i)
		if !ok {
			continue
		}
		i += 4
		switch {
		case u >= 0xdc00 && u <= 0xdfff:
			return true
		case u >= 0xd800 && u <= 0xdbff:
			if i+1 >= len(data) || data[i+1] != '\\' {
				return true
			}
			low, ok := hexEscape(data, i+2)
			if !ok || low < 0xdc00 || low > 0xdfff {
				return true
			}
			i += 6
		}
	}
	return false
}

// hexEscape reads uXXXX at i.
func hexEscape(data []byte, i int) (rune, bool) {
	if i+4 >= len(data) || data[i] != 'u' {
		return 0, false
	}
	var u rune
	for _, c := range data[i+1 : i+5] {
		u <<= 4
		switch {
		case c >= '0' && c <= '9':
			u |= rune(c - '0')
		case c >= 'a' && c <= 'f':
			u |= rune(c-'a') + 10
		case c >= 'A' && c <= 'F':
			u |= rune(c-'A') + 10
		default:
			return 0, false
		}
	}
	return u, true
}
