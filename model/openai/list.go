package openai

import (
	"context"
	"encoding/json"
	"net/http"

	"weir/model"
	"weir/model/internal/wire"
)

// listed is a model as OpenAI lists it, its id, and what servers that resemble
// it say besides: vLLM and SGLang max_model_len, Mistral max_context_length and
// capabilities, OpenRouter context_length. What llama.cpp says of a model's
// training is not what it serves, and is left alone.
type listed struct {
	ID           string          `json:"id"`
	Served       wire.Count      `json:"max_model_len"`
	Context      wire.Count      `json:"max_context_length"`
	Length       wire.Count      `json:"context_length"`
	Lifecycle    wire.Keyword    `json:"lifecycle"`
	Capabilities json.RawMessage `json:"capabilities"`
}

// chats reports what Mistral says: whether the model answers in conversations,
// and whether anything is said of it.
func (l *listed) chats() (chats, said bool) {
	var c struct {
		Chat *bool `json:"completion_chat"`
	}
	if len(l.Capabilities) == 0 || json.Unmarshal(l.Capabilities, &c) != nil || c.Chat == nil {
		return false, false
	}
	return *c.Chat, true
}

func (l *listed) window() int64 { return int64(max(l.Served, l.Context, l.Length)) }

// list asks an endpoint for its models.
func list(ctx context.Context, base, key string, hc *http.Client) ([]model.Listed, error) {
	header := http.Header{}
	if key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	if base == "" {
		base = DefaultBaseURL
	}
	var page struct {
		Data []listed `json:"data"`
	}
	call := wire.Call{Base: base, Path: "models", Header: header, Secret: key, HTTP: hc, Classify: classify}
	if err := wire.Get(ctx, call, &page); err != nil {
		return nil, err
	}
	var all []model.Listed
	for _, m := range page.Data {
		chats, said := m.chats()
		if said && !chats {
			continue
		}
		all = append(all, model.Listed{Name: m.ID, ContextWindow: m.window(), Lifecycle: m.Lifecycle.Lifecycle(), Chats: chats})
	}
	return wire.Sound(all), nil
}

// List implements [model.Lister] by GET /models.
func (c *Client) List(ctx context.Context) ([]model.Listed, error) {
	return list(ctx, c.BaseURL, c.Key, c.HTTP)
}
