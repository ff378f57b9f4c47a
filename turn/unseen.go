package turn

import (
	"log/slog"
	"maps"
	"sync"
	"time"

	"weir"
	"weir/fact"
)

// unseen remembers which facts could not be observed the last time, and since
// when. It is for people to look at; nothing is decided by it.
type unseen struct {
	mu    sync.Mutex
	since map[weir.ConversationID]map[string]Unseen
}

// maxUnseen bounds for how many conversations it remembers.
const maxUnseen = 4096

// note takes in an observation, and says once of a fact that it is missing.
func (u *unseen) note(log *slog.Logger, c weir.ConversationID, observed []fact.Observation, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	was := u.since[c]
	is := map[string]Unseen{}
	for _, o := range observed {
		if o.State != fact.Unavailable {
			continue
		}
		it, known := was[o.Key]
		if !known {
			it.Since = now
			log.Warn("a fact is unavailable", "conversation", c, "fact", o.Key, "err", o.Err)
		}
		it.Reason = fact.Reason(o.Err)
		is[o.Key] = it
	}
	if len(is) == 0 {
		delete(u.since, c)
		return
	}
	if u.since == nil {
		u.since = map[weir.ConversationID]map[string]Unseen{}
	}
	if was == nil && len(u.since) >= maxUnseen {
		for other := range u.since { // whichever
			delete(u.since, other)
			break
		}
	}
	u.since[c] = is
}

func (u *unseen) of(c weir.ConversationID) map[string]Unseen {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.since[c])
}
