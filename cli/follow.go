package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"weir"
	"weir/client"
)

// follow prints what is said after seq until the step that answers the input
// has settled; without an input, whatever step comes.
func (s *session) follow(ctx context.Context, c *client.Client, target string, input weir.InputID, after weir.Seq) error {
	f := &follower{s: s, target: target, input: input, begun: input == "", calls: map[string]string{}, said: map[string]bool{}}
	query := url.Values{"after": {strconv.FormatInt(int64(after), 10)}}
	err := c.Events(ctx, client.Path("conversations", target, "events"), query, f.event)
	switch {
	case f.failed != nil:
		return f.failed
	case err != nil:
		return err
	case !f.done:
		return fmt.Errorf("the connection ended before the answer did; `weir show %s` has what came (stream_ended)", target)
	}
	return nil
}

// follower watches one conversation until the answer to an input has settled:
// something came that ends a turn, and the conversation is idle.
type follower struct {
	s       *session
	target  string
	input   weir.InputID
	begun   bool // our input has been promoted
	printed bool // deltas of the answer have been printed
	ended   bool // an answer without calls, a failure, or a denial has come
	idle    bool
	done    bool
	failed  error

	calls map[string]string // what the answer calls, by id, in words
	said  map[string]bool   // on standard error
}

func (f *follower) event(e client.Event) error {
	var err error
	switch {
	case e.ID != "":
		var item client.Item
		if err := json.Unmarshal(e.Data, &item); err != nil {
			return err
		}
		f.item(&item, e.Data)
	case e.Name == "delta":
		f.delta(e.Data)
	case e.Name == "snapshot", e.Name == "state":
		var now client.Standing
		if json.Unmarshal(e.Data, &now) == nil && now.State != "" {
			f.idle = now.State != weir.Running
			f.standing(&now)
		}
	case e.Name == "input":
		err = f.rejected(e.Data)
	}
	if err == nil && f.begun && f.ended && f.idle {
		f.done = true
		err = io.EOF
	}
	return err
}

// standing says why nothing comes: on standard error, and each thing once.
func (f *follower) standing(now *client.Standing) {
	switch {
	case now.State == weir.Blocked:
		f.say("waiting until the model can be told " + oneLine(now.WaitingFor))
	case now.State == weir.Waiting && now.WaitingFor == forApproval:
		for _, c := range now.Calls {
			if c.State == weir.CallWaiting && c.Decision == "" {
				what := f.calls[c.Call]
				if what == "" {
					what = oneLine(c.Name)
				}
				f.say(fmt.Sprintf("waiting for your decision about %s: weir approve %s %s, or weir deny", what, f.target, c.Call))
			}
		}
	case f.begun && now.Step != nil && !now.Step.NextTry.IsZero():
		f.say(fmt.Sprintf("attempt %d failed: %s (%s); the next begins at %s", now.Step.Attempts+now.Step.Chained,
			strings.TrimSuffix(oneLine(now.Step.Reason), "."), now.Step.Code, now.Step.NextTry.Local().Format(time.TimeOnly)))
	}
}

func (f *follower) say(words string) {
	if f.said[words] {
		return
	}
	f.said[words] = true
	if f.printed && !f.s.JSON { // deltas stand on an open line
		fmt.Fprintln(f.s.io.Out)
	}
	fmt.Fprintln(f.s.io.Err, words)
}

func (f *follower) delta(data json.RawMessage) {
	var d struct {
		Text string `json:"text"`
	}
	if f.begun && !f.s.JSON && json.Unmarshal(data, &d) == nil && d.Text != "" {
		f.printed = true
		fmt.Fprint(f.s.io.Out, d.Text)
	}
}

func (f *follower) rejected(data json.RawMessage) error {
	var in client.Input
	if json.Unmarshal(data, &in) != nil || in.ID != f.input {
		return nil
	}
	if in.State != weir.Rejected && in.State != weir.Withdrawn {
		return nil
	}
	f.done = true
	f.failed = fmt.Errorf("%s (%s)", in.Reason, in.Code)
	return io.EOF
}

func (f *follower) item(item *client.Item, raw json.RawMessage) {
	if item.Input == f.input && item.Input != "" {
		f.begun = true
	}
	if !f.begun {
		return
	}
	if f.s.JSON {
		fmt.Fprintf(f.s.io.Out, "%s\n", compact(raw))
	}
	switch {
	case item.Kind == weir.KindAssistant:
		f.answer(item)
	case item.Approval != nil && item.Approval.Decision == weir.Deny:
		f.ended = true
		f.failed = fmt.Errorf("the call of %s was denied, and the turn ended there (call_denied)", oneLine(item.Approval.Name))
	case item.Outcome != "" && item.Outcome != string(weir.StepDone):
		f.ended = true
		f.failed = fmt.Errorf("%s (%s)", item.Reason, item.Code)
	}
}

// answer takes what went wrong before it as made good.
func (f *follower) answer(item *client.Item) {
	f.ended, f.failed = !hasCalls(item), nil
	for _, p := range item.Parts {
		if p.Type == weir.PartToolCall {
			f.calls[p.Call] = oneLine(p.Name + " " + clipped(p.Input))
		}
	}
	if !f.s.JSON {
		if !f.printed {
			fmt.Fprint(f.s.io.Out, words(item))
		}
		fmt.Fprintln(f.s.io.Out)
	}
	f.printed = false
}

func hasCalls(item *client.Item) bool {
	for _, p := range item.Parts {
		if p.Type == weir.PartToolCall {
			return true
		}
	}
	return false
}
