// Command strictpeer serves the strict provider double for anyone's use:
//
//	go run ./test/strictpeer --profile anthropic --listen 127.0.0.1:8080
//
// It prints the base URL to configure, repeats what it is told, and says on
// standard error what it refused and why. A line "call NAME {…}" in a message
// makes it call that tool. What else it is to do, a script says (--script; the
// form is that of strictpeer.Parse) or --fail: with --fail 529,2 the first two
// requests that it would have answered fail with that status. --record keeps
// every body that arrives, exactly, as DIR/000001.json and so on.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"weir/model"
	"weir/model/strict"
	"weir/test/strictpeer/strictpeer"
)

// settings are the flags.
type settings struct {
	profile, listen, key string
	fail, script, record string
	jinja                bool
}

func main() {
	var s settings
	flag.StringVar(&s.profile, "profile", strictpeer.Anthropic, strings.Join(strictpeer.Profiles(), ", "))
	flag.StringVar(&s.listen, "listen", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	flag.StringVar(&s.key, "key", "", "API key to demand; any when empty")
	flag.StringVar(&s.fail, "fail", "", "STATUS or STATUS,TIMES: how the first requests fail")
	flag.StringVar(&s.script, "script", "", "file of answers to give first")
	flag.StringVar(&s.record, "record", "", "directory in which to keep the bodies")
	flag.BoolVar(&s.jinja, "jinja", false, "answer what a chat template refuses with status 500, as llama.cpp does")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, s, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "strictpeer:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends. The base URL is the first line of out.
func run(ctx context.Context, s settings, out, log io.Writer) error {
	handler, err := s.handler(log)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", s.listen)
	if err != nil {
		return err
	}
	base := "http://" + l.Addr().String()
	switch strictpeer.Model(s.profile, "peer/m", "m").Dialect {
	case model.OpenAIChat, model.OpenAIResponses:
		base += "/v1"
	case model.Gemini:
		base += "/v1beta"
	}
	fmt.Fprintln(out, base)
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	server.Close()
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (s settings) handler(log io.Writer) (http.Handler, error) {
	if !slices.Contains(strictpeer.Profiles(), s.profile) {
		return nil, fmt.Errorf("there is no profile %q; take one of %s", s.profile, strings.Join(strictpeer.Profiles(), ", "))
	}
	options := []strictpeer.Option{strictpeer.Key(s.key), strictpeer.Log(log), strictpeer.Obey()}
	if s.jinja {
		options = append(options, strictpeer.Jinja())
	}
	peer := strictpeer.New(s.profile, options...)
	faults, err := failures(s.fail)
	if err != nil {
		return nil, err
	}
	peer.Script(faults...)
	if s.script != "" {
		text, err := os.ReadFile(s.script)
		if err != nil {
			return nil, err
		}
		answers, err := strictpeer.Parse(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.script, err)
		}
		peer.Script(answers...)
	}
	if s.record == "" {
		return peer, nil
	}
	return &recorder{next: peer, dir: s.record, log: log}, os.MkdirAll(s.record, 0o755)
}

// failures reads STATUS or STATUS,TIMES.
func failures(flag string) ([]strictpeer.Answer, error) {
	if flag == "" {
		return nil, nil
	}
	status, times, found := strings.Cut(flag, ",")
	n := 1
	if found {
		var err error
		if n, err = strconv.Atoi(times); err != nil || n < 1 || n > 1000 {
			return nil, fmt.Errorf("--fail %s: %q is not how often; write --fail 529,2", flag, times)
		}
	}
	answers, err := strictpeer.Parse("fail " + status)
	if err != nil {
		return nil, fmt.Errorf("--fail %s: %w", flag, err)
	}
	return slices.Repeat(answers, n), nil
}

// recorder keeps bodies in the order in which they arrived whole.
type recorder struct {
	next http.Handler
	dir  string
	log  io.Writer
	n    atomic.Int64
}

func (k *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, strict.MaxBody+1))
	if err != nil {
		return // the client is gone
	}
	name := filepath.Join(k.dir, fmt.Sprintf("%06d.json", k.n.Add(1)))
	if err := os.WriteFile(name, body, 0o644); err != nil {
		fmt.Fprintln(k.log, err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	k.next.ServeHTTP(w, r)
}
