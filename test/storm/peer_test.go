package storm

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"weir/test/strictpeer/strictpeer"
)

// answers is what the provider says: often it calls tools, one, several or one
// that is not there; else it says a few words at once, thinks, hesitates in the
// middle, or fails.
func answers(r *rand.Rand) func(*strictpeer.Request) strictpeer.Answer {
	var mu sync.Mutex
	return func(req *strictpeer.Request) strictpeer.Answer {
		mu.Lock()
		defer mu.Unlock()
		words := strictpeer.Say("This is the answer to " + req.Last[max(0, len(req.Last)-40):])
		if req.Free && len(req.Tools) > 0 && r.IntN(5) < 2 {
			return calling(r)
		}
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
			return strictpeer.Answer{words, strictpeer.Use("nothing", `{"a": 1}`)}
		case n < 19:
			return strictpeer.Answer{strictpeer.Fail(529, "")}
		}
		return strictpeer.Answer{words, strictpeer.Abort()}
	}
}

// calling is an answer that calls tools.
func calling(r *rand.Rand) strictpeer.Answer {
	long := func(most int) string { return fmt.Sprintf(`{"ms":%d}`, r.IntN(most)) }
	switch n := r.IntN(10); {
	case n < 3:
		return strictpeer.Answer{strictpeer.Use("work", long(60))}
	case n < 6:
		return append(strictpeer.Answer{strictpeer.Think("All three at once.")},
			strictpeer.Parallel("work", long(40), long(40), long(40))...)
	case n < 7:
		return strictpeer.Answer{strictpeer.Use("work", long(40)), strictpeer.Use("work_alone", long(30)), strictpeer.Use("work", long(40))}
	case n < 8:
		return strictpeer.Answer{strictpeer.Use("work_ask", long(40)), strictpeer.Use("work", `{"ms":5,"bytes":40000}`)}
	case n < 9:
		return strictpeer.Answer{strictpeer.Use("work", `{"ms":`), strictpeer.Use("work", long(40))}
	}
	return strictpeer.Answer{strictpeer.Say("First I "), after(time.Duration(r.IntN(30)) * time.Millisecond), strictpeer.Use("work", long(300))}
}

// after holds the stream for a while.
func after(d time.Duration) strictpeer.Act {
	over := make(chan struct{})
	time.AfterFunc(d, func() { close(over) })
	return strictpeer.Hold(over)
}
