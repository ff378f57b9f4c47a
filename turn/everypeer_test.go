package turn_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"weir"
	"weir/gate"
	"weir/lifecycle"
	"weir/model"
	"weir/modelview"
	"weir/store"
	"weir/test/strictpeer/strictpeer"
	"weir/tool"
	"weir/turn"
)

// providers are strict peers of every profile, as [turn.Models]: a model is
// "<profile>/<name>", and one of the home profile unless it is named.
type providers struct {
	home string
	of   map[string]*provider
}

func newProviders(t *testing.T, home string) *providers {
	t.Helper()
	ps := &providers{home: home, of: map[string]*provider{}}
	for _, profile := range strictpeer.Profiles() {
		ps.of[profile] = newProvider(t, profile)
	}
	return ps
}

// Model implements [turn.Models].
func (ps *providers) Model(id string) (model.Profile, model.Client, error) {
	return ps.peer(id).Model(id)
}

// peer is who plays a model.
func (ps *providers) peer(id string) *provider {
	profile, _, _ := strings.Cut(id, "/")
	if p, ok := ps.of[profile]; ok {
		return p
	}
	return ps.of[ps.home]
}

func (ps *providers) each(fn func(profile string, p *provider)) {
	for _, profile := range strictpeer.Profiles() {
		fn(profile, ps.of[profile])
	}
}

// during is what happens while a tool runs: at times somebody writes, or a fact
// changes.
func (w *walk) during(ctx context.Context, e *turn.Engine, c tool.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ran[string(c.Conversation)+" "+c.ID]++
	if w.meanwhile == nil {
		return
	}
	switch w.meanwhile.IntN(4) {
	case 0:
		w.dials[w.meanwhile.IntN(len(w.dials))].set(w.meanwhile.IntN(3))
	case 1:
		in, err := e.Admit(ctx, actor(), turn.Admission{Conversation: c.Conversation, Text: "while a tool runs"})
		if err == nil { // else the process is about to end
			w.sent[in.ID] = in.Text
		}
	}
}

// number is how many messages were sent.
func (w *walk) number() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.sent)
}

// switchModel gives a conversation another model, of any provider.
func (w *walk) switchModel(c weir.ConversationID) {
	w.t.Helper()
	all := strictpeer.Profiles()
	w.change(c, weir.ConversationChange{Model: new(fmt.Sprintf("%s/%d", all[w.r.IntN(len(all))], w.r.IntN(2)))})
}

// life is what people do to conversations beside talking.
func (w *walk) life() *lifecycle.Service {
	return lifecycle.New(lifecycle.Config{
		Store: lifecycle.Over[store.Tx](w.s), Turns: lifecycle.TurnsOver[turn.Tx](w.engine), Live: w.hub,
		Gate: gate.New(gate.Config{Key: []byte("0123456789abcdef0123456789abcdef")}),
	})
}

// somewhere picks a message of a conversation, "" where there is none.
func (w *walk) somewhere(c weir.ConversationID) weir.MessageID {
	w.t.Helper()
	var all []weir.MessageID
	for _, r := range w.records(c) {
		if k := r.Kind(); k == weir.KindUser || k == weir.KindAssistant {
			all = append(all, r.ID)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return all[w.r.IntN(len(all))]
}

// reshape rewinds, takes a rewind back, or branches.
func (w *walk) reshape(c weir.ConversationID) {
	w.t.Helper()
	var err error
	var child weir.Conversation
	switch at, n := w.somewhere(c), w.r.IntN(4); {
	case at == "":
	case n == 0:
		_, err = w.life().UndoRewind(w.t.Context(), actor(), c, nil)
	case n == 1 && len(w.convs) < 6:
		if child, err = w.life().Branch(w.t.Context(), actor(), c, lifecycle.BranchRequest{At: at}); err == nil {
			w.convs = append(w.convs, child.ID)
		}
	default:
		_, err = w.life().Rewind(w.t.Context(), actor(), c, at, w.get(c).HeadSeq)
	}
	switch code := weir.CodeOf(err); {
	case err == nil, code == weir.CodeMoved, code == "cut_invalid", code == "nothing_to_undo", code == "undo_too_late":
	default:
		w.t.Fatal(err)
	}
}

// everyRequestExtends checks each request against the one before it, byte by
// byte: it extends that one, or something happened that excuses it, and the
// ledger says what.
func (w *walk) everyRequestExtends() {
	w.t.Helper()
	l, reasons := modelview.New(), map[weir.BreakReason]int{}
	for _, c := range w.convs {
		conv := w.get(c)
		var before []byte
		var last *weir.StepStart
		happened := map[weir.BreakReason]bool{weir.BreakFirst: true}
		for _, r := range w.records(c) {
			switch b := r.Body.(type) {
			case *weir.Rewind, *weir.Undo:
				happened[weir.BreakRewind] = true
			case *weir.Epoch:
				happened[weir.BreakTools] = true
			case *weir.UserMessage, *weir.Notice, *weir.Update, *weir.ToolResult:
				happened[weir.BreakOpenSection] = true
			case *weir.StepStart:
				body, err := l.Rebuild(w.t.Context(), w.s, &conv, &r)
				if err != nil {
					w.t.Fatalf("the request of step %d of %s: %v", r.Seq, c, err)
				}
				now := bytes.TrimSuffix(unmarked(body), []byte(b.Tail))
				if last != nil && (last.Lowering != b.Lowering || last.Model != b.Model) {
					happened[weir.BreakModel] = true
				}
				reason, extends := b.Ledger.Reason, last != nil && last.Model == b.Model && bytes.HasPrefix(now, before)
				if extends != (reason == "") || reason != "" && !happened[reason] {
					w.t.Errorf("step %d of %s (%s): extends the request before: %v; the ledger says %q; there happened %v\n%s\n%s",
						r.Seq, c, b.Lowering, extends, reason, happened, before, now)
				}
				reasons[reason]++
				before, last, happened = now, b, map[weir.BreakReason]bool{}
			}
		}
	}
	w.t.Logf("requests by the ledger's reason: %v", reasons)
}
