package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"weir"
	"weir/tool"
)

type fake struct {
	name   string
	schema string
	run    func(ctx context.Context, c tool.Call) (tool.Result, error)
}

func (f fake) Definition() tool.Definition {
	return tool.Definition{Name: f.name, Description: "<for> tests", InputSchema: json.RawMessage(f.schema)}
}

func (f fake) Run(ctx context.Context, c tool.Call) (tool.Result, error) { return f.run(ctx, c) }

func named(name string, run func(ctx context.Context, c tool.Call) (tool.Result, error)) fake {
	return fake{name, `{"type":"object"}`, run}
}

func says(text string) func(context.Context, tool.Call) (tool.Result, error) {
	return func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: text}, nil }
}

func registry(t *testing.T, tools ...tool.Tool) *tool.Registry {
	t.Helper()
	r, err := tool.NewRegistry(tool.Limits{}, tools...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestToolsAreListedByNameWhateverTheirOrder(t *testing.T) {
	a, b := named("alpha", nil), named("beta", nil)
	one, err := registry(t, b, a).Offered()
	if err != nil {
		t.Fatal(err)
	}
	other, _ := registry(t, a, b).Offered()
	want := `[{"name":"alpha","description":"<for> tests","input_schema":{"type":"object"}},{"name":"beta","description":"<for> tests","input_schema":{"type":"object"}}]`
	if string(one) != want || string(other) != want {
		t.Errorf("listed as\n%s\n%s", one, other)
	}
	if none, err := registry(t).Offered(); none != nil || err != nil {
		t.Errorf("no tools are listed as %q, %v", none, err)
	}
}

func TestABadToolIsRefused(t *testing.T) {
	for name, tools := range map[string][]tool.Tool{
		"a doubled name": {named("a", nil), named("a", nil)},
		"a bad name":     {named("a b", nil)},
		"no name":        {named("", nil)},
		"a bad schema":   {fake{"a", `{`, nil}},
		"no object":      {fake{"a", `[]`, nil}},
	} {
		if _, err := tool.NewRegistry(tool.Limits{}, tools...); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestEveryCallGetsOneResult(t *testing.T) {
	r := registry(t,
		named("ok", says("fine")),
		named("told", func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{}, weir.Fault(weir.NotFound, "no_file", "There is no such file.")
		}),
		named("broken", func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{}, errors.New("secret: 1234")
		}),
		named("panics", func(context.Context, tool.Call) (tool.Result, error) { panic("secret: 1234") }),
		named("bytes", says("a\xffb")),
	)
	for _, c := range []struct {
		name, input, want string
		isError, err      bool
	}{
		{"ok", `{}`, "fine", false, false},
		{"told", `{}`, "There is no such file.", true, true},
		{"broken", `{}`, `"broken" failed.`, true, true},
		{"panics", `{}`, `"panics" failed.`, true, true},
		{"bytes", `{}`, "a\uFFFDb", false, false},
		{"nothing", `{}`, `The tool "nothing" is not available.`, true, false},
		{"ok", `"{\"a\":"`, `The arguments are not a JSON object, so "ok" was not run. Call it again with valid arguments.`, true, false},
		{"ok", ``, `The arguments are not a JSON object, so "ok" was not run. Call it again with valid arguments.`, true, false},
	} {
		got := r.Run(t.Context(), c.name, tool.Call{Input: json.RawMessage(c.input)})
		if got.Text != c.want || got.IsError != c.isError || (got.Err != nil) != c.err {
			t.Errorf("%s(%s): %+v, want %q", c.name, c.input, got, c.want)
		}
	}
	if got := r.Run(t.Context(), strings.Repeat("x", 1<<20), tool.Call{}); len(got.Text) > 200 {
		t.Errorf("the name of a tool that is not there comes back in %d bytes", len(got.Text))
	}
}

func TestAToolThatDoesNotEndIsSettledByItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		r := registry(t, named("deaf", func(context.Context, tool.Call) (tool.Result, error) {
			<-hold // it does not listen to its context
			return tool.Result{Text: "late"}, nil
		}))
		begun := time.Now()
		got := r.Run(t.Context(), "deaf", tool.Call{Input: json.RawMessage(`{}`)})
		if d := time.Since(begun); d != 10*time.Minute || !got.IsError || !strings.Contains(got.Text, "within 10m0s; it may or may not have taken effect") {
			t.Errorf("after %s: %+v", d, got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if r.Wait(ctx) == nil {
			t.Error("nobody waits for the tool")
		}
		close(hold)
		if err := r.Wait(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestACancelledCallIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := registry(t, named("slow", func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		}))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		got := r.Run(ctx, "slow", tool.Call{Input: json.RawMessage(`{}`)})
		if got.Text != "interrupted; it may or may not have taken effect" || !got.IsError {
			t.Errorf("%+v", got)
		}
	})
}

func TestABoundedTextKeepsHeadAndTail(t *testing.T) {
	long := strings.Repeat("a", 40_000) + "THE END"
	got := tool.Bound(long, 32<<10)
	if len(got) > 32<<10 || len(got) < 32<<10-64 || !strings.HasPrefix(got, "aaaa") || !strings.HasSuffix(got, "aTHE END") || !strings.Contains(got, "bytes left out") {
		t.Errorf("%d bytes: %.30s … %s", len(got), got, got[len(got)-30:])
	}
	exact := strings.Repeat("a", 32<<10)
	if tool.Bound(exact, 32<<10) != exact {
		t.Error("a text of exactly the limit is cut")
	}
}

func TestABoundedTextIsNeverTooLongNorBroken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 300, -1).Draw(t, "text")
		limit := rapid.IntRange(0, 400).Draw(t, "limit")
		got := tool.Bound(text, limit)
		if len(got) > limit && got != text || len(got) > max(limit, len(text)) || !utf8.ValidString(got) {
			t.Fatalf("%q within %d is %q", text, limit, got)
		}
		if len(text) <= limit && got != text {
			t.Fatalf("%q within %d was changed to %q", text, limit, got)
		}
	})
}
