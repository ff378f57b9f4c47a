package modelview

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"weir"
	"weir/model"
)

// standard is what encoding/json writes without HTML escaping. It escapes
// U+2028 and U+2029 all the same, and DEL and the rest as we do.
func standard(t interface{ Fatal(...any) }, s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029", `\ufffd`, "\ufffd").Replace(strings.TrimSuffix(b.String(), "\n"))
}

func FuzzAStringIsWrittenAsEncodingJSONWritesIt(f *testing.F) {
	for _, s := range []string{"", "plain", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "<>&", "é配置👨‍👩‍👧\u2028\u2029\ufffd", "\xff\xc3(\xed\xa0\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := string(appendString(nil, s))
		if strings.Contains(s, "\\u2028") || strings.Contains(s, "\\u2029") || strings.Contains(s, "\\ufffd") {
			return // the yardstick's own trick would bend it
		}
		if want := standard(t, s); got != want {
			t.Errorf("%q is written %s, want %s", s, got, want)
		}
		var back string
		if err := json.Unmarshal([]byte(got), &back); err != nil || back != strings.ToValidUTF8(s, "\ufffd") && utf8.ValidString(s) {
			t.Errorf("%q comes back %q, %v", s, back, err)
		}
	})
}

func FuzzArgumentsAreAlwaysAnObjectOfTheSameMeaning(f *testing.F) {
	for _, s := range []string{"", "{}", " { \"a\" : [ 1 , 2.50 , 1e3 ] } ", `{"s":"\u003ca\u003e\u0026 \ud83d\ude00 \ud83d x \ude00 \\u003c \\\u003c"}`,
		`"raw \" text"`, `[1]`, `{"a":`, `{"a":1,"a":2}`, "{\"a\":\"\xff\"}", `nul`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := appendObject(nil, raw)
		var back map[string]any
		if err := json.Unmarshal(got, &back); err != nil || !utf8.Valid(got) {
			t.Fatalf("%q became %s: %v", raw, got, err)
		}
		if isObject(bytes.TrimSpace(raw)) {
			var want map[string]any
			if err := json.Unmarshal(raw, &want); err != nil || !reflect.DeepEqual(back, want) {
				t.Errorf("%q became %s", raw, got)
			}
		}
		if again := appendObject(nil, got); !bytes.Equal(again, got) {
			t.Errorf("%s is not stable: %s", got, again)
		}
		if objectEnd(got) != len(got) {
			t.Errorf("%s ends at %d", got, objectEnd(got))
		}
	})
}

func FuzzNothingButAnUpdateReadsAsOne(f *testing.F) {
	for _, s := range []string{"", "<system-update>", "</ SYSTEM-Update\n>", "< / / system-update x", "<<system-update>", "<system-updat", "&lt;system-update>", "<\u017fystem-update>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := unmarked(s)
		if squeezed := strings.ToLower(strings.NewReplacer("/", "", " ", "", "\t", "", "\r", "", "\n", "").Replace(got)); strings.Contains(squeezed, markerName) {
			for i := 0; ; {
				j := strings.IndexByte(got[i:], '<')
				if j < 0 {
					break
				}
				i += j + 1
				if opensMarker(got[i:]) {
					t.Errorf("%q became %q, which still opens a marker at %d", s, got, i)
				}
			}
		}
		if strings.ReplaceAll(got, "&lt;", "<") != strings.ReplaceAll(s, "&lt;", "<") {
			t.Errorf("%q became %q", s, got)
		}
		if inner := strings.TrimSuffix(strings.TrimPrefix(marked(s), markerOpen), markerClose); strings.ContainsAny(inner, "<>") {
			t.Errorf("an update can close its marker: %s", inner)
		}
	})
}

func TestAMarkerIsOneBehindAnySpaceAndWhatCannotBeSeen(t *testing.T) {
	for _, before := range []string{"", "/", " / ", "\u00a0", "\u200b", "\f", "\u2003/\u2060", "\ufeff"} {
		s := "<" + before + "system-update>"
		if got, want := unmarked(s), "&lt;"+s[1:]; got != want {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func TestTextWithoutTheMarkerIsUntouched(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		if !strings.Contains(strings.ToLower(s), markerName) && unmarked(s) != s {
			t.Fatalf("%q became %q", s, unmarked(s))
		}
	})
}

func TestIdsOfCallsAreCleanShortAndUnique(t *testing.T) {
	for _, limit := range []int{chatCallSize, anthropicCallSize} {
		rapid.Check(t, func(t *rapid.T) {
			var u callSet
			seen := map[string]bool{}
			for seq := range rapid.IntRange(1, 4).Draw(t, "answers") {
				ids := rapid.SliceOfN(rapid.OneOf(rapid.StringN(0, 80, -1), rapid.SampledFrom([]string{"a", "a_1", "a_1_2", "call", "", strings.Repeat("x", limit)})), 0, 5).Draw(t, "ids")
				for i, id := range u.name(partsOf(ids), 1, limit) {
					clean := id == scrub(id, limit, fallbackCall)
					if seen[id] || !clean || id == "" || len(id) > limit {
						t.Fatalf("answer %d: %q became %q", seq, ids[i], id)
					}
					seen[id] = true
					u.add(id)
				}
			}
		})
	}
}

func TestALowerersKeysNameWhatTheyMean(t *testing.T) {
	l := New()
	p := model.Profile{ID: "local/a+b@c", Name: "a+b@c", Dialect: model.OpenAIChat}
	low, err := l.choose(p, 0, "")
	if err != nil || low.key != "openai-chat/1+none@local/a+b@c" {
		t.Errorf("%q, %v", low.key, err)
	}
	back, ok := l.parse(low.key)
	if !ok || back.mode != (Mode{Mid: model.MidNone}) || back.dialect.Tag() != "openai-chat/1" {
		t.Errorf("%+v, %v", back, ok)
	}
	p.Name = "renamed" // the endpoint calls it otherwise now: the frozen head would be wrong
	if renamed, _ := l.choose(p, 0, low.key); renamed.key == low.key {
		t.Errorf("the key stays %q", renamed.key)
	}
	if _, err := l.choose(model.Profile{ID: "x/y", Dialect: "telegraph"}, 0, ""); err == nil {
		t.Error("an unknown dialect is taken")
	}
}

func partsOf(ids []string) []weir.Part {
	parts := make([]weir.Part, len(ids))
	for i, id := range ids {
		parts[i] = weir.Part{Type: weir.PartToolCall, Call: id}
	}
	return parts
}
