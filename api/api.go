// Package api is Weir over HTTP: operations as JSON, what happens as
// server-sent events, the page, and what operators ask.
//
// Promises. Whole or not at all: an answer of 2xx means that what was asked is
// durable; any other answer is a problem (RFC 9457) with a stable code, and
// nothing was stored. Nothing that a client sends makes a 500. Order: the
// events of a conversation come by seq, each once, whatever the number of
// reconnects, and are the same for everyone who watches; deltas come in the
// order of streaming and may be lost. Secrecy: a conversation of another owner
// and one that never was get the same bytes; logs hold ids and codes, never
// texts, titles, labels or queries. Bounds: every request has a size limit and
// a deadline, every stream a buffer; a reader who falls behind is cut off and
// resumes. Concurrency: the handler may be called from any goroutine; it
// starts none of its own.
package api

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"

	"weir"
	"weir/gate"
	"weir/lifecycle"
	"weir/turn"
)

// Store is what the API reads by itself.
type Store interface {
	gate.Reader
	Conversations(ctx context.Context, q weir.ConversationQuery) (weir.Page[weir.Conversation], error)
	Records(ctx context.Context, c *weir.Conversation, q weir.RecordQuery) ([]weir.Record, error)
	Input(ctx context.Context, c weir.ConversationID, id weir.InputID) (weir.Input, error)
	Inputs(ctx context.Context, c weir.ConversationID, limit int) ([]weir.Input, error)
	Step(ctx context.Context, c weir.ConversationID, id weir.StepID) (weir.Step, error)
	Steps(ctx context.Context, c weir.ConversationID, before weir.Seq, limit int) ([]weir.Step, error)
	UnsettledStep(ctx context.Context, c weir.ConversationID) (weir.Step, error)
	Calls(ctx context.Context, c weir.ConversationID, step weir.StepID) ([]weir.Call, error)
	Artefact(ctx context.Context, c *weir.Conversation, id weir.ArtefactID) (weir.Artefact, error)
	ToolRules(ctx context.Context, owner weir.OwnerID) ([]weir.ToolRule, error)
	ClientFacts(ctx context.Context, scopes ...weir.ChangeScope) ([]weir.ClientFact, error)
	Flows(ctx context.Context, q weir.FlowQuery) (weir.Page[weir.Flow], error)
}

// Answers remembers what was answered to a POST with an Idempotency-Key.
type Answers interface {
	Answer(ctx context.Context, owner weir.OwnerID, route, key string) (weir.IdempotentAnswer, error)
	RememberAnswer(ctx context.Context, owner weir.OwnerID, route, key string, a weir.IdempotentAnswer) error
}

// Turns is what people do to a running conversation.
type Turns interface {
	Admit(ctx context.Context, a weir.Actor, ad turn.Admission) (weir.Input, error)
	Edit(ctx context.Context, a weir.Actor, ad turn.Admission, revision int64) (weir.Input, error)
	Withdraw(ctx context.Context, a weir.Actor, c weir.ConversationID, id weir.InputID) (weir.Input, error)
	SetDelivery(ctx context.Context, a weir.Actor, c weir.ConversationID, id weir.InputID, d weir.Delivery, revision int64) (weir.Input, error)
	Retry(ctx context.Context, a weir.Actor, c weir.ConversationID, ifSeq *weir.Seq) error
	Interrupt(ctx context.Context, a weir.Actor, c weir.ConversationID, then weir.Delivery) error
	Move(ctx context.Context, a weir.Actor, c weir.ConversationID, id, before weir.InputID, revision int64) (weir.Input, error)
	Decide(ctx context.Context, a weir.Actor, c weir.ConversationID, call string, d weir.Decision, remember bool) error
	Partial(c weir.ConversationID) (weir.StepID, string)
}

// Facts is what models are told with authority.
type Facts interface {
	Context(ctx context.Context, a weir.Actor, c weir.ConversationID) (turn.Context, error)
	PutFact(ctx context.Context, a weir.Actor, c weir.ConversationID, f weir.ClientFact) error
	DeleteFact(ctx context.Context, a weir.Actor, c weir.ConversationID, key string, at time.Time) error
	NewEpoch(ctx context.Context, a weir.Actor, c weir.ConversationID, ifSeq *weir.Seq) error
	Noticed(ctx context.Context, c weir.ConversationID, keys ...string) error
}

// Lifecycle is what people do to a conversation as a whole.
type Lifecycle interface {
	Create(ctx context.Context, a weir.Actor, n lifecycle.NewConversation) (weir.Conversation, error)
	Branch(ctx context.Context, a weir.Actor, c weir.ConversationID, b lifecycle.BranchRequest) (weir.Conversation, error)
	Rewind(ctx context.Context, a weir.Actor, c weir.ConversationID, to weir.MessageID, ifSeq weir.Seq) (weir.Record, error)
	UndoRewind(ctx context.Context, a weir.Actor, c weir.ConversationID, ifSeq *weir.Seq) (weir.Record, error)
	Change(ctx context.Context, a weir.Actor, c weir.ConversationID, ch lifecycle.Change) (weir.Conversation, error)
	Delete(ctx context.Context, a weir.Actor, c weir.ConversationID, branches string) (lifecycle.Deletion, error)
}

