package app

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAnUnknownKeyNamesTheNearestKnownOne(t *testing.T) {
	for written, want := range map[string]string{
		"lissten = \"127.0.0.1:1\"":                        `"lissten", did you mean "listen"`,
		"[owner]\nnaem = \"Max\"":                          `"owner.naem", did you mean "owner.name"`,
		"[[provider]]\nid = \"a\"\nbaseurl = \"http://x\"": `"provider.baseurl", did you mean "provider.base_url"`,
	} {
		_, err := ReadConfig(file(t, written))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want …%s…", written, err, want)
		}
	}
}

func TestTheListOfKeysIsTheStruct(t *testing.T) {
	var want []string
	var walk func(prefix string, typ reflect.Type)
	walk = func(prefix string, typ reflect.Type) {
		for i := range typ.NumField() {
			f := typ.Field(i)
			name := f.Tag.Get("toml")
			if name == "-" {
				continue
			}
			want = append(want, prefix+name)
			ft := f.Type
			if ft.Kind() == reflect.Slice {
				ft = ft.Elem()
			}
			if ft.Kind() == reflect.Struct {
				walk(prefix+name+".", ft)
			}
		}
	}
	walk("", reflect.TypeFor[Config]())
	got := slices.Clone(keys)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("keys\n got %v\nwant %v", got, want)
	}
}

func TestATimeZoneThatNobodyKnowsIsRefused(t *testing.T) {
	for zone, ok := range map[string]bool{"": true, "UTC": true, "Europe/Berlin": true, "Europe/Berln": false, "Local": false, "CEST+2": false} {
		c := Config{Data: t.TempDir(), Owner: Owner{TimeZone: zone}}
		err := c.complete()
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "Europe/Berlin") {
			t.Errorf("%q: %v", zone, err)
		}
		if ok && zone != "" && c.zone.String() != zone {
			t.Errorf("%q became %s", zone, c.zone)
		}
	}
}

func TestListeningBeyondThisMachineWithoutTLSIsRefused(t *testing.T) {
	for listen, ok := range map[string]bool{
		"127.0.0.1:7447": true, "localhost:0": true, "[::1]:7447": true,
		"0.0.0.0:7447": false, ":7447": false, "192.168.1.5:7447": false, "example.org:80": false, "nonsense": false,
	} {
		c := Config{Listen: listen, Data: t.TempDir()}
		if err := c.complete(); (err == nil) != ok {
			t.Errorf("listen %q: %v", listen, err)
		}
	}
	c := Config{Listen: "0.0.0.0:7447", AllowPlainHTTP: true, Data: t.TempDir()}
	if err := c.complete(); err != nil {
		t.Errorf("told otherwise: %v", err)
	}
}

func file(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "weir.toml")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestWhatCouldOnlyFailLaterIsRefusedAtOnce(t *testing.T) {
	for written, want := range map[string]string{
		"[[provider]]\nid = \"a\"\ndialect = \"openai-chat\"\nbase_url = \"127.0.0.1:8080/v1\"": "not an address",
		"[[model]]\nid = \"a/b\"\nprovider = \"a\"\nname = \"b\"":                               "no such [[provider]]",
		"[[provider]]\nid = \"a\"\ndialect = \"nonsense\"":                                      "not known",
	} {
		c, err := ReadConfig(file(t, written))
		if err != nil {
			t.Fatal(err)
		}
		c.Data = t.TempDir()
		if err := c.complete(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want …%s…", written, err, want)
		}
	}
	_, err := ReadConfig(file(t, "[owner]\nname = 5"))
	if err == nil || strings.Contains(err.Error(), "struct field") || !strings.Contains(err.Error(), ":2:") {
		t.Errorf("a value of the wrong type: %v", err)
	}
}

func TestToolServersAreRefusedByTheKeyThatIsWrong(t *testing.T) {
	t.Setenv("WEIR_TEST_KEY", "k-1")
	for written, want := range map[string]string{
		"name = \"a__b\"\ncommand = [\"x\"]":                                     `mcp "a__b": name: `,
		"name = \"a\"":                                                           `mcp "a": command: `,
		"name = \"a\"\nurl = \"host\"":                                           `mcp "a": url: `,
		"name = \"a\"\ncommand = [\"x\"]\napproval = \"maybe\"":                  `mcp "a": approval: "maybe" is not known: write ask, allow or deny`,
		"name = \"a\"\ncommand = [\"x\"]\ntimeout = \"90\"":                      `mcp "a": timeout: "90": write a length of time such as 90s`,
		"name = \"a\"\ncommand = [\"x\"]\nenv = { K = \"${WEIR_NOT_SET}\" }":     `mcp "a": env: the environment variable WEIR_NOT_SET is not set`,
		"name = \"a\"\ncommand = [\"x\"]\n[[mcp]]\nname=\"a\"\nurl=\"http://h\"": `mcp "a" is there twice: name: `,
		"name = \"a\"\ncomand = [\"x\"]":                                         `unknown key "mcp.comand", did you mean "mcp.command"`,
	} {
		c, err := ReadConfig(file(t, "[[mcp]]\n"+written))
		if err == nil {
			c.Data = t.TempDir()
			err = c.complete()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want …%s…", written, err, want)
		}
	}
	c, err := ReadConfig(file(t, "[[mcp]]\nname = \"a\"\nurl = \"https://h/mcp\"\nheaders = { Authorization = \"Bearer ${WEIR_TEST_KEY}\" }\napproval = \"allow\"\ntimeout = \"90s\""))
	if err != nil {
		t.Fatal(err)
	}
	c.Data = t.TempDir()
	if err := c.complete(); err != nil {
		t.Fatal(err)
	}
	if s := c.servers[0]; s.Headers["Authorization"] != "Bearer k-1" || s.Approval != "allow" || s.Timeout != 90*time.Second {
		t.Errorf("%+v", s)
	}
}
