package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"weir"
	"weir/store"
)

const many = 10_000

// longConversation makes one of many messages, numbered in their text.
func longConversation(ctx context.Context, s store.Store, owner weir.OwnerID) error {
	now := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	c := weir.Conversation{ID: "long", Owner: owner, Title: "A long one", Kind: weir.Chat, Visibility: weir.Visibility{Level: weir.Open},
		Generation: weir.NewGenerationID(now), State: weir.Idle, CreatedAt: now, LastActive: now}
	return s.Update(ctx, func(tx store.Tx) error {
		if err := tx.InsertConversation(ctx, &c); err != nil {
			return err
		}
		lease, ok, err := tx.AcquireLease(ctx, c.ID, "seed", time.Minute)
		if err != nil || !ok {
			return fmt.Errorf("no lease: %w", err)
		}
		records := make([]weir.Record, many)
		for i := range records {
			text := fmt.Sprintf("number %d. %s", i+1, strings.Repeat("Some words to fill a line or three. ", i%9))
			var body weir.Body = &weir.UserMessage{Text: text}
			if i%2 == 1 {
				body = &weir.AssistantMessage{Parts: []weir.Part{{Type: weir.PartText, Text: text + "\n\n- one\n- two"}}}
			}
			records[i] = weir.Record{ID: weir.MessageID(fmt.Sprintf("m%d", i+1)), Time: now.Add(time.Duration(i) * time.Second), Generation: c.Generation, Body: body}
		}
		if _, err := tx.Append(ctx, c.ID, lease.Fence, nil, records...); err != nil {
			return err
		}
		return tx.ReleaseLease(ctx, lease)
	})
}

// reading is the message at the top of what the reader sees, and how far below
// the edge it begins.
const reading = `(() => {
	const edge = document.querySelector(".timeline").getBoundingClientRect().top;
	const m = [...document.querySelectorAll(".message")].find((x) => x.getBoundingClientRect().bottom > edge + 40);
	return { id: m.dataset.message, at: Math.round(m.getBoundingClientRect().top - edge) };
})()`

type place struct {
	ID string `json:"id"`
	At int    `json:"at"`
}

func TestTenThousandMessagesScroll(t *testing.T) {
	w := start(t, longConversation)
	p := w.open("long")
	p.wait(`document.querySelector(".message[data-message=m10000]")`)
	p.wait(`document.querySelector(".timeline").scrollHeight - document.querySelector(".timeline").scrollTop - document.querySelector(".timeline").clientHeight < 60`)

	// Upwards through several pages: what is on screen moves as the wheel says,
	// whatever is loaded above it, and only what is near the screen exists.
	seen := map[string]bool{}
	for range 60 {
		before := eval[place](p, reading)
		seen[before.ID] = true
		after := eval[place](p, `(async () => {
			const box = document.querySelector(".timeline"), first = `+reading+`;
			box.scrollBy(0, -600);
			for (let i = 0; i < 6; i++) await new Promise((go) => requestAnimationFrame(() => setTimeout(go)));
			const m = document.querySelector(".message[data-message=" + first.id + "]");
			return { id: first.id, at: m ? Math.round(m.getBoundingClientRect().top - box.getBoundingClientRect().top) - first.at : 600 };
		})()`)
		if after.At < 500 || after.At > 700 {
			t.Fatalf("%s moved by %d when the wheel said 600", after.ID, after.At)
		}
		if n := eval[int](p, `document.querySelectorAll(".row").length`); n > 80 {
			t.Fatalf("%d rows exist at once", n)
		}
	}
	if len(seen) < 50 {
		t.Fatalf("only %d places in 60 screens", len(seen))
	}

	// What comes at the end leaves a reader up here alone.
	here := eval[place](p, reading)
	w.must("POST", at("long", "messages"), object{"text": "the newest"})
	w.settledAfter("long", many, "the newest")
	p.wait(`document.querySelector(".jump")`)
	if now := eval[place](p, reading); now != here {
		t.Errorf("the reader was at %v and is at %v", here, now)
	}
	p.click(".jump")
	p.wait(`[...document.querySelectorAll(".message.user .user-text")].some((x) => x.textContent === "the newest")`)
	p.wait(`!document.querySelector(".jump")`)

	// A link into the middle opens there, and both directions go on.
	eval[bool](p, `(location.hash = "#/c/long/m/m5000", true)`)
	p.wait(`document.querySelector(".row.lit .message[data-message=m5000]")`)
	p.wait(`Math.abs(document.querySelector(".message[data-message=m5000]").getBoundingClientRect().top - 400) < 400`)
	for _, by := range []int{-900, 900} {
		for range 12 {
			eval[bool](p, fmt.Sprintf(`(async () => {
				document.querySelector(".timeline").scrollBy(0, %d);
				for (let i = 0; i < 4; i++) await new Promise((go) => requestAnimationFrame(() => setTimeout(go)));
				return true;
			})()`, by))
		}
	}
	p.click(".jump")
	p.wait(`[...document.querySelectorAll(".message.user .user-text")].some((x) => x.textContent === "the newest")`)
}
