package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir"
	"weir/model"
	"weir/test/strictpeer/strictpeer"
	"weir/test/wires"
)

// served runs the command and returns the base URL it prints.
func served(t *testing.T, s settings) string {
	t.Helper()
	s.listen = "127.0.0.1:0"
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := run(ctx, s, w, io.Discard)
		w.CloseWithError(errors.Join(err, io.EOF))
		done <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// client speaks to the root of what serves at base.
func client(t *testing.T, profile, base string) model.Client {
	hc := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(hc.CloseIdleConnections)
	return wires.Client(strictpeer.Model(profile, "peer/m", "m"), strings.TrimSuffix(base, "/v1"), hc)
}

const (
	anthropicBody = `{"model":"m","max_tokens":9,"stream":true,"tools":[{"name":"list","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"please\ncall list {\"a\":1}\ncall nothing {}"}]}`
	chatBody      = `{"model":"m","stream":true,"tools":[{"type":"function","function":{"name":"list"}}],"messages":[{"role":"user","content":"call list"}]}`
)

func ask(t *testing.T, c model.Client, body string) (model.Answer, error) {
	return c.Stream(t.Context(), []byte(body), func(model.Event) error { return nil })
}

func TestItFailsAsOftenAsItIsToldAndThenDoesWhatItIsAsked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bodies")
	c := client(t, strictpeer.Anthropic, served(t, settings{profile: strictpeer.Anthropic, fail: "529,2", record: dir}))
	for range 2 {
		var fault *model.Error
		if _, err := ask(t, c, anthropicBody); !errors.As(err, &fault) || fault.Status != 529 || fault.Failure != model.FailOverload {
			t.Errorf("%v", err)
		}
	}
	a, err := ask(t, c, anthropicBody)
	if err != nil {
		t.Fatal(err)
	}
	calls := (&weir.AssistantMessage{Parts: a.Parts}).Calls()
	if len(calls) != 1 || calls[0].Name != "list" || string(calls[0].Input) != `{"a":1}` {
		t.Errorf("it calls %+v", calls)
	}
	for _, name := range []string{"000001.json", "000002.json", "000003.json"} {
		if body, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(body) != anthropicBody {
			t.Errorf("%s holds %q, %v", name, body, err)
		}
	}
}

func TestItPlaysAScript(t *testing.T) {
	file := filepath.Join(t.TempDir(), "script")
	script := "# first\nthink hm\nsay \"one\\ntwo\"\n\nfail 503 busy\n\ncall list {\"x\":2}\n"
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	c := client(t, strictpeer.QwenTemplate, served(t, settings{profile: strictpeer.QwenTemplate, script: file}))
	if a, err := ask(t, c, chatBody); err != nil || len(a.Parts) != 2 || a.Parts[1].Text != "one\ntwo" {
		t.Errorf("%+v, %v", a, err)
	}
	var fault *model.Error
	if _, err := ask(t, c, chatBody); !errors.As(err, &fault) || fault.Status != 503 || !strings.Contains(fault.Public, "busy") {
		t.Errorf("%v", err)
	}
	for _, input := range []string{`{"x":2}`, `{}`} { // the script's, then the message's
		a, err := ask(t, c, chatBody)
		if err != nil || a.Finish != model.FinishTools || string(a.Parts[len(a.Parts)-1].Input) != input {
			t.Errorf("%+v, %v; want %s", a, err, input)
		}
	}
}

func TestItSaysWhatIsWrongWithItsFlags(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("say a\nshout b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, s := range map[string]settings{
		`there is no profile "x"; take one of anthropic, `: {profile: "x"},
		`--fail 529,often: "often" is not how often`:       {profile: "anthropic", fail: "529,often"},
		`"200" is no status of a failure`:                  {profile: "anthropic", fail: "200"},
		`line 2: "shout" is nothing that an answer does`:   {profile: "anthropic", script: bad},
		`no such file or directory`:                        {profile: "anthropic", script: bad + "x"},
	} {
		if err := run(t.Context(), s, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
