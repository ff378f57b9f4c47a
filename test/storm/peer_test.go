package storm

import (
	"math/rand/v2"
	"sync"
	"time"

	"weir/test/strictpeer"
)

// answers is what the provider says: mostly a few words at once; now and then
// it thinks, hesitates in the middle, calls what is not there, or fails.
func answers(r *rand.Rand) func(*strictpeer.Request) strictpeer.Answer {
	var mu sync.Mutex
	return func(req *strictpeer.Request) strictpeer.Answer {
		mu.Lock()
		defer mu.Unlock()
		words := strictpeer.Say("This is the answer to " + req.Last[max(0, len(req.Last)-40):])
		switch n := r.IntN(20); {
		case n < 8:
			return strictpeer.Answer{words}
		case n < 12:
			return strictpeer.Answer{strictpeer.Think("Let me see."), words}
		case n < 16:
			return strictpeer.Answer{strictpeer.Say("Well, "), after(time.Duration(r.IntN(60)) * time.Millisecond), words}
		case n < 17: // long enough for a checkpoint
			return strictpeer.Answer{strictpeer.Say("Let me think about it. "), after(1300 * time.Millisecond), words}
		case n < 18:
			return strictpeer.Answer{words, strictpeer.Call("call_1", "nothing", `{"a": 1}`)}
		case n < 19:
			return strictpeer.Answer{strictpeer.Fail(529, "")}
		}
		return strictpeer.Answer{words, strictpeer.Abort()}
	}
}

// after holds the stream for a while.
func after(d time.Duration) strictpeer.Act {
	over := make(chan struct{})
	time.AfterFunc(d, func() { close(over) })
	return strictpeer.Hold(over)
}
