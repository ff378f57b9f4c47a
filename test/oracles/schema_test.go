package oracles

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"weir/model"
)

func TestBodiesAreOfTheVendorsTypes(t *testing.T) {
	schemas := compile(t)
	judged(t, func(b body) error {
		v, err := plain(b.profile, b.bytes)
		if err != nil {
			return err
		}
		s := schemas[b.profile.Dialect]
		if s == nil {
			return fmt.Errorf("no type for the dialect %q", b.profile.Dialect)
		}
		return s.Validate(v)
	})
}

// What the test above can tell: a body with a member more, one less, or a value
// that no type has is not valid anywhere.
func TestTheVendorsTypesRefuseWhatIsNotOfThem(t *testing.T) {
	schemas := compile(t)
	for d, spoiled := range map[model.Dialect][]string{
		model.Anthropic: {
			`{"model":"m","max_tokens":1,"stream":true,"messages":[{"role":"user","content":"x"}],"tail":1}`,
			`{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`,
			`{"model":"m","max_tokens":1,"stream":true,"messages":[{"role":"tool","content":"x"}]}`,
			`{"model":"m","max_tokens":1,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"x","txt":1}]}]}`,
		},
		model.OpenAIChat: {
			`{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}],"tail":1}`,
			`{"model":"m","stream":true}`,
			`{"model":"m","stream":true,"messages":[{"role":"user","content":"x","text":"x"}]}`,
			`{"model":"m","stream":true,"messages":[{"role":"tool","content":"x"}]}`,
		},
		model.OpenAIResponses: {
			`{"model":"m","stream":true,"input":[{"type":"message","role":"user","content":"x"}],"tail":1}`,
			`{"model":"m","stream":true,"input":[{"type":"message","role":"user","content":[{"type":"text","text":"x"}]}]}`,
			`{"model":"m","stream":true,"input":[{"type":"function_call","call_id":"x","arguments":"{}"}]}`,
		},
		model.Gemini: {
			`{"contents":[{"role":"user","parts":[{"text":"x"}]}],"tail":1}`,
			`{"generationConfig":{"maxOutputTokens":1}}`,
			`{"contents":[{"role":"user","parts":[{"txt":"x"}]}]}`,
			`{"contents":[],"generationConfig":{"maxOutputTokens":"1"}}`,
		},
	} {
		for _, s := range spoiled {
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(s))
			if err != nil {
				t.Fatal(err)
			}
			if schemas[d].Validate(v) == nil {
				t.Errorf("%s: valid, and should not be: %s", d, s)
			}
		}
	}
}

// compile returns the schemas of all dialects' bodies.
func compile(t *testing.T) map[model.Dialect]*jsonschema.Schema {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(generate(t), &all); err != nil {
		t.Fatal(err)
	}
	schemas := map[model.Dialect]*jsonschema.Schema{}
	for d, name := range map[model.Dialect]string{
		model.Anthropic: "AnthropicMessages", model.OpenAIChat: "OpenAIChat", model.OpenAIResponses: "OpenAIResponses", model.Gemini: "Gemini",
	} {
		c := jsonschema.NewCompiler()
		if err := c.AddResource(name, all[name]); err != nil {
			t.Fatal(err)
		}
		s, err := c.Compile(name)
		if err != nil {
			t.Fatal(err)
		}
		schemas[d] = s
	}
	return schemas
}

// generate makes the schemas of the types in the packages that
// package-lock.json pins. What was made of the same files is taken as it is, so
// that only the first run needs npm and a network.
func generate(t *testing.T) []byte {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("WEIR_TEST_SKIP"), ","), "npm") {
		t.Skip("WEIR_TEST_SKIP names npm, which brings the vendors' types")
	}
	const dir = "schemas"
	var sources []byte
	for _, name := range []string{"package-lock.json", "tsconfig.json", "bodies.ts", "generate.mjs"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, data...)
	}
	stamp, made := filepath.Join(dir, "node_modules", ".weir-sources"), filepath.Join(dir, "node_modules", ".weir-schemas.json")
	if was, err := os.ReadFile(stamp); err == nil && bytes.Equal(was, sources) {
		if schemas, err := os.ReadFile(made); err == nil {
			return schemas
		}
	}
	command(t, dir, "npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts")
	schemas := command(t, dir, "node", "generate.mjs")
	for file, data := range map[string][]byte{made: schemas, stamp: sources} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return schemas
}

// command runs a program in a directory and returns what it prints.
func command(t *testing.T, dir, name string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %s in test/oracles/%s: %v\n%s%s\nInstall Node.js 18 or newer, or set WEIR_TEST_SKIP=npm to go without.", name, strings.Join(args, " "), dir, err, out, said.Bytes())
	}
	return out
}
