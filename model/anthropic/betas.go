package anthropic

import (
	"bytes"
	"encoding/json"
)

// The beta features that a body can ask for by what is in it.
const (
	betaClearAt      = "mid-conversation-system-clear-at-2026-08-21"
	betaOutputConfig = "mid-conversation-output-config-2026-07-01"
	betaToolChanges  = "mid-conversation-tool-changes-2026-07-01"
	betaInlineTools  = "inline-tools-2026-09-15" // also takes what betaToolChanges takes
	betaBinding      = "thinking-binding-controls-2026-08-01"
)

// betas returns the beta features that the whole history needs: what once
// stood in it needs its header for ever. Only bodies that hold one of the
// words are looked into.
func betas(body []byte) []string {
	if !mayNeedBeta(body) {
		return nil
	}
	var request struct {
		Messages []struct {
			Content      json.RawMessage `json:"content"`
			ClearAt      json.RawMessage `json:"clear_at"`
			OutputConfig json.RawMessage `json:"output_config"`
		} `json:"messages"`
		Thinking struct {
			Binding json.RawMessage `json:"block_binding"`
		} `json:"thinking"`
	}
	if json.Unmarshal(body, &request) != nil {
		return nil // the endpoint says what is wrong with it
	}
	need := map[string]bool{betaBinding: request.Thinking.Binding != nil}
	for _, m := range request.Messages {
		need[betaClearAt] = need[betaClearAt] || m.ClearAt != nil
		need[betaOutputConfig] = need[betaOutputConfig] || m.OutputConfig != nil
		toolChanges(m.Content, need)
	}
	if need[betaInlineTools] {
		need[betaToolChanges] = false
	}
	var found []string
	for _, name := range []string{betaClearAt, betaOutputConfig, betaToolChanges, betaInlineTools, betaBinding} {
		if need[name] {
			found = append(found, name)
		}
	}
	return found
}

func mayNeedBeta(body []byte) bool {
	for _, word := range []string{`"clear_at"`, `"output_config"`, `"tool_addition"`, `"tool_removal"`, `"block_binding"`} {
		if bytes.Contains(body, []byte(word)) {
			return true
		}
	}
	return false
}

func toolChanges(content json.RawMessage, need map[string]bool) {
	var blocks []struct {
		Type string `json:"type"`
		Tool struct {
			Type string `json:"type"`
		} `json:"tool"`
	}
	if json.Unmarshal(content, &blocks) != nil {
		return
	}
	for _, b := range blocks {
		if b.Type == "tool_addition" || b.Type == "tool_removal" {
			need[betaToolChanges] = true
			need[betaInlineTools] = need[betaInlineTools] || b.Tool.Type == "tool_definition"
		}
	}
}
