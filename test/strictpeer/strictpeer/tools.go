package strictpeer

import "slices"

// Parallel calls one tool many times in one answer, each time with other
// arguments.
func Parallel(name string, arguments ...string) Answer {
	var a Answer
	for _, args := range arguments {
		a = append(a, Use(name, args))
	}
	return a
}

// Endless answers every request with a call of one tool, as long as there is
// such a tool and the model may call any. Then it says so.
func Endless(name, arguments string) func(*Request) Answer {
	return func(r *Request) Answer {
		if !r.Free || !slices.Contains(r.Tools, name) {
			return Answer{Say("I may not call " + name + ".")}
		}
		return Answer{Use(name, arguments)}
	}
}

// Loop calls one tool that many times, one call an answer, and then answers as
// last says.
func Loop(name, arguments string, times int, last Answer) []Answer {
	var all []Answer
	for range times {
		all = append(all, Answer{Use(name, arguments)})
	}
	return append(all, last)
}
