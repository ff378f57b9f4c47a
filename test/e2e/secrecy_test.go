package e2e

import (
	"context"
	"slices"
	"testing"
	"time"

	"weir"
	"weir/store"
	"weir/test/pgcluster"
)

// A message id that exists, under another conversation's id, is answered like
// one that was made up: the same bytes, and about the same time.
func TestAMessageOfAnotherConversationIsLikeOneThatNeverWas(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a, b, target := w.create(m{}), w.create(m{}), w.create(m{})
		said, _ := w.say(a, "codeword heron")
		w.say(b, "something else")
		madeUp := said[:len(said)-1] + string('a'+(said[len(said)-1]+1)%6)
		took := map[string][]time.Duration{}
		ways := map[string]func(string) answer{
			"sent": func(id string) answer {
				return w.post(at(target, "messages"), m{"text": "x", "references": []m{quote(b, id)}})
			},
			"previewed": func(id string) answer {
				return w.post("/v1/references/preview", m{"target": target, "reference": quote(b, id)})
			},
			"read":        func(id string) answer { return w.get(at(b, "messages", id)) },
			"its quote":   func(id string) answer { return w.get(at(b, "messages", id, "references", "0", "body")) },
			"branched at": func(id string) answer { return w.post(at(b, "branch"), m{"at": id}) },
			"replaced": func(id string) answer {
				return w.post(at(b, "messages"), m{"text": "x", "replaces": id, "if_seq": w.head(b)})
			},
		}
		for name, way := range ways {
			var first answer
			for i := range 40 {
				for _, id := range []string{said, madeUp} {
					begun := time.Now()
					got := way(id)
					took[id] = append(took[id], time.Since(begun))
					if i == 0 && id == said {
						first = got
					}
					if got.status != first.status || got.status < 400 || string(got.body) != string(first.body) {
						t.Fatalf("%s: %d %s, and %d %s", name, got.status, got.body, first.status, first.body)
					}
				}
			}
		}
		for _, all := range took {
			slices.Sort(all)
		}
		one, other := took[said][len(took[said])/2], took[madeUp][len(took[madeUp])/2]
		if d := (one - other).Abs(); d > max(one, other)/2 && d > time.Millisecond {
			t.Errorf("medians of %v and %v tell them apart", one, other)
		}
	})
}

// T21: what belongs to somebody else, what was deleted and what never was get
// the same bytes on every verb.
func TestAConversationOfSomeoneElseIsLikeOneThatNeverWas(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { strangers(t, "") })
	t.Run("postgres", func(t *testing.T) { strangers(t, pgcluster.Database(t)) })
}

