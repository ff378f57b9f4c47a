package mcp

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	startTimeout = 30 * time.Second // to answer and to list the tools
	farewell     = 6 * time.Second  // for the end of a session over HTTP
	legacy       = "2025-11-25"     // begins with initialize, not with a question
)

// link is one connection to a server, from its start to its end.
type link struct {
	session *sdk.ClientSession
	meter   *meter
	conn    sdk.Connection // below the session
	process *process       // of a command
	wire    *wire          // of an address

	open    context.Context // calls end with it
	shut    context.CancelFunc
	changed chan struct{} // the server says that its tools changed
	suspect chan struct{} // a call failed for want of a connection
	calls   atomic.Int64  // under way
	cut     context.CancelFunc
	once    sync.Once
}

// connect starts or reaches the server and shakes hands. Some servers do not
// survive the question that newer ones are greeted with: old greets them as
// older ones are.
func connect(ctx context.Context, c Config, old bool, log *slog.Logger, s scrubber) (*link, error) {
	l := &link{changed: make(chan struct{}, 1), suspect: make(chan struct{}, 1)}
	l.meter = newMeter(l.abort)
	l.open, l.shut = context.WithCancel(context.Background())
	transport, err := l.transport(c, log, s)
	if err != nil {
		l.close()
		return l, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	// A child that does not read would hold up more than the context ends.
	stop := context.AfterFunc(ctx, l.abort)
	defer stop()
	options := &sdk.ClientSessionOptions{}
	if old {
		options.ProtocolVersion = legacy
	}
	l.session, err = l.client().Connect(ctx, &tapped{transport, l}, options)
	if err != nil {
		if ctx.Err() != nil {
			err = errors.Join(ctx.Err(), err)
		}
		return l, err
	}
	return l, nil
}

func (l *link) transport(c Config, log *slog.Logger, s scrubber) (sdk.Transport, error) {
	hard, cut := context.WithCancel(context.Background())
	l.cut = cut
	if c.URL == "" {
		p, err := startProcess(c, log, s)
		if err != nil {
			return nil, err
		}
		l.process = p
		out := &metered{ReadCloser: p.out, meter: l.meter, byLines: true}
		return &sdk.IOTransport{Reader: out, Writer: input{p.in}, MaxLineLength: maxMessageBytes}, nil
	}
	w, err := newWire(hard, c, l.meter)
	if err != nil {
		return nil, err
	}
	l.wire = w
	return &sdk.StreamableClientTransport{Endpoint: c.URL, HTTPClient: w.client(), MaxEventSize: maxMessageBytes}, nil
}

// client makes the SDK's client: it offers servers nothing but to call their
// tools, so that whatever else they ask for is refused.
func (l *link) client() *sdk.Client {
	return sdk.NewClient(&sdk.Implementation{Name: "weir", Version: "1"}, &sdk.ClientOptions{
		Capabilities:   &sdk.ClientCapabilities{},
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			signal(l.changed)
		},
	})
}

// wait returns when the connection has ended by itself.
func (l *link) wait() error { return l.session.Wait() }

// alive asks for a sign of life. A server that refuses to answer answers.
func (l *link) alive(ctx context.Context, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err := l.session.Ping(ctx, nil)
	if _, said := answered(err); said {
		return nil
	}
	return err
}

// abort ends at once what the connection may hang in.
func (l *link) abort() {
	l.cut()
	if l.process != nil {
		killGroup(l.process.cmd)
	}
}

// close ends calls, says farewell, and returns when nothing of the connection
// is left.
func (l *link) close() {
	l.once.Do(func() {
		l.shut()
		if l.process != nil {
			l.process.stop()
		}
		t := time.AfterFunc(farewell, l.cut)
		if l.session != nil {
			_ = l.session.Close() // over: how does not matter
		}
		if l.conn != nil { // a handshake that failed may leave it open
			_ = l.conn.Close()
		}
		t.Stop()
		l.cut()
		if l.wire != nil {
			l.wire.base.CloseIdleConnections()
		}
	})
}

// status is the HTTP status of the last refusal, or 0.
func (l *link) status() int {
	if l.wire == nil {
		return 0
	}
	return int(l.wire.failed.Load())
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// tapped is a transport that leaves its connection with the link.
type tapped struct {
	sdk.Transport
	link *link
}

func (t *tapped) Connect(ctx context.Context) (sdk.Connection, error) {
	conn, err := t.Transport.Connect(ctx)
	if err == nil {
		t.link.conn = conn
	}
	return conn, err
}
