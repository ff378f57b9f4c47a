package storm

import (
	"weir"
	"weir/modelview"
	"weir/store"
	"weir/test/strictpeer/strictpeer"
	"weir/turn"
)

// check looks at what is left when everything has settled.
func (s *storm) check(peer *strictpeer.Peer) {
	s.t.Helper()
	db, err := store.Open(s.t.Context(), s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	s.verified(db)
	s.everyMessageOnce(db)
	s.everyRequestWasDurable(db, peer)
	s.everyCallOnce(db)
	for _, refusal := range peer.Refusals() {
		s.t.Errorf("the provider refused a request: %s", refusal)
	}
}

func (s *storm) verified(db store.Store) {
	s.t.Helper()
	rep, err := turn.Verify(s.t.Context(), db, modelview.New(), owner)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, d := range rep.Differences {
		s.t.Errorf("verify: %s at %d: %s %s", d.Conversation, d.Seq, d.What, d.Detail)
	}
	if rep.Conversations != conversations || rep.Unsettled != 0 || rep.Pending != 0 {
		s.t.Errorf("verify: %d conversations, %d steps unsettled, %d inputs pending", rep.Conversations, rep.Unsettled, rep.Pending)
	}
	cut := 0
	for i := range conversations {
		for _, r := range s.records(db, conversation(i), weir.KindStep) {
			if l := r.Body.(*weir.StepStart).Ledger; l.Reason == weir.BreakDefect {
				s.t.Errorf("%s at %d: the request shares %d of %d bytes with the one before, and nothing says why", conversation(i), r.Seq, l.Shared, l.PrefixBytes)
			}
		}
		for _, r := range s.records(db, conversation(i), weir.KindStepEnd) {
			if r.Body.(*weir.StepEnd).Code == "cut_off" {
				cut++
			}
		}
	}
	s.t.Logf("%d records, %d requests rebuilt, %d kills, %d steps were cut off by them", rep.Records, rep.Requests, s.killed, cut)
}

// everyMessageOnce: each acknowledged message is in its transcript once, as it
// was sent, and steers and queued ones each in the order of the inbox.
func (s *storm) everyMessageOnce(db store.Store) {
	s.t.Helper()
	if len(s.acked) != s.inputs {
		s.t.Errorf("%d of %d messages were acknowledged", len(s.acked), s.inputs)
	}
	ordered := map[weir.InputID]order{}
	for _, o := range s.orders {
		ordered[o.ID] = o
	}
	seen := map[weir.InputID]bool{}
	for i := range conversations {
		last := map[weir.Delivery]int64{}
		for _, r := range s.records(db, conversation(i), weir.KindUser) {
			m := r.Body.(*weir.UserMessage)
			o := ordered[m.Input]
			if seen[m.Input] {
				s.t.Errorf("%s is there twice", m.Input)
			}
			seen[m.Input] = true
			if o.Conversation != conversation(i) || o.Text != m.Text || len(m.References) != references(o) {
				s.t.Errorf("%s in %s is not what was sent", m.Input, conversation(i))
			}
			at := s.acked[m.Input]
			if at <= last[o.Delivery] {
				s.t.Errorf("%s (position %d) came after position %d", m.Input, at, last[o.Delivery])
			}
			last[o.Delivery] = at
		}
	}
	for id := range s.acked {
		if !seen[id] {
			s.t.Errorf("%s was acknowledged and is not there", id)
		}
	}
}

func references(o order) int {
	if o.Pointer != "" {
		return 1
	}
	return 0
}

// everyRequestWasDurable: whatever reached the provider is a step of the log,
// and no step was sent more often than its row says it was tried.
func (s *storm) everyRequestWasDurable(db store.Store, peer *strictpeer.Peer) {
	s.t.Helper()
	steps := map[string]int{}
	l := modelview.New()
	for i := range conversations {
		c, err := db.Conversation(s.t.Context(), conversation(i))
		if err != nil {
			s.t.Fatal(err)
		}
		for _, r := range s.records(db, c.ID, weir.KindStep) {
			body, err := l.Rebuild(s.t.Context(), db, &c, &r)
			if err != nil {
				s.t.Errorf("step %d of %s: %v", r.Seq, c.ID, err)
				continue
			}
			step, err := db.Step(s.t.Context(), c.ID, r.Body.(*weir.StepStart).Step)
			if err != nil {
				s.t.Fatal(err)
			}
			steps[string(body)] += step.Attempts
		}
	}
	for _, body := range peer.Bodies() {
		if steps[string(body)]--; steps[string(body)] < 0 {
			s.t.Errorf("a request reached the provider that no step had made, or once too often: %.300s", body)
		}
	}
}

func (s *storm) records(db store.Store, id weir.ConversationID, kind weir.RecordKind) []weir.Record {
	s.t.Helper()
	c, err := db.Conversation(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	all, err := db.Records(s.t.Context(), &c, weir.RecordQuery{Kinds: []weir.RecordKind{kind}})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}
