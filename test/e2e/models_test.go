package e2e

import (
	"slices"
	"strings"
	"testing"

	"weir/app"
	"weir/model"
)

// All that is known of models, by the API, and what a step cost at the prices
// that the configuration gives.
func TestTheModelsAreListedWithWhatIsKnownOfThem(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.cfg.Models[0] = app.Model{"id": "peer/claude", "provider": "peer", "name": "claude-strict", "context_window": 200_000, "max_output": 4096,
			"mid_system": "native", "prices": m{"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}}
		w.restart()
		byID := func(path string) map[string]m {
			all := map[string]m{}
			for _, one := range w.get(path).is(200).object()["items"].([]any) {
				all[one.(m)["id"].(string)] = one.(m)
			}
			return all
		}
		all := byID("/v1/models")
		for id, want := range map[string]m{
			"peer/claude": {"usable": true, "default": true, "mid_system": "native", "dialect": "anthropic", "context_window": 200_000.0, "max_output": 4096.0,
				"cache_style": "marks", "usage_style": "net", "thinking_binding": "prefix"},
			"demo/demo":               {"usable": true, "default": nil},
			"anthropic/claude-opus-5": {"usable": false, "cache_min_tokens": 512.0},
			"openai/gpt-6.2-sol":      {"usable": false, "dialect": "openai-responses", "mid_system": "developer"},
			"google/gemini-4-neon":    {"usable": false, "dialect": "gemini", "reasoning_required": "signature"},
			"mistral/mistral-large-4": {"usable": false, "roles_alternate": true, "system_first_only": true, "prices": nil},
		} {
			for member, v := range want {
				if all[id][member] != v {
					t.Errorf("%s: %s is %v, want %v", id, member, all[id][member], v)
				}
			}
		}
		if p := all["openai/gpt-6.2-sol"]["prices"].(m); p["cache_read"] != 0.1 || p["long_above"] != 272_000.0 || p["long"].(m)["output"] != 15.0 {
			t.Errorf("prices: %v", p)
		}
		if usable := byID("/v1/models?usable=true"); len(usable) != 2 || usable["peer/claude"] == nil {
			t.Errorf("usable: %v", usable)
		}
		described := w.get("/openapi.json").is(200).object()["components"].(m)["schemas"].(m)
		for member := range all["openai/gpt-6.2-sol"]["prices"].(m) {
			if described["PricesView"].(m)["properties"].(m)[member] == nil {
				t.Errorf("the price %s is not described", member)
			}
		}
		c := w.create(m{})
		w.say(c, "How far is it?")
		step := w.get(at(c, "steps")).is(200).object()["items"].([]any)[0].(m)
		cost, _ := step["usage"].(m)["cost"].(string)
		if !strings.HasPrefix(cost, "0.0") {
			t.Errorf("usage: %v", step["usage"])
		}
		// What it cost stays what it cost.
		delete(w.cfg.Models[0], "prices")
		w.restart()
		if step := w.get(at(c, "steps")).is(200).object()["items"].([]any)[0].(m); step["usage"].(m)["cost"] != cost {
			t.Errorf("later: %v", step["usage"])
		}
		w.say(c, "And back?")
		if step := w.get(at(c, "steps")).is(200).object()["items"].([]any)[0].(m); step["usage"].(m)["cost"] != nil {
			t.Errorf("without prices: %v", step["usage"])
		}
	})
}

func TestProvidersAreAskedWhatTheyHaveAndItIsKept(t *testing.T) {
	w := start(t, "")
	w.peer.Lists(model.Listed{Name: "claude-strict", ContextWindow: 300_000}, model.Listed{Name: "claude-next", ContextWindow: 500_000, MaxOutput: 1000})
	items := w.post("/v1/models/refresh", nil).is(200).object()["items"].([]any)
	if len(items) != 1 || items[0].(m)["outcome"] != "listed" || !slices.Equal(items[0].(m)["added"].([]any), []any{"peer/claude-next"}) {
		t.Fatalf("%v", items)
	}
	w.restart()
	for _, one := range w.get("/v1/models?usable=true").is(200).object()["items"].([]any) {
		switch one := one.(m); one["id"] {
		case "peer/claude": // the configuration counts more
			if one["context_window"] != 200_000.0 || one["listed"] != true {
				t.Errorf("%v", one)
			}
		case "peer/claude-next":
			if one["context_window"] != 500_000.0 || one["max_output"] != 1000.0 {
				t.Errorf("%v", one)
			}
		}
	}
	// One that was learnt answers like any other.
	c := w.create(m{"model": "peer/claude-next"})
	w.say(c, "Hello")
	w.do(ask{method: "POST", path: "/v1/models/refresh", anonymous: true}).problem(401, "unauthenticated")
}
