package strictpeer

import (
	"encoding/json"
	"net"
	"net/http"

	"weir/model/strict"
)

// performance is one answer on its way.
type performance struct {
	w     http.ResponseWriter
	sink  sink
	begun bool
}

func (f *performance) flush() {
	if f.begun {
		http.NewResponseController(f.w).Flush()
	}
}

// begin sends the header, once.
func (f *performance) begin(p *Peer, e *Exchange) error {
	if f.begun {
		return nil
	}
	f.begun = true
	p.settle(e, http.StatusOK, "")
	f.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	f.w.Header().Set("Cache-Control", "no-cache")
	f.w.WriteHeader(http.StatusOK)
	return f.sink.begin()
}

// reset closes the connection without the usual farewell.
func (f *performance) reset() {
	conn, _, err := http.NewResponseController(f.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // not HTTP/1.1
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
}

// perform does what an answer says. A client that goes ends it.
func (p *Peer) perform(w http.ResponseWriter, r *http.Request, e *Exchange, d dialect, s sink, a Answer) {
	f := &performance{w: w, sink: s}
	s.out(w)
	size, reason := 8, ""
	for _, act := range a {
		switch act.kind {
		case pieces:
			size = act.n
		case stop:
			reason = act.text
		case hold:
			f.flush()
			select {
			case <-act.until:
			case <-r.Context().Done():
				return
			}
		case abort:
			f.flush()
			panic(http.ErrAbortHandler)
		case reset:
			f.flush()
			f.reset()
			return
		case fail:
			if f.begun {
				s.fault(act.n, act.text)
				return
			}
			p.settle(e, act.n, "")
			if act.id != "" {
				w.Header().Set("Retry-After", act.id)
			}
			d.refuse(w, failure(act.n, act.text))
			return
		case cut:
			f.begin(p, e)
			return
		default:
			if !s.streams() {
				continue
			}
			if f.begin(p, e) != nil || s.act(act, size) != nil {
				return
			}
			f.flush()
		}
	}
	if !s.streams() {
		p.settle(e, http.StatusOK, "")
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(s.whole(a))
		return
	}
	if f.begin(p, e) == nil {
		s.end(reason)
	}
}

// failure is the vendor's usual error of a status.
func failure(status int, message string) *strict.Refusal {
	known := map[int][2]string{
		400: {"invalid_request_error", "Bad request"},
		401: {"authentication_error", "invalid x-api-key"},
		402: {"billing_error", "Your credit balance is too low to access the API."},
		403: {"permission_error", "Your API key does not have permission to use the specified resource."},
		404: {"not_found_error", "Not found"},
		409: {"conflict_error", "Conflict"},
		413: {"request_too_large", "Request exceeds the maximum size"},
		429: {"rate_limit_error", "This request would exceed your rate limit."},
		500: {"api_error", "Internal server error"},
		503: {"api_error", "Service unavailable"},
		529: {"overloaded_error", "Overloaded"},
	}
	usual, ok := known[status]
	if !ok {
		usual = [2]string{"api_error", http.StatusText(status)}
	}
	if message == "" {
		message = usual[1]
	}
	return &strict.Refusal{Status: status, Type: usual[0], Message: message}
}
