package wire

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"weir/model"
)

// maxAddress is how much of an address is shown, in code points.
const maxAddress = 200

// endpoint is who is spoken to, as far as it is known here and may be shown.
type endpoint struct {
	at     string // its address, without what may be secret in it
	secret string
}

// endpointAt names the endpoint at an address. Its user and its query may be
// secret; of an address that cannot be read, all that could be one of them is.
func endpointAt(base, secret string) endpoint {
	at := strings.TrimSpace(base)
	if u, err := url.Parse(at); err == nil && u.Host != "" {
		at = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
	} else {
		if i := strings.IndexAny(at, "?#"); i >= 0 {
			at = at[:i]
		}
		at = at[strings.LastIndexByte(at, '@')+1:]
	}
	if len(secret) >= 4 {
		at = strings.ReplaceAll(at, secret, "[key]")
	}
	return endpoint{oneLine(strings.ToValidUTF8(at, "\uFFFD"), maxAddress), secret}
}

// says makes the sentences that a person is shown of a failure: what the
// endpoint did, the vendor's own words, and what helps.
func (e endpoint) says(f model.Failure, status int, words string) string {
	did, helps := e.did(f, status)
	room := MaxPublic - utf8.RuneCountInString(did) - utf8.RuneCountInString(helps) - 4
	switch words = shown(words, e.secret, room); {
	case words != "" && !strings.ContainsRune(".!?…。！？", lastRune(words)):
		did += ": " + words + "."
	case words != "":
		did += ": " + words
	case status >= 300:
		did += fmt.Sprintf(" (status %d).", status)
	default:
		did += "."
	}
	return did + " " + helps
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// did says what an endpoint did, as the beginning of a sentence, and what helps.
func (e endpoint) did(f model.Failure, status int) (did, helps string) {
	switch at := "The endpoint at " + e.at; f {
	case model.FailAuth:
		switch {
		case e.secret == "":
			return at + " wants a key, and none was sent", "Put a key into a variable and name that in api_key_env."
		case status == http.StatusForbidden:
			return at + " did not allow the request", "Check what may be done with the key in the variable that api_key_env names."
		}
		return at + " did not accept the key", "Check the key in the variable that api_key_env names."
	case model.FailQuota:
		return at + " wants to be paid, or a spending limit is reached", "Add credit or raise the limit there, or choose another model."
	case model.FailRateLimit:
		return at + " takes no more requests for now", "Wait a little and try again, or choose another model."
	case model.FailOverload:
		return at + " is busy", "Wait a little and try again, or choose another model."
	case model.FailTooLong:
		return "The request is too long for the endpoint at " + e.at, "Rewind, branch from an earlier message, or choose a model that takes more."
	case model.FailServer:
		return at + " failed", "Try again; if it goes on, choose another model."
	case model.FailBroken:
		return "The connection to the endpoint at " + e.at + " failed", "Check that it is running and that base_url is right, and try again."
	}
	if status == http.StatusNotFound {
		return "The endpoint at " + e.at + " did not find what was asked for", "Check the model's name, base_url and the dialect."
	}
	return "The endpoint at " + e.at + " did not take the request", "Open the request to see what was sent, or choose another model."
}
