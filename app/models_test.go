package app

import (
	"strings"
	"testing"

	"weir"
	"weir/model"
)

func TestAModelOfAConfiguredProviderNeedsNoCatalogueEntry(t *testing.T) {
	m := opened(t, Config{DefaultModel: "local/qwen3", Providers: []Provider{{ID: "local", Dialect: "openai-chat", BaseURL: "http://127.0.0.1:1/v1"}}})
	for id, name := range map[string]string{"": "qwen3", "local/qwen3": "qwen3", "local/org/model-7b": "org/model-7b"} {
		p, client, err := m.Model(id)
		if err != nil || client == nil || p.Name != name || p.Dialect != model.OpenAIChat || p.MidSystem != model.MidNone {
			t.Errorf("%q: %+v, %v", id, p, err)
		}
	}
	for _, id := range []string{"local/", "local", "elsewhere/x", "demo/other"} {
		if _, _, err := m.Model(id); weir.CodeOf(err) != "model_unknown" {
			t.Errorf("%q: %v", id, err)
		}
	}
	found := false
	for _, one := range m.list() {
		found = found || one.Default && one.Usable && one.ID == "local/qwen3"
	}
	if !found {
		t.Error("the default is not among the usable models")
	}
}

func TestAProviderWithoutItsKeyIsSaidWhenItIsUsedAndHoldsNothingUp(t *testing.T) {
	t.Setenv("SOME_KEY", "")
	m := opened(t, Config{DefaultModel: "local/qwen3", Providers: []Provider{
		{ID: "local", Dialect: "openai-chat", BaseURL: "http://127.0.0.1:1/v1"},
		{ID: "anthropic", Dialect: "anthropic", APIKeyEnv: "SOME_KEY"},
	}})
	if _, _, err := m.Model(""); err != nil {
		t.Errorf("the local model: %v", err)
	}
	for _, one := range m.list() {
		if one.Usable && one.Provider == "anthropic" {
			t.Fatalf("%s is offered without a key", one.ID)
		}
	}
	_, _, err := m.Model("anthropic/claude-opus-5")
	if weir.CodeOf(err) != "provider_key_missing" || !strings.Contains(err.Error(), "SOME_KEY") {
		t.Errorf("got %v", err)
	}
}

func TestAProviderWhoseModelsNobodyKnowsAsksForAName(t *testing.T) {
	_, err := openModels(&Config{Providers: []Provider{{ID: "local", Dialect: "openai-chat"}}})
	if weir.CodeOf(err) != "default_model_missing" || !strings.Contains(err.Error(), `"local/NAME"`) {
		t.Errorf("got %v", err)
	}
}

func TestWithoutAProviderTheDemoModelAnswers(t *testing.T) {
	if p, _, err := opened(t, Config{}).Model(""); err != nil || p.ID != demoModel {
		t.Errorf("%+v, %v", p, err)
	}
}

func opened(t *testing.T, c Config) *models {
	t.Helper()
	m, err := openModels(&c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
