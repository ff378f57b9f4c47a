package gemini

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"weir/model"
	"weir/model/internal/wire"
)

// List implements [model.Lister] by GET /models: inputTokenLimit,
// outputTokenLimit and supportedGenerationMethods
// (ai.google.dev/api/models#Model). A model that does not generate content is
// none of ours.
func (c *Client) List(ctx context.Context) ([]model.Listed, error) {
	var all []model.Listed
	query := url.Values{"pageSize": {"1000"}}
	for range model.MaxListPages {
		var page struct {
			Models []struct {
				Name    string     `json:"name"`
				Input   wire.Count `json:"inputTokenLimit"`
				Output  wire.Count `json:"outputTokenLimit"`
				Methods []string   `json:"supportedGenerationMethods"`
			} `json:"models"`
			Next string `json:"nextPageToken"`
		}
		header := http.Header{}
		if c.Key != "" {
			header.Set("X-Goog-Api-Key", c.Key)
		}
		call := wire.Call{Base: cmp.Or(c.BaseURL, DefaultBaseURL), Path: "models", Query: query.Encode(), Header: header, Secret: c.Key, HTTP: c.HTTP, Classify: classify}
		if err := wire.Get(ctx, call, &page); err != nil {
			return nil, err
		}
		for _, m := range page.Models {
			if !slices.Contains(m.Methods, "generateContent") {
				continue
			}
			all = append(all, model.Listed{
				Name: strings.TrimPrefix(m.Name, "models/"), ContextWindow: int64(m.Input), MaxOutput: int64(m.Output), Chats: true,
			})
		}
		if page.Next == "" || page.Next == query.Get("pageToken") || len(all) > model.MaxListed {
			break
		}
		query.Set("pageToken", page.Next)
	}
	return wire.Sound(all), nil
}
