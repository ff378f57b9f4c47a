package live_test

import (
	"fmt"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"weir"
	"weir/live"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestASignalReachesThoseWhoWatchItsConversationAndThoseWhoWatchAll(t *testing.T) {
	h := live.NewHub()
	a, stopA := h.Subscribe("a", 8)
	b, stopB := h.Subscribe("b", 8)
	all, stopAll := h.Subscribe("", 8)

	h.Publish(live.Signal{Conversation: "a", Head: 7})

	stopA()
	stopB()
	stopAll()
	if got := drain(a); len(got) != 1 || got[0].Head != 7 {
		t.Errorf("a's watcher got %v", got)
	}
	if got := drain(b); len(got) != 0 {
		t.Errorf("b's watcher got %v, which is a's", got)
	}
	if got := drain(all); len(got) != 1 || got[0].Conversation != "a" {
		t.Errorf("who watches all got %v", got)
	}
}

func TestThoseWhoWatchAllGetNoDeltas(t *testing.T) {
	h := live.NewHub()
	all, stop := h.Subscribe("", 8)
	h.Publish(live.Signal{Conversation: "a", Delta: &live.Delta{Text: "x"}})
	h.Publish(live.Signal{Conversation: "a", Head: 3, Delta: &live.Delta{Text: "y"}})
	stop()
	got := drain(all)
	if len(got) != 1 || got[0].Head != 3 || got[0].Delta != nil {
		t.Errorf("got %+v, want the ring of the second and no delta", got)
	}
}

func TestASlowSubscriberIsCutOffWithWhatItHadAndHoldsNothingUp(t *testing.T) {
	h := live.NewHub()
	slow, stop := h.Subscribe("a", 2)
	for i := 1; i <= 10; i++ { // would hang here for good if Publish blocked
		h.Publish(live.Signal{Conversation: "a", Head: weir.Seq(i)})
	}
	got := drain(slow) // ends only because the hub closed the channel
	if len(got) != 2 || got[0].Head != 1 || got[1].Head != 2 {
		t.Errorf("got %v, want the first two, without a hole", got)
	}
	stop()
	stop()
}

// Each watcher gets a prefix of what one publisher sent, in order, without
// holes, whatever else goes on.
func TestSignalsOfOnePublisherArriveInOrderWithoutHoles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		publishers := rapid.IntRange(1, 4).Draw(t, "publishers")
		signals := rapid.IntRange(1, 50).Draw(t, "signals")
		buffers := rapid.SliceOfN(rapid.IntRange(1, 64), 1, 6).Draw(t, "buffers")
		h := live.NewHub()

		type result struct {
			topic weir.ConversationID
			got   []live.Signal
		}
		results := make([]result, len(buffers))
		var readers, writers sync.WaitGroup
		var stops []func()
		for i, buffer := range buffers {
			topic := weir.ConversationID(fmt.Sprint("c", i%publishers))
			if i == 0 {
				topic = ""
			}
			ch, stop := h.Subscribe(topic, buffer)
			stops = append(stops, stop)
			readers.Go(func() { results[i] = result{topic, drain(ch)} })
		}
		for p := range publishers {
			writers.Go(func() {
				for n := 1; n <= signals; n++ {
					h.Publish(live.Signal{Conversation: weir.ConversationID(fmt.Sprint("c", p)), Head: weir.Seq(n)})
				}
			})
		}
		writers.Wait()
		for _, stop := range stops {
			stop()
		}
		readers.Wait()
		for _, r := range results {
			next := map[weir.ConversationID]weir.Seq{}
			for _, s := range r.got {
				if r.topic != "" && s.Conversation != r.topic {
					t.Fatalf("the watcher of %q got a signal of %q", r.topic, s.Conversation)
				}
				next[s.Conversation]++
				if s.Head != next[s.Conversation] {
					t.Fatalf("signal %d of %q came where %d was due", s.Head, s.Conversation, next[s.Conversation])
				}
			}
		}
	})
}

func drain(ch <-chan live.Signal) []live.Signal {
	var got []live.Signal
	for s := range ch {
		got = append(got, s)
	}
	return got
}

func BenchmarkAnEventToAThousandWatchers(b *testing.B) {
	h := live.NewHub()
	var readers sync.WaitGroup
	var stops []func()
	for range 1000 {
		ch, stop := h.Subscribe("a", 1024)
		stops = append(stops, stop)
		readers.Go(func() {
			for range ch {
			}
		})
	}
	for b.Loop() {
		h.Publish(live.Signal{Conversation: "a", Head: 1})
	}
	for _, stop := range stops {
		stop()
	}
	readers.Wait()
}
