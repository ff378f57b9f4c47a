package live

import (
	"sync"

	"weir"
)

// Hub carries signals within one process. The zero value is not ready: use
// [NewHub]. It starts no goroutine; a signal is handed over by the publisher
// itself, under one lock, which is what keeps the order.
type Hub struct {
	mu     sync.Mutex
	topics map[weir.ConversationID]map[*subscriber]struct{}
}

type subscriber struct {
	topic weir.ConversationID
	ch    chan Signal
}

// NewHub returns a hub without subscribers.
func NewHub() *Hub {
	return &Hub{topics: map[weir.ConversationID]map[*subscriber]struct{}{}}
}

// Publish hands s to those who watch its conversation, and to those who watch
// all. It never blocks: a subscriber whose buffer is full is cut off.
func (h *Hub) Publish(s Signal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.Conversation != "" {
		h.deliver(s.Conversation, s)
	}
	if s.Delta != nil {
		if s.Head == 0 && !s.Inputs && !s.State {
			return
		}
		s.Delta = nil
	}
	h.deliver("", s)
}

func (h *Hub) deliver(topic weir.ConversationID, s Signal) {
	for sub := range h.topics[topic] {
		select {
		case sub.ch <- s:
		default:
			h.drop(sub)
		}
	}
}

// Subscribe watches a conversation, or with "" all of them without their
// deltas. The channel holds buffer signals (at least one) and is closed when
// the subscriber was too slow or has called cancel; after a cut it gets what
// was buffered and nothing more, and has to read the store and subscribe anew.
// cancel may be called any number of times, from any goroutine.
func (h *Hub) Subscribe(c weir.ConversationID, buffer int) (signals <-chan Signal, cancel func()) {
	sub := &subscriber{topic: c, ch: make(chan Signal, max(buffer, 1))}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.topics[c] == nil {
		h.topics[c] = map[*subscriber]struct{}{}
	}
	h.topics[c][sub] = struct{}{}
	return sub.ch, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.drop(sub)
	}
}

// drop takes sub out and closes its channel, once.
func (h *Hub) drop(sub *subscriber) {
	subs := h.topics[sub.topic]
	if _, in := subs[sub]; !in {
		return
	}
	delete(subs, sub)
	if len(subs) == 0 {
		delete(h.topics, sub.topic)
	}
	close(sub.ch)
}
