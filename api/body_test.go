package api

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"weir"
)

func TestPlainBodiesPassAndWhatADecoderWouldRepairDoesNot(t *testing.T) {
	good := []string{
		`{}`, `{"a":1}`, ` {"a" : [1, {"b":null}] } `, `{"a":"\ud83d\ude00 \\ud83d \u0041"}`, `{"a":"\\","b":"\""}`, `null`, `"x"`,
		`{"a":` + strings.Repeat("[", maxDepth-1) + strings.Repeat("]", maxDepth-1) + `}`, `{"a":1e999}`, `{"a":{"a":1},"b":{"a":1}}`,
	}
	for _, s := range good {
		if err := checkJSON([]byte(s), ""); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	bad := []string{
		"", "{", `{"a":1,}`, `{"a":1}x`, `{"a" 1}`, `{a:1}`, `{"a":1}{"b":2}`, `{"a":01}`, `{"a":1,"a":1}`, `{"a":1,"\u0061":1}`, `{"A":1}`, `{"":1}`, `{"ä":1}`,
		"{\"a\":\"\xff\"}", "{\"a\":\"\xed\xa0\x80\"}", `{"a":"\ud83d"}`, `{"a":"\ud83dx"}`, `{"a":"\ude00\ud83d"}`, `{"a":"\ud83d\u0041"}`, `{"a":"\ud83d\\ude00"}`,
		"{\"a\":\"\n\"}", `{"a":` + strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth) + `}`, "\ufeff{}", `{"a":tru}`, `{"a":"\x41"}`,
	}
	for _, s := range bad {
		if err := checkJSON([]byte(s), ""); weir.CodeOf(err) != "body_invalid" || weir.KindOf(err) != weir.Invalid {
			t.Errorf("%s: %v", s, err)
		}
	}
}

func TestOnlyInsideTheFreeMemberAnyNamesMayStand(t *testing.T) {
	for s, ok := range map[string]bool{
		`{"value":{"A-b":{"":1}},"text":"x"}`: true,
		`{"value":[{"Ä":1}]}`:                 true,
		`{"value":{"a":1,"a":2}}`:             false,
		`{"value":{"A":1},"B":2}`:             false,
		`{"text":{"value":{"A":1}}}`:          false,
		`{"text":{"A":1}}`:                    false,
		`{"value":{"a":"\ud83d"}}`:            false,
		`{"value":` + strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth) + `}`: false,
	} {
		if err := checkJSON([]byte(s), "value"); (err == nil) != ok {
			t.Errorf("%s: %v", s, err)
		}
	}
}

// Whatever passes is valid JSON of valid text that decodes to the same under
// any decoder: no name twice in an object, nothing to replace.
func FuzzCheckJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,"\ud83d\ude00",{"b":null}]}`, `{"a":1,"a":2}`, `{"a":"\ud83d"}`, "\xff", `{"a":1} x`, `{"value":{"A":{"":1}}}`, `[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if checkJSON(data, "value") != nil {
			if checkJSON(data, "") == nil {
				t.Fatalf("%q passes only where no names are free", data)
			}
			return
		}
		if !json.Valid(data) || !utf8.Valid(data) {
			t.Fatalf("%q passed", data)
		}
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.UseNumber()
		var v any
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		if text := strings.ToLower(string(data)); strings.Contains(spelled(v), "\ufffd") &&
			!strings.Contains(text, "\ufffd") && !strings.Contains(text, `\ufffd`) {
			t.Fatalf("%q was repaired to %q", data, spelled(v))
		}
	})
}

func spelled(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var b strings.Builder
		for _, x := range v {
			b.WriteString(spelled(x))
		}
		return b.String()
	case map[string]any:
		var b strings.Builder
		for k, x := range v {
			b.WriteString(k + spelled(x))
		}
		return b.String()
	}
	return ""
}

func TestADigestIsOfWhatABodySaysAndNotOfHowItIsSpelled(t *testing.T) {
	same := []string{`{"a":1,"b":"x"}`, "{ \"b\" : \"\\u0078\",\n\"a\":1}"}
	if canonicalDigest([]byte(same[0])) != canonicalDigest([]byte(same[1])) {
		t.Error("white space and order count")
	}
	for _, other := range []string{`{"a":1,"b":"y"}`, `{"a":1}`, ``, `{"a":1.0,"b":"x"}`} {
		if canonicalDigest([]byte(same[0])) == canonicalDigest([]byte(other)) {
			t.Errorf("%s counts as %s", other, same[0])
		}
	}
}
