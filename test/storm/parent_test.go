package storm

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"weir"
	"weir/store"
)

// storm is one run: what was ordered, what was acknowledged, and the child.
type storm struct {
	t        *testing.T
	name     string
	url      string
	provider string
	r        *rand.Rand
	calm     time.Duration // the longest pause before a kill
	begun    time.Time
	killed   int
	runs     string // the file in which tools note that they ran
	inputs   int

	orders []order
	acked  map[weir.InputID]int64 // its position

	measured int           // recoveries that were waited for
	late     int           // of them, over a second
	slowest  time.Duration // of them
}

// patience is how long the storm waits for what has to happen by itself.
const patience = 2 * time.Minute

// prepare makes the conversations and decides what will be sent.
func (s *storm) prepare() {
	s.t.Helper()
	s.acked = map[weir.InputID]int64{}
	db, err := store.Open(s.t.Context(), s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	now := time.Now()
	err = db.Update(s.t.Context(), func(tx store.Tx) error {
		for i := range conversations {
			if err := tx.InsertConversation(s.t.Context(), &weir.Conversation{
				ID: conversation(i), Owner: owner, Kind: weir.Chat, Visibility: weir.Visibility{Level: weir.Open},
				Generation: weir.NewGenerationID(now), State: weir.Idle, CreatedAt: now,
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		s.t.Fatal(err)
	}
	for i := range s.inputs {
		c := s.r.IntN(conversations)
		o := order{
			ID: weir.InputID(fmt.Sprint("input-", i)), Conversation: conversation(c),
			Text: fmt.Sprintf("message %d for %s", i, conversation(c)), Delivery: weir.Steer,
		}
		if s.r.IntN(3) == 0 {
			o.Delivery = weir.Queue
		}
		if s.r.IntN(5) == 0 {
			o.Pointer = conversation((c + 1 + s.r.IntN(conversations-1)) % conversations)
		}
		if s.r.IntN(3) == 0 {
			o.Fact = i + 1
		}
		s.orders = append(s.orders, o)
	}
}

func conversation(i int) weir.ConversationID {
	return weir.ConversationID(fmt.Sprintf("conversation-%02d", i))
}

// run sends everything, kills the child that often on the way, and lets the
// last child finish.
func (s *storm) run(kills int) {
	s.t.Helper()
	for s.killed < kills {
		// Kills are spread over the acknowledgements; the instant within is
		// chance, and now and then it is while the child still starts.
		upto := s.inputs * (s.killed + 1) / (kills + 1)
		pause := time.Duration(s.r.Int64N(int64(s.calm)))
		early, watched := s.r.IntN(8) == 0, s.killed%5 == 4
		var left []weir.Step
		if watched {
			left = s.unsettled()
		}
		died := time.Now()
		c := s.start()
		if !early || watched {
			c.await(func(w word) bool { return w.Ready })
			if watched {
				s.recovered(left, died, time.Now())
			}
			s.send(c, upto)
		}
		time.Sleep(pause) // chance is the point here
		s.kill(c)
	}
	c := s.start()
	c.await(func(w word) bool { return w.Ready })
	s.send(c, s.inputs)
	s.settle()
	c.stop()
	s.say("settled")
}

// send sends what is not acknowledged yet, a few at a time, until as many are.
// What was sent and not acknowledged when the child dies is sent to the next.
func (s *storm) send(c *running, upto int) {
	s.t.Helper()
	flying := 0
	next := 0
	for len(s.acked) < upto {
		for flying < senders && next < len(s.orders) {
			if _, done := s.acked[s.orders[next].ID]; !done {
				c.write(s.orders[next])
				flying++
			}
			next++
		}
		w := c.await(func(w word) bool { return w.Ack != "" || w.Error != "" })
		if w.Error != "" {
			s.t.Fatalf("a message was refused: %s", w.Error)
		}
		s.acked[w.Ack] = w.Position
		flying--
		if len(s.acked)%50 == 0 {
			s.say("sending")
		}
	}
}

func (s *storm) kill(c *running) {
	s.t.Helper()
	s.killed++
	c.kill()
	// What was acknowledged before the kill counts, whether we had read it or
	// not.
	for w := range c.words {
		if w.Ack != "" {
			s.acked[w.Ack] = w.Position
		}
	}
}

func (s *storm) say(what string) {
	fmt.Fprintf(os.Stderr, "storm on %s: %s, %d of %d acknowledged, %d kills, %.1f s\n",
		s.name, what, len(s.acked), s.inputs, s.killed, time.Since(s.begun).Seconds())
}

// settle waits until nothing is due, looking at the store beside the server.
func (s *storm) settle() {
	s.t.Helper()
	db, err := store.OpenReadOnly(s.t.Context(), s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	said := time.Now()
	for {
		busy := s.busy(ctx, db)
		if busy == 0 {
			return
		}
		if time.Since(said) > 2*time.Second {
			said = time.Now()
			s.say(fmt.Sprintf("%d conversations are busy", busy))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			s.t.Fatalf("%d conversations are still busy:%s", busy, s.tell(db))
		}
	}
}

// tell says of those that are busy how they are.
func (s *storm) tell(db store.Reader) (all string) {
	ctx := context.WithoutCancel(s.t.Context())
	for i := range conversations {
		c, _ := db.Conversation(ctx, conversation(i))
		pending, _ := db.PendingInputs(ctx, c.ID)
		if c.State == weir.Idle && len(pending) == 0 {
			continue
		}
		step, err := db.UnsettledStep(ctx, c.ID)
		calls, _ := db.Calls(ctx, c.ID, step.ID)
		all += fmt.Sprintf("\n%s is %s for %q with %d pending\n\tstep %+v (%v)", c.ID, c.State, c.WaitingFor, len(pending), step, err)
		for _, call := range calls {
			all += fmt.Sprintf("\n\tcall %+v", call)
		}
	}
	return all
}

func (s *storm) busy(ctx context.Context, db store.Reader) int {
	s.t.Helper()
	n := 0
	for i := range conversations {
		pending, err := db.PendingInputs(ctx, conversation(i))
		if err != nil {
			s.t.Fatal(err)
		}
		c, err := db.Conversation(ctx, conversation(i))
		if err != nil {
			s.t.Fatal(err)
		}
		if len(pending) > 0 || c.State != weir.Idle {
			n++
		}
	}
	return n
}

// running is a child.
type running struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	words chan word
	once  sync.Once
}

func (s *storm) start() *running {
	s.t.Helper()
	c := &running{t: s.t, cmd: exec.Command(os.Args[0]), words: make(chan word, s.inputs+1)}
	c.cmd.Env = append(os.Environ(), "WEIR_STORM_STORE="+s.url, "WEIR_STORM_PROVIDER="+s.provider, "WEIR_STORM_RUNS="+s.runs)
	c.cmd.Stderr = os.Stderr
	in, err := c.cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	c.in = in
	if err := c.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		defer close(c.words)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			var w word
			if json.Unmarshal(lines.Bytes(), &w) == nil { // the last line may be torn
				c.words <- w
			}
		}
	}()
	s.t.Cleanup(c.kill)
	return c
}

func (c *running) write(o order) {
	c.t.Helper()
	line, err := json.Marshal(o)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		c.t.Fatalf("the child does not read: %v", err)
	}
}

// await returns the first word that ok says is the one.
func (c *running) await(ok func(word) bool) word {
	c.t.Helper()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		select {
		case w, more := <-c.words:
			if !more {
				c.t.Fatal("the child died by itself")
			}
			if ok(w) {
				return w
			}
		case <-timeout.C:
			c.t.Fatal("the child says nothing")
		}
	}
}

// kill kills the child and waits for it.
func (c *running) kill() {
	c.once.Do(func() {
		c.cmd.Process.Kill()
		c.cmd.Wait()
	})
}

// stop lets the child end by itself.
func (c *running) stop() {
	c.t.Helper()
	c.once.Do(func() {
		c.in.Close()
		for range c.words {
		}
		if err := c.cmd.Wait(); err != nil {
			c.t.Errorf("the child ended with %v", err)
		}
	})
}
