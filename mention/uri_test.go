package mention_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"weir"
	"weir/mention"
)

func TestTheSharedURIVectorsHold(t *testing.T) {
	vs := vectors[struct {
		OK           bool
		Conversation weir.ConversationID
		Message      weir.MessageID
		Pointer      bool
		URI          string
		Why          string
	}](t, "testdata/uri.jsonl")
	if len(vs) < 92 {
		t.Fatalf("only %d vectors", len(vs))
	}
	for _, v := range vs {
		got, err := mention.Decode(v.URI)
		if !v.OK {
			if weir.CodeOf(err) != "reference_invalid" {
				t.Errorf("%s: %q decodes to %+v, %v", v.Why, v.URI, got, err)
			}
			continue
		}
		want := mention.Address{Conversation: v.Conversation, Message: v.Message, Pointer: v.Pointer}
		if err != nil || got != want {
			t.Errorf("%q decodes to %+v, %v; want %+v", v.URI, got, err, want)
		}
		if uri := mention.Encode(want); uri != v.URI {
			t.Errorf("%+v encodes to %q, want %q", want, uri, v.URI)
		}
	}
}

// ids draws what imports may bring: any text of 1 to 512 bytes.
var ids = rapid.OneOf(
	rapid.StringN(1, 128, weir.MaxIDBytes),
	rapid.StringOfN(rapid.RuneFrom([]rune("a\"\\/<\x00\x1f\b\n\u2028\x7f😀")), 1, 64, weir.MaxIDBytes),
)

var addresses = rapid.Custom(func(t *rapid.T) mention.Address {
	a := mention.Address{Conversation: weir.ConversationID(ids.Draw(t, "conversation"))}
	switch rapid.IntRange(0, 2).Draw(t, "form") {
	case 1:
		a.Message = weir.MessageID(ids.Draw(t, "message"))
	case 2:
		a.Pointer = true
	}
	return a
})

func TestEveryAddressIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := addresses.Draw(t, "address")
		got, err := mention.Decode(mention.Encode(a))
		if err != nil || got != a {
			t.Errorf("%+v came back as %+v, %v", a, got, err)
		}
	})
}

func TestTheLongestIDsFit(t *testing.T) {
	for _, c := range []string{"x", "\x00", "\u2028"} {
		id := strings.Repeat(c, weir.MaxIDBytes/len(c))
		a := mention.Address{Conversation: weir.ConversationID(id), Message: weir.MessageID(id)}
		if got, err := mention.Decode(mention.Encode(a)); err != nil || got != a {
			t.Errorf("ids of %d × %q: %v", len(id), c, err)
		}
		a.Conversation += "xxx"
		if _, err := mention.Decode(mention.Encode(a)); err == nil {
			t.Errorf("an id of %d bytes is accepted", len(a.Conversation))
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, v := range vectors[struct{ URI string }](f, "testdata/uri.jsonl") {
		f.Add(v.URI)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		a, err := mention.Decode(uri)
		if err != nil {
			if weir.CodeOf(err) != "reference_invalid" {
				t.Errorf("%q: %v", uri, err)
			}
			return
		}
		if again := mention.Encode(a); again != uri {
			t.Errorf("%q decodes to %+v, which is %q", uri, a, again)
		}
		for _, id := range []string{string(a.Conversation), string(a.Message)} {
			if len(id) > weir.MaxIDBytes || !utf8.ValidString(id) {
				t.Errorf("%q holds the id %q", uri, id)
			}
		}
		if a.Conversation == "" || a.Pointer && a.Message != "" {
			t.Errorf("%q decodes to %+v", uri, a)
		}
	})
}
