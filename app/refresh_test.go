package app

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"weir"
	"weir/api"
	"weir/model"
	"weir/test/strictpeer/strictpeer"
)

// provider is a peer of a profile and the configuration that points at it.
func provider(t *testing.T, id, profile, base string) (*strictpeer.Peer, Provider) {
	t.Helper()
	t.Setenv("WEIR_TEST_LIST_KEY", "sk-list")
	peer := strictpeer.New(profile, strictpeer.Key("sk-list"))
	s := httptest.NewServer(peer)
	t.Cleanup(s.Close)
	dialect := string(strictpeer.Model(profile, "p/m", "m").Dialect)
	return peer, Provider{ID: id, Dialect: dialect, BaseURL: s.URL + base, APIKeyEnv: "WEIR_TEST_LIST_KEY"}
}

func refreshed(t *testing.T, m *models) map[string]api.Refreshed {
	t.Helper()
	all, err := m.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]api.Refreshed{}
	for _, r := range all {
		out[r.Provider] = r
	}
	return out
}

func TestWhatProvidersSayOfTheirModelsIsKeptThroughARestart(t *testing.T) {
	anthropic, pa := provider(t, "anthropic", strictpeer.Anthropic, "")
	anthropic.Lists(
		model.Listed{Name: "claude-opus-5-5", ContextWindow: 2_000_000, MaxOutput: 256_000, Lifecycle: model.Active},
		model.Listed{Name: "claude-sonnet-4-5", ContextWindow: 200_000, MaxOutput: 64_000, Lifecycle: model.Retired},
		model.Listed{Name: "claude-haiku-4-5", Lifecycle: model.Deprecated},
		model.Listed{Name: "claude-next", ContextWindow: 500_000, MaxOutput: 9000, Lifecycle: model.Active},
	)
	google, pg := provider(t, "google", strictpeer.Gemini, "/v1beta")
	google.Lists(
		model.Listed{Name: "gemini-4-neon", ContextWindow: 1_000_000, MaxOutput: 100_000, Chats: true},
		model.Listed{Name: "gemini-embedding-2", ContextWindow: 8000, MaxOutput: 1},
		model.Listed{Name: "gemini-5", ContextWindow: 3_000_000, MaxOutput: 70_000, Chats: true},
	)
	openai, po := provider(t, "openai", strictpeer.OpenAIChat, "/v1")
	openai.Lists(model.Listed{Name: "gpt-5.5"}, model.Listed{Name: "whisper-3"}, model.Listed{Name: "dall-e-5"})
	local, pl := provider(t, "here", strictpeer.QwenTemplate, "/v1")
	local.Lists(model.Listed{Name: "org/qwen-8b", ContextWindow: 32_768}, model.Listed{Name: "org/phi", ContextWindow: 16_384})
	_, pn := provider(t, "bare", strictpeer.OpenAIChat, "/v1") // no list: 404
	c := Config{Data: t.TempDir(), Providers: []Provider{pa, pg, po, pl, pn,
		{ID: "off", Dialect: "openai-chat", BaseURL: "http://127.0.0.1:1/v1"},
		{ID: "keyless", Dialect: "anthropic", APIKeyEnv: "WEIR_TEST_NO_SUCH_KEY"}},
		Models: []Model{{"id": "anthropic/claude-opus-5-5", "max_output": 1000}, {"id": "here/q", "name": "org/qwen-8b"}}}
	m := opened(t, c)

	got := refreshed(t, m)
	for id, want := range map[string]api.Outcome{"anthropic": api.Listed, "google": api.Listed, "openai": api.Listed, "here": api.Listed,
		"bare": api.NoList, "off": api.Failed, "keyless": api.NotAsked} {
		if got[id].Outcome != want || (want != api.Listed) == (got[id].Detail == "") {
			t.Errorf("%s: %+v, want %s", id, got[id], want)
		}
	}
	if r := got["anthropic"]; r.Models != 4 || !slices.Equal(r.Added, []string{"anthropic/claude-next"}) ||
		!slices.Equal(r.Retired, []string{"anthropic/claude-sonnet-4-5"}) ||
		!slices.Equal(r.Changed, []string{"anthropic/claude-haiku-4-5", "anthropic/claude-opus-5-5"}) ||
		!slices.Contains(r.Missing, "anthropic/claude-opus-5") {
		t.Errorf("anthropic: %+v", r)
	}
	if r := got["google"]; r.Models != 2 || !slices.Equal(r.Added, []string{"google/gemini-5"}) {
		t.Errorf("google: %+v", r)
	}
	if r := got["openai"]; r.Models != 3 || r.Others != 2 || len(r.Added) > 0 {
		t.Errorf("openai: %+v", r)
	}

	knows := func(t *testing.T, m *models) {
		t.Helper()
		for id, want := range map[string]model.Profile{
			"anthropic/claude-opus-5-5":   {ContextWindow: 2_000_000, MaxOutput: 1000, Lifecycle: model.Active, MidSystem: model.MidNative},
			"anthropic/claude-sonnet-4-5": {ContextWindow: 200_000, MaxOutput: 64_000, Lifecycle: model.Retired, MidSystem: model.MidNone},
			"anthropic/claude-next":       {ContextWindow: 500_000, MaxOutput: 9000, Lifecycle: model.Active, MidSystem: model.MidNone},
			"google/gemini-5":             {ContextWindow: 3_000_000, MaxOutput: 70_000, MidSystem: model.MidNone},
			"here/org/phi":                {ContextWindow: 16_384, MidSystem: model.MidNone},
			"here/q":                      {ContextWindow: 32_768, MidSystem: model.MidNone},
		} {
			p, _, err := m.Model(id)
			if err != nil || p.ContextWindow != want.ContextWindow || p.MaxOutput != want.MaxOutput || p.Lifecycle != want.Lifecycle || p.MidSystem != want.MidSystem {
				t.Errorf("%s: %+v, %v", id, p, err)
			}
		}
		listed := map[string]bool{}
		for _, one := range m.list() {
			if one.Listed != nil {
				listed[one.ID] = *one.Listed
			}
			if one.Usable && (one.Lifecycle == model.Retired || one.Provider == "keyless") {
				t.Errorf("%s is offered", one.ID)
			}
		}
		if !listed["openai/gpt-5.5"] || listed["openai/gpt-6-sol"] || !listed["here/q"] {
			t.Errorf("listed: %v", listed)
		}
		if _, asked := listed["bare/x"]; asked {
			t.Error("a provider without a list is said to have none of its models")
		}
	}
	if r := got["here"]; !slices.Equal(r.Added, []string{"here/org/phi"}) || !slices.Equal(r.Changed, []string{"here/q"}) {
		t.Errorf("here: %+v", r)
	}
	knows(t, m)
	knows(t, opened(t, c))

	t.Run("a provider that fails takes nothing away", func(t *testing.T) {
		anthropic.Lists() // an empty list is none
		local.Lists([]model.Listed(nil)...)
		if r := refreshed(t, m)["anthropic"]; r.Outcome == api.Listed {
			t.Errorf("%+v", r)
		}
		knows(t, m)
	})
	t.Run("what another address said is not about this one", func(t *testing.T) {
		moved := c
		moved.Providers = slices.Clone(c.Providers)
		moved.Providers[0].BaseURL = "http://127.0.0.1:1"
		if p, _, err := opened(t, moved).Model("anthropic/claude-haiku-4-5"); err != nil || p.Lifecycle != "" {
			t.Errorf("%+v, %v", p, err)
		}
	})
	t.Run("a file that is not sound holds nothing up", func(t *testing.T) {
		for _, content := range []string{"", "{", `{"providers":null}`, `{"providers":{"anthropic":7}}`} {
			if err := os.WriteFile(learntFile(&c), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, err := opened(t, c).Model("anthropic/claude-opus-5"); err != nil {
				t.Errorf("%q: %v", content, err)
			}
		}
	})
}

// What is learnt gives way where it and the configuration contradict each other.
func TestWhatWasLearntNeverKeepsTheServerFromStarting(t *testing.T) {
	peer, p := provider(t, "here", strictpeer.QwenTemplate, "/v1")
	peer.Lists(model.Listed{Name: "q", ContextWindow: 4096})
	c := Config{Data: t.TempDir(), Providers: []Provider{p}, Models: []Model{{"id": "here/q", "max_output": 8192}}}
	m := opened(t, c)
	refreshed(t, m)
	if p, _, err := opened(t, c).Model("here/q"); err != nil || p.MaxOutput != 8192 || p.ContextWindow != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestListsThatAreNoneAreRefusedWithTheReason(t *testing.T) {
	for name, serve := range map[string]http.HandlerFunc{
		"a page":        func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) },
		"another shape": func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"data":"none"}`)) },
		"nothing":       func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{}`)) },
		"a redirect":    func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
		"a wrong key":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
		"without end": func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"data":[{"id":"x"}]}` + strings.Repeat(" ", 9<<20)))
		},
		"names of no id": func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"data":[{"id":""},{"id":"a\u0000b"}]}`))
		},
	} {
		s := httptest.NewServer(serve)
		defer s.Close()
		m := opened(t, Config{Data: t.TempDir(), DefaultModel: "x/m", Providers: []Provider{{ID: "x", Dialect: "openai-chat", BaseURL: s.URL}}})
		if r := refreshed(t, m)["x"]; r.Outcome != api.Failed || r.Detail == "" {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// slow is a transport whose peer never answers.
type slow struct{}

func (slow) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

func TestAProviderThatDoesNotAnswerIsGivenUpAndASecondRefreshIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Config{DefaultModel: "x/m", Providers: []Provider{{ID: "x", Dialect: "openai-chat", BaseURL: "http://nobody/v1"}}}
		m := opened(t, c)
		m.clients["x"] = speak(c.Providers[0], "", &http.Client{Transport: slow{}})
		began := time.Now()
		answer := make(chan []api.Refreshed)
		go func() {
			all, _ := m.Refresh(t.Context())
			answer <- all
		}()
		synctest.Wait()
		if _, err := m.Refresh(t.Context()); weir.CodeOf(err) != "refresh_running" {
			t.Errorf("the second: %v", err)
		}
		all := <-answer
		if len(all) != 1 || all[0].Outcome != api.Failed || !strings.Contains(all[0].Detail, "in time") || time.Since(began) > refreshTime {
			t.Errorf("%+v after %s", all, time.Since(began))
		}
	})
}

// Each provider may list thousands, and what they said is laid over the
// catalogue at every start.
func TestListsOfThousandsAreTakenTogether(t *testing.T) {
	c, l := &Config{}, &learnt{Providers: map[string]said{}}
	for i := range 5 {
		p := Provider{ID: fmt.Sprint("p", i), Dialect: string(model.OpenAIChat), BaseURL: "http://localhost/v1"}
		var listed []model.Listed
		for j := range model.MaxListed {
			listed = append(listed, model.Listed{Name: fmt.Sprint("m", j), ContextWindow: 1000, MaxOutput: 2000})
		}
		c.Providers, l.Providers[p.ID] = append(c.Providers, p), said{Address: addressOf(p), Models: listed}
	}
	began := time.Now()
	catalogue, err := catalogueOf(c, l)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 10*time.Second { // each by itself: more than half a minute
		t.Errorf("it took %v", took)
	}
	if p, err := catalogue.Profile("p4/m1999"); err != nil || p.ContextWindow != 1000 || p.MaxOutput != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}
