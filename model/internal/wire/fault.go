package wire

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"weir/model"
)

// MaxPublic is how much of a vendor's message is shown, in code points.
const MaxPublic = 1000

// maxRetryAfter bounds how long a provider may ask us to wait.
const maxRetryAfter = 15 * time.Minute

// keyLike finds what looks like a key: vendors repeat a part of a wrong one.
var keyLike = regexp.MustCompile(`\b(?:sk|pk|rk|xai|gsk|key|AIza)[-_][A-Za-z0-9_*.…-]{5,}[A-Za-z0-9_*…-]|\bAIza[A-Za-z0-9_-]{20,}|(?i:\bbearer)\s+[A-Za-z0-9_.~+/=*-]{6,}`)

// Shown makes a vendor's message fit to show: valid text of one line, without
// secrets, at most [MaxPublic] code points.
func Shown(message, secret string) string { return shown(message, secret, MaxPublic) }

func shown(message, secret string, limit int) string {
	if len(message) > 16<<10 {
		message = message[:16<<10]
	}
	message = strings.ToValidUTF8(message, "\uFFFD")
	if len(secret) >= 4 {
		message = strings.ReplaceAll(message, secret, "[key]")
	}
	return oneLine(keyLike.ReplaceAllString(message, "[key]"), limit)
}

// oneLine reduces white space and control characters to single spaces, and the
// text to so many code points.
func oneLine(message string, limit int) string {
	message = strings.Join(strings.FieldsFunc(message, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	n := 0
	for i := range message {
		if n == limit-1 {
			if head, rest := message[:i], message[i:]; len([]rune(rest)) > 1 {
				return head + "…"
			}
			break
		}
		n++
	}
	return message
}

// ByStatus classes a failure by nothing but its HTTP status.
func ByStatus(status int) model.Failure {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return model.FailAuth
	case http.StatusPaymentRequired:
		return model.FailQuota
	case http.StatusRequestEntityTooLarge:
		return model.FailTooLong
	case http.StatusTooManyRequests:
		return model.FailRateLimit
	case http.StatusServiceUnavailable, 529:
		return model.FailOverload
	case http.StatusRequestTimeout, http.StatusConflict:
		return model.FailServer
	}
	if status >= 500 {
		return model.FailServer
	}
	return model.FailRefused
}

// RetryAfter returns how long the provider asks us to wait: at most 15
// minutes, 0 when it says nothing that can be understood.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return bounded(ms / 1000)
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return bounded(seconds)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	// The provider's own clock, where it tells it: ours may differ.
	if sent, err := http.ParseTime(h.Get("Date")); err == nil {
		now = sent
	}
	return bounded(at.Sub(now).Seconds())
}

func bounded(seconds float64) time.Duration {
	switch {
	case !(seconds > 0): // also not a number
		return 0
	case seconds >= maxRetryAfter.Seconds():
		return maxRetryAfter
	}
	return time.Duration(seconds * float64(time.Second))
}

// Contains reports whether one of the phrases is in s, in any case.
func Contains(s string, phrases ...string) bool {
	s = strings.ToLower(s)
	for _, p := range phrases {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// Unsuitable reports whether a message says that a chat template could not
// take the history. Local servers call that a fault of theirs (500), and a
// client that tries again as with other such faults never stops.
func Unsuitable(message string) bool {
	return Contains(message,
		"jinja", "chat template", "template error", "template rendering",
		"system message must be at the beginning", "unexpected message role",
		"roles must alternate", "must alternate user",
		"unable to generate parser for this template",
		"cannot have 2 or more assistant messages",
		"after the optional system message",
	)
}
