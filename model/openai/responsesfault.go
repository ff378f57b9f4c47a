package openai

import (
	"encoding/json"
	"strings"
)

// eventFault reads an error event, whose members stand in it, or in an object
// in it.
func eventFault(data []byte) fault {
	var e struct {
		Error   json.RawMessage `json:"error"`
		Code    json.RawMessage `json:"code"`
		Message json.RawMessage `json:"message"`
	}
	_ = json.Unmarshal(data, &e)
	f := fault{code: codeOf(e.Code), message: codeOf(e.Message)}
	if isSet(e.Error) {
		f = faultOf(e.Error)
	}
	return f.ordered()
}

// failedFault reads what a response failed of.
func failedFault(response []byte) fault {
	var r struct {
		Error json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(response, &r)
	if !isSet(r.Error) {
		return fault{}
	}
	return faultOf(r.Error).ordered()
}

func codeOf(raw json.RawMessage) string {
	if !isSet(raw) {
		return ""
	}
	return word(raw)
}

// ordered gives a fault amid a stream the kind that its code belongs to: all
// but a few of the vendor's codes say what is wrong with the request.
func (f fault) ordered() fault {
	switch {
	case f.kind != "" && f.kind != "error":
	case f.code == "server_error", f.code == "rate_limit_exceeded", f.code == "vector_store_timeout":
	case strings.HasPrefix(f.code, "invalid_") && f.code != "invalid_api_key", strings.HasPrefix(f.code, "image_"),
		strings.HasSuffix(f.code, "_policy"), strings.HasSuffix(f.code, "_violation"), strings.HasSuffix(f.code, "_mismatch"),
		strings.HasPrefix(f.code, "unsupported_"), strings.HasPrefix(f.code, "empty_"):
		f.kind = "invalid_request_error"
	}
	return f
}
