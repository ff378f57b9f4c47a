// Command strictpeer serves the strict provider double for anyone's use:
//
//	go run ./test/strictpeer --profile anthropic --listen 127.0.0.1:0
//
// It prints the base URL to configure, repeats what it is told, and says on
// standard error what it refused and why.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"weir/model"
	"weir/test/strictpeer/strictpeer"
)

func main() {
	profile := flag.String("profile", strictpeer.Anthropic, strings.Join(strictpeer.Profiles(), ", "))
	listen := flag.String("listen", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	key := flag.String("key", "", "API key to demand; any when empty")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *profile, *listen, *key); err != nil {
		fmt.Fprintln(os.Stderr, "strictpeer:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, profile, listen, key string) error {
	if !slices.Contains(strictpeer.Profiles(), profile) {
		return fmt.Errorf("there is no profile %q; take one of %s", profile, strings.Join(strictpeer.Profiles(), ", "))
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	base := "http://" + l.Addr().String()
	switch strictpeer.Model(profile, "peer/m", "m").Dialect {
	case model.OpenAIChat, model.OpenAIResponses:
		base += "/v1"
	case model.Gemini:
		base += "/v1beta"
	}
	fmt.Println(base)
	server := &http.Server{
		Handler:           strictpeer.New(profile, strictpeer.Key(key), strictpeer.Log(os.Stderr)),
		ReadHeaderTimeout: 10 * time.Second,
	}
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
