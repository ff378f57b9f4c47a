package gate

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"weir"
)

func TestCanonicalJSONSpellsAsRFC8785Says(t *testing.T) {
	for _, c := range []struct {
		want   string
		values []any
	}{
		{`[]`, nil},
		{`[1,null,"a"]`, []any{1, nil, "a"}},
		// The string of the example in RFC 8785 §3.2.2.
		{"[\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"]", []any{"€$\x0f\nA'B\"\\\\\"/"}},
		{`["\b\t\n\f\r"]`, []any{"\b\t\n\f\r"}},
		{`["\u0000\u0001\u000b\u001f"]`, []any{"\x00\x01\v\x1f"}},
		{"[\"\x7f\u0080\u2028\u2029<>&/\"]", []any{"\x7f\u0080\u2028\u2029<>&/"}},
		{"[\"😀דּ\"]", []any{"😀דּ"}},
		{"[\"\ufffd\"]", []any{"\xff"}},
		{`[["a","b"],[]]`, []any{[]string{"a", "b"}, []string{}}},
		{`[{"path":[]}]`, []any{weir.Scope{}}},
		{`[{"category":"A\n","path":["x","y"]}]`, []any{weir.Scope{Category: "A\n", Path: []weir.ConversationID{"x", "y"}}}},
	} {
		var got canonical
		got.add(c.values...)
		if string(got) != c.want {
			t.Errorf("%q is spelt %s, want %s", c.values, got, c.want)
		}
	}
}

func TestCanonicalJSONReadsBackToTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.String()).Draw(t, "strings")
		var c canonical
		c.value(want)
		var got []string
		if err := json.Unmarshal(c, &got); err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		if len(got) != len(want) {
			t.Fatalf("%q became %q", want, got)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%q became %q", want[i], got[i])
			}
		}
	})
}
