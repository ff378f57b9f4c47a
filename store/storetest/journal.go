package storetest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"weir"
	"weir/store"
)

func change(scope weir.ChangeScope, fact, value string) *weir.Change {
	c := &weir.Change{Scope: scope, Fact: fact, At: at(1), Noticed: at(2)}
	if value != "" {
		c.Value = json.RawMessage(value)
	}
	return c
}

func (w *world) notice(changes ...*weir.Change) {
	w.Helper()
	w.must(func(tx store.Tx) error { return tx.AppendChanges(w.ctx, changes...) })
}

func (w *world) changes(after int64, limit int, scopes ...weir.ChangeScope) []weir.Change {
	w.Helper()
	all, err := w.Changes(w.ctx, scopes, after, limit)
	if err != nil {
		w.Fatal(err)
	}
	return all
}

// values shows entries as "fact value" lines.
func values(all []weir.Change) []string {
	lines := []string{}
	for _, c := range all {
		lines = append(lines, strings.TrimSpace(c.Fact+" "+string(c.Value)))
	}
	return lines
}

var (
	ofA       = weir.OfConversation("a")
	ofOwner   = weir.OfOwner(owner)
	workspace = weir.OfWorkspace(deep())
)

// deep is a path that is longer than an index takes, compressed or not.
func deep() string {
	var path strings.Builder
	for sum := sha256.Sum256(nil); path.Len() < 8000; sum = sha256.Sum256(sum[:]) {
		fmt.Fprintf(&path, "/%s 会", base64.RawURLEncoding.EncodeToString(sum[:]))
	}
	return path.String()
}

