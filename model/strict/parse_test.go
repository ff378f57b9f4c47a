package strict

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// plain turns a value into what encoding/json would make of it.
func plain(v *Value, body []byte) any {
	switch v.Kind {
	case Object:
		out := map[string]any{}
		for i := range v.Members {
			out[v.Members[i].Name] = plain(&v.Members[i].Value, body)
		}
		return out
	case Array:
		out := []any{}
		for i := range v.Elements {
			out = append(out, plain(&v.Elements[i], body))
		}
		return out
	case String:
		return v.Text(body)
	case Bool:
		return v.True(body)
	case Number:
		return json.Number(v.Raw(body))
	}
	return nil
}

// agree checks the parser against encoding/json, which takes a little more.
func agree(t interface{ Fatalf(string, ...any) }, body []byte) {
	v, err := Parse(body)
	if err != nil {
		return
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var want any
	if err := d.Decode(&want); err != nil {
		t.Fatalf("%q is taken, encoding/json says %v", body, err)
	}
	if got := fmt.Sprint(plain(&v, body)); got != fmt.Sprint(want) {
		t.Fatalf("%q\nis   %v\nread %v", body, want, got)
	}
}

func TestABodyIsReadAsEncodingJSONReadsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var make func(depth int) *rapid.Generator[any]
		make = func(depth int) *rapid.Generator[any] {
			leaf := rapid.OneOf(rapid.Just(any(nil)), rapid.Map(rapid.Bool(), func(b bool) any { return b }),
				rapid.Map(rapid.String(), func(s string) any { return s }), rapid.Map(rapid.Float64Range(-1e9, 1e9), func(f float64) any { return f }))
			if depth == 0 {
				return leaf
			}
			return rapid.OneOf(leaf,
				rapid.Map(rapid.SliceOfN(make(depth-1), 0, 4), func(s []any) any { return s }),
				rapid.Map(rapid.MapOfN(rapid.String(), make(depth-1), 0, 4), func(m map[string]any) any { return m }))
		}
		body, err := json.Marshal(make(3).Draw(t, "value"))
		if err != nil {
			t.Skip()
		}
		if _, err := Parse(body); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		agree(t, body)
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2.5e+3,true,null,"x\n\u00e9\ud83d\ude00"]}`, `"\ud800"`, "\"\xff\"", `[[[[]]]]`, `01`, `{"a":1,"a":2}`, ` 1 `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		agree(t, body)
		if _, err := Parse(body); err == nil && !json.Valid(body) {
			t.Fatalf("%q is taken and is not JSON", body)
		}
	})
}

func TestWhatIsNotJSONIsRefused(t *testing.T) {
	for _, s := range []string{
		``, ` `, `{`, `[`, `{"a"}`, `{"a":}`, `{"a":1,}`, `[1,]`, `{a:1}`, `'a'`, `01`, `1.`, `.5`, `1e`, `-`, `+1`, `tru`, `nul`, `NaN`,
		`"a`, `"\x"`, `"\u12"`, `"\u12g4"`, `"\`, "\"\x01\"", "\"a\nb\"", "\"\xff\"", "\"\xed\xa0\x80\"",
		`"\ud800"`, `"\udc00"`, `"\ud800\u0041"`, `"\ud800\ud800"`, `"\ud800\u"`, `{} {}`, `1 2`, "\xef\xbb\xbf{}",
		strings.Repeat("[", 1_000_000), strings.Repeat(`{"a":`, 1_000_000),
	} {
		_, err := Parse([]byte(s))
		if err == nil {
			t.Errorf("%.40q is taken", s)
			continue
		}
		if r := err.(*Refusal); r.Status != 400 || !strings.HasPrefix(r.Message, "The request body is not valid JSON: ") {
			t.Errorf("%.40q: %+v", s, r)
		}
	}
}

// conversation is a body of n messages of a kilobyte.
func conversation(n int) []byte {
	var body bytes.Buffer
	body.WriteString(`{"model":"m","max_tokens":1,"messages":[`)
	text := strings.Repeat("the quick brown fox \\n", 50)
	for i := range n {
		fmt.Fprintf(&body, `{"role":"%s","content":[{"type":"text","text":"%s"}]},`, []string{"user", "assistant"}[i%2], text)
	}
	body.WriteString(`{"role":"user","content":"end"}]}`)
	return body.Bytes()
}

// fastest is how long the fastest of five runs takes.
func fastest(f func()) time.Duration {
	best := time.Duration(1<<63 - 1)
	for range 5 {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	return best
}

func TestTenTimesTheBodyTakesAboutTenTimesAsLong(t *testing.T) {
	took := func(n int) time.Duration {
		body := conversation(n)
		return fastest(func() {
			if _, err := Anthropic(body, Rules{}); err != nil {
				t.Error(err)
			}
		})
	}
	one, ten := took(300), took(3000)
	t.Logf("one body %v, ten times as much %v", one, ten)
	if ten > 60*one { // a quadratic reader takes a hundred times as long
		t.Errorf("one body takes %v, ten times as much %v", one, ten)
	}
}
