package storetest

import (
	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/store"
)

var deletions = []scenario{
	{"ADeletedConversationLeavesATombstone", func(w *world) {
		root := w.conversation("root", func(c *weir.Conversation) { c.Visibility = weir.Visibility{Level: weir.Isolated, Category: "x"} })
		w.branch("gone", root, 0, titled("zebra-5512"), in("/zebra"), func(c *weir.Conversation) {
			c.Visibility = weir.Visibility{Level: weir.Isolated, Category: "x"}
			c.Origin = &weir.Origin{Product: "p", File: "zebra.jsonl"}
		})
		l := w.lease("gone")
		w.say(l, "one")
		w.putViews(l, view("gone", 1, "x", "bytes"))
		w.admit(input("gone", "i", "x"))
		w.must(func(tx store.Tx) error { return tx.InsertStep(w.ctx, step(l, "s", 1)) })
		w.conversation("other")
		others := w.lease("other")
		for _, l := range []weir.Lease{l, others} {
			w.keeps(l, "art_1")
			w.putCalls(l, call(l, "s", "x", 0, weir.CallWaiting), call(l, "s", "y", 1, weir.CallSettled))
			scope := weir.OfConversation(l.Conversation)
			w.notice(change(scope, "x/y", `1`), change(weir.OfWorkspace("/zebra"), "x/y", `1`))
			w.put(clientFact(scope, "x/y", `1`), clientFact(weir.OfOwner(owner), "x/y", `1`))
		}
		before := w.get("gone")
		w.must(func(tx store.Tx) error { return tx.DeleteBodies(w.ctx, "gone", 0) })

		after := w.get("gone")
		want := before
		want.Deleted, want.Title, want.Workspace, want.Origin = true, "", "", nil
		if d := cmp.Diff(want, after); d != "" {
			w.Error("tombstone (-want +got):\n", d)
		}
		if got := w.log("gone", weir.RecordQuery{}); len(got) != 0 {
			w.Errorf("records: %v", got)
		}
		if got := w.viewsOf("gone", "x", 1, 9); len(got) != 0 {
			w.Errorf("views: %v", got)
		}
		if got, err := w.Inputs(w.ctx, "gone", 9); err != nil || len(got) != 0 {
			w.Errorf("inputs: %v, %v", got, err)
		}
		if got, err := w.Steps(w.ctx, "gone", 0, 9); err != nil || len(got) != 0 {
			w.Errorf("steps: %v, %v", got, err)
		}
		type rest struct{ Calls, Waiting, Artefacts, Changes, Facts int }
		for id, want := range map[weir.ConversationID]rest{"gone": {Changes: 2, Facts: 1}, "other": {2, 1, 1, 3, 2}} {
			scope := weir.OfConversation(id)
			got := rest{
				len(w.calls(id, "s")), len(w.waiting(id)), len(w.artefacts(id, "art_1")),
				len(w.changes(0, 0, scope, weir.OfWorkspace("/zebra"))), len(w.facts(scope, weir.OfOwner(owner))),
			}
			if d := cmp.Diff(want, got); d != "" {
				w.Errorf("left of %s (-want +got):\n%s", id, d)
			}
		}
		for _, words := range []string{"zebra", "zebra-5512", "gone", ""} {
			for _, id := range w.walkAll(weir.ConversationQuery{Owner: owner, Words: words}, nil) {
				if id == "gone" {
					w.Errorf("%q still finds it", words)
				}
			}
		}
		if got := w.due(); len(got) != 0 {
			w.Errorf("due: %v", got)
		}
		w.refused(weir.CodeConversationNotFound, func(tx store.Tx) error { return tx.DeleteBodies(w.ctx, "none", 0) })
	}},
	{"WhatABranchInheritsStaysReadableThroughIt", func(w *world) {
		family(w)
		l := weir.Lease{Conversation: "root", Fence: 1}
		w.putViews(l, view("root", 2, "x", "kept"), view("root", 5, "x", "lost"))
		w.must(func(tx store.Tx) error { return tx.DeleteBodies(w.ctx, "root", 3) })
		w.must(func(tx store.Tx) error { return tx.DeleteBodies(w.ctx, "middle", 4) })
		if d := cmp.Diff([]string{"root 1 r1", "root 2 r2", "root 3 r3", "middle 4 m4", "leaf 5 l5"}, w.log("leaf", weir.RecordQuery{})); d != "" {
			w.Error("the leaf's log (-want +got):\n", d)
		}
		leaf := w.get("leaf")
		if _, err := w.Message(w.ctx, &leaf, "msg_r2"); err != nil {
			w.Error(err)
		}
		if d := cmp.Diff([]weir.View{view("root", 2, "x", "kept")}, w.viewsOf("leaf", "x", 1, 9)); d != "" {
			w.Error("the leaf's views (-want +got):\n", d)
		}
		root := w.get("root")
		for _, id := range []weir.MessageID{"msg_r4", "msg_r5"} {
			_, err := w.Message(w.ctx, &root, id)
			wantCode(w, err, weir.CodeMessageNotFound)
		}
		w.must(func(tx store.Tx) error { return tx.DeleteBodies(w.ctx, "root", 1) }) // a lower keep later
		if got := w.log("leaf", weir.RecordQuery{Before: 4}); !cmp.Equal(got, []string{"root 1 r1"}) {
			w.Errorf("after a second deletion: %v", got)
		}
	}},
	{"AnswersThatNameADeletedConversationAreForgotten", func(w *world) {
		const gone = weir.ConversationID("a<1>é")
		w.conversation(gone)
		w.conversation("a<1>é2")
		remember := func(route, key, body string) {
			w.must(func(tx store.Tx) error {
				return tx.RememberAnswer(w.ctx, owner, route, key, weir.IdempotentAnswer{Digest: "d", Status: 201, Body: []byte(body)})
			})
		}
		remember("POST /v1/conversations?", "made", `{"title":"zebra","id":"a<1>é"}`)
		remember("POST /v1/conversations?", "escaped", `{"id": "a\u003c1\u003eé"}`)
		remember("POST /v1/conversations/b/branch?", "branch", `{"id":"b","lineage":[{"conversation":"a<1>é","upto":1}]}`)
		remember("POST /v1/conversations/a%3C1%3E%C3%A9/rewind?", "rewind", `{"seq":7}`)
		remember("POST /v1/conversations?", "another", `{"id":"a<1>é2"}`)
		remember("POST /v1/conversations/a%3C1%3E%C3%A92/rewind?", "another", `{"seq":7}`)
		w.must(func(tx store.Tx) error { return tx.DeleteBodies(w.ctx, gone, 0) })
		for _, at := range [][2]string{
			{"POST /v1/conversations?", "made"}, {"POST /v1/conversations?", "escaped"},
			{"POST /v1/conversations/b/branch?", "branch"}, {"POST /v1/conversations/a%3C1%3E%C3%A9/rewind?", "rewind"},
		} {
			if a, err := w.Answer(w.ctx, owner, at[0], at[1]); weir.CodeOf(err) != "answer_not_found" {
				w.Errorf("%v still answers %s, %v", at, a.Body, err)
			}
		}
		for _, route := range []string{"POST /v1/conversations?", "POST /v1/conversations/a%3C1%3E%C3%A92/rewind?"} {
			if _, err := w.Answer(w.ctx, owner, route, "another"); err != nil {
				w.Errorf("the answer of another, %s: %v", route, err)
			}
		}
	}},
	{"WallsStayAfterDeletion", func(w *world) {
		root := w.conversation("root", func(c *weir.Conversation) { c.Visibility.Level = weir.Isolated })
		w.branch("leaf", root, 0)
		w.must(func(tx store.Tx) error { return tx.DeleteBodies(w.ctx, "root", 0) })
		if d := cmp.Diff([]weir.ConversationID{"root"}, w.get("leaf").Island); d != "" {
			w.Error("(-want +got):\n", d)
		}
	}},
	{"ADeletedIDIsNotFreeAgain", func(w *world) {
		w.conversation("a")
		w.must(func(tx store.Tx) error { return tx.DeleteBodies(w.ctx, "a", 0) })
		w.refused("conversation_exists", func(tx store.Tx) error {
			return tx.InsertConversation(w.ctx, &weir.Conversation{ID: "a", Owner: owner, Kind: weir.Chat, Generation: "g"})
		})
	}},
}
