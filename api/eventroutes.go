package api

import (
	"maps"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"weir"
)

func (s *server) eventRoutes() {
	const each, all = "/v1/conversations/{id}/events", "/v1/events"
	s.mux.HandleFunc("GET "+each, func(w http.ResponseWriter, r *http.Request) { s.streamed(w, r, s.events) })
	s.mux.HandleFunc("GET "+all, func(w http.ResponseWriter, r *http.Request) { s.streamed(w, r, s.listEvents) })
	s.documentStream("events", each, s.payloads(map[string][]reflect.Type{
		"snapshot": {reflect.TypeFor[snapshot](), reflect.TypeFor[work]()},
		"item":     {reflect.TypeFor[item]()},
		"delta":    {reflect.TypeFor[delta]()},
		"state":    {reflect.TypeFor[conversation](), reflect.TypeFor[work]()},
		"input":    {reflect.TypeFor[input]()},
	}), "What happens in a conversation, as server-sent events. First “snapshot”; "+
		"then “item” with an id (the seq) and a timeline item, “delta”, “state” and “input” without. “snapshot” and “state” tell "+
		"of the running step how often it was tried, why the last try failed and when the next begins, and which of its tool calls run or wait for a person. "+
		"Resumes behind Last-Event-ID or after, without loss or repetition; begins at the head when neither is given.",
		&huma.Param{Name: "id", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}},
		&huma.Param{Name: "after", In: "query", Schema: &huma.Schema{Type: huma.TypeInteger}, Description: "Items with a seq above."},
		&huma.Param{Name: "Last-Event-ID", In: "header", Schema: &huma.Schema{Type: huma.TypeInteger}, Description: "Counts before after."})
	s.documentStream("list-events", all, s.payloads(map[string][]reflect.Type{
		"conversation": {reflect.TypeFor[conversation]()},
	}), "Changes of all conversations, as server-sent events. Each connect begins with “reset”: "+
		"fetch the list anew. Then “conversation” with what it is now, and “deleted”.")
}

// payloads documents the data of a stream's events by their names; data of
// several types has the members of all.
func (s *server) payloads(events map[string][]reflect.Type) *huma.Schema {
	registry := s.huma.OpenAPI().Components.Schemas
	all := &huma.Schema{Type: huma.TypeObject, Description: "The data of each event, by its name.", Properties: map[string]*huma.Schema{}}
	for name, types := range events {
		one := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}}
		for _, t := range types {
			part := huma.SchemaFromType(registry, t)
			maps.Copy(one.Properties, part.Properties)
			one.Required = append(one.Required, part.Required...)
		}
		all.Properties[name] = one
	}
	return all
}

func (s *server) documentStream(id, path string, events *huma.Schema, summary string, params ...*huma.Param) {
	op := about(id, http.MethodGet, path, summary, http.StatusOK)
	op.Parameters = params
	document(s, &op)
	op.Responses["200"].Content = map[string]*huma.MediaType{"text/event-stream": {Schema: events}}
	s.huma.OpenAPI().AddOperation(&op)
}

// streamed counts a stream and refuses one too many.
func (s *server) streamed(w http.ResponseWriter, r *http.Request, fn func(http.ResponseWriter, *http.Request) error) {
	if !s.metrics.enter(s.cfg.Streams) {
		s.refuse(w, r, weir.Fault(weir.Limited, "too_many_streams", "Too many event streams are open. Close some and try again."))
		return
	}
	defer s.metrics.leave()
	if err := fn(w, r); err != nil {
		s.refuse(w, r, err)
	}
}
