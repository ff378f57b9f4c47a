package model_test

import (
	"strings"
	"testing"

	"weir"
	"weir/model"
)

// Every row is one that the strictest endpoint takes where nothing is known.
func TestEveryRowOfTheCatalogueCanBeUsed(t *testing.T) {
	c, err := model.LoadCatalogue(nil)
	if err != nil {
		t.Fatal(err)
	}
	vendors := map[string]int{}
	for _, p := range c.All() {
		vendors[p.Provider]++
		if p.Provider == "" || p.Name == "" || p.ThinkingBinding == "" || p.CacheStyle == "" || p.UsageStyle == "" || p.MidSystem == "" {
			t.Errorf("%s is not complete: %+v", p.ID, p)
		}
		if (p.Prices.Input == 0) != (p.Prices.Output == 0) {
			t.Errorf("%s has half a price: %+v", p.ID, p.Prices)
		}
		if p.Prices.CacheRead > p.Prices.Input || p.Prices.LongAbove > 0 && p.Prices.Long.Input <= p.Prices.Input {
			t.Errorf("%s: prices in the wrong place: %+v", p.ID, p.Prices)
		}
	}
	for _, v := range []string{"anthropic", "openai", "google", "deepseek", "qwen", "mistral", "demo"} {
		if vendors[v] == 0 {
			t.Errorf("no model of %s", v)
		}
	}
}

func TestWhatIsKnownOfSomeModels(t *testing.T) {
	c, err := model.LoadCatalogue(nil)
	if err != nil {
		t.Fatal(err)
	}
	for id, holds := range map[string]func(model.Profile) bool{
		"demo/demo": func(p model.Profile) bool { return p.Dialect == model.Anthropic && p.MidSystem == model.MidNative },
		"anthropic/claude-opus-5-5": func(p model.Profile) bool {
			return p.MidSystem == model.MidNative && !p.Prefill && p.CacheMinTokens == 0
		},
		"anthropic/claude-haiku-4-5": func(p model.Profile) bool {
			return p.MidSystem == model.MidNone && p.Prefill && p.CacheMinTokens == 4096
		},
		"openai/gpt-6-sol": func(p model.Profile) bool { return p.Dialect == model.OpenAIResponses && p.CacheStyle.Keyed() },
		"openai/gpt-5.6-sol": func(p model.Profile) bool {
			return p.Dialect == model.OpenAIChat && p.MidSystem == model.MidDeveloper && p.MaxTokensField == "max_completion_tokens"
		},
		"google/gemini-4-neon": func(p model.Profile) bool {
			return p.ReasoningRequired == model.ReasoningSignature && p.MaxOutput == 65536
		},
		"google/gemini-2.5-pro":   func(p model.Profile) bool { return p.ReasoningRequired == model.ReasoningFree },
		"deepseek/deepseek-flash": func(p model.Profile) bool { return p.ReasoningRequired == model.ReasoningContent },
		"mistral/mistral-large-4": func(p model.Profile) bool { return p.RolesAlternate && p.SystemFirstOnly },
		"qwen/qwen3.8-max":        func(p model.Profile) bool { return !p.RolesAlternate && p.SystemFirstOnly },
	} {
		if p, err := c.Profile(id); err != nil || !holds(p) {
			t.Errorf("%s: %+v, %v", id, p, err)
		}
	}
}