var journal = []scenario{
	{"ChangesComeBackAsTheyWereNoticedInTheOrderOfAppending", func(w *world) {
		w.conversation("a")
		var all []weir.Change
		for i, value := range []string{`1`, `null`, ``, `"a\u0000b \u2028"`, ` { "b": 1.50, "a" : [] } `} {
			c := change([]weir.ChangeScope{ofA, ofOwner, workspace}[i%3], "x/y", value)
			c.At, c.Noticed = at(50-i), at(i).Add(7*time.Microsecond)
			if i == 1 {
				c.At = time.Time{}
			}
			w.notice(c)
			all = append(all, *c)
			if i > 0 && c.Seq <= all[i-1].Seq {
				w.Errorf("seq %d follows %d", c.Seq, all[i-1].Seq)
			}
		}
		if d := cmp.Diff(all, w.changes(0, 0, workspace, ofA, ofOwner, ofA)); d != "" {
			w.Error("(-want +got):\n", d)
		}
		if got := w.changes(0, 0, ofA, ofOwner, workspace); got[2].Value != nil || string(got[1].Value) != "null" {
			w.Errorf("a removal is %q, a null is %q", got[2].Value, got[1].Value)
		}
		nanos := change(ofA, "x/y", "")
		nanos.At, nanos.Value = at(0).Add(1999*time.Nanosecond).In(time.FixedZone("x", 3600)), json.RawMessage{}
		w.notice(nanos)
		if got, err := w.NewestChange(w.ctx, ofA, "x/y"); err != nil || !got.At.Equal(at(0).Add(time.Microsecond)) || got.At.Location() != time.UTC || got.Value != nil || !cmp.Equal(got, *nanos, cmpopts.EquateEmpty()) {
			w.Errorf("stored is %+v, told was %+v, %v", got, nanos, err)
		}
	}},
	{"TheJournalIsReadFromAnEntryOn", func(w *world) {
		w.conversation("a")
		var seqs []int64
		for i := range 6 {
			c := change([]weir.ChangeScope{ofA, ofOwner}[i%2], "x/y", fmt.Sprint(i))
			w.notice(c, change("owner:another", "x/y", `"not mine"`))
			seqs = append(seqs, c.Seq)
		}
		both := []weir.ChangeScope{ofA, ofOwner}
		for _, c := range []struct {
			name   string
			scopes []weir.ChangeScope
			after  int64
			limit  int
			want   []string
		}{
			{"all", both, 0, 0, []string{"x/y 0", "x/y 1", "x/y 2", "x/y 3", "x/y 4", "x/y 5"}},
			{"after one", both, seqs[3], 0, []string{"x/y 4", "x/y 5"}},
			{"after the last", both, seqs[5], 0, []string{}},
			{"after what will come", both, 1 << 60, 0, []string{}},
			{"the newest", both, 0, 3, []string{"x/y 3", "x/y 4", "x/y 5"}},
			{"the newest after one", both, seqs[0], 2, []string{"x/y 4", "x/y 5"}},
			{"one scope", both[:1], 0, 2, []string{"x/y 2", "x/y 4"}},
			{"an unknown scope", []weir.ChangeScope{"workspace:/none"}, 0, 0, []string{}},
			{"no scope", nil, 0, 0, []string{}},
		} {
			if d := cmp.Diff(c.want, values(w.changes(c.after, c.limit, c.scopes...))); d != "" {
				w.Errorf("%s (-want +got):\n%s", c.name, d)
			}
		}
	}},
	{"TheNewestChangeIsOfThatFactInThatScope", func(w *world) {
		w.conversation("a")
		w.notice(change(ofA, "x/y", `1`), change(ofA, "x/y", `2`), change(ofA, "x/z", `3`), change(ofOwner, "x/y", `4`), change(workspace, "x/y", `5`))
		for scope, want := range map[weir.ChangeScope]string{ofA: "2", ofOwner: "4", workspace: "5"} {
			got, err := w.NewestChange(w.ctx, scope, "x/y")
			if err != nil || string(got.Value) != want || got.Scope != scope {
				w.Errorf("of %.30s: %+v, %v", scope, got, err)
			}
		}
		for _, scope := range []weir.ChangeScope{ofA, "owner:none"} {
			_, err := w.NewestChange(w.ctx, scope, "x/none")
			wantCode(w, err, "change_not_found")
		}
	}},
	{"WhoReadsAnEntryHasAllBeforeIt", func(w *world) {
		for i := range 8 {
			w.conversation(weir.ConversationID(fmt.Sprint("c", i)))
		}
		const writers, rounds = 8, 15
		scopes := []weir.ChangeScope{ofOwner}
		for i := range writers {
			scopes = append(scopes, weir.OfConversation(weir.ConversationID(fmt.Sprint("c", i))))
		}
		var read []int64
		stop, done := make(chan struct{}), make(chan struct{})
		go func() { // reads on from the newest it has seen, as boundaries do
			defer close(done)
			for last := false; ; {
				select {
				case <-stop:
					last = true
				default:
				}
				var after int64
				if len(read) > 0 {
					after = read[len(read)-1]
				}
				some, err := w.Changes(w.ctx, scopes, after, 0)
				if err != nil {
					w.Error(err)
					return
				}
				for _, c := range some {
					read = append(read, c.Seq)
				}
				if last {
					return
				}
			}
		}()
		each(w.T, writers, func(i int) {
			for j := range rounds {
				undone := errors.New("undone")
				err := w.Update(w.ctx, func(tx store.Tx) error {
					if err := tx.AppendChanges(w.ctx, change(scopes[i+1], "x/y", fmt.Sprint(j)), change(ofOwner, "x/y", fmt.Sprint(i))); err != nil {
						return err
					}
					// What comes between the seq and the commit takes its time.
					for range j % 4 {
						if _, err := tx.Conversation(w.ctx, "c0"); err != nil {
							return err
						}
					}
					if j%5 == 4 {
						return undone
					}
					return nil
				})
				if err != nil && err != undone {
					w.Error(err)
				}
			}
		})
		close(stop)
		<-done
		if want := writers * rounds * 4 / 5 * 2; len(read) != want || !slices.IsSorted(read) {
			w.Errorf("%d of %d entries were met, reading on; in order: %v", len(read), want, slices.IsSorted(read))
		}
	}},
	{"ASeqIsNotGivenTwice", func(w *world) {
		w.conversation("a")
		first := change(ofA, "x/y", `1`)
		w.notice(first)
		w.must(func(tx store.Tx) error { return tx.DeleteBodies(w.ctx, "a", 0) })
		second := change(ofOwner, "x/y", `2`)
		w.notice(second)
		if second.Seq <= first.Seq {
			w.Errorf("seq %d was given, and after a deletion %d", first.Seq, second.Seq)
		}
	}},
	{"TheJournalKeepsTheNewestThousandOfAFact", func(w *world) {
		w.conversation("a")
		w.notice(change(ofA, "x/other", `"kept"`), change(ofOwner, "x/y", `"kept"`))
		for i := range 11 {
			w.must(func(tx store.Tx) error {
				for j := range 100 {
					if err := tx.AppendChanges(w.ctx, change(ofA, "x/y", fmt.Sprint(i*100+j))); err != nil {
						return err
					}
				}
				return nil
			})
		}
		all := values(w.changes(0, 0, ofA, ofOwner))
		if len(all) != 1002 || all[0] != "x/other \"kept\"" || all[1] != "x/y \"kept\"" || all[2] != "x/y 100" || all[1001] != "x/y 1099" {
			w.Errorf("%d entries, from %v to %v", len(all), all[:3], all[len(all)-1])
		}
	}},
	{"NothingIsNoticedOfAConversationThatIsGone", func(w *world) {
		w.conversation("a")
		w.conversation("b")
		w.must(func(tx store.Tx) error { return tx.DeleteBodies(w.ctx, "a", 0) })
		for _, id := range []weir.ConversationID{"a", "none"} {
			w.refused(weir.CodeConversationNotFound, func(tx store.Tx) error {
				return tx.AppendChanges(w.ctx, change(weir.OfConversation("b"), "x/y", `1`), change(weir.OfConversation(id), "x/y", `1`))
			})
			w.refused(weir.CodeConversationNotFound, func(tx store.Tx) error {
				return tx.PutClientFact(w.ctx, clientFact(weir.OfConversation(id), "x/y", `1`))
			})
		}
		if got := w.changes(0, 0, ofA, weir.OfConversation("b")); len(got) != 0 {
			w.Errorf("noticed: %v", got)
		}
	}},
	{"ADeletionAndAChangeAtOnceLeaveNothing", func(w *world) {
		for i := range 10 {
			id := weir.ConversationID(fmt.Sprint("c", i))
			scope := weir.OfConversation(id)
			w.conversation(id)
			each(w.T, 3, func(who int) {
				err := w.Update(w.ctx, func(tx store.Tx) error {
					switch who {
					case 0:
						if err := tx.LockForChange(w.ctx, id); err != nil {
							return err
						}
						return tx.DeleteBodies(w.ctx, id, 0)
					case 1:
						return tx.AppendChanges(w.ctx, change(scope, "x/y", `1`))
					}
					return tx.PutClientFact(w.ctx, clientFact(scope, "x/y", `1`))
				})
				if err != nil {
					wantCode(w, err, weir.CodeConversationNotFound)
				}
			})
			if got := w.changes(0, 0, scope); len(got) != 0 {
				w.Errorf("left in the journal: %v", got)
			}
			if got := w.facts(scope); len(got) != 0 {
				w.Errorf("left of the facts: %v", got)
			}
		}
	}},
}
