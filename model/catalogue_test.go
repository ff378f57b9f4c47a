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
	c, err := model.LoadCatalogue([]model.Profile{
		{ID: "anthropic/claude-sonnet-5", MidSystem: model.MidNative},
		{ID: "local/qwen", Name: "qwen3", Dialect: model.OpenAIChat, ContextWindow: 131072, MaxOutput: 8192},
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
		MidSystem: model.MidNone, ContextWindow: 131072, MaxOutput: 8192, MaxTokensField: "max_tokens"}
	if err != nil || qwen != want {
		t.Errorf("added: %+v, %v", qwen, err)
	}
}

func TestABadProfileIsRefusedAtTheStart(t *testing.T) {
	for name, p := range map[string]model.Profile{
		"no slash":         {ID: "qwen", Dialect: model.OpenAIChat},
		"no name":          {ID: "local/", Dialect: model.OpenAIChat},
		"no dialect":       {ID: "local/qwen"},
		"other dialect":    {ID: "local/qwen", Dialect: "telegraph"},
		"other mid_system": {ID: "local/qwen", Dialect: model.OpenAIChat, MidSystem: "sometimes"},
		"developer on anthropic": {ID: "anthropic/claude-opus-5",
			MidSystem: model.MidDeveloper},
		"other field":    {ID: "local/qwen", Dialect: model.OpenAIChat, MaxTokensField: `x":1,"y`},
		"negative limit": {ID: "local/qwen", Dialect: model.OpenAIChat, MaxOutput: -1},
	} {
		if _, err := model.LoadCatalogue([]model.Profile{p}); weir.CodeOf(err) != "model_invalid" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
