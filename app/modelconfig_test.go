package app

import (
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
