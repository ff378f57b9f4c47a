package modelview_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"runtime"
	"strings"
	"testing"

	"weir"
	"weir/model"
	"weir/modelview"
	"weir/store"
	"weir/test/stores"
	"weir/test/strictpeer/strictpeer"
)

// aged is a conversation of n messages whose bytes are all frozen, in the
// middle of a turn: the answer is there, and the next question.
func aged(b testing.TB, p model.Profile, n int) *talk {
	k := newTalk(b, p)
	k.epoch("You are a bench.", twoTools)
	for i := 0; i < n; i += 2 {
		k.user(fmt.Sprintf("question %d %s", i, strings.Repeat("x", 150)))
		k.m.append(k.c, &weir.AssistantMessage{Model: k.p.ID, Parts: []weir.Part{text(fmt.Sprintf("answer %d %s", i, strings.Repeat("y", 250)))}})
	}
	k.user("now")
	k.step()
	k.answer(text(strings.Repeat("z", 250)))
	return k
}

func BenchmarkNextAt10000(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		k := aged(b, profiles()["anthropic"], n)
		ctx := context.Background()
		if err := k.window.CatchUp(ctx, k.m); err != nil {
			b.Fatal(err)
		}
		k.user(strings.Repeat("x", 150))
		size := 0
		b.Run(fmt.Sprintf("%d/next", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := k.window.Next(ctx, k.m, k.p, modelview.Options{})
				if err != nil {
					b.Fatal(err)
				}
				size = len(r.Body)
			}
			b.SetBytes(int64(size))
		})
		b.Run(fmt.Sprintf("%d/reference", n), func(b *testing.B) {
			b.ReportAllocs()
			old, fresh := make([]byte, size), []byte(strings.Repeat("x", 600))
			sum := sha256.New()
			for b.Loop() {
				c, _ := sum.(hash.Cloner).Clone()
				c.Write(fresh)
				c.Sum(nil)
				body := make([]byte, 0, size)
				body = append(body, old[:size-len(fresh)]...)
				body = append(body, fresh...)
				runtime.KeepAlive(body)
			}
			b.SetBytes(int64(size))
		})
	}
}

func TestTheWorkOfANextRequestDoesNotGrowWithTheHistory(t *testing.T) {
	for _, profile := range strictpeer.Profiles() {
		count := func(n int) float64 {
			k := aged(t, strictpeer.Model(profile, "peer/one", "one"), n)
			ctx := context.Background()
			if err := k.window.CatchUp(ctx, k.m); err != nil {
				t.Fatal(err)
			}
			k.user("and?")
			k.update("It rains.")
			return testing.AllocsPerRun(20, func() {
				if _, err := k.window.Next(ctx, k.m, k.p, modelview.Options{}); err != nil {
					t.Fatal(err)
				}
			})
		}
		few, many := count(100), count(10_000)
		if many > few+2 {
			t.Errorf("%s: %v allocations at 100 messages, %v at 10,000", profile, few, many)
		}
		t.Logf("%s: %v allocations", profile, many)
	}
}

func BenchmarkColdAt10000(b *testing.B) {
	k := aged(b, profiles()["anthropic"], 10_000)
	s := stores.SQLite(b)
	back := newStoreBackend(s)
	c := newConversation(k.c.ID, nil)
	if err := back.create(c); err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	err := s.Update(ctx, func(tx store.Tx) error {
		t := storeTx{tx, back}
		for seq := weir.Seq(1); seq <= k.m.headOf(k.c); seq++ {
			r := k.m.record(k.c, seq)
			if _, err := t.write(c, r.Body); err != nil {
				return err
			}
		}
		for _, v := range k.m.views {
			if err := t.put(c, []weir.View{v}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	lowering := ""
	b.Run("cold", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w := k.l.Window(c)
			if err := w.CatchUp(ctx, s); err != nil {
				b.Fatal(err)
			}
			r, err := w.Next(ctx, s, k.p, modelview.Options{})
			if err != nil {
				b.Fatal(err)
			}
			lowering = r.Lowering
		}
	})
	b.Run("reference", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			views, err := s.Views(ctx, c, lowering, 1, 1<<40)
			if err != nil || len(views) < 10_000 {
				b.Fatal(len(views), err)
			}
			sum := sha256.New()
			for i := range views {
				sum.Write(views[i].Bytes)
			}
			sum.Sum(nil)
		}
	})
}
