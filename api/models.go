package api

import (
	"context"
	"net/http"

	"weir"
)

func (s *server) modelRoutes() {
	add(s, about("list-models", http.MethodGet, "/v1/models", "Models that can answer", http.StatusOK), s.models)
}

type modelView struct {
	ID            string `json:"id"`
	Provider      string `json:"provider"`
	Name          string `json:"name" doc:"What the provider calls it."`
	Dialect       string `json:"dialect"`
	ContextWindow int64  `json:"context_window" doc:"Tokens."`
	MaxOutput     int64  `json:"max_output" doc:"Tokens."`
	Default       bool   `json:"default,omitempty"`
}

func (s *server) models(context.Context, weir.Actor, *struct{}) (*one[page[modelView]], error) {
	out := &one[page[modelView]]{page[modelView]{Items: []modelView{}}}
	if s.cfg.Models == nil {
		return out, nil
	}
	profiles, standard := s.cfg.Models()
	for _, p := range profiles {
		out.Body.Items = append(out.Body.Items, modelView{
			ID: p.ID, Provider: p.Provider, Name: p.Name, Dialect: string(p.Dialect),
			ContextWindow: p.ContextWindow, MaxOutput: p.MaxOutput, Default: p.ID == standard,
		})
	}
	return out, nil
}
