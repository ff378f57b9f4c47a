package model_test

import (
	"strings"
	"testing"

	"weir"
	"weir/model"
)

func TestTheEmbeddedCatalogueIsComplete(t *testing.T) {
	c, err := model.LoadCatalogue(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range c.All() {
		if p.Provider == "" || p.Name == "" || p.ContextWindow <= 0 || p.MaxOutput <= 0 || p.MaxOutput > p.ContextWindow {
			t.Errorf("%s is not complete: %+v", p.ID, p)
		}
	}
	demo, err := c.Profile("demo/demo")
	if err != nil || demo.Dialect != model.Anthropic || demo.MidSystem != model.MidNative {
		t.Errorf("demo/demo: %+v, %v", demo, err)
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
