package model

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"weir"
)

func TestArgumentsAreAnObjectOrTheirRawText(t *testing.T) {
	for _, c := range []struct {
		text, want string
		malformed  bool
	}{
		{``, `{}`, false},
		{" \n", `{}`, false},
		{`{}`, `{}`, false},
		{" {\n \"a\" : [1, 2.50, \"x y\"] } ", `{"a":[1,2.50,"x y"]}`, false},
		{`{"b":1,"a":2,"b":3}`, `{"b":1,"a":2,"b":3}`, false},
		{`{"a":"<b>&\u2028"}`, `{"a":"\u003cb\u003e\u0026\u2028"}`, false},
		{`{"a":"\ud83d\ude00"}`, `{"a":"\ud83d\ude00"}`, false},
		{`{"a":"\\ud83d"}`, `{"a":"\\ud83d"}`, false},
		{`{"a":"[[[\"{{{"}`, `{"a":"[[[\"{{{"}`, false},
		{`{"a":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}`, `{"a":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}`, false},
		{`{"a":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`, `"{\"a\":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}"`, true},
		{`{"a": `, `"{\"a\": "`, true},
		{`{"a":1} and more`, `"{\"a\":1} and more"`, true},
		{`[1]`, `"[1]"`, true},
		{`null`, `"null"`, true},
		{`"text"`, `"\"text\""`, true},
		{`{"a":"\ud83d"}`, `"{\"a\":\"\\ud83d\"}"`, true},
		{`{"a":"\ude00\ud83d"}`, `"{\"a\":\"\\ude00\\ud83d\"}"`, true},
		{`{"\uD83D\u0041":1}`, `"{\"\\uD83D\\u0041\":1}"`, true},
	} {
		got := Arguments(c.text)
		if string(got) != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
		text, malformed := Malformed(got)
		if malformed != c.malformed || (malformed && text != c.text) {
			t.Errorf("%q: %q, %v", c.text, text, malformed)
		}
	}
}

func TestArgumentsSurviveTheStoreByteForByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{`{"a":"<\/script>&"}`, "{\"k\": \"\u2028\u2029\"}", `{"a":1e400}`}),
			rapid.Custom(func(t *rapid.T) string {
				raw, _ := json.Marshal(map[string]string{rapid.String().Draw(t, "k"): rapid.String().Draw(t, "v")})
				return string(raw)
			})).Draw(t, "text")
		part := weir.Part{Type: weir.PartToolCall, Input: Arguments(text)}
		if !json.Valid(part.Input) {
			t.Fatalf("%q became %q", text, part.Input)
		}
		for _, escape := range []bool{true, false} {
			var stored bytes.Buffer
			enc := json.NewEncoder(&stored)
			enc.SetEscapeHTML(escape)
			if err := enc.Encode(part); err != nil {
				t.Fatal(err)
			}
			var back weir.Part
			if err := json.Unmarshal(stored.Bytes(), &back); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(back.Input, part.Input) {
				t.Fatalf("%q became %q", part.Input, back.Input)
			}
		}
	})
}
