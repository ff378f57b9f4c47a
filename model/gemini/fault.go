package gemini

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"weir/model"
	"weir/model/internal/wire"
)

// fault is a google.rpc.Status as a response and as an event.
//
// https://ai.google.dev/gemini-api/docs/troubleshooting
type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Status  string `json:"status"`
	Details []struct {
		Type       string `json:"@type"`
		Reason     string `json:"reason"`     // of an ErrorInfo
		RetryDelay string `json:"retryDelay"` // of a RetryInfo
		Violations []struct {
			QuotaID string `json:"quotaId"`
		} `json:"violations"` // of a QuotaFailure
	} `json:"details"`
}

// document is the body of a refusal. Without alt=sse it comes in a list.
type document struct {
	Error *fault `json:"error"`
}

// classify reads the error document of a response.
func classify(status int, body []byte) *model.Error {
	var doc document
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		var list []document
		if json.Unmarshal(body, &list) != nil || len(list) == 0 {
			return nil
		}
		doc = list[0]
	} else if json.Unmarshal(body, &doc) != nil {
		return nil
	}
	if doc.Error == nil || doc.Error.Message == "" && doc.Error.Status == "" {
		return nil
	}
	if status == http.StatusOK {
		status = doc.Error.Code
	}
	return &model.Error{Failure: doc.Error.class(status), Public: doc.Error.Message, RetryAfter: doc.Error.wait()}
}

// wait is how long the provider asks us to wait.
func (f *fault) wait() (d time.Duration) {
	for _, detail := range f.Details {
		if delay, ok := strings.CutSuffix(detail.RetryDelay, "s"); ok {
			d = max(d, wire.RetryAfter(http.Header{"Retry-After": {delay}}, time.Time{}))
		}
	}
	return d
}

// class orders a failure by the words of the vendor first: INVALID_ARGUMENT
// stands for a wrong key and for a prompt that is too long as well.
func (f *fault) class(status int) model.Failure {
	switch {
	case f.because("API_KEY_INVALID", "API_KEY_EXPIRED", "ACCESS_TOKEN_EXPIRED"), wire.Contains(f.Message, "api key not valid", "api key expired"):
		return model.FailAuth
	case f.because("BILLING_DISABLED"), wire.Contains(f.Message, "enable billing", "credits are depleted", "spending cap"):
		return model.FailQuota
	case wire.Contains(f.Message, "exceeds the maximum number of tokens", "input context is too long"):
		return model.FailTooLong
	}
	switch f.Status {
	case "INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE", "NOT_FOUND", "UNIMPLEMENTED":
		return model.FailRefused
	case "UNAUTHENTICATED", "PERMISSION_DENIED":
		return model.FailAuth
	case "RESOURCE_EXHAUSTED":
		return f.exhausted()
	case "UNAVAILABLE":
		return model.FailOverload
	case "INTERNAL", "UNKNOWN", "ABORTED", "CANCELLED", "DEADLINE_EXCEEDED", "DATA_LOSS":
		return model.FailServer
	}
	if status < http.StatusBadRequest {
		return model.FailServer // an unknown fault amid the stream
	}
	return wire.ByStatus(status)
}

// exhausted tells a limit that soon allows more from one that is used up for
// the day or until it is paid for.
func (f *fault) exhausted() model.Failure {
	told := false
	for _, d := range f.Details {
		for _, v := range d.Violations {
			told = true
			if strings.Contains(v.QuotaID, "PerDay") {
				return model.FailQuota
			}
		}
	}
	if !told && f.wait() == 0 && wire.Contains(f.Message, "exceeded your current quota") {
		return model.FailQuota
	}
	return model.FailRateLimit
}

func (f *fault) because(reasons ...string) bool {
	for _, d := range f.Details {
		for _, r := range reasons {
			if d.Reason == r {
				return true
			}
		}
	}
	return false
}
