package turn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"weir"
	"weir/fact"
	"weir/store"
	"weir/test/race"
	"weir/test/stores"
	"weir/test/strictpeer/strictpeer"
	"weir/tool"
)

// long is a conversation of many turns in which facts change, get lost and come
// back, the server restarts and the model is switched. It keeps its own account
// of what the model has to be told.
type long struct {
	*world
	r        *rand.Rand
	provider *provider
	c        weir.ConversationID
	turns    int
	all      int // how many changes there are in them
	dials    []*dial

	mu      sync.Mutex
	clock   time.Time
	changes int
	lost    int
	told    map[string]string // by key; missing: nothing
	account []string
}

const (
	longTurns   = 300
	longChanges = 100
)

func TestNoByteChangesInThreeHundredTurnsWithAHundredChanges(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("WEIR_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("WEIR_SEED=%d", seed)
	for _, profile := range []string{strictpeer.Anthropic, strictpeer.AnthropicOld, strictpeer.Responses, strictpeer.OpenAIChat} {
		t.Run(profile, func(t *testing.T) {
			run := func(t *testing.T, s store.Store) {
				l := &long{
					world: newWorld(t, s), r: rand.New(rand.NewPCG(seed, 1)), provider: newProvider(t, profile),
					turns: longTurns, all: longChanges, clock: time.Now().Add(-24 * time.Hour), told: map[string]string{},
				}
				if race.Enabled || profile == strictpeer.Responses && os.Getenv("WEIR_STORM") != "full" {
					l.turns, l.all = longTurns/5, longChanges/5
				}
				l.begin()
				l.c = l.conversation("c")
				for i := range l.turns {
					l.turn(i)
				}
				l.engine.Stop()
				l.prove()
			}
			if profile == strictpeer.Anthropic {
				stores.Each(t, run)
			} else {
				run(t, stores.SQLite(t))
			}
		})
	}
}

// begin starts an engine, as a new process would.
func (l *long) begin() {
	l.t.Helper()
	if l.dials == nil {
		for i := range 5 {
			l.dials = append(l.dials, newDial(fmt.Sprint("test/", i), 0))
		}
	}
	l.engine = l.another(withModels(l.provider), withDials(l.dials...), withTools(fakeTool{name: "work", run: l.work}))
	l.start()
}

func (l *long) turn(i int) {
	l.t.Helper()
	switch {
	case i%40 == 39:
		l.engine.Stop()
		l.begin()
	case i == l.turns/2:
		other := "two"
		l.change(l.c, weir.ConversationChange{Model: &other})
	}
	l.mu.Lock()
	for l.due(i) {
		l.happens()
	}
	l.boundary()
	l.mu.Unlock()
	if l.r.IntN(4) == 0 {
		l.provider.Script(strictpeer.Answer{strictpeer.Think("hm"), strictpeer.Call("call_"+strconv.Itoa(i), "work", `{}`)})
	}
	l.send(l.c, fmt.Sprint("message ", i))
	l.rests(l.c)
}

// due reports whether changes are behind what they should be by turn i.
func (l *long) due(i int) bool { return l.changes*l.turns < i*l.all && l.changes < l.all }

// work is a tool under which a fact may change.
func (l *long) work(context.Context, tool.Call) (tool.Result, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changes < l.all && l.r.IntN(2) == 0 {
		l.happens()
	}
	l.boundary()
	return tool.Result{Text: "worked"}, nil
}

// happens changes one fact, to another value or none, or hides it.
func (l *long) happens() {
	d := l.dials[l.r.IntN(len(l.dials))]
	l.clock = l.clock.Add(time.Second)
	if l.r.IntN(6) == 0 {
		l.lost++
		d.lost()
		return
	}
	l.changes++
	switch l.r.IntN(5) {
	case 0:
		d.turn(fact.Observation{State: fact.Absent, At: l.clock})
	default:
		d.setAt(l.changes, l.clock)
	}
}

// boundary enters in the account what has to be told now.
func (l *long) boundary() {
	type change struct {
		at  time.Time
		say string
	}
	var due []change
	first := len(l.account) == 0 && len(l.told) == 0
	for _, d := range l.dials {
		o := d.o
		was, known := l.told[d.key]
		is := string(o.Value)
		switch {
		case o.State == fact.Unavailable, o.State == fact.Absent && !known, o.State == fact.Present && known && was == is:
			continue
		case o.State == fact.Absent:
			delete(l.told, d.key)
			due = append(due, change{o.At, fmt.Sprintf("%s no longer applies (was %s)", d.key, was)})
			continue
		case known:
			due = append(due, change{o.At, fmt.Sprintf("%s is now %s (was %s)", d.key, is, was)})
		default:
			due = append(due, change{o.At, fmt.Sprintf("%s is %s", d.key, is)})
		}
		l.told[d.key] = is
	}
	if first {
		return // in the baseline
	}
	slices.SortStableFunc(due, func(a, b change) int { return a.at.Compare(b.at) })
	for _, c := range due {
		l.account = append(l.account, c.say)
	}
}

// prove compares what was sent with the account, and each request with the one
// before it, byte by byte.
func (l *long) prove() {
	l.t.Helper()
	for _, refusal := range l.provider.Refusals() {
		l.t.Errorf("the peer refused: %s", refusal)
	}
	want(l.t.(*testing.T), l.world.told(l.c), l.account...)
	l.clean()
	var starts []*weir.StepStart
	var baseline string
	for _, r := range l.records(l.c) {
		switch b := r.Body.(type) {
		case *weir.StepStart:
			starts = append(starts, b)
		case *weir.Epoch:
			if baseline != "" {
				l.t.Error("there is a second epoch")
			}
			baseline = b.Baseline
		}
	}
	bodies := l.provider.Bodies()
	if len(bodies) != len(starts) || len(bodies) < l.turns || l.changes != l.all || l.lost == 0 {
		l.t.Fatalf("%d requests of %d steps arrived; %d changes, %d of them losses", len(bodies), len(starts), l.changes, l.lost)
	}
	spelled, _ := json.Marshal(baseline)
	var before []byte
	model, switches := "", 0
	for i, body := range bodies {
		now := unmarked(body)
		now = bytes.TrimSuffix(now, []byte(starts[i].Tail))
		if !bytes.Contains(now, bytes.Trim(spelled, `"`)) {
			l.t.Fatalf("request %d lacks the baseline", i)
		}
		if starts[i].Model != model && i > 0 {
			switches++
			l.reason(i, starts[i], weir.BreakModel)
			// Lowered afresh: what the other model signed stays with it.
			for _, list := range []string{`,"messages":[`, `,"input":[`} {
				before, _, _ = bytes.Cut(before, []byte(list))
			}
			before = bytes.Replace(before, []byte(`"model":"one"`), []byte(`"model":"two"`), 1)
		} else if i > 0 {
			l.reason(i, starts[i], "")
		}
		model = starts[i].Model
		if !bytes.HasPrefix(now, before) {
			at := 0
			for at < len(now) && at < len(before) && now[at] == before[at] {
				at++
			}
			l.t.Fatalf("request %d does not extend the one before: they part at byte %d of %d:\n%s\n%s", i, at, len(before), before[at:], now[at:])
		}
		before = now
	}
	if switches != 1 {
		l.t.Errorf("the model was switched %d times", switches)
	}
	l.t.Logf("%d requests, each a continuation of the one before; %d updates of %d changes, %d losses; the last has %d bytes",
		len(bodies), len(l.account), l.changes, l.lost, len(before))
}

func (l *long) reason(i int, s *weir.StepStart, want weir.BreakReason) {
	l.t.Helper()
	if s.Ledger.Reason != want {
		l.t.Errorf("the ledger of request %d says %q, want %q", i, s.Ledger.Reason, want)
	}
}

// unmarked takes out the cache marks, which are no part of what is said.
func unmarked(body []byte) []byte {
	return []byte(strings.ReplaceAll(string(body), `,"cache_control":{"type":"ephemeral"}`, ""))
}