func strangers(t *testing.T, where string) {
	w := start(t, where)
	w.stop()
	theirs, message := w.seedStranger()
	w.boot()
	mine := w.create(m{})
	gone := w.create(m{"title": "gone"})
	w.say(gone, "hello")
	w.do(ask{method: "DELETE", path: at(gone)}).is(200)
	before := w.everything()
	verbs := []func(id string) ask{
		func(id string) ask { return ask{method: "GET", path: at(id)} },
		func(id string) ask { return ask{method: "PATCH", path: at(id), body: m{"title": "x"}} },
		func(id string) ask { return ask{method: "PATCH", path: at(id), body: m{"visibility": open}} },
		func(id string) ask { return ask{method: "DELETE", path: at(id)} },
		func(id string) ask { return ask{method: "POST", path: at(id, "messages"), body: m{"text": "x"}} },
		func(id string) ask { return ask{method: "GET", path: at(id, "messages")} },
		func(id string) ask { return ask{method: "GET", path: at(id, "messages", message)} },
		func(id string) ask {
			return ask{method: "GET", path: at(id, "messages", message, "references", "0", "body")}
		},
		func(id string) ask { return ask{method: "GET", path: at(id, "inputs")} },
		func(id string) ask {
			return ask{method: "PATCH", path: at(id, "inputs", "inp_x"), body: m{"revision": 1, "delivery": "queue"}}
		},
		func(id string) ask { return ask{method: "DELETE", path: at(id, "inputs", "inp_x")} },
		func(id string) ask { return ask{method: "POST", path: at(id, "branch"), body: m{"at": message}} },
		func(id string) ask {
			return ask{method: "POST", path: at(id, "rewind"), body: m{"to": message, "if_seq": 1}}
		},
		func(id string) ask { return ask{method: "POST", path: at(id, "rewind", "undo")} },
		func(id string) ask { return ask{method: "POST", path: at(id, "retry"), body: m{}} },
		func(id string) ask { return ask{method: "POST", path: at(id, "interrupt"), body: m{}} },
		func(id string) ask { return ask{method: "GET", path: at(id, "steps")} },
		func(id string) ask { return ask{method: "GET", path: at(id, "steps", "stp_x")} },
		func(id string) ask { return ask{method: "GET", path: at(id, "steps", "stp_x", "request")} },
		func(id string) ask { return ask{method: "GET", path: at(id, "candidates")} },
		func(id string) ask { return ask{method: "GET", path: at(id, "context")} },
		func(id string) ask { return ask{method: "GET", path: at(id, "context", "facts")} },
		func(id string) ask {
			return ask{method: "PUT", path: at(id, "context", "facts", "ci", "status"), body: m{"value": 1}}
		},
		func(id string) ask { return ask{method: "DELETE", path: at(id, "context", "facts", "ci", "status")} },
		func(id string) ask { return ask{method: "POST", path: at(id, "epoch"), body: m{}} },
		func(id string) ask { return ask{method: "POST", path: at(id, "interrupt"), body: m{"then": "steer"}} },
		func(id string) ask { return ask{method: "GET", path: at(id, "approvals")} },
		func(id string) ask {
			return ask{method: "POST", path: at(id, "approvals", "call_x"), body: m{"decision": "allow"}}
		},
		func(id string) ask { return ask{method: "GET", path: at(id, "artefacts", "art_x")} },
		func(id string) ask {
			return ask{method: "PATCH", path: at(id, "inputs", "inp_x"), body: m{"revision": 1, "before": ""}}
		},
		func(id string) ask { return ask{method: "GET", path: at(id, "events")} },
		func(id string) ask {
			return ask{method: "POST", path: "/v1/references/preview", body: m{"target": mine, "reference": quote(id, message)}}
		},
		func(id string) ask {
			return ask{method: "POST", path: "/v1/references/preview", body: m{"target": id, "reference": pointer(mine)}}
		},
		func(id string) ask {
			return ask{method: "POST", path: at(mine, "messages"), body: m{"text": "x", "references": []m{pointer(id)}}}
		},
		func(id string) ask {
			return ask{method: "POST", path: at(mine, "messages"), body: m{"text": "x", "references": []m{quote(id, message)}}}
		},
	}
	for _, verb := range verbs {
		missing := w.do(verb("cnv_01a22cf6ff5973d691c2e421bc634686"))
		if missing.status != 404 {
			t.Errorf("%s: %d %s, want 404", missing.what, missing.status, missing.body)
		}
		for _, id := range []string{theirs, gone} {
			if got := w.do(verb(id)); got.status != missing.status || string(got.body) != string(missing.body) {
				t.Errorf("%s: %d %s, and for one that never was %s", got.what, got.status, got.body, missing.body)
			}
		}
	}
	if w.everything() != before {
		t.Error("something was stored")
	}
	if got := w.get("/v1/conversations?query=heron").is(200).object()["items"].([]any); len(got) != 0 {
		t.Errorf("a search finds %v", got)
	}
	if got := w.get(at(mine, "candidates") + "?query=heron").is(200).object()["items"].([]any); len(got) != 0 {
		t.Errorf("candidates are %v", got)
	}
	// The stranger's row is as it was.
	w.stop()
	s := w.openStore()
	if c, err := s.Conversation(t.Context(), weir.ConversationID(theirs)); err != nil || c.Title != "codeword heron" || c.HeadSeq != 1 || c.Deleted {
		t.Errorf("the stranger's conversation is %+v, %v", c, err)
	}
	w.must(s.Close())
	w.boot()
}

func (w *world) openStore() store.Store {
	w.Helper()
	where := w.cfg.Store
	if where == "" {
		where = w.cfg.Data
	}
	s, err := store.Open(context.Background(), where)
	w.must(err)
	return s
}

// seedStranger puts a conversation of another owner into the store.
func (w *world) seedStranger() (conversation, message string) {
	w.Helper()
	s := w.openStore()
	defer s.Close()
	now := time.Now()
	c := weir.Conversation{
		ID: weir.NewConversationID(now), Owner: "own_stranger", Title: "codeword heron", TitleSet: true, Kind: weir.Chat,
		Visibility: weir.Visibility{Level: weir.Open}, Generation: weir.NewGenerationID(now), State: weir.Idle, CreatedAt: now, LastActive: now,
	}
	id := weir.NewMessageID(now)
	w.must(s.Update(context.Background(), func(tx store.Tx) error {
		if err := tx.InsertConversation(context.Background(), &c); err != nil {
			return err
		}
		l, _, err := tx.AcquireLease(context.Background(), c.ID, "seed", time.Minute)
		if err != nil {
			return err
		}
		_, err = tx.Append(context.Background(), c.ID, l.Fence, nil, weir.Record{
			ID: id, Time: now, Generation: c.Generation, Body: &weir.UserMessage{Text: "codeword heron"},
		})
		if err != nil {
			return err
		}
		return tx.ReleaseLease(context.Background(), l)
	}))
	return string(c.ID), string(id)
}
