package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"weir/model"
	"weir/model/internal/wire"
)

// fault is what the error documents of many servers come down to.
type fault struct {
	kind, code, message string
}

// classify reads the error document of a response.
func classify(status int, body []byte) *model.Error {
	f, ok := readFault(body)
	if !ok {
		if status == 200 {
			return nil
		}
		f.message = plain(body)
	}
	return &model.Error{Failure: f.class(status), Public: f.message}
}

// readFault understands {"error":{…}} (OpenAI, llama.cpp, OpenRouter),
// {"error":"…"} (Ollama), {"object":"error","message":…} (older vLLM) and
// {"detail":…} (servers on FastAPI).
func readFault(body []byte) (fault, bool) {
	var doc struct {
		Error   json.RawMessage `json:"error"`
		Object  string          `json:"object"`
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Code    json.RawMessage `json:"code"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &doc) != nil {
		return fault{}, false
	}
	switch {
	case isSet(doc.Error):
		return faultOf(doc.Error), true
	case doc.Object == "error":
		return fault{doc.Type, word(doc.Code), doc.Message}, true
	case isSet(doc.Detail):
		return fault{message: word(doc.Detail)}, true
	}
	return fault{}, false
}

func isSet(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// faultOf reads the value of an "error" member.
func faultOf(raw json.RawMessage) fault {
	var e struct {
		Message  string          `json:"message"`
		Type     string          `json:"type"`
		Code     json.RawMessage `json:"code"`
		Metadata struct {
			Raw json.RawMessage `json:"raw"` // of OpenRouter: what the server behind it said
		} `json:"metadata"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return fault{message: word(raw)}
	}
	f := fault{e.Type, word(e.Code), e.Message}
	if isSet(e.Metadata.Raw) {
		f.message = strings.TrimSpace(f.message + " " + word(e.Metadata.Raw))
	}
	return f
}

// word returns a JSON string's text, and any other value as it is spelled.
func word(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// plain returns an error body that is text, and nothing of one that is a page.
func plain(body []byte) string {
	text := bytes.TrimSpace(body)
	if bytes.HasPrefix(text, []byte("<")) {
		return ""
	}
	return string(text)
}

// class orders a failure by the words of the server first: one status stands
// for things that can be tried again and things that cannot.
func (f fault) class(status int) model.Failure {
	all := f.kind + " " + f.code + " " + f.message
	switch {
	case wire.Unsuitable(f.message):
		return model.FailRefused
	case wire.Contains(all, "context_length_exceeded", "exceed_context_size", "maximum context length", "context size", "context window", "prompt is too long"):
		return model.FailTooLong
	case wire.Contains(all, "insufficient_quota", "billing_hard_limit", "insufficient balance", "insufficient credits", "exceeded your current quota"):
		return model.FailQuota
	}
	switch f.kind {
	case "invalid_request_error", "BadRequestError", "not_found_error", "NotFoundError":
		if status == 200 || status >= 500 {
			return model.FailRefused
		}
	case "authentication_error", "permission_error":
		return model.FailAuth
	case "rate_limit_error", "rate_limit_exceeded", "requests", "tokens":
		if status == 200 {
			return model.FailRateLimit
		}
	case "overloaded_error":
		return model.FailOverload
	}
	if status == 200 { // an error amid the stream: some servers put a status in its code
		return byCode(f.code)
	}
	return wire.ByStatus(status)
}

func byCode(code string) model.Failure {
	switch code {
	case "rate_limit_exceeded":
		return model.FailRateLimit
	case "invalid_api_key":
		return model.FailAuth
	}
	var status int
	if json.Unmarshal([]byte(code), &status) == nil && status >= 400 && status < 600 {
		return wire.ByStatus(status)
	}
	return model.FailServer
}
