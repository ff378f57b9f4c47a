package anthropic

import (
	"encoding/json"

	"weir/model"
	"weir/model/internal/wire"
)

// fault is the vendor's error document, as a response and as an event.
type fault struct {
	Type  string `json:"type"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// classify reads the error document of a response.
func classify(status int, body []byte) *model.Error {
	var doc fault
	if json.Unmarshal(body, &doc) != nil || (doc.Error.Type == "" && doc.Error.Message == "") {
		return nil
	}
	return &model.Error{Failure: class(status, doc.Error.Type, doc.Error.Message), Public: doc.Error.Message}
}

// class orders a failure by the words of the vendor first: one status stands
// for things that can be tried again and things that cannot.
func class(status int, kind, message string) model.Failure {
	switch {
	case wire.Contains(message, "prompt is too long", "exceed context limit", "exceeds the maximum context", "context window"):
		return model.FailTooLong
	case wire.Contains(message, "credit balance is too low", "specified api usage limits", "spend limit"):
		return model.FailQuota
	case wire.Unsuitable(message):
		return model.FailRefused
	}
	switch kind {
	case "invalid_request_error", "not_found_error":
		return model.FailRefused
	case "authentication_error", "permission_error":
		return model.FailAuth
	case "billing_error":
		return model.FailQuota
	case "request_too_large":
		return model.FailTooLong
	case "rate_limit_error":
		return model.FailRateLimit
	case "overloaded_error":
		return model.FailOverload
	case "api_error", "timeout_error":
		if status == 503 {
			return model.FailOverload
		}
		return model.FailServer
	}
	if status == 200 {
		return model.FailServer // an unknown fault amid the stream
	}
	return wire.ByStatus(status)
}
