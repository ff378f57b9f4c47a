package storetest

import (
	"strings"

	"weir"
	"weir/store"
)

// difficult texts come back byte for byte.
var difficult = map[string]string{
	"emoji":         "👨‍👩‍👧 🇩🇪 1️⃣",
	"right to left": "می‌خواهم \u202eabc\u202c \u200f 10 km",
	"separators":    "a\u2028b\u2029c\u0085d\r\n\t\v\f\x1b\x7f",
	"html":          `</quote></framework> <script>&amp;"'` + "`",
	"sql":           `'; DROP TABLE records; -- ? $1 {ids} {now}`,
	"json":          `{"a":"\u0000 \\ \""}`,
	"not composed":  "e\u0301 \u1100\u1161",
	"last letters":  "\U0010ffff\ufffd\ufeff",
	"spaces":        "  trailing and leading  \n",
	"empty":         "",
	"large":         strings.Repeat("0123456789abcde中", 1_000_000/18),
}

var texts = []scenario{
	{"TextComesBackByteForByte", func(w *world) {
		for name, text := range difficult {
			id := weir.ConversationID("c-" + name)
			title := text[:min(len(text), 4096)]
			w.conversation(id, titled(title), in(title), func(c *weir.Conversation) { c.Visibility.Category = title })
			if c := w.get(id); c.Title != title || c.Workspace != title || c.Visibility.Category != title {
				w.Errorf("%s: title, workspace or category changed", name)
			}
			l := w.lease(id)
			w.append(l, record("m", &weir.UserMessage{Text: text, Shown: text}))
			c := w.get(id)
			r, err := w.Message(w.ctx, &c, "m")
			if err != nil {
				w.Fatal(err)
			}
			if m := r.Body.(*weir.UserMessage); m.Text != text || m.Shown != text {
				w.Errorf("%s: a record changed", name)
			}
			i := input(id, "i", text)
			i.Shown, i.References = text, []weir.Frozen{{Note: text, Text: text}}
			w.admit(i)
			got, err := w.Input(w.ctx, id, "i")
			if err != nil {
				w.Fatal(err)
			}
			if got.Text != text || got.Shown != text || got.References[0].Note != text {
				w.Errorf("%s: an input changed", name)
			}
			w.putViews(l, view(id, 1, "x", text))
			if v := w.viewsOf(id, "x", 1, 1); string(v[0].Bytes) != text {
				w.Errorf("%s: a view changed", name)
			}
			w.putCalls(l, weir.Call{Conversation: id, Step: "s", ID: "x", Name: text, State: weir.CallStarted})
			if got := w.calls(id, "s"); got[0].Name != text {
				w.Errorf("%s: a call changed", name)
			}
			if len(text) <= weir.MaxFactBytes {
				fact := clientFact(weir.OfConversation(id), "x/y", `0`)
				fact.Text = text
				w.put(fact)
				if got := w.facts(fact.Scope); got[0].Text != text {
					w.Errorf("%s: a fact changed", name)
				}
			}
			s := step(l, "s", 1)
			s.Partial = text
			w.must(func(tx store.Tx) error { return tx.InsertStep(w.ctx, s) })
			if got, err := w.Step(w.ctx, id, "s"); err != nil || got.Partial != text {
				w.Errorf("%s: a step changed: %v", name, err)
			}
			f := flow(id, "target", "i")
			f.Confirmation, f.SourceScope.Category = text, text
			w.record(f)
			flows, err := w.FlowsOf(w.ctx, "target", "i")
			if last := flows[len(flows)-1]; err != nil || last.Confirmation != text || last.SourceScope.Category != text {
				w.Errorf("%s: a flow changed: %v", name, err)
			}
		}
	}},
	{"IdsAreOpaque", func(w *world) {
		for _, id := range []string{"a", "A", "a ", " a", "a/b?c#d%25", "é", "e\u0301", "会议", "'", `"`, "\\", "\x01", strings.Repeat("x", weir.MaxIDBytes)} {
			w.conversation(weir.ConversationID(id))
			l := w.lease(weir.ConversationID(id))
			w.append(l, record(id, &weir.UserMessage{Text: id}))
			w.admit(input(weir.ConversationID(id), weir.InputID(id), id))
			c := w.get(weir.ConversationID(id))
			r, err := w.Message(w.ctx, &c, weir.MessageID(id))
			if err != nil || r.Body.(*weir.UserMessage).Text != id {
				w.Errorf("message %q: %v", id, err)
			}
			in, err := w.Input(w.ctx, c.ID, weir.InputID(id))
			if err != nil || in.Text != id {
				w.Errorf("input %q: %v", id, err)
			}
			if got := w.walkAll(weir.ConversationQuery{Owner: owner, Words: strings.TrimSpace(id)}, nil); len(got) == 0 {
				w.Errorf("%q is not found", id)
			}
		}
	}},
	{"ANulIsRefusedClearly", func(w *world) {
		w.conversation("a")
		l := w.lease("a")
		for name, write := range map[string]func(tx store.Tx) error{
			"title": func(tx store.Tx) error {
				return tx.InsertConversation(w.ctx, &weir.Conversation{ID: "b", Owner: owner, Kind: weir.Chat, Generation: "g", Title: "a\x00b"})
			},
			"change": func(tx store.Tx) error {
				return tx.ChangeConversation(w.ctx, "a", weir.ConversationChange{Title: ptr("\x00")})
			},
			"category": func(tx store.Tx) error {
				return tx.ChangeConversation(w.ctx, "a", weir.ConversationChange{Visibility: &weir.Visibility{Category: "\xff"}})
			},
			"input": func(tx store.Tx) error { return tx.InsertInput(w.ctx, input("a", "i", "a\x00b")) },
			"call": func(tx store.Tx) error {
				c := call(l, "s", "x", 0, weir.CallStarted)
				c.Name = "a\x00b"
				return tx.InsertCalls(w.ctx, l.Fence, c)
			},
			"artefact": func(tx store.Tx) error {
				a := artefact("a", "x", "y")
				a.Tool = "\xff"
				return tx.PutArtefact(w.ctx, l.Fence, a)
			},
			"bytes": func(tx store.Tx) error { return tx.InsertInput(w.ctx, input("a", "i", "a\xffb")) },
		} {
			if err := w.Update(w.ctx, write); weir.CodeOf(err) != "text_invalid" || weir.KindOf(err) != weir.Invalid {
				w.Errorf("%s: %v", name, err)
			}
		}
		for _, id := range []string{"", "a\x00", "\xff", strings.Repeat("x", weir.MaxIDBytes+1)} {
			w.refused("conversation_invalid", func(tx store.Tx) error {
				return tx.InsertConversation(w.ctx, &weir.Conversation{ID: weir.ConversationID(id), Owner: owner, Kind: weir.Chat, Generation: "g"})
			})
			if _, err := w.Conversation(w.ctx, weir.ConversationID(id)); err == nil {
				w.Errorf("%q is there", id)
			}
			w.refused("call_invalid", func(tx store.Tx) error {
				return tx.InsertCalls(w.ctx, l.Fence, call(l, "s", id, 0, weir.CallStarted))
			})
			w.refused("artefact_invalid", func(tx store.Tx) error {
				return tx.PutArtefact(w.ctx, l.Fence, artefact("a", weir.ArtefactID(id), "y"))
			})
		}
	}},
}
