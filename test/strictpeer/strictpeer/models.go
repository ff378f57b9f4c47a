package strictpeer

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"weir/model"
	"weir/model/strict"
)

// Lists makes the peer serve a list of models, page by page where its vendor
// does. A peer without one answers as an endpoint that has none: 404.
func (p *Peer) Lists(models ...model.Listed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = slices.Clone(models)
}

// listPath is where a profile's vendor has its list.
func (p *Peer) listPath() string {
	if p.profile == Gemini {
		return "/v1beta/models"
	}
	return "/v1/models"
}

// serveList answers a request for the list, and reports whether it was one.
func (p *Peer) serveList(w http.ResponseWriter, r *http.Request, d dialect) bool {
	p.mu.Lock()
	models := p.list
	p.mu.Unlock()
	if r.URL.Path != p.listPath() || models == nil {
		return false
	}
	if r.Method != http.MethodGet {
		d.refuse(w, &strict.Refusal{Status: http.StatusMethodNotAllowed, Type: "invalid_request_error", Message: "Method Not Allowed"})
		return true
	}
	if p.key != "" && !slices.Contains([]string{r.Header.Get("X-Api-Key"), r.Header.Get("X-Goog-Api-Key"), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")}, p.key) {
		d.refuse(w, &strict.Refusal{Status: http.StatusUnauthorized, Type: "authentication_error", Message: "invalid x-api-key"})
		return true
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(p.listPage(r, models))
	return true
}

// pageSize is how many models a page has, however many are asked for: a
// client that believes one page to be all is found out.
const pageSize = 2

func (p *Peer) listPage(r *http.Request, all []model.Listed) any {
	query := r.URL.Query()
	switch p.profile {
	case Anthropic, AnthropicOld:
		from := 1 + slices.IndexFunc(all, func(l model.Listed) bool { return l.Name == query.Get("after_id") })
		page := all[from:min(len(all), from+pageSize)]
		data, last := []any{}, ""
		for _, l := range page {
			data = append(data, map[string]any{"type": "model", "id": l.Name, "display_name": l.Name, "created_at": "2026-10-01T00:00:00Z",
				"max_input_tokens": l.ContextWindow, "max_tokens": l.MaxOutput, "lifecycle": l.Lifecycle})
			last = l.Name
		}
		return map[string]any{"data": data, "has_more": from+pageSize < len(all), "last_id": last}
	case Gemini:
		from, _ := strconv.Atoi(query.Get("pageToken"))
		from = max(0, min(from, len(all)))
		out, list := map[string]any{}, []any{}
		for _, l := range all[from:min(len(all), from+pageSize)] {
			methods := []string{"embedContent"}
			if l.Chats {
				methods = []string{"generateContent", "countTokens"}
			}
			list = append(list, map[string]any{"name": "models/" + l.Name, "inputTokenLimit": l.ContextWindow, "outputTokenLimit": l.MaxOutput,
				"supportedGenerationMethods": methods})
		}
		if from+pageSize < len(all) {
			out["nextPageToken"] = strconv.Itoa(from + pageSize)
		}
		out["models"] = list
		return out
	}
	data := []any{}
	for _, l := range all {
		m := map[string]any{"id": l.Name, "object": "model", "created": 1, "owned_by": "strictpeer"}
		if l.ContextWindow > 0 {
			m["max_model_len"] = l.ContextWindow
		}
		data = append(data, m)
	}
	return map[string]any{"object": "list", "data": data}
}
