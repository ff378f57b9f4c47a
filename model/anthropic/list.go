package anthropic

import (
	"context"
	"net/http"
	"net/url"

	"weir/model"
	"weir/model/internal/wire"
)

// List implements [model.Lister] by GET /v1/models: max_input_tokens,
// max_tokens and lifecycle as the vendor's SDK has them (spec/provider-facts.md
// 1.1). Servers that resemble the vendor leave them out.
func (c *Client) List(ctx context.Context) ([]model.Listed, error) {
	var all []model.Listed
	query := url.Values{"limit": {"1000"}}
	for range model.MaxListPages {
		var page struct {
			Data []struct {
				ID        string       `json:"id"`
				Input     wire.Count   `json:"max_input_tokens"`
				Output    wire.Count   `json:"max_tokens"`
				Lifecycle wire.Keyword `json:"lifecycle"`
			} `json:"data"`
			More bool   `json:"has_more"`
			Last string `json:"last_id"`
		}
		header := http.Header{"Anthropic-Version": {"2023-06-01"}}
		if c.Key != "" {
			header.Set("X-Api-Key", c.Key)
		}
		base := c.BaseURL
		if base == "" {
			base = DefaultBaseURL
		}
		call := wire.Call{Base: base, Path: "v1/models", Query: query.Encode(), Header: header, Secret: c.Key, HTTP: c.HTTP, Classify: classify}
		if err := wire.Get(ctx, call, &page); err != nil {
			return nil, err
		}
		for _, m := range page.Data {
			all = append(all, model.Listed{
				Name: m.ID, ContextWindow: int64(m.Input), MaxOutput: int64(m.Output), Lifecycle: m.Lifecycle.Lifecycle(), Chats: true,
			})
		}
		if !page.More || page.Last == "" || page.Last == query.Get("after_id") || len(all) > model.MaxListed {
			break
		}
		query.Set("after_id", page.Last)
	}
	return wire.Sound(all), nil
}
