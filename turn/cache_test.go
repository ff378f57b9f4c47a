package turn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"weir"
	"weir/fact"
	"weir/model"
	"weir/modelview"
	"weir/test/race"
	"weir/test/stores"
	"weir/test/strictpeer/strictpeer"
	"weir/tool"
)

// cached is one conversation whose context changes often, with a provider that
// caches as its vendor does, and the same conversation as another program would
// send it: one that renders its system text afresh at each change.
//
// What could be read from the cache of a request is all that the request before
// it said, head and messages, as long as the vendor would keep that many
// tokens: none below its minimum, and whole steps of its granularity. The first
// request could read nothing. All counts are the peers' own, from the bytes of
// their answers.
type cached struct {
	*world
	profile        string
	turns, changes int
	ours, other    *provider
	counts         *meter
	dials          []*dial
	changed        int
}

// share is what came of one program's requests.
type share struct{ could, read, all int }

func (s share) percent() float64 { return 100 * float64(s.read) / float64(max(1, s.could)) }

func TestNearlyAllThatCouldBeReadFromTheCacheIs(t *testing.T) {
	turns, changes := 100, 20
	switch {
	case os.Getenv("WEIR_STORM") == "full":
		turns, changes = 1000, 200
	case race.Enabled:
		turns, changes = 25, 5
	}
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "profile\trequests\tcould be read\twas read\t\trendered afresh: could be read\twas read\t\tall tokens, ours and afresh")
	seen := map[model.Dialect]bool{}
	for _, profile := range strictpeer.Profiles() {
		d := strictpeer.Model(profile, "peer/one", "one").Dialect
		if seen[d] && turns < 1000 {
			continue // in full all of them
		}
		seen[d] = true
		t.Run(profile, func(t *testing.T) {
			c := newCached(t, profile, turns, changes)
			for i := range turns {
				c.turn(i)
			}
			c.engine.Stop()
			requests, ours := c.sent()
			other := c.afresh()
			if ours.percent() < 99 {
				t.Errorf("%d tokens of %d that could be read from the cache were: %.2f %%", ours.read, ours.could, ours.percent())
			}
			if other.percent() >= ours.percent() {
				t.Errorf("rendering the system text afresh reads %.2f %%, which is no less", other.percent())
			}
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%.2f %%\t%d\t%d\t%.2f %%\t%d, %d\n", profile, requests,
				ours.could, ours.read, ours.percent(), other.could, other.read, other.percent(), ours.all, other.all)
		})
	}
	_ = w.Flush()
	t.Logf("%d turns, %d changes; tokens by the peers' own count\n%s", turns, changes, table.String())
}

func newCached(t *testing.T, profile string, turns, changes int) *cached {
	c := &cached{world: newWorld(t, stores.SQLite(t)), profile: profile, turns: turns, changes: changes, counts: &meter{}}
	c.ours, c.other = newProvider(t, profile, strictpeer.Log(io.Discard)), newProvider(t, profile, strictpeer.Log(io.Discard))
	say := strictpeer.Say("An answer of some words to what was asked.")
	c.ours.Otherwise(func(r *strictpeer.Request) strictpeer.Answer {
		return strictpeer.Answer{strictpeer.Think("It is about " + r.Last[:min(len(r.Last), 20)]), say}
	})
	// The other program could not return signed reasoning behind another system
	// text, so it gets none.
	c.other.Otherwise(func(*strictpeer.Request) strictpeer.Answer { return strictpeer.Answer{say} })
	c.counts.next, c.ours.hc.Transport = c.ours.hc.Transport, c.counts
	c.dials = []*dial{newDial("test/rules", strings.Repeat("Be kind. ", 1800))}
	for i := range 4 {
		c.dials = append(c.dials, newDial(fmt.Sprint("test/", i), 0))
	}
	work := fakeTool{name: "work", run: func(context.Context, tool.Call) (tool.Result, error) {
		if c.changed%2 == 1 { // every other change comes while a tool runs
			c.happens()
		}
		return tool.Result{Text: "worked on it"}, nil
	}}
	c.engine = c.another(withModels(c.ours), withDials(c.dials...), withTools(work))
	c.start()
	c.conversation("c")
	return c
}

func (c *cached) happens() {
	c.changed++
	c.dials[1+c.changed%4].set(c.changed)
}

func (c *cached) turn(i int) {
	c.t.Helper()
	if due := i > 0 && c.changed*c.turns < i*c.changes; due && c.changed%2 == 0 {
		c.happens()
	} else if due || i%7 == 3 {
		c.ours.Script(strictpeer.Answer{strictpeer.Think("hm"), strictpeer.Use("work", `{"now":true}`)})
	}
	c.send("c", fmt.Sprintf("Message %d is about this and that.", i))
	c.rests("c")
}

// sent reckons what was sent.
func (c *cached) sent() (requests int, s share) {
	c.t.Helper()
	if refusals := c.ours.Refusals(); len(refusals) > 0 {
		c.t.Errorf("refused: %q", refusals)
	}
	if told := len(c.told("c")); told != c.changed || c.changed < c.changes-1 {
		c.t.Errorf("%d changes of %d were told", told, c.changed)
	}
	counts := c.counts.all()
	i := 0
	for _, r := range c.records("c") {
		if end, ok := r.Body.(*weir.StepEnd); ok {
			u := end.Usage
			if u == nil {
				c.t.Fatalf("a request failed: %s", end.Reason)
			}
			if got := (count{int(u.Fresh + u.Read + u.Write), int(u.Read)}); i >= len(counts) || got != counts[i] {
				c.t.Fatalf("the log says that request %d had %+v, the peer %+v", i, got, counts)
			}
			i++
		}
	}
	if i != len(counts) {
		c.t.Errorf("%d requests, %d in the log", len(counts), i)
	}
	return len(counts), c.reckon(counts)
}

