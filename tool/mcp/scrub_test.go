package mcp

import (
	"fmt"
	"strings"
	"testing"
)

func TestTheLogIsFreeOfConfiguredValues(t *testing.T) {
	for name, c := range map[string]struct {
		config  Config
		said    string
		secrets []string
	}{
		"headers":          {Config{Headers: map[string]string{"Authorization": "Bearer abcdef"}}, "Bearer abcdef, abcdef", []string{"abcdef"}},
		"a query":          {Config{URL: "http://h/?key=opensesame&b=other%20one"}, `Get "http://h/?key=opensesame&b=other%20one"; opensesame; other one`, []string{"opensesame", "other"}},
		"a path":           {Config{URL: "http://h/s/key12/x"}, `Get "http://h/s/key12/x"; /s/key12/x; no key12`, []string{"key12"}},
		"a path of four":   {Config{URL: "http://h/k12"}, `Get "http://h/k12"`, []string{"k12"}},
		"a variable":       {Config{Env: map[string]string{"KEY": "geheim"}}, "the key geheim", []string{"geheim"}},
		"lines":            {Config{Env: map[string]string{"KEY": "-- BEGIN --\r\nline1\r\nline2\n"}}, "line1\nline2", []string{"line1", "line2"}},
		"a quoted value":   {Config{Env: map[string]string{"KEY": "a\"b\tc"}}, fmt.Sprintf("%q", `x a"b`+"\tc"), []string{"b"}},
		"an address":       {Config{Env: map[string]string{"DSN": "postgres://u:p%40ss@h/db?x=hidden"}}, "p%40ss, p@ss, hidden", []string{"p%40ss", "p@ss", "hidden"}},
		"a password":       {Config{Env: map[string]string{"DSN": "u:p:a@ss@tcp(h:3306)/db"}}, "user u, password p:a@ss", []string{"p:a", "ss "}},
		"pairs":            {Config{Env: map[string]string{"DSN": "host=h password='ge heim' dbname=d"}}, "heim is wrong: host=h password='ge heim' dbname=d", []string{"ge heim"}},
		"pairs with ;":     {Config{Env: map[string]string{"DSN": "Server=h;Password=geheim;"}}, "geheim is wrong", []string{"geheim"}},
		"an option":        {Config{Command: []string{"p", "--token=geheim"}}, "geheim; bad option --token=geheim", []string{"geheim"}},
		"an argument":      {Config{Command: []string{"p", "--token", "geheim"}}, "usage: geheim", []string{"geheim"}},
		"a header in it":   {Config{Command: []string{"p", "--header", "Authorization: Bearer geheim-12"}}, "geheim-12; Bearer geheim-12", []string{"geheim"}},
		"an address in it": {Config{Command: []string{"p", "--at=https://u:geheim@h/keykey"}}, "geheim; keykey", []string{"geheim", "keykey"}},
	} {
		got := newScrubber(c.config).text(c.said)
		for _, secret := range c.secrets {
			if strings.Contains(got, secret) {
				t.Errorf("%s: %q holds %q", name, got, secret)
			}
		}
	}
}

func TestWordsAndThePlaceOfAServerStayInTheLog(t *testing.T) {
	s := newScrubber(Config{URL: "http://host:80/mcp", Env: map[string]string{"MODE": "on"}})
	if got := s.text(`Post "http://host:80/mcp": on strike`); !strings.Contains(got, "http://host:80") || !strings.Contains(got, "on strike") {
		t.Errorf("too much is taken out: %q", got)
	}
	s = newScrubber(Config{Command: []string{"/bin/program", "-v"}})
	if want, got := "fork/exec /bin/program -v", s.text("fork/exec /bin/program -v"); got != want {
		t.Errorf("too much is taken out: %q", got)
	}
}
