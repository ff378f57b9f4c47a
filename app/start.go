package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"weir"
	"weir/account"
	"weir/api"
	"weir/fact"
	"weir/fact/builtin"
	"weir/gate"
	"weir/lifecycle"
	"weir/live"
	"weir/modelview"
	"weir/store"
	"weir/tool"
	"weir/tool/mcp"
	"weir/turn"
	"weir/web"
)

// Version is what the program calls itself.
const Version = "0.1"

// Running is a server that answers.
type Running struct {
	URL   string // such as http://127.0.0.1:7447
	Token string // the owner's

	account *account.Account
	engine  *turn.Engine
	servers *mcp.Client
	watcher *builtin.Watcher
	hub     *live.Hub
	life    *lifecycle.Service
	store   store.Store
	server  *http.Server
	end     context.CancelFunc // of event streams and background work
	served  chan error
	stop    sync.Once
	stopped error
}

// SignInURL makes a link that signs one browser in, once.
func (r *Running) SignInURL() string {
	return r.URL + api.SignInPath + "?code=" + r.account.Link()
}

// Wait returns when the server has ended by itself, with the reason.
func (r *Running) Wait() <-chan error { return r.served }

// Start opens the store, starts the engine and serves. The context bounds the
// start only; Stop ends what was started.
func Start(ctx context.Context, c Config, log *slog.Logger) (*Running, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return nil, fmt.Errorf("the data directory cannot be made: %w", err)
	}
	token, err := ownerToken(&c)
	if err != nil {
		return nil, err
	}
	where := c.Store
	if where == "" {
		where = c.Data
	}
	s, err := store.Open(ctx, where)
	if err != nil {
		return nil, err
	}
	r := &Running{Token: token, store: s}
	if err := r.assemble(ctx, &c, log); err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	return r, nil
}

// assemble wires the rooms, from what depends on nothing upwards.
func (r *Running) assemble(ctx context.Context, c *Config, log *slog.Logger) error {
	key, err := secretSetting(ctx, r.store, "gate_key")
	if err != nil {
		return err
	}
	r.account, err = account.Open(ctx, account.Config{Store: settings{r.store}, Name: c.Owner.Name, Token: r.Token, Now: time.Now})
	if err != nil {
		return err
	}
	models, err := openModels(c)
	if err != nil {
		return err
	}
	tools, err := tool.NewRegistry(tool.Limits{})
	if err != nil {
		return err
	}
	if r.servers, err = mcp.New(c.servers, log); err != nil {
		return err
	}
	tools.AddSource(r.servers)
	var told *fact.Set
	if told, r.watcher, err = facts(c, r.store, tools, log); err != nil {
		return err
	}
	counters := prometheus.NewRegistry()
	meter, err := newMeter(counters)
	if err != nil {
		return err
	}
	r.hub = live.NewHub()
	g := gate.New(gate.Config{Key: key, Now: time.Now, Rand: rand.Reader, Quotes: c.Gate.QuotesPerMessage, Recalls: c.Gate.RecallsPerMessage})
	lowerer := modelview.New()
	r.engine = turn.New(turn.Config{
		Store: turn.Over[store.Tx](r.store), Gate: g, Lowerer: lowerer, Models: models, Tools: tools, Facts: told,
		Live: r.hub, Follow: r.watcher.Follow, Now: time.Now, Holder: holder(), Log: log,
		Meter: meter,
	})
	r.life = lifecycle.New(lifecycle.Config{
		Store: lifecycleStore{r.store, r.store}, Turns: exclusive{r.engine}, Gate: g, Live: r.hub, Now: time.Now, KnowsModel: models.knows,
	})
	handler, err := api.New(api.Config{
		Store: r.store, Answers: api.AnswersOver[store.Tx](r.store), Turns: r.engine, Facts: r.engine, Lifecycle: r.life, Gate: g,
		Account: r.account, Live: r.hub, Import: importing(r.store, r.hub), Models: models.list, Refresh: models.Refresh, Tools: toolbox(tools), Rule: rule(r.store), Web: web.Files(),
		Rebuild: func(ctx context.Context, cv *weir.Conversation, start *weir.Record) ([]byte, error) {
			return lowerer.Rebuild(ctx, r.store, cv, start)
		},
		Metrics: counters, Hosts: c.Hosts, Ready: ready(r.store), Version: Version, Log: log,
	})
	if err != nil {
		return err
	}
	return r.serve(c.Listen, handler, log)
}

func (r *Running) serve(listen string, handler http.Handler, log *slog.Logger) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w (choose another with --listen)", listen, err)
	}
	r.URL = "http://" + l.Addr().String()
	background, end := context.WithCancel(context.Background())
	r.end = end
	r.servers.Start(context.Background()) // Stop ends it, after the engine
	if err := r.watcher.Start(background); err != nil {
		l.Close()
		return err
	}
	if err := r.engine.Start(background); err != nil {
		l.Close()
		return err
	}
	r.server = api.NewServer(background, handler)
	r.server.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	r.served = make(chan error, 1)
	go func() { // ends with Serve, which Stop ends
		err := r.server.Serve(l)
		if !errors.Is(err, http.ErrServerClosed) {
			r.served <- err
		}
		close(r.served)
	}()
	return nil
}

// Stop ends the server: no new requests, event streams closed, running steps
// left for recovery, the store closed last. It may be called twice.
func (r *Running) Stop() error {
	r.stop.Do(func() { r.stopped = r.shutdown() })
	return r.stopped
}

func (r *Running) shutdown() error {
	var errs []error
	if r.end != nil {
		r.end()
	}
	if r.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := r.server.Shutdown(ctx); err != nil {
			errs = append(errs, err, r.server.Close())
		}
		errs = append(errs, <-r.served)
		r.engine.Stop()
	}
	if r.servers != nil { // after the engine, whose steps call their tools
		r.servers.Stop()
	}
	if r.watcher != nil {
		r.watcher.Stop()
	}
	return errors.Join(append(errs, r.store.Close())...)
}

// ownerToken returns the token from the configuration, or the one kept in the
// data directory, made at the first start.
func ownerToken(c *Config) (string, error) {
	if c.Token != "" {
		return c.Token, nil
	}
	name := filepath.Join(c.Data, "token")
	b, err := os.ReadFile(name)
	if err == nil && strings.TrimSpace(string(b)) != "" {
		return strings.TrimSpace(string(b)), nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	token := account.NewToken()
	return token, writeSecret(name, token+"\n")
}

// writeSecret makes a file whole or not at all, readable by its owner alone.
func writeSecret(name, content string) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".token-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err := f.WriteString(content); err != nil {
		f.Close()
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// holder names this process among all that share the store.
func holder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text()[:8])
}
