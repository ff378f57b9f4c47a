package e2e

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"weir/app"
	"weir/model"
	. "weir/test/strictpeer/strictpeer"
)

// elsewhere adds the peers of the other profiles to a world, with a model each.
func (w *world) elsewhere() map[string]*Peer {
	w.Helper()
	peers := map[string]*Peer{}
	for _, profile := range Profiles() {
		if profile == Anthropic {
			continue // the world has it
		}
		peers[profile] = New(profile)
		s := httptest.NewServer(peers[profile])
		w.Cleanup(s.Close)
		p := Model(profile, profile+"/m", "m")
		path := map[model.Dialect]string{model.OpenAIChat: "/v1", model.OpenAIResponses: "/v1", model.Gemini: "/v1beta"}[p.Dialect]
		w.cfg.Providers = append(w.cfg.Providers, app.Provider{ID: profile, Dialect: string(p.Dialect), BaseURL: s.URL + path, APIKeyEnv: "WEIR_E2E_KEY"})
		w.cfg.Models = append(w.cfg.Models, p.Patch())
	}
	return peers
}

// everyModel are the models of a world that has them all, in some order in
// which each comes once, and a few again.
func everyModel() []string {
	var all []string
	for _, profile := range Profiles() {
		if profile == Anthropic {
			all = append(all, "peer/claude")
			continue
		}
		all = append(all, profile+"/m")
	}
	return append(all, "peer/claude", OpenAIChat+"/m", Gemini+"/m")
}

// Tools, updates and steers in one conversation that goes from model to model:
// each dialect takes the whole history, and the update stands after the results.
func TestEveryDialectTakesAHistoryOfToolsAndUpdates(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		peers := w.elsewhere()
		tools := w.withTools("allow")
		c := w.create(m{})
		for i, model := range everyModel() {
			w.patch(at(c), m{"model": model}).is(200)
			peer := w.peer
			if p := peers[strings.TrimSuffix(model, "/m")]; p != nil {
				peer = p
			}
			name := fmt.Sprint(w.Name(), " ", i)
			peer.When(Saying(fmt.Sprintf("turn %d", i)), Answer{Think("hm"), held(name), Use("t__echo", fmt.Sprintf(`{"text":"echo %d"}`, i)), Use("t__echo", `{"te`)})
			w.send(c, fmt.Sprintf("turn %d", i))
			w.began(tools, name)
			w.fact(c, "alpha", fmt.Sprintf("value %d", i), time.Now())
			w.send(c, fmt.Sprintf("steer %d", i))
			tools.Release(name, fmt.Sprintf("held %d", i))
			w.rests(c)
			bodies := peer.Bodies()
			last := string(bodies[len(bodies)-1])
			at := -1
			for _, part := range []string{fmt.Sprintf("held %d", i), fmt.Sprintf("echo %d", i), fmt.Sprintf("steer %d", i), fmt.Sprintf("value %d", i)} {
				next := strings.LastIndex(last, part)
				if next < at {
					t.Errorf("turn %d with %s: %q is not in its place in %s", i, model, part, last)
				}
				at = next
			}
		}
		for profile, p := range peers {
			if refused := p.Refusals(); len(refused) > 0 {
				t.Errorf("%s refused: %v", profile, refused)
			}
		}
		w.accepted()
		w.verified()
	})
}

func TestAModelSwitchWaitsForTheEndOfTheToolLoop(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		peers := w.elsewhere()
		tools := w.withTools("allow")
		c := w.create(m{})
		w.peer.Script(Answer{held("a")}, Answer{Use("t__echo", `{"text":"x"}`)}, Answer{Say("done")})
		w.send(c, "go")
		w.began(tools, "a")
		w.patch(at(c), m{"model": OpenAIChat + "/m"}).is(200)
		tools.Release("a", "a is done")
		w.rests(c)
		if n, other := len(w.peer.Bodies()), len(peers[OpenAIChat].Bodies()); n != 3 || other != 0 {
			t.Errorf("%d requests went to the model of the loop, %d to the other", n, other)
		}
		w.say(c, "and now?")
		var models []string
		for _, s := range w.steps(c) {
			models = append(models, s.Model)
		}
		if want := []string{"peer/claude", "peer/claude", "peer/claude", OpenAIChat + "/m"}; !slices.Equal(models, want) {
			t.Errorf("the steps went to %q, want %q", models, want)
		}
		w.accepted()
		w.verified()
	})
}
