package oracles

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/model"
	"weir/test/wires"
)

// heard is what a stream said, as anyone can tell it.
type heard struct {
	Text     string // refusals too
	Thoughts string
	Calls    []heardCall
	Bound    []string // signatures and what is encrypted, in order
	Usage    weir.Usage
	Finish   model.Finish // "" where it broke off
}

type heardCall struct {
	ID, Name string
	Input    any
}

func heardCallOf(id, name, input string) heardCall {
	c := heardCall{ID: id, Name: name}
	if err := json.Unmarshal([]byte(input), &c.Input); err != nil {
		c.Input = err.Error()
	}
	return c
}

// fixture is a recorded stream in a vendor's shape.
type fixture struct {
	name    string // "dialect/name"
	profile model.Profile
	data    []byte
}

func fixtures(t *testing.T) []fixture {
	t.Helper()
	files, err := filepath.Glob("testdata/streams/*/*.sse")
	if err != nil {
		t.Fatal(err)
	}
	var all []fixture
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		dialect := filepath.Base(filepath.Dir(file))
		all = append(all, fixture{name: dialect + "/" + strings.TrimSuffix(filepath.Base(file), ".sse"), data: data,
			profile: model.Profile{ID: "p/m", Name: "m", Dialect: model.Dialect(dialect)}})
	}
	return all
}

func TestWeHearInAStreamWhatTheVendorsSDKHears(t *testing.T) {
	want := meant()
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			meant, ok := want[f.name]
			if !ok {
				t.Fatal("nobody said what it means")
			}
			delete(want, f.name)
			a, err := listen(t, f.profile, f.data, nil)
			if d := cmp.Diff(meant, tell(t, a, err)); d != "" {
				t.Errorf("-meant +heard by us\n%s", d)
			}
			if d := cmp.Diff(meant, heardBySDK(t, f.profile.Dialect, f.data)); d != "" {
				t.Errorf("-meant +heard by the vendor's SDK\n%s", d)
			}
		})
	}
	for name := range want {
		t.Errorf("there is no %s", name)
	}
}

func TestAnAnswerIsTheSameInEveryChunking(t *testing.T) {
	full := os.Getenv("WEIR_STORM") == "full" // at every byte of every stream
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			want, failed := listen(t, f.profile, f.data, nil)
			for spelling, data := range spellings(f.data) {
				check := func(how string, cuts []int) {
					got, err := listen(t, f.profile, data, cuts)
					if d := cmp.Diff(want, got); d != "" || failureOf(failed) != failureOf(err) {
						t.Fatalf("%s, %s: %v, and whole %v\n-whole +in pieces\n%s", spelling, how, err, failed, d)
					}
				}
				check("whole", nil)
				check("byte by byte", every(len(data)))
				step := 1
				if !full && (len(data) > 1000 || spelling != "LF" && spelling != "lines of data") {
					step += len(data) / 40
				}
				for at := 1; at < len(data); at += step {
					check("cut once", []int{at})
				}
				r := rand.New(rand.NewPCG(1, uint64(len(data))))
				for range 10 {
					cuts := make([]int, r.IntN(40))
					for i := range cuts {
						cuts[i] = r.IntN(len(data))
					}
					slices.Sort(cuts)
					check("cut here and there", cuts)
				}
			}
		})
	}
}

// spellings are the ways in which the format of event streams lets one write
// the same events.
func spellings(data []byte) map[string][]byte {
	plain := strings.ReplaceAll(string(data), "\r\n", "\n")
	events := strings.SplitAfter(plain, "\n\n")
	return map[string][]byte{
		"LF":                 []byte(plain),
		"CRLF":               []byte(strings.ReplaceAll(plain, "\n", "\r\n")),
		"CR":                 []byte(strings.ReplaceAll(plain, "\n", "\r")),
		"lines of data":      []byte(strings.NewReplacer("data: {", "data: {\r\ndata: ", "\n", "\r\n").Replace(plain)),
		"a byte order mark":  []byte("\ufeff" + plain),
		"comments":           []byte(": hello\n\n" + strings.Join(events, ": keep-alive\n\n:\n")),
		"fields of no worth": []byte(strings.ReplaceAll(plain, "data: ", "id: 7\nretry: 10\nx\ndata:")),
	}
}

func every(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func failureOf(err error) model.Failure {
	var failed *model.Error
	errors.As(err, &failed)
	if failed == nil {
		return ""
	}
	return failed.Failure
}

// listen has our client read a stream in pieces that end at cuts. The pieces
// that it emits are those of which it answers.
func listen(t *testing.T, p model.Profile, data []byte, cuts []int) (model.Answer, error) {
	t.Helper()
	var said, thought strings.Builder
	a, err := wires.Client(p, "http://vendor", recorded(data, cuts)).Stream(context.Background(), []byte(`{}`), func(e model.Event) error {
		said.WriteString(e.Text)
		thought.WriteString(e.Reasoning)
		return nil
	})
	told := tell(t, a, err)
	if told.Text != said.String() || told.Thoughts != "" && told.Thoughts != thought.String() {
		t.Fatalf("emitted %q and %q, answered %+v", said.String(), thought.String(), told)
	}
	return a, err
}

// tell reads one of our answers.
func tell(t *testing.T, a model.Answer, err error) heard {
	t.Helper()
	h := heard{Usage: a.Usage, Finish: a.Finish}
	if err != nil {
		if failureOf(err) == "" {
			t.Fatal(err)
		}
		h.Finish = ""
	}
	for _, p := range a.Parts {
		var raw struct {
			Signature, Data string
			Encrypted       string `json:"encrypted_content"`
			Thought         string `json:"thoughtSignature"`
		}
		if p.Raw != nil {
			if err := json.Unmarshal(p.Raw, &raw); err != nil {
				t.Fatal(err)
			}
		}
		if bound := raw.Signature + raw.Data + raw.Encrypted + raw.Thought; bound != "" {
			h.Bound = append(h.Bound, bound)
		}
		switch p.Type {
		case weir.PartText:
			h.Text += p.Text
		case weir.PartReasoning:
			h.Thoughts += p.Text
		case weir.PartToolCall:
			h.Calls = append(h.Calls, heardCallOf(p.Call, p.Name, string(p.Input)))
		}
	}
	return h
}

// recorded is a client to which every request is answered with a stream.
func recorded(data []byte, cuts []int) *http.Client {
	return &http.Client{Transport: answering(func(r *http.Request) *http.Response {
		return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(&pieces{data: data, cuts: cuts})}
	})}
}

type answering func(*http.Request) *http.Response

func (f answering) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

// pieces yields data in pieces that end at cuts.
type pieces struct {
	data []byte
	at   int
	cuts []int
}

func (p *pieces) Read(b []byte) (int, error) {
	for len(p.cuts) > 0 && p.cuts[0] <= p.at {
		p.cuts = p.cuts[1:]
	}
	end := len(p.data)
	if len(p.cuts) > 0 {
		end = p.cuts[0]
	}
	n, err := bytes.NewReader(p.data[p.at:end]).Read(b)
	p.at += n
	return n, err
}
