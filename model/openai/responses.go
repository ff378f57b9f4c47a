package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"weir"
	"weir/model"
	"weir/model/internal/wire"
)

// Responses speaks the Responses API to one endpoint. Its fields are those of
// a [Client] and are not changed after first use.
type Responses Client

// NewResponses returns a client of the endpoint at baseURL, to which only
// /responses is added; the vendor's own when empty. A nil hc means the standard
// HTTP client.
func NewResponses(baseURL, apiKey string, hc *http.Client) model.Client {
	return &Responses{BaseURL: baseURL, Key: strings.TrimSpace(apiKey), HTTP: hc}
}

// Stream implements [model.Client].
func (c *Responses) Stream(ctx context.Context, body []byte, emit func(model.Event) error) (model.Answer, error) {
	r := &response{emit: emit, byIndex: map[int]*item{}}
	err := (*Client)(c).post(ctx, "responses", body, r.read)
	return r.answer(err == nil), err
}

// maxItems is how many items an answer may have, and parts an item.
const maxItems = 1000

var errTooManyItems = errors.New("openai: more items than an answer can have")

// response puts an answer together from the events of its stream.
type response struct {
	emit    func(model.Event) error
	items   []*item
	byIndex map[int]*item
	calling *item // the last call that was emitted as begun
	status  string
	reason  string // why it is incomplete
	refused bool
	usage   weir.Usage
	dropped []string
}

// happening is the union of all events that are read.
type happening struct {
	OutputIndex  *int            `json:"output_index"`
	ContentIndex int             `json:"content_index"`
	SummaryIndex int             `json:"summary_index"`
	Delta        string          `json:"delta"`
	Item         json.RawMessage `json:"item"`
	Response     json.RawMessage `json:"response"`
}

// read takes the stream to its end.
func (r *response) read(s *wire.Stream) error {
	for r.status == "" {
		e, err := s.Next()
		switch {
		case err == io.EOF:
			return s.Incomplete()
		case err != nil:
			return err
		}
		data := bytes.TrimSpace(e.Data)
		if len(data) == 0 {
			continue
		}
		if string(data) == "[DONE]" {
			return s.Incomplete()
		}
		var kind struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(data, &kind); err != nil {
			return s.Garbled(err)
		}
		if kind.Type == "" {
			kind.Type = e.Name
		}
		if kind.Type == "error" {
			f := eventFault(data)
			return s.Fault(f.class(200), f.message)
		}
		take := r.taker(kind.Type)
		if take == nil {
			continue // of an event that says nothing more, or does not exist yet
		}
		var h happening
		if err := json.Unmarshal(data, &h); err != nil {
			return s.Garbled(err)
		}
		if kind.Type == "response.failed" {
			r.counted(h.Response)
			f := failedFault(h.Response)
			return s.Fault(f.class(200), f.message)
		}
		if err := take(&h); err == errTooManyItems {
			return s.Garbled(err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// taker returns what takes the events of a kind, nil for those that are not
// needed.
func (r *response) taker(kind string) func(*happening) error {
	switch kind {
	case "response.output_item.added":
		return r.added
	case "response.output_item.done":
		return func(h *happening) error { return r.done(r.at(h, ""), h.Item) }
	case "response.output_text.delta", "response.refusal.delta":
		return func(h *happening) error {
			r.refused = r.refused || kind == "response.refusal.delta"
			return r.say(r.at(h, kindMessage), h.ContentIndex, h.Delta)
		}
	case "response.reasoning_summary_text.delta":
		return func(h *happening) error { return r.think(r.at(h, kindReasoning), h.SummaryIndex, h.Delta) }
	case "response.reasoning_text.delta":
		return func(h *happening) error { return r.think(r.at(h, kindReasoning), h.ContentIndex, h.Delta) }
	case "response.function_call_arguments.delta":
		return func(h *happening) error { return r.argue(r.at(h, kindCall), h.Delta) }
	case "response.completed", "response.incomplete", "response.failed":
		return func(h *happening) error { return r.end(strings.TrimPrefix(kind, "response."), h.Response) }
	}
	return nil
}

// end takes the whole response, as the last event repeats it.
func (r *response) end(status string, raw json.RawMessage) error {
	var whole struct {
		Output     []json.RawMessage `json:"output"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
		Transformations []struct {
			Reason string `json:"reason"`
		} `json:"input_transformations"`
	}
	_ = json.Unmarshal(raw, &whole) // what cannot be read of it came before
	r.status, r.reason = status, whole.Incomplete.Reason
	r.counted(raw)
	for _, t := range whole.Transformations {
		if !slices.Contains(reasons(), t.Reason) {
			t.Reason = "unknown"
		}
		if !slices.Contains(r.dropped, t.Reason) {
			r.dropped = append(r.dropped, t.Reason)
		}
	}
	for i, raw := range whole.Output { // some servers say only here what they made
		if err := r.done(r.at(&happening{OutputIndex: &i}, ""), raw); err != nil {
			return err
		}
	}
	return nil
}

// counted takes the usage of a response, which also one that failed may have.
func (r *response) counted(raw json.RawMessage) {
	var whole struct {
		Usage *itemUsage `json:"usage"`
	}
	if json.Unmarshal(raw, &whole) == nil && whole.Usage != nil {
		r.usage = whole.Usage.normal()
	}
}

// reasons are the vendor's for leaving reasoning out. With prefix_mismatch,
// bytes that were sent before have changed.
func reasons() []string {
	return []string{"organization_mismatch", "end_user_mismatch", "model_mismatch", "prefix_mismatch", "turn_boundary"}
}

// itemUsage are the counters of this API.
type itemUsage struct {
	Input   tokens `json:"input_tokens"` // gross
	Output  tokens `json:"output_tokens"`
	Details *struct {
		Cached tokens `json:"cached_tokens"`
		Write  tokens `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
}

func (u *itemUsage) normal() weir.Usage {
	out := weir.Usage{Output: int64(u.Output)}
	if u.Details != nil {
		out.Read, out.Write = int64(u.Details.Cached), int64(u.Details.Write)
	}
	out.Fresh = max(0, int64(u.Input)-out.Read-out.Write)
	return out
}

func (r *response) finish(calls bool) model.Finish {
	switch {
	case r.refused, r.reason == "content_filter":
		return model.FinishFiltered
	case r.status == "incomplete" && strings.HasPrefix(r.reason, "max_"): // max_output_tokens, max_tokens
		return model.FinishLength
	case r.status != "completed":
		return model.FinishUnknown
	case calls:
		return model.FinishTools
	}
	return model.FinishEnd
}
