package api

import (
	"context"
	"encoding/json"
	"net/http"

	"weir"
)

// Tool is one that models may call, as people are told of it.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema" doc:"JSON Schema of its arguments."`
	Server      string          `json:"server,omitempty" doc:"The MCP server that it comes from; absent for a built-in one."`
	Approval    weir.Decision   `json:"approval" enum:"ask,allow,deny" doc:"What the configuration says about its calls."`
	Remembered  weir.Decision   `json:"remembered,omitempty" enum:"allow,deny" doc:"What you decided about its calls for good."`
}

// ToolServer is an MCP server that tools come from.
type ToolServer struct {
	Name   string   `json:"name"`
	State  string   `json:"state" enum:"starting,ready,failed"`
	Reason string   `json:"reason,omitempty" doc:"Why it is not ready."`
	Tools  []string `json:"tools"`
	// LeftOut are tools that it lists and that are not offered.
	LeftOut []string `json:"left_out,omitempty" doc:"Tools that are not offered, each with the reason."`
}

type toolsView struct {
	Items   []Tool       `json:"items" doc:"By name."`
	Servers []ToolServer `json:"servers"`
}

func (s *server) toolRoutes() {
	add(s, about("list-tools", http.MethodGet, "/v1/tools", "Tools that models may call, and the servers that they come from", http.StatusOK), s.tools)
}

func (s *server) tools(ctx context.Context, a weir.Actor, _ *struct{}) (*one[toolsView], error) {
	v := toolsView{Items: []Tool{}, Servers: []ToolServer{}}
	if s.cfg.Tools == nil {
		return &one[toolsView]{v}, nil
	}
	rules, err := s.cfg.Store.ToolRules(ctx, a.Owner)
	if err != nil {
		return nil, err
	}
	remembered := map[string]weir.Decision{}
	for _, r := range rules {
		remembered[r.Tool] = r.Decision
	}
	tools, servers := s.cfg.Tools()
	for _, t := range tools {
		t.Remembered = remembered[t.Name]
		v.Items = append(v.Items, t)
	}
	for _, sv := range servers {
		if sv.Tools == nil {
			sv.Tools = []string{}
		}
		v.Servers = append(v.Servers, sv)
	}
	return &one[toolsView]{v}, nil
}
