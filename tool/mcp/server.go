package mcp

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"weir/tool"
)

const (
	firstPause  = time.Second // before a server is started again, then twice that, …
	longPause   = time.Minute
	steady      = time.Minute      // a server that was there so long begins with firstPause again
	pace        = time.Second      // between two readings of a list that changes
	retryList   = 30 * time.Second // after a changed list could not be read
	probeEvery  = 30 * time.Second
	probeWithin = 10 * time.Second
)

// server is one configured server: what is known of it, and the goroutine
// that keeps a connection to it.
type server struct {
	config  Config
	log     *slog.Logger
	scrub   scrubber
	settled chan struct{} // closed when the first start has come to an end
	once    sync.Once
	old     bool // greeted as older servers are; of keep alone

	mu     sync.Mutex
	state  string
	reason string
	known  listing
	link   *link // nil while there is none
}

func newServer(c Config, log *slog.Logger) *server {
	return &server{
		config: c, log: log.With("mcp", c.Name), scrub: newScrubber(c),
		settled: make(chan struct{}), state: tool.ServerStarting,
	}
}

// keep connects, and connects again, until ctx ends.
func (s *server) keep(ctx context.Context) {
	defer s.settle()
	pause := firstPause
	for {
		began := time.Now()
		l, err := s.reach(ctx)
		if err == nil {
			err = s.attend(ctx, l)
		}
		if ctx.Err() != nil {
			s.lost("Weir is shutting down")
			l.close()
			return
		}
		s.lost(l.reason(err))
		l.close()
		s.log.Warn("an mcp server is not there; it is tried again", "reason", s.said().Reason, "pause", pause, s.scrub.err(err))
		if time.Since(began) >= steady {
			pause = firstPause
		}
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return
		}
		pause = min(2*pause, longPause)
	}
}

// reach connects. A server that does not get through the one greeting is
// greeted the other way, and from then on.
func (s *server) reach(ctx context.Context) (*link, error) {
	l, err := connect(ctx, s.config, s.old, s.log, s.scrub)
	if err == nil || l.conn == nil || ctx.Err() != nil || l.meter.flooded() {
		return l, err
	}
	l.close()
	s.old = !s.old
	return connect(ctx, s.config, s.old, s.log, s.scrub)
}

// attend lists the tools of a server and follows them until the connection
// ends, and says why it did.
func (s *server) attend(ctx context.Context, l *link) error {
	read, err := s.list(ctx, l)
	if err != nil {
		return err
	}
	s.ready(l, read)
	ended := make(chan error, 1)
	go func() { ended <- l.wait() }() // ends with the link, which keep closes
	listed := time.Now()
	var due <-chan time.Time
	probe := time.NewTicker(probeEvery)
	defer probe.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-ended:
			return err
		case <-l.changed:
			if due == nil {
				due = time.After(time.Until(listed.Add(pace)))
			}
		case <-due:
			due, listed = nil, time.Now()
			if read, err = s.list(ctx, l); err == nil {
				s.ready(l, read)
			} else if ctx.Err() == nil {
				s.log.Warn("the changed tools of an mcp server cannot be read", s.scrub.err(err))
				due = time.After(retryList)
			}
		case <-l.suspect:
			if err := l.alive(ctx, probeWithin); err != nil {
				return err
			}
		case <-probe.C:
			if l.calls.Load() > 0 {
				continue // many answer nothing else while they work
			}
			if err := l.alive(ctx, probeWithin); err != nil {
				return err
			}
		}
	}
}

func (s *server) ready(l *link, read listing) {
	s.mu.Lock()
	s.state, s.reason, s.known, s.link = tool.ServerReady, "", read, l
	s.mu.Unlock()
	s.settle()
	s.log.Info("an mcp server is ready", "tools", len(read.tools), "left_out", len(read.leftOut))
}

// lost notes that there is no connection. The tools stay: they say so.
func (s *server) lost(reason string) {
	s.mu.Lock()
	s.state, s.reason, s.link = tool.ServerFailed, reason, nil
	s.mu.Unlock()
	s.settle()
}

func (s *server) settle() { s.once.Do(func() { close(s.settled) }) }

// said is what is known of the server, for others to see.
func (s *server) said() tool.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return tool.Server{Name: s.config.Name, State: s.state, Reason: s.reason, Tools: s.known.names, LeftOut: s.known.leftOut}
}

func (s *server) tools() []tool.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known.tools
}

func (s *server) connection() *link {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.link
}

// absent says in one sentence that the server is not there.
func (s *server) absent() string {
	switch v := s.said(); v.State {
	case tool.ServerReady:
		return ""
	case tool.ServerStarting:
		return "the server " + v.Name + " is starting; try again later."
	default:
		return "the server " + v.Name + " is not running; try again later."
	}
}
