package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"weir"
)

// Tool is one that models may call, as people are told of it.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema" doc:"JSON Schema of its arguments."`
	Server      string          `json:"server,omitempty" doc:"The MCP server that it comes from; absent for a built-in one."`
	Approval    weir.Decision   `json:"approval" enum:"ask,allow,deny" doc:"What the configuration says about its calls; denied is denied."`
	Remembered  weir.Decision   `json:"remembered,omitempty" enum:"ask,allow,deny" doc:"What you decided about its calls for good."`
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
	if s.cfg.Rule != nil {
		add(s, about("decide-tool", http.MethodPut, "/v1/tools/{name}/approval",
			"Decide about all calls of a tool from now on; default takes back what was decided, and the configuration counts", http.StatusOK), s.rule)
	}
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

type ruleIn struct {
	Name string `path:"name" doc:"Of the tool, percent-encoded."`
	Body struct {
		Decision weir.Decision `json:"decision" enum:"ask,allow,deny,default" doc:"default: no decision of yours, what the configuration says."`
	}
}

// rule is about tools that are there, or about which something was decided
// when they were: nobody fills a store with names.
func (s *server) rule(ctx context.Context, a weir.Actor, in *ruleIn) (*one[accepted], error) {
	if !a.MayConfirm {
		return nil, mayNotDecide()
	}
	all, err := s.tools(ctx, a, nil)
	if err != nil {
		return nil, err
	}
	known := slices.ContainsFunc(all.Body.Items, func(t Tool) bool { return t.Name == in.Name })
	if !known {
		rules, err := s.cfg.Store.ToolRules(ctx, a.Owner)
		if err != nil {
			return nil, err
		}
		known = slices.ContainsFunc(rules, func(r weir.ToolRule) bool { return r.Tool == in.Name })
	}
	if !known {
		return nil, weir.Fault(weir.NotFound, "tool_not_found", "No tool has this name at the moment; the list of tools has those that are there.")
	}
	rule := weir.ToolRule{Owner: a.Owner, Tool: in.Name, Decision: in.Body.Decision}
	if rule.Decision == "default" {
		rule.Decision = ""
	}
	if err := s.cfg.Rule(ctx, rule); err != nil {
		return nil, err
	}
	return &one[accepted]{accepted{true}}, nil
}
