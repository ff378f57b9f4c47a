package storetest

import (
	"strings"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/store"
)

func artefact(c weir.ConversationID, id weir.ArtefactID, text string) *weir.Artefact {
	return &weir.Artefact{Conversation: c, ID: id, Call: "call_1", Tool: "read", Text: text, Time: at(2)}
}

// keeps puts an artefact and the result that names it.
func (w *world) keeps(l weir.Lease, id weir.ArtefactID) {
	w.Helper()
	w.must(func(tx store.Tx) error {
		return tx.PutArtefact(w.ctx, l.Fence, artefact(l.Conversation, id, "all of "+string(id)))
	})
	w.append(l, record("msg_"+string(id), &weir.ToolResult{Call: "call_1", Text: "cut", Artefact: id}))
}

func (w *world) artefacts(c weir.ConversationID, ids ...weir.ArtefactID) map[weir.ArtefactID]bool {
	w.Helper()
	conv := w.get(c)
	there := map[weir.ArtefactID]bool{}
	for _, id := range ids {
		a, err := w.Artefact(w.ctx, &conv, id)
		switch {
		case err == nil:
			there[id] = a.Text == "all of "+string(id)
		case weir.CodeOf(err) != "artefact_not_found":
			w.Error(err)
		}
	}
	return there
}

var artefacts = []scenario{
	{"AnArtefactComesBackByteForByte", func(w *world) {
		w.conversation("a")
		w.conversation("b")
		l := w.lease("a")
		c, other := w.get("a"), w.get("b")
		for name, text := range map[string]string{
			"empty": "", "plain": "text", "with a NUL": "a\x00b", "not UTF-8": "\xff\xfe", "largest": strings.Repeat("0123456789abcde\n", weir.MaxArtefactBytes/16),
		} {
			a := artefact("a", weir.ArtefactID(name), text)
			w.must(func(tx store.Tx) error { return tx.PutArtefact(w.ctx, l.Fence, a) })
			got, err := w.Artefact(w.ctx, &c, a.ID)
			if err != nil || !cmp.Equal(*a, got) {
				w.Errorf("%s: %v; %d bytes, of %s", name, err, len(got.Text), got.Tool)
			}
			_, err = w.Artefact(w.ctx, &other, a.ID)
			wantCode(w, err, "artefact_not_found")
			w.refused("artefact_exists", func(tx store.Tx) error { return tx.PutArtefact(w.ctx, l.Fence, artefact("a", a.ID, "another")) })
		}
		w.refused("artefact_too_large", func(tx store.Tx) error {
			return tx.PutArtefact(w.ctx, l.Fence, artefact("a", "x", strings.Repeat("x", weir.MaxArtefactBytes+1)))
		})
	}},
	{"ABranchHasTheArtefactsOfWhatItInherits", func(w *world) {
		w.conversation("root")
		l := w.lease("root")
		w.say(l, "one")
		w.keeps(l, "early")
		w.say(l, "three")
		w.keeps(l, "late")
		root := w.get("root")
		child := w.branch("child", root, 3)
		w.branch("grandchild", child, 1) // cut inside what the child inherits
		w.keeps(w.lease("child"), "own")
		all := []weir.ArtefactID{"early", "late", "own", "none"}
		for c, want := range map[weir.ConversationID]map[weir.ArtefactID]bool{
			"root": {"early": true, "late": true}, "child": {"early": true, "own": true}, "grandchild": {},
		} {
			if d := cmp.Diff(want, w.artefacts(c, all...)); d != "" {
				w.Errorf("%s (-want +got):\n%s", c, d)
			}
		}
		w.must(func(tx store.Tx) error { return tx.DeleteBodies(w.ctx, "root", 3) })
		for c, want := range map[weir.ConversationID]map[weir.ArtefactID]bool{
			"root": {"early": true}, "child": {"early": true, "own": true}, // as the records do
		} {
			if d := cmp.Diff(want, w.artefacts(c, all...)); d != "" {
				w.Errorf("%s, after its deletion up to the branch (-want +got):\n%s", c, d)
			}
		}
		w.must(func(tx store.Tx) error { return tx.DeleteBodies(w.ctx, "root", 0) })
		if d := cmp.Diff(map[weir.ArtefactID]bool{"own": true}, w.artefacts("child", all...)); d != "" {
			w.Error("after its deletion (-want +got):\n", d)
		}
	}},
}