func TestAnUnknownModelSaysWhatToDo(t *testing.T) {
	c, err := model.LoadCatalogue(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Profile("nobody/" + strings.Repeat("x", 1000))
	if weir.CodeOf(err) != "model_unknown" || weir.KindOf(err) != weir.NotFound || len(err.Error()) > 500 ||
		!strings.Contains(err.Error(), "configuration") {
		t.Errorf("got %v", err)
	}
}

func TestAnOverlayChangesWhatItSetsAndAddsWhatIsNew(t *testing.T) {
	c, err := model.LoadCatalogue([]model.Endpoint{{ID: "local", Dialect: model.OpenAIChat}}, []model.Patch{
		{"id": "anthropic/claude-sonnet-5", "mid_system": "native"},
		{"id": "local/qwen", "name": "qwen3", "context_window": 131072, "max_output": 8192},
	})
	if err != nil {
		t.Fatal(err)
	}
	sonnet, _ := c.Profile("anthropic/claude-sonnet-5")
	if sonnet.MidSystem != model.MidNative || sonnet.ContextWindow != 1000000 || sonnet.Name != "claude-sonnet-5" {
		t.Errorf("overlaid: %+v", sonnet)
	}
	qwen, err := c.Profile("local/qwen")
	want := model.Profile{ID: "local/qwen", Provider: "local", Name: "qwen3", Dialect: model.OpenAIChat,
		MidSystem: model.MidNone, ContextWindow: 131072, MaxOutput: 8192, MaxTokensField: "max_tokens",
		ThinkingBinding: model.BindNothing, CacheStyle: model.CacheNone, UsageStyle: model.UsageGross}
	if err != nil || qwen != want {
		t.Errorf("added: %+v, %v", qwen, err)
	}
}

// What a patch names it sets, to nothing too; what it does not name stays.
func TestAPatchTakesBackWhatWasSetBelowIt(t *testing.T) {
	c, err := model.LoadCatalogue(nil,
		[]model.Patch{{"id": "mistral/mistral-large-4", "max_output": 1000, "prices": map[string]any{"input": 2, "output": 3.5}}},
		[]model.Patch{
			{"id": "mistral/mistral-large-4", "roles_alternate": false, "prices": map[string]any{"output": 0}},
			{"provider": "deepseek", "name": "deepseek-flash", "reasoning_required": "none"},
			{"id": "openai/gpt-5.6-sol", "dialect": "openai-responses"},
		})
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := c.Profile("mistral/mistral-large-4"); p.RolesAlternate || !p.SystemFirstOnly || p.MaxOutput != 1000 ||
		p.Prices.Input != 2_000_000 || p.Prices.Output != 0 {
		t.Errorf("%+v", p)
	}
	if p, _ := c.Profile("deepseek/deepseek-flash"); p.ReasoningRequired != model.ReasoningFree {
		t.Errorf("%+v", p)
	}
	// In another dialect only what holds in any is known.
	if p, _ := c.Profile("openai/gpt-5.6-sol"); p.Dialect != model.OpenAIResponses || p.MidSystem != model.MidNone ||
		p.MaxTokensField != "" || p.ContextWindow != 1_050_000 {
		t.Errorf("%+v", p)
	}
}

func TestAModelThatNoRowKnowsHasItsServersDefaults(t *testing.T) {
	c, err := model.LoadCatalogue([]model.Endpoint{
		{ID: "here", Server: "llama.cpp"},
		{ID: "ollama"},
		{ID: "anywhere", Dialect: model.OpenAIChat},
		{ID: "work", Server: "anthropic"},
		{ID: "mistral", Dialect: model.Anthropic}, // the name alone, and another protocol
		{ID: "seek", Server: "deepseek", Dialect: model.Anthropic},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"here/some-org/gemma-4", "ollama/qwen3.8:32b"} {
		if p, err := c.Profile(id); err != nil || !p.RolesAlternate || !p.SystemFirstOnly || p.Dialect != model.OpenAIChat {
			t.Errorf("%s: %+v, %v", id, p, err)
		}
	}
	if p, err := c.Profile("anywhere/x"); err != nil || p.RolesAlternate || p.MidSystem != model.MidNone {
		t.Errorf("anywhere/x: %+v, %v", p, err)
	}
	// Another name for a vendor has all of its models.
	if p, err := c.Profile("work/claude-opus-5"); err != nil || p.Provider != "work" || p.MidSystem != model.MidNative {
		t.Errorf("work/claude-opus-5: %+v, %v", p, err)
	}
	if p, err := c.Profile("work/claude-next"); err != nil || p.Dialect != model.Anthropic || p.MidSystem != model.MidNone {
		t.Errorf("work/claude-next: %+v, %v", p, err)
	}
	if p, err := c.Profile("mistral/x"); err != nil || p.Dialect != model.Anthropic || p.RolesAlternate {
		t.Errorf("mistral/x: %+v, %v", p, err)
	}
	if rows := c.Rows("seek"); len(rows) > 0 {
		t.Errorf("models of another protocol: %v", rows)
	}
	if p, err := c.Profile("seek/deepseek-flash"); err != nil || p.Dialect != model.Anthropic || p.ReasoningRequired != model.ReasoningFree {
		t.Errorf("seek/deepseek-flash: %+v, %v", p, err)
	}
	for _, id := range []string{"nobody/x", "openai/unheard-of", "demo/other", "here/", "here"} {
		if _, err := c.Profile(id); weir.CodeOf(err) != "model_unknown" {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func TestMembersThatContradictEachOtherAreRefused(t *testing.T) {
	for _, p := range []model.Patch{
		{"id": "openai/gpt-5.6-sol", "roles_alternate": true},
		{"id": "openai/gpt-5.6-sol", "system_first_only": true},
		{"id": "openai/gpt-6-sol", "content_parts": true},
		{"id": "openai/gpt-6-sol", "max_tokens_field": "max_tokens"},
		{"id": "anthropic/claude-opus-5", "mid_system": "none", "roles_alternate": true},
		{"id": "anthropic/claude-opus-5", "cache_style": "key"},
		{"id": "anthropic/claude-opus-5", "usage_style": "gross"},
		{"id": "anthropic/claude-opus-5", "reasoning_required": "content"},
		{"id": "google/gemini-4-neon", "mid_system": "native"},
		{"id": "google/gemini-4-neon", "reasoning_required": "content"},
		{"id": "google/gemini-4-neon", "cache_style": "marks"},
		{"id": "local/qwen", "cache_style": "breakpoints"},
		{"id": "local/qwen", "cache_style": "marks"},
		{"id": "local/qwen", "reasoning_required": "signature"},
		{"id": "local/qwen", "context_window": 1000, "max_output": 2000},
		{"id": "local/qwen", "lifecycle": "asleep"},
		{"id": "local/qwen", "thinking_binding": "soul"},
	} {
		_, err := model.LoadCatalogue([]model.Endpoint{{ID: "local", Dialect: model.OpenAIChat}}, []model.Patch{p})
		if weir.CodeOf(err) != "model_invalid" || !strings.Contains(err.Error(), p.ID()) {
			t.Errorf("%v: %v", p, err)
		}
	}
}

func TestABadProfileIsRefusedAtTheStart(t *testing.T) {
	for name, p := range map[string]model.Patch{
		"no slash":               {"id": "qwen", "dialect": "openai-chat"},
		"no name":                {"id": "local/", "dialect": "openai-chat"},
		"no dialect":             {"id": "nobody/qwen"},
		"other dialect":          {"id": "local/qwen", "dialect": "telegraph"},
		"other mid_system":       {"id": "local/qwen", "mid_system": "sometimes"},
		"developer on anthropic": {"id": "anthropic/claude-opus-5", "mid_system": "developer"},
		"other field":            {"id": "local/qwen", "max_tokens_field": `x":1,"y`},
		"negative limit":         {"id": "local/qwen", "max_output": -1},
	} {
		_, err := model.LoadCatalogue([]model.Endpoint{{ID: "local", Dialect: model.OpenAIChat}}, []model.Patch{p})
		if weir.CodeOf(err) != "model_invalid" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
