package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/tool"
)

// shelf is a source whose tools a test puts there.
type shelf struct {
	prefix  string
	mu      sync.Mutex
	tools   []tool.Tool
	consent tool.Consent
	why     string
	lacks   bool
	ready   chan struct{}
}

func (s *shelf) Tools() []tool.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools
}

func (s *shelf) put(tools ...tool.Tool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools = tools
}

func (s *shelf) Servers() []tool.Server {
	v := tool.Server{Name: s.prefix, State: tool.ServerReady}
	for _, t := range s.Tools() {
		v.Tools = append(v.Tools, t.Definition().Name)
	}
	return []tool.Server{v}
}

func (s *shelf) Ready(ctx context.Context) error {
	if s.ready == nil {
		return nil
	}
	select {
	case <-s.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *shelf) Claim(name string) (tool.Claim, bool) {
	c := tool.Claim{Consent: s.consent, Reason: s.why, Lacks: s.lacks}
	return c, strings.HasPrefix(name, s.prefix+"__")
}

type asking struct {
	fake
	consent tool.Consent
}

func (a asking) Consent() tool.Consent { return a.consent }

func names(defs []tool.Definition) (all []string) {
	for _, d := range defs {
		all = append(all, d.Name)
	}
	return all
}

func TestToolsOfSourcesComeAndGo(t *testing.T) {
	r := registry(t, named("m", says("own")))
	s := &shelf{prefix: "s"}
	r.AddSource(s)
	if got := names(r.Definitions()); !slices.Equal(got, []string{"m"}) {
		t.Errorf("offered at first: %v", got)
	}
	s.tools = []tool.Tool{named("s__z", says("z")), named("a__a", says("a")), named("m", says("usurper"))}
	if got := names(r.Definitions()); !slices.Equal(got, []string{"a__a", "m", "s__z"}) {
		t.Errorf("offered then: %v", got)
	}
	call := tool.Call{Input: json.RawMessage(`{}`)}
	if got := r.Run(t.Context(), "m", call); got.Text != "own" {
		t.Errorf("a source took over a name: %+v", got)
	}
	if got := r.Run(t.Context(), "s__z", call); got.Text != "z" {
		t.Errorf("%+v", got)
	}
	s.tools = nil
	if got := r.Run(t.Context(), "s__z", call); got.Text != `The tool "s__z" is not available.` || !got.IsError {
		t.Errorf("after it is gone: %+v", got)
	}
}

func TestACallRunsTheToolThatItFoundThoughTheToolsChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := registry(t)
		s := &shelf{prefix: "s"}
		r.AddSource(s)
		begun, on := make(chan struct{}), make(chan struct{})
		s.tools = []tool.Tool{named("s__t", func(context.Context, tool.Call) (tool.Result, error) {
			close(begun)
			<-on
			return tool.Result{Text: "as advertised"}, nil
		})}
		done := make(chan tool.Result)
		go func() { done <- r.Run(t.Context(), "s__t", tool.Call{Input: json.RawMessage(`{}`)}) }()
		<-begun
		s.put(named("s__t", says("another")))
		close(on)
		if got := <-done; got.Text != "as advertised" {
			t.Errorf("%+v", got)
		}
	})
}

func TestACallOfAServerThatIsOnlyStartingWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := registry(t)
		s := &shelf{prefix: "s", consent: weir.Ask, why: "the server s is starting; try again later.", ready: make(chan struct{})}
		r.AddSource(s)
		if got := r.Consent("s__t"); got != weir.Ask {
			t.Errorf("a tool that is not there yet: %s", got)
		}
		call := tool.Call{Input: json.RawMessage(`{}`)}
		begun := time.Now()
		got := r.Run(t.Context(), "s__t", call)
		if d := time.Since(begun); d != 10*time.Second || got.Text != `The tool "s__t" is not available: the server s is starting; try again later.` {
			t.Errorf("after %s: %+v", d, got)
		}
		time.AfterFunc(time.Second, func() {
			s.put(named("s__t", says("here")))
			close(s.ready)
		})
		if got := r.Run(t.Context(), "s__t", call); got.Text != "here" {
			t.Errorf("%+v", got)
		}
	})
}

