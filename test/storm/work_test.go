package storm

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"weir/tool"
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
