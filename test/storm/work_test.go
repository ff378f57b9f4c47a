package storm

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"weir"
	"weir/store"
	"weir/tool"
	"weir/turn"
)

// worked is how the result of a tool that ran to its end begins.
const worked = "worked"

// work is a tool that notes durably that it runs, before it does anything. A
// call that ran twice is in the notes twice.
type work struct {
	name  string
	alone bool
}

func (w work) Alone() bool { return w.alone }

func (w work) Definition() tool.Definition {
	return tool.Definition{
		Name: w.name, Description: "Works for a while.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"ms":{"type":"integer"},"bytes":{"type":"integer"}}}`),
	}
}

func (w work) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in struct{ MS, Bytes int }
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return tool.Result{}, err
	}
	if err := note(fmt.Sprintf("%s %s", c.Conversation, c.ID)); err != nil {
		return tool.Result{}, err
	}
	timer := time.NewTimer(time.Duration(in.MS) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return tool.Result{}, ctx.Err()
	}
	return tool.Result{Text: worked + strings.Repeat(" hard", in.Bytes/5)}, nil
}

// asking is work for which a person is asked.
type asking struct{ work }

func (asking) Consent() tool.Consent { return weir.Ask }

// denied says what the person decides about a call, the same however often he
// is asked.
func denied(call string) bool { return len(call) > 0 && call[len(call)-1] == '7' }

// decide is that person: he looks again and again and decides about what waits.
func decide(ctx context.Context, s store.Store, e *turn.Engine) {
	tick := time.NewTicker(15 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		for i := range conversations {
			waiting, _ := s.WaitingCalls(ctx, conversation(i))
			for _, call := range waiting {
				if call.Decision != "" {
					continue
				}
				d := weir.Allow
				if denied(call.ID) {
					d = weir.Deny
				}
				err := e.Decide(ctx, weir.Actor{Owner: owner, Name: "Max", Door: "api", MayConfirm: true}, conversation(i), call.ID, d, false)
				if err != nil && ctx.Err() == nil && weir.KindOf(err) != weir.NotFound {
					fmt.Fprintln(os.Stderr, "storm child: decide:", err)
				}
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// note adds a line in one write, which a kill does not take back.
func note(line string) error {
	f, err := os.OpenFile(os.Getenv("WEIR_STORM_RUNS"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(line + "\n")
	return err
}
