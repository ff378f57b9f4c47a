package app

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"weir/model"
)

// read reads a configuration and opens its models, as a start does.
func read(t *testing.T, content string) (*models, error) {
	t.Helper()
	c, err := ReadConfig(file(t, content))
	if err != nil {
		return nil, err
	}
	c.Data = t.TempDir()
	if err := c.complete(); err != nil {
		return nil, err
	}
	return openModels(&c)
}

const local = "[[provider]]\nid = \"local\"\ndialect = \"openai-chat\"\n"

func TestAModelSetsTheMembersThatItNames(t *testing.T) {
	m, err := read(t, local+`
[[model]]
id = "local/strict"
roles_alternate = true
system_first_only = true
context_window = 32768
prices = { input = 0.1, output = 0.25 }

[[provider]]
id = "anthropic"
base_url = "http://127.0.0.1:1"
[[model]]
id = "anthropic/claude-opus-5"
prefill = false
max_output = 1000
`)
	if err != nil {
		t.Fatal(err)
	}
	p, client, err := m.Model("local/strict")
	if err != nil || client == nil || !p.RolesAlternate || !p.SystemFirstOnly || p.ContextWindow != 32768 ||
		p.Prices.Input != 100_000 || p.Prices.Output != 250_000 || p.Name != "strict" {
		t.Errorf("%+v, %v", p, err)
	}
	if p, _, err = m.Model("anthropic/claude-opus-5"); err != nil || p.MaxOutput != 1000 || p.MidSystem != model.MidNative || p.ContextWindow != 1_000_000 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestAMemberThatNoModelHasNamesTheNearestKnownOne(t *testing.T) {
	for written, want := range map[string]string{
		"mid_sytem = \"none\"":                             `unknown key "model.mid_sytem", did you mean "model.mid_system"`,
		"Mid_System = \"none\"":                            `unknown key "model.Mid_System", did you mean "model.mid_system"`,
		"prices = { inputs = 1 }":                          `unknown key "model.prices.inputs", did you mean "model.prices.input"`,
		"context_window = \"big\"":                         "context_window, which takes a whole number",
		"roles_alternate = \"yes\"":                        "roles_alternate, which takes true or false",
		"prices = 5":                                       "prices, which takes a table",
		"prices = { input = \"3\" }":                       "not a price",
		"prices = { input = -1 }":                          "not a price",
		"prices = { input = 0.0000001 }":                   "not a price",
		"roles_alternate = true\nmid_system=\"developer\"": "mid_system must be none",
	} {
		_, err := read(t, local+"[[model]]\nid = \"local/x\"\n"+written)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want …%s…", written, err, want)
		}
	}
}

func TestAServerSaysWhatAProviderLeavesOut(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-openai")
	t.Setenv("MISTRAL_API_KEY", "")
	t.Setenv("WORK_KEY", "sk-work")
	m, err := read(t, `
default_model = "ollama/qwen3.8:32b"
[[provider]]
id = "ollama"
[[provider]]
id = "box"
server = "llama.cpp"
base_url = "http://10.0.0.7:8080/v1"
[[provider]]
id = "openai"
[[provider]]
id = "chats"
server = "openai"
dialect = "openai-chat"
[[provider]]
id = "mistral"
[[provider]]
id = "work"
server = "google"
api_key_env = "WORK_KEY"
[[provider]]
id = "deepseek"
dialect = "openai-chat"
base_url = "http://127.0.0.1:1"
`)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]model.Dialect{
		"ollama/qwen3.8:32b": model.OpenAIChat, "box/gemma": model.OpenAIChat, "openai/gpt-6-sol": model.OpenAIResponses,
		"openai/gpt-5.6-sol": model.OpenAIChat, "work/gemini-4-neon": model.Gemini, "chats/gpt-6-sol": model.OpenAIResponses, "chats/o9": model.OpenAIChat,
		"deepseek/deepseek-flash": model.OpenAIChat,
	} {
		p, client, err := m.Model(id)
		if err != nil || client == nil || p.Dialect != want {
			t.Errorf("%s: %+v, %v", id, p, err)
		}
	}
	if p, _, err := m.Model("box/gemma"); err != nil || !p.RolesAlternate {
		t.Errorf("%+v, %v", p, err)
	}
	if _, _, err := m.Model("mistral/mistral-large-4"); err == nil || !strings.Contains(err.Error(), "MISTRAL_API_KEY") {
		t.Errorf("%v", err)
	}
}

func TestAProviderThatCannotBeUnderstoodSaysWhatToWrite(t *testing.T) {
	for written, want := range map[string]string{
		"id = \"a\"":                                      "is no server that is known by its id: write its server (anthropic, ",
		"id = \"a\"\nserver = \"lama.cpp\"":               "llama.cpp",
		"id = \"a\"\nserver = \"qwen\"":                   "write yours as base_url",
		"id = \"qwen\"":                                   "write yours as base_url",
		"id = \"a\"\nserver = \"vllm\"\nbase_url = \"x\"": "not an address",
	} {
		_, err := read(t, "[[provider]]\n"+written)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want …%s…", written, err, want)
		}
	}
}

func TestTheDefaultIsTheModelThatTheCatalogueBeginsWith(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-a")
	m, err := read(t, "[[provider]]\nid = \"anthropic\"")
	if err != nil || m.standard != "anthropic/claude-opus-5-5" {
		t.Errorf("%v, %v", m, err)
	}
}

var tomlBlock = regexp.MustCompile("(?s)```toml\n(.*?)```")

// What the documents tell people to write is taken, and no member is left out.
func TestTheDocumentsSayWhatIsTaken(t *testing.T) {
	models, err := os.ReadFile("../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := tomlBlock.FindAllSubmatch(models, -1)
	if len(blocks) != 2 {
		t.Fatalf("%d examples in docs/models.md", len(blocks))
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"docs/models.md": "default_model = \"ollama/x\"\n" + string(blocks[0][1]) + string(blocks[1][1]),
		"README.md":      string(tomlBlock.FindSubmatch(readme)[1]),
	} {
		if _, err := read(t, content); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, member := range model.Members() {
		name, _, _ := strings.Cut(member, ".")
		if !strings.Contains(string(models), "`"+name+"`") {
			t.Errorf("docs/models.md does not say what %s is", name)
		}
	}
}