func TestANameThatAReadyServerDoesNotOfferIsKnownToBeNothing(t *testing.T) {
	r := registry(t, named("own", says("own")))
	s := &shelf{prefix: "s", consent: weir.Ask, why: "the server s does not offer it.", lacks: true, tools: []tool.Tool{named("s__t", says("t"))}}
	r.AddSource(s)
	for _, name := range []string{"own", "s__t"} {
		if got, lacks := r.Lacks(name); lacks {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for name, want := range map[string]string{
		"s__nope": `The tool "s__nope" is not available: the server s does not offer it.`,
		"nobodys": `The tool "nobodys" is not available.`,
	} {
		if got, lacks := r.Lacks(name); !lacks || !got.IsError || got.Text != want {
			t.Errorf("%s: %t, %+v", name, lacks, got)
		}
	}
	s.lacks = false // it is not there yet, and may come
	if got, lacks := r.Lacks("s__nope"); lacks {
		t.Errorf("%+v", got)
	}
}

func TestConsentIsTheToolsOwnWord(t *testing.T) {
	r := registry(t, named("plain", nil), asking{named("asks", nil), weir.Ask}, asking{named("denies", nil), weir.Deny})
	for name, want := range map[string]tool.Consent{"plain": weir.Allow, "asks": weir.Ask, "denies": weir.Deny, "nothing": weir.Allow} {
		if got := r.Consent(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestWhatIsBeyondTheLimitsIsLeftOutWithAReason(t *testing.T) {
	r, err := tool.NewRegistry(tool.Limits{Tools: 3, DescriptionBytes: 11, SchemaBytes: 500})
	if err != nil {
		t.Fatal(err)
	}
	r.AddSource(&shelf{prefix: "s", tools: []tool.Tool{
		named("s__a", nil), fake{"s__wide", `{"type":"object","description":"` + strings.Repeat("w", 500) + `"}`, nil},
		fake{"s__choosy", `{"type":"object","oneOf":[]}`, nil}, fake{"s__list", `{"type":"array"}`, nil}, named("s b", nil), named("5__a", nil), named("-a", nil),
		fake{"s__odata", `{"type":"object","properties":{"a.b-c_1":{"properties":{"$any":{}}},"$filter":{}}}`, nil},
		fake{"s__deep", `{"type":"object","a":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`, nil},
		named("s__b", nil), named("s__c", nil), named("s__d", nil),
	}})
	want := []tool.Server{{Name: "s", State: tool.ServerReady, Tools: []string{"s__a", "s__b", "s__c"}, LeftOut: []string{
		"s__wide: its input schema is over 500 bytes",
		"s__choosy: its input schema has oneOf at the top, which providers refuse",
		`s__list: its input schema is not of "type": "object"`,
		"s b: its name is not 1 to 64 letters, digits, _ and -, a letter or _ first",
		"5__a: its name is not 1 to 64 letters, digits, _ and -, a letter or _ first",
		"-a: its name is not 1 to 64 letters, digits, _ and -, a letter or _ first",
		`s__odata: its argument "$filter" has a name that is not 1 to 64 letters, digits, _, - and ., which providers refuse`,
		"s__deep: its input schema has more than 64 levels, which providers refuse",
		"s__d: more than 3 tools are offered",
	}}}
	if diff := cmp.Diff(want, r.Servers()); diff != "" {
		t.Error(diff)
	}
	if got := names(r.Definitions()); !slices.Equal(got, want[0].Tools) {
		t.Errorf("offered: %v", got)
	}
	if got := r.Run(t.Context(), "s__wide", tool.Call{Input: json.RawMessage(`{}`)}); !strings.Contains(got.Text, "not available") {
		t.Errorf("what is left out runs: %+v", got)
	}
}

func TestACutResultIsHandedOverWholeAndSaysWhere(t *testing.T) {
	long := strings.Repeat("a", 40_000) + "THE END"
	r := registry(t, named("long", says(long)), named("short", says("short")), named("huge", says(strings.Repeat("h", 20<<20))))
	call := tool.Call{Input: json.RawMessage(`{}`), Artefact: "art_7"}
	got := r.Run(t.Context(), "long", call)
	if len(got.Text) > 32<<10 || got.Full != long || !strings.HasSuffix(got.Text, "THE END") ||
		!strings.Contains(got.Text, " bytes left out; the whole result is kept as artefact art_7 …]") {
		t.Errorf("%d bytes, %d kept: %s", len(got.Text), len(got.Full), got.Text[20_000:])
	}
	if got := r.Run(t.Context(), "long", tool.Call{Input: json.RawMessage(`{}`)}); !strings.Contains(got.Text, " bytes left out …]") {
		t.Error("without an artefact nothing is said of one")
	}
	if got := r.Run(t.Context(), "short", call); got.Text != "short" || got.Full != "" {
		t.Errorf("%+v", got)
	}
	if got := r.Run(t.Context(), "huge", call); len(got.Full) > weir.MaxArtefactBytes || len(got.Full) < weir.MaxArtefactBytes-100 ||
		!strings.Contains(got.Text, "of 20971520 bytes the first and last of 16 MiB are kept as artefact art_7") {
		t.Errorf("%d kept", len(got.Full))
	}
}

func BenchmarkAListOfManyTools(b *testing.B) {
	schema := `{"type":"object","properties":{` + strings.Repeat(`"p":{"type":"string","description":"what it is for"},`, 20) + `"q":{}}}`
	s := &shelf{prefix: "s"}
	for i := range 128 {
		s.tools = append(s.tools, fake{fmt.Sprintf("s__tool_%d", i), schema, nil})
	}
	r, err := tool.NewRegistry(tool.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	r.AddSource(s)
	for b.Loop() {
		r.Definitions()
	}
}
