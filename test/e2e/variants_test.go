package e2e

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"weir/app"
	"weir/model"
	. "weir/test/strictpeer/strictpeer"
)

// A tool loop, a fact that changes and a restart: every answer with calls goes
// back with what was thought before it, word by word.
func TestDeepSeekGetsBackWhatItThought(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		peer := w.elsewhere()[DeepSeek]
		tools := w.withTools("allow")
		c := w.create(m{})
		w.patch(at(c), m{"model": DeepSeek + "/m"}).is(200)
		name := w.Name()
		peer.Script(
			Answer{Think("Two <things> & more."), Say("I look."), held(name), Use("t__echo", `{"text":"a"}`)},
			Answer{Think("é again"), Use("t__echo", `{"text":"b"}`)},
			Answer{Use("t__echo", `{"text":"c"}`)}, // without a thought
			Answer{Think("never sent back"), Say("done")},
		)
		w.send(c, "go")
		w.began(tools, name)
		w.fact(c, "alpha", "one", time.Now())
		tools.Release(name, "held")
		w.rests(c)
		w.restart()
		w.say(c, "and now?")
		w.rests(c)
		bodies := peer.Bodies()
		last := string(bodies[len(bodies)-1])
		for thought, n := range map[string]int{"Two <things> & more.": 1, "é again": 1, "": 1, "never sent back": 0} {
			if got := strings.Count(last, `"reasoning_content":"`+thought+`"`); got != n {
				t.Errorf("%q is there %d times in %s", thought, got, last)
			}
		}
		if refused := peer.Refusals(); len(refused) > 0 || len(bodies) != 5 {
			t.Errorf("%d requests, refused: %v", len(bodies), refused)
		}
		w.verified()
	})
}

// A catalogue can be wrong about a model. What the server says when it refuses
// is understood, whatever its status, and the conversation goes on; nothing
// that was refused is sent again.
func TestAWrongProfileIsMendedByWhatTheServerSays(t *testing.T) {
	for name, wrong := range map[string]struct {
		profile string
		options []Option
		members m
		words   string
	}{
		"vLLM with Qwen":       {QwenTemplate, nil, m{"mid_system": "native", "system_first_only": false}, "System message must be at the beginning."},
		"llama.cpp with Qwen":  {QwenTemplate, []Option{Jinja()}, m{"mid_system": "native", "system_first_only": false}, "Jinja Exception: System message must be at the beginning."},
		"a developer for Qwen": {QwenTemplate, []Option{Jinja()}, m{"mid_system": "developer", "system_first_only": false}, "Jinja Exception: Unexpected message role."},
		"llama.cpp with Gemma": {AlternatingTemplate, []Option{Jinja()}, m{"mid_system": "native", "system_first_only": false, "roles_alternate": false}, "Jinja Exception: After the optional system message"},
		"DeepSeek":             {DeepSeek, nil, m{"reasoning_required": "none"}, "The reasoning_content in the thinking mode must be passed back to the API."},
		"an old Claude":        {AnthropicOld, nil, m{"mid_system": "native"}, "role 'system' is not supported on this model"},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, "")
			peer := New(wrong.profile, wrong.options...)
			s := httptest.NewServer(peer)
			t.Cleanup(s.Close)
			p := Model(wrong.profile, "odd/m", "m")
			row := p.Patch()
			for member, value := range wrong.members {
				row[member] = value
			}
			path := map[model.Dialect]string{model.OpenAIChat: "/v1"}[p.Dialect]
			w.cfg.Providers = append(w.cfg.Providers, app.Provider{ID: "odd", Dialect: string(p.Dialect), BaseURL: s.URL + path, APIKeyEnv: "WEIR_E2E_KEY"})
			w.cfg.Models = append(w.cfg.Models, row)
			tools := w.withTools("allow")
			c := w.create(m{})
			w.patch(at(c), m{"model": "odd/m"}).is(200)
			peer.Script(Answer{Think("hm"), held(w.Name())})
			peer.Otherwise(func(*Request) Answer { return Answer{Say("noted")} })
			w.send(c, "go")
			w.began(tools, w.Name())
			w.fact(c, "alpha", "the canary", time.Now())
			w.send(c, "hurry")
			tools.Release(w.Name(), "held")
			w.rests(c)
			refused := peer.Refusals()
			if len(refused) == 0 || len(refused) > 2 || !strings.Contains(refused[0], wrong.words) {
				t.Errorf("refused: %q", refused)
			}
			sent := map[string]int{}
			for _, body := range peer.Bodies() {
				sent[string(body)]++
			}
			for _, e := range peer.Exchanges() {
				if e.Refusal != "" && sent[string(e.Body)] > 1 {
					t.Errorf("sent %d times although refused: %s", sent[string(e.Body)], e.Body)
				}
			}
			if w.say(c, "what were you told?"); len(peer.Refusals()) != len(refused) {
				t.Errorf("what was learnt is forgotten: %q", peer.Refusals())
			}
			bodies := peer.Bodies()
			if last := string(bodies[len(bodies)-1]); strings.Count(last, "the canary") != 1 {
				t.Errorf("it was told %d times: %s", strings.Count(last, "the canary"), last)
			}
			w.verified()
		})
	}
}
