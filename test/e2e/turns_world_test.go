package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"weir"
	"weir/account"
	"weir/app"
	"weir/modelview"
	"weir/store"
	"weir/test/toolserver"
	"weir/turn"
)

// send sends a message and does not wait for its answer.
func (w *world) send(c, text string, more ...m) (input string) {
	w.Helper()
	body := m{"text": text}
	for _, add := range more {
		body = with(body, add)
	}
	return w.post(at(c, "messages"), body).is(202).object()["input"].(m)["id"].(string)
}

// until waits, looking whenever anything of c changes.
func (w *world) until(c, what string, done func() bool) {
	w.Helper()
	s := w.watch(c, 0)
	defer s.close()
	for !done() {
		if _, ok := s.try(); !ok {
			w.Fatalf("%s: it did not come to pass; the conversation is %s", what, w.get(at(c)).body)
		}
	}
}

// rests waits until nothing of c is due and nobody works on it.
func (w *world) rests(c string) {
	w.Helper()
	w.until(c, "the conversation rests", func() bool {
		return len(w.pending(c)) == 0 && w.state(c) == "idle" // in this order: what is promoted makes it run
	})
}

func (w *world) state(c string) string {
	w.Helper()
	return w.get(at(c)).is(200).object()["state"].(string)
}

// pending are the texts that wait, in order.
func (w *world) pending(c string) (texts []string) {
	w.Helper()
	var page struct{ Items []m }
	w.get(at(c, "inputs")).is(200).into(&page)
	for _, in := range page.Items {
		if in["state"] == "pending" {
			texts = append(texts, in["text"].(string))
		}
	}
	return texts
}

// step is one of a conversation's steps as the API lists them.
type step struct {
	ID, State, Code, Reason, Model string
	Attempts                       int
	Ledger                         struct{ Reason string }
}

// steps are a conversation's, oldest first.
func (w *world) steps(c string) []step {
	w.Helper()
	var page struct{ Items []step }
	w.get(at(c, "steps") + "?limit=200").is(200).into(&page)
	slices.Reverse(page.Items)
	return page.Items
}

// wire is a request as a reader of it would tell it: a line for each block.
type wire struct {
	System, Prefix string // the head's text; everything up to the last message, without cache marks
	Lines          []string
}

// said are the lines after the last answer.
func (r wire) said() []string {
	last := 0
	for i, l := range r.Lines {
		if strings.HasPrefix(l, "assistant") {
			last = i + 1
		}
	}
	return r.Lines[last:]
}

// requests are those of conversations that began with a text, in order.
func (w *world) requests(first string) (all []wire) {
	w.Helper()
	for _, body := range w.peer.Bodies() {
		r := w.read(body)
		if len(r.Lines) > 0 && strings.Contains(r.Lines[0], first) {
			all = append(all, r)
		}
	}
	return all
}

func (w *world) read(body []byte) wire {
	w.Helper()
	unmarked := strings.ReplaceAll(string(body), `,"cache_control":{"type":"ephemeral"}`, "")
	var in struct {
		System   json.RawMessage
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	w.must(json.Unmarshal([]byte(unmarked), &in))
	prefix, _, _ := strings.Cut(unmarked, `],"max_tokens":`)
	r := wire{System: string(in.System), Prefix: prefix}
	for _, msg := range in.Messages {
		r.Lines = append(r.Lines, w.lines(msg.Role, msg.Content)...)
	}
	return r
}

func (w *world) lines(role string, content json.RawMessage) (lines []string) {
	w.Helper()
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []string{role + ": " + text}
	}
	var blocks []struct {
		Type, Text, Name, ID string
		Input                json.RawMessage
		Content              json.RawMessage
		ToolUseID            string `json:"tool_use_id"`
	}
	w.must(json.Unmarshal(content, &blocks))
	for _, b := range blocks {
		switch b.Type {
		case "text":
			lines = append(lines, role+": "+b.Text)
		case "tool_use":
			lines = append(lines, fmt.Sprintf("%s calls %s %s", role, b.Name, b.Input))
		case "tool_result":
			lines = append(lines, w.lines("result", b.Content)...)
		}
	}
	return lines
}

// told are the texts of system messages among lines.
func told(lines []string) (texts []string) {
	for _, l := range lines {
		if text, ok := strings.CutPrefix(l, "system: "); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// accepted fails when the provider refused anything.
func (w *world) accepted() {
	w.Helper()
	if refused := w.peer.Refusals(); len(refused) > 0 {
		w.Errorf("the peer refused: %v", refused)
	}
}

// verified stops the server and verifies what it leaves.
func (w *world) verified() {
	w.Helper()
	w.stop()
	where := w.cfg.Store
	if where == "" {
		where = w.cfg.Data
	}
	s, err := store.OpenReadOnly(w.Context(), where)
	w.must(err)
	defer s.Close()
	owner, err := s.Setting(w.Context(), account.OwnerSetting)
	w.must(err)
	report, err := turn.Verify(w.Context(), s, modelview.New(), weir.OwnerID(owner))
	w.must(err)
	for _, d := range report.Differences {
		w.Errorf("verify: %s at %d: %s %s", d.Conversation, d.Seq, d.What, d.Detail)
	}
}

// withTools starts the server anew with a server of tools, whose calls run as
// approval says.
func (w *world) withTools(approval string) *toolserver.Server {
	w.Helper()
	s := toolserver.New(w)
	w.cfg.MCP = []app.MCP{{Name: "t", URL: s.URL, Approval: approval}}
	w.restart()
	return s
}
