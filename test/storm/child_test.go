package storm

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"weir"
	"weir/fact"
	"weir/fact/builtin"
	"weir/gate"
	"weir/live"
	"weir/model"
	"weir/model/anthropic"
	"weir/modelview"
	"weir/store"
	"weir/tool"
	"weir/turn"
)

const (
	owner   = weir.OwnerID("max")
	factKey = "storm/weather"
)

// order is one line that the parent writes, word one line that it reads.
type order struct {
	ID           weir.InputID        `json:"id"`
	Conversation weir.ConversationID `json:"conversation"`
	Text         string              `json:"text"`
	Delivery     weir.Delivery       `json:"delivery"`
	Pointer      weir.ConversationID `json:"pointer,omitempty"`
	Fact         int                 `json:"fact,omitempty"` // a value of a fact, kept before
}

type word struct {
	Ready    bool         `json:"ready,omitempty"`
	Ack      weir.InputID `json:"ack,omitempty"`
	Position int64        `json:"position,omitempty"`
	Error    string       `json:"error,omitempty"`
}

// models are one model behind the parent's strict peer.
type models struct{ client model.Client }

func (m models) Model(string) (model.Profile, model.Client, error) {
	return model.Profile{
		ID: "peer/claude", Provider: "peer", Name: "claude", Dialect: model.Anthropic,
		MidSystem: model.MidNative, ContextWindow: 200_000, MaxOutput: 4096,
	}, m.client, nil
}

// child is the process that is killed. It ends by itself, cleanly, when its
// standard input does.
func child() error {
	ctx := context.Background()
	max := weir.Actor{Owner: owner, Name: "Max", Door: "api", MayConfirm: true}
	s, err := store.Open(ctx, os.Getenv("WEIR_STORM_STORE"))
	if err != nil {
		return err
	}
	defer s.Close()
	e, err := engine(s, os.Getenv("WEIR_STORM_PROVIDER"))
	if err != nil {
		return err
	}
	if err := e.Start(ctx); err != nil {
		return err
	}
	defer e.Stop()
	var mu sync.Mutex
	out := json.NewEncoder(os.Stdout)
	say := func(w word) {
		mu.Lock()
		defer mu.Unlock()
		out.Encode(w)
	}
	say(word{Ready: true})
	var deciding sync.WaitGroup
	defer deciding.Wait()
	until, decided := context.WithCancel(ctx)
	defer decided()
	deciding.Go(func() { decide(until, s, e) })
	var sending sync.WaitGroup
	defer sending.Wait()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var o order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return err
		}
		sending.Go(func() {
			if o.Fact != 0 {
				if err := e.PutFact(ctx, max, o.Conversation, weir.ClientFact{Key: factKey, Value: json.RawMessage(strconv.Itoa(o.Fact))}); err != nil {
					say(word{Error: fmt.Sprintf("the fact before %s: %v", o.ID, err)})
					return
				}
			}
			in, err := e.Admit(ctx, max, o.admission())
			if err != nil {
				say(word{Error: fmt.Sprintf("%s: %v", o.ID, err)})
				return
			}
			say(word{Ack: in.ID, Position: in.Position})
		})
	}
	return lines.Err()
}

func (o *order) admission() turn.Admission {
	ad := turn.Admission{Conversation: o.Conversation, ID: o.ID, Text: o.Text, Delivery: o.Delivery}
	if o.Pointer != "" {
		ad.References = []weir.Reference{{Type: weir.Pointer, Conversation: o.Pointer}}
	}
	return ad
}

func engine(s store.Store, provider string) (*turn.Engine, error) {
	facts, err := fact.Compose(builtin.Agent(func(context.Context, weir.OwnerID) (string, error) { return "Max", nil }))
	if err != nil {
		return nil, err
	}
	tools, err := tool.NewRegistry(tool.Limits{}, work{name: "work"}, work{name: "work_alone", alone: true}, asking{work{name: "work_ask"}})
	if err != nil {
		return nil, err
	}
	return turn.New(turn.Config{
		Store:   turn.Over[store.Tx](s),
		Gate:    gate.New(gate.Config{Key: []byte("0123456789abcdef0123456789abcdef")}),
		Lowerer: modelview.New(),
		Models:  models{anthropic.New(provider, "key", &http.Client{})},
		Tools:   tools,
		Facts:   facts,
		Live:    live.NewHub(),
		Log:     slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
		// A dead holder's lease has to run out on PostgreSQL; the storm has no
		// fifteen seconds to spare for each.
		Lease: lease,
		Sweep: 100 * time.Millisecond,
	}), nil
}