// Gate previews what would pass and lists what may be referenced.
type Gate interface {
	Preview(ctx context.Context, r gate.Reader, a weir.Actor, target weir.ConversationID, ref weir.Reference) (gate.Preview, error)
	Candidates(ctx context.Context, r gate.Reader, a weir.Actor, target weir.ConversationID, words string, limit int) ([]gate.Candidate, error)
}

// Account says who asks, and keeps browsers' sessions.
type Account interface {
	Actor(r *http.Request) (weir.Actor, error)
	SignIn(ctx context.Context, code string, secure bool) (*http.Cookie, error)
	SignInWithToken(ctx context.Context, token string, secure bool) (*http.Cookie, error)
	SignOut(r *http.Request, secure bool) (*http.Cookie, error)
}

// Live carries what is new to those who watch.
type Live interface {
	Subscribe(c weir.ConversationID, buffer int) (<-chan weir.Signal, func())
}

// Rebuild makes the exact bytes of a step's request from the log and checks
// them against the digest; code request_mismatch when they differ.
type Rebuild func(ctx context.Context, c *weir.Conversation, start *weir.Record) ([]byte, error)

// ImportOptions is what is said about a transcript beside its bytes.
type ImportOptions struct {
	Format   string // "" to recognise it by content
	DryRun   bool
	Level    weir.Level // "" is open
	Category string
	File     string // its name, for the record of where it came from
}

// Import reads a transcript of another product and returns a report, which is
// answered as JSON.
type Import func(ctx context.Context, a weir.Actor, o ImportOptions, transcript io.Reader) (any, error)

// Rule sets a person's standing decision about a tool.
type Rule func(ctx context.Context, r weir.ToolRule) error

// Config is what the API needs. All up to Rebuild must be set.
type Config struct {
	Store     Store
	Answers   Answers // see AnswersOver
	Turns     Turns
	Facts     Facts
	Lifecycle Lifecycle
	Gate      Gate
	Account   Account
	Live      Live
	Rebuild   Rebuild

	Import Import                        // nil: no imports
	Models func() []Model                // all that are known
	Tools  func() ([]Tool, []ToolServer) // all that models may call, by name, and where those come from; nil: none
	// Refresh asks the providers what models they have; nil: none is asked.
	Refresh func(ctx context.Context) ([]Refreshed, error)
	Rule    Rule                            // nil: nobody's rules about tools can be set
	Web     fs.FS                           // the page: index.html and all that it names
	Hosts   []string                        // names beside the loopback ones under which the server is reached, without ports
	Ready   func(ctx context.Context) error // whether the store can be reached; nil: it can

	Metrics   *prometheus.Registry // nil: a new one
	Version   string
	Log       *slog.Logger
	Heartbeat time.Duration // between comments on a silent stream: 15 s
	Streams   int           // event streams at once: 4096
}

type server struct {
	cfg     Config
	mux     *http.ServeMux
	huma    huma.API
	metrics *metrics
	keys    *keyLocks
	hosts   map[string]bool
}

// New returns the handler of everything that the server serves. Cancel the
// context of its requests (http.Server.BaseContext) to end the event streams;
// [NewServer] does.
func New(cfg Config) (http.Handler, error) {
	if cfg.Store == nil || cfg.Answers == nil || cfg.Turns == nil || cfg.Facts == nil || cfg.Lifecycle == nil ||
		cfg.Gate == nil || cfg.Account == nil || cfg.Live == nil || cfg.Rebuild == nil {
		return nil, errors.New("api: the configuration lacks a service")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Metrics == nil {
		cfg.Metrics = prometheus.NewRegistry()
	}
	if cfg.Heartbeat <= 0 {
		cfg.Heartbeat = 15 * time.Second
	}
	if cfg.Streams <= 0 {
		cfg.Streams = 4096
	}
	s := &server{cfg: cfg, mux: http.NewServeMux(), keys: newKeyLocks(), hosts: hostNames(cfg.Hosts)}
	var err error
	if s.metrics, err = newMetrics(cfg.Metrics); err != nil {
		return nil, err
	}
	s.huma = newHuma(s.mux, cfg.Version)
	s.conversationRoutes()
	s.messageRoutes()
	s.inputRoutes()
	s.callRoutes()
	s.contextRoutes()
	s.gateRoutes()
	s.stepRoutes()
	s.eventRoutes()
	s.importRoutes()
	s.modelRoutes()
	s.toolRoutes()
	s.sessionRoutes()
	s.operatorRoutes()
	if err := s.docRoutes(); err != nil {
		return nil, err
	}
	if err := s.pageRoutes(); err != nil {
		return nil, err
	}
	return s.chain(), nil
}

// NewServer returns a server for a handler of [New], with limits on what a
// client may make it wait for. Ending ctx ends the event streams, so that
// Shutdown need not wait for them.
func NewServer(ctx context.Context, h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		BaseContext:       baseContext(ctx),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
}
