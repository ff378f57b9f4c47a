package turn_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"weir"
	"weir/model"
	"weir/store"
	"weir/test/stores"
)

func TestMain(m *testing.M) {
	// The private PostgreSQL cluster lives as long as the test process.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("weir/test/pgcluster.(*logTail).read"))
}

func want(t *testing.T, got []string, lines ...string) {
	t.Helper()
	if d := cmp.Diff(lines, got); d != "" {
		t.Errorf("the transcript differs (-want +got):\n%s", d)
	}
}

func TestAMessageIsAnswered(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s).start()
		c := w.conversation("c")
		in := w.send(c, "Which port did we pick?")
		if in.State != weir.Pending || in.Revision != 1 || in.Delivery != weir.Steer {
			t.Errorf("the receipt is %+v", in)
		}
		a := w.next()
		a.has(t, "Max", "Which port did we pick?")
		a.say("Port ").say("8080.").end()
		w.rests(c)
		want(t, w.transcript(c), "title: Which port did we pick?", "user: Which port did we pick?", "step", "assistant: Port 8080.", "end done")

		b := w.asks(c, "And the host?")
		b.has(t, "Which port did we pick?", "Port 8080.", "And the host?")
		b.say("localhost").end()
		w.rests(c)
		w.clean()
	})
}

func TestAFailedStepLeavesTheConversationUsable(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s).start()
		c := w.conversation("c")
		w.asks(c, "one").fail(model.FailAuth, "invalid x-api-key")
		w.rests(c)
		w.asks(c, "two").say("half an ans").fail(model.FailRefused, "no")
		w.rests(c)
		a := w.asks(c, "three")
		a.has(t, "one", "two", "half an ans", "three")
		a.say("whole").end()
		w.rests(c)
		want(t, w.transcript(c),
			"title: one", "user: one", "step", "end failed provider_auth",
			"user: two", "step", "assistant, cut off: half an ans", "end failed provider_refused_request",
			"user: three", "step", "assistant: whole", "end done")
		w.clean()
	})
}
