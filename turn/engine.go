package turn

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"weir"
	"weir/fact"
	"weir/gate"
	"weir/modelview"
	"weir/tool"
)

// Config is what an Engine needs. Everything from Now on has a default.
type Config struct {
	Store   Store
	Gate    *gate.Gate
	Lowerer *modelview.Lowerer
	Models  Models
	Tools   *tool.Registry
	Facts   *fact.Set
	Live    Publisher

	// Follow is told which conversation has begun to be observed, so that its
	// facts can be watched between boundaries. It may be told again and must
	// not block.
	Follow func(weir.Conversation)

	Now    func() time.Time                                 // what records say; deadlines go by the real clock
	Sleep  func(ctx context.Context, d time.Duration) error // before an attempt is repeated; its error is ctx's
	Rand   func() float64                                   // spreads what is repeated: from 0 to below 1
	Holder string                                           // names this process among all that share the store
	Log    *slog.Logger
	Meter  Meter

	Drains    int // conversations drained at once: 256
	Warm      int // idle conversations whose model view is kept in memory: 64
	Allowance int // steps until a person has to write again: 50

	Lease time.Duration // how long a holder may be silent, renewed three times as often: 15 s
	Sweep time.Duration // how often to look for what is due: 2 s
}

const (
	sweepLimit     = 1000
	checkpointEach = time.Second
	exclusiveWait  = 10 * time.Second
	exclusivePoll  = 50 * time.Millisecond
	attemptTotal   = time.Hour
	persistFor     = 30 * time.Second // for storing an answer
	goodbye        = 5 * time.Second  // for the last writes of a drain that must end
	maxAnswer      = 16 << 20         // bytes of text and reasoning in one answer
	maxResumptions = 10
	blockedPause   = 15 * time.Second // at most, until a blocked baseline is tried again
	toolsReady     = 10 * time.Second // for tools that are not listed yet
)

// Admission is what a person sends.
type Admission struct {
	Conversation weir.ConversationID
	ID           weir.InputID // "" to have one made
	Text         string
	References   []weir.Reference
	Mentions     weir.Mentions
	Delivery     weir.Delivery  // "" is steer
	IfSeq        *weir.Seq      // refuse when the conversation moved on
	Replaces     weir.MessageID // rewind to before this message first
}

// Engine runs turns. Use [New].
type Engine struct {
	cfg    Config
	takes  atomic.Int64 // lease acquisitions, so that no two have one holder's name
	warm   *warmer
	unseen unseen

	mu      sync.Mutex
	state   engineState
	ctx     context.Context // of all drains
	cancel  context.CancelCauseFunc
	slots   map[weir.ConversationID]*slot
	ready   []weir.ConversationID // rung, waiting for a free place
	active  int
	running sync.WaitGroup
}

type engineState uint8

const (
	notStarted engineState = iota
	started
	stopped
)

// errStopping ends drains when the engine stops.
var errStopping = errors.New("turn: the engine stops")

// New makes an engine. Until [Engine.Start] it admits and drains nothing. It
// panics where something is missing without which it could do neither.
func New(cfg Config) *Engine {
	if cfg.Store == nil || cfg.Gate == nil || cfg.Lowerer == nil || cfg.Models == nil || cfg.Facts == nil || cfg.Tools == nil {
		panic("turn: the configuration lacks a part")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Sleep == nil {
		cfg.Sleep = sleep
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Float64
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Meter == nil {
		cfg.Meter = noMeter{}
	}
	if cfg.Holder == "" {
		host, _ := os.Hostname()
		cfg.Holder = host + "/" + strconv.Itoa(os.Getpid())
	}
	if cfg.Drains <= 0 {
		cfg.Drains = 256
	}
	if cfg.Warm <= 0 {
		cfg.Warm = 64
	}
	if cfg.Allowance <= 0 {
		cfg.Allowance = 50
	}
	if cfg.Lease <= 0 {
		cfg.Lease = 15 * time.Second
	}
	if cfg.Sweep <= 0 {
		cfg.Sweep = 2 * time.Second
	}
	return &Engine{cfg: cfg, warm: newWarmer(cfg.Warm), slots: map[weir.ConversationID]*slot{}}
}

// Start begins to drain, and to sweep for what is due; both end with ctx or
// with Stop. Starting twice is starting once; a stopped engine stays stopped.
func (e *Engine) Start(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch e.state {
	case started:
		return nil
	case stopped:
		return errStopping
	}
	e.state = started
	e.ctx, e.cancel = context.WithCancelCause(ctx)
	e.running.Add(1)
	go func() {
		defer e.running.Done()
		e.sweep(e.ctx)
	}()
	return nil
}

// Stop ends all work and waits for it: streams are cut, what they brought is
// checkpointed, leases are released, so that the next process goes on at once.
// It may be called again, and without Start.
func (e *Engine) Stop() {
	e.mu.Lock()
	e.state = stopped
	e.ready = nil
	if e.cancel != nil {
		e.cancel(errStopping)
	}
	e.mu.Unlock()
	e.running.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), goodbye)
	defer cancel()
	if e.cfg.Tools.Wait(ctx) != nil {
		e.cfg.Log.Warn("a tool has not ended with its call")
	}
}

// sweep rings what is due, so that nothing depends on a ring having arrived.
func (e *Engine) sweep(ctx context.Context) {
	tick := time.NewTicker(e.cfg.Sweep)
	defer tick.Stop()
	for {
		due, err := e.cfg.Store.Due(ctx, sweepLimit)
		if err != nil && ctx.Err() == nil {
			e.cfg.Log.Error("look for due conversations", "err", err)
		}
		for _, c := range due {
			e.ringDue(c)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// holder names one acquisition of a lease.
func (e *Engine) holder() string {
	return e.cfg.Holder + "#" + strconv.FormatInt(e.takes.Add(1), 10)
}

func (e *Engine) publish(s weir.Signal) {
	if e.cfg.Live != nil {
		e.cfg.Live.Publish(s)
	}
}

func asFault(err error) (*weir.Error, bool) {
	var f *weir.Error
	ok := errors.As(err, &f)
	return f, ok
}