func (c *cached) reckon(counts []count) (s share) {
	for i, n := range counts {
		s.all += n.prompt
		s.read += n.read
		if i > 0 {
			s.could += c.ours.Keeps(counts[i-1].prompt)
		}
	}
	return s
}

// afresh sends the other program's requests to a peer of the same kind.
func (c *cached) afresh() share {
	c.t.Helper()
	m := &meter{next: c.other.hc.Transport}
	c.other.hc.Transport = m
	profile, client, _ := c.other.Model("")
	conv, l := c.get("c"), modelview.New()
	src := &rerendered{}
	for _, r := range c.records("c") {
		if _, asked := r.Body.(*weir.StepStart); !asked {
			src.take(c.t, r)
			continue
		}
		req, err := l.Window(&conv).Next(c.t.Context(), src, profile, modelview.Options{})
		if err != nil {
			c.t.Fatal(err)
		}
		if _, err := client.Stream(c.t.Context(), req.Body, func(model.Event) error { return nil }); err != nil {
			c.t.Fatalf("%v: %s", err, req.Body)
		}
	}
	return c.reckon(m.all())
}

// rerendered is a log without updates, whose epoch says all that is known.
type rerendered struct {
	records []weir.Record
	first   weir.Epoch
	known   map[string]json.RawMessage
}

func (s *rerendered) take(t testing.TB, r weir.Record) {
	switch b := r.Body.(type) {
	case *weir.Epoch:
		var told fact.Snapshot
		if err := json.Unmarshal(b.Snapshot, &told); err != nil {
			t.Fatal(err)
		}
		s.first, s.known = *b, map[string]json.RawMessage{}
		for key, v := range told {
			s.known[key] = v.Value
		}
	case *weir.Update:
		s.known[b.Fact] = b.Value
		for i := range s.records {
			if s.records[i].Kind() == weir.KindEpoch {
				e := s.first
				e.Baseline = s.render()
				s.records[i].Body = &e
			}
		}
		return
	}
	s.records = append(s.records, r)
}

// render says what is known in the order in which the first baseline did.
func (s *rerendered) render() string {
	lines := strings.Split(s.first.Baseline, "\n\n")
	for i, line := range lines {
		for key, value := range s.known {
			if strings.HasPrefix(line, key+" is ") {
				lines[i] = key + " is " + string(value)
			}
		}
	}
	return strings.Join(lines, "\n\n")
}

func (s *rerendered) Records(_ context.Context, _ *weir.Conversation, q weir.RecordQuery) ([]weir.Record, error) {
	var found []weir.Record
	for _, r := range s.records {
		if r.Seq > q.After && (q.Before == 0 || r.Seq < q.Before) && (q.Kinds == nil || slices.Contains(q.Kinds, r.Kind())) {
			found = append(found, r)
		}
	}
	if q.Limit > 0 && len(found) > q.Limit {
		if q.Newest {
			return found[len(found)-q.Limit:], nil
		}
		return found[:q.Limit], nil
	}
	return found, nil
}

func (s *rerendered) Structure(ctx context.Context, c *weir.Conversation) ([]weir.Record, error) {
	return s.Records(ctx, c, weir.RecordQuery{Kinds: []weir.RecordKind{weir.KindEpoch}})
}

func (s *rerendered) Views(context.Context, *weir.Conversation, string, weir.Seq, weir.Seq) ([]weir.View, error) {
	return nil, nil
}

// meter reads what a peer says of its cache, in the words of any vendor.
type meter struct {
	next   http.RoundTripper
	mu     sync.Mutex
	counts []count
}

// count is the tokens of one prompt, and how many came from the cache.
type count struct{ prompt, read int }

func (m *meter) all() []count {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.counts)
}

func (m *meter) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := m.next.RoundTrip(r)
	if err == nil {
		resp.Body = &metered{ReadCloser: resp.Body, m: m}
	}
	return resp, err
}

type metered struct {
	io.ReadCloser
	m    *meter
	seen bytes.Buffer
}

func (b *metered) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.seen.Write(p[:n])
	return n, err
}

func (b *metered) Close() error {
	said := b.seen.Bytes()
	c := count{read: counted(said, "cache_read_input_tokens", "prompt_cache_hit_tokens", "cachedContentTokenCount", "cached_tokens")}
	c.prompt = counted(said, "prompt_tokens", "promptTokenCount", "input_tokens")
	if bytes.Contains(said, []byte(`"cache_creation_input_tokens"`)) { // who counts apart
		c.prompt += c.read + counted(said, "cache_creation_input_tokens")
	}
	b.m.mu.Lock()
	b.m.counts = append(b.m.counts, c)
	b.m.mu.Unlock()
	return b.ReadCloser.Close()
}

// counted returns the number under the first of the names that is there.
func counted(said []byte, names ...string) int {
	for _, name := range names {
		if found := regexp.MustCompile(`"`+name+`":(\d+)`).FindAllSubmatch(said, -1); found != nil {
			n, _ := strconv.Atoi(string(found[len(found)-1][1]))
			return n
		}
	}
	return 0
}
