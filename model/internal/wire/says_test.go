package wire

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"weir/model"
)

func TestAFailureNamesTheEndpointAndWhatHelps(t *testing.T) {
	const at = "https://api.test/v1"
	for _, c := range []struct {
		failure model.Failure
		status  int
		words   string
		want    string
	}{
		{model.FailAuth, 401, "Incorrect API key provided: sk-abcd****wxyz", "The endpoint at https://api.test/v1 did not accept the key: Incorrect API key provided: [key]. Check the key in the variable that api_key_env names."},
		{model.FailAuth, 401, "", "The endpoint at https://api.test/v1 did not accept the key (status 401). Check the key in the variable that api_key_env names."},
		{model.FailAuth, 403, "Not you!", "The endpoint at https://api.test/v1 did not allow the request: Not you! Check what may be done with the key in the variable that api_key_env names."},
		{model.FailQuota, 402, "Insufficient Balance", "The endpoint at https://api.test/v1 wants to be paid, or a spending limit is reached: Insufficient Balance. Add credit or raise the limit there, or choose another model."},
		{model.FailRateLimit, 429, "slow down", "The endpoint at https://api.test/v1 takes no more requests for now: slow down. Wait a little and try again, or choose another model."},
		{model.FailOverload, 529, "Overloaded", "The endpoint at https://api.test/v1 is busy: Overloaded. Wait a little and try again, or choose another model."},
		{model.FailServer, 200, "", "The endpoint at https://api.test/v1 failed. Try again; if it goes on, choose another model."},
		{model.FailTooLong, 400, "too long", "The request is too long for the endpoint at https://api.test/v1: too long. Rewind, branch from an earlier message, or choose a model that takes more."},
		{model.FailRefused, 404, "model: m", "The endpoint at https://api.test/v1 did not find what was asked for: model: m. Check the model's name, base_url and the dialect."},
		{model.FailRefused, 400, "x: bad", "The endpoint at https://api.test/v1 did not take the request: x: bad. Open the request to see what was sent, or choose another model."},
	} {
		if got := endpointAt(at, "secret").says(c.failure, c.status, c.words); got != c.want {
			t.Errorf("%s %d\n got %s\nwant %s", c.failure, c.status, got, c.want)
		}
	}
	want := "The endpoint at https://api.test/v1 wants a key, and none was sent (status 401). Put a key into a variable and name that in api_key_env."
	if got := endpointAt(at, "").says(model.FailAuth, 401, ""); got != want {
		t.Error(got)
	}
}

func TestAnAddressIsShownWithoutItsSecrets(t *testing.T) {
	for base, want := range map[string]string{
		" https://max:hunter2@h.test:8/v1?key=hunter2#hunter2": "https://h.test:8/v1",
		"https://h.test/models@2/hunter2":                      "https://h.test/models@2/[key]",
		"max:hunter2@h.test?hunter2":                           "h.test",
		"h.test:8080/v1":                                       "h.test:8080/v1",
		"ftp://h.test":                                         "ftp://h.test",
		"https://max:hunter2@h:port":                           "h:port",
		"a\x00b\xff\nc":                                        "a b\ufffd c",
		"":                                                     "",
	} {
		if got := endpointAt(base, "hunter2").at; got != want {
			t.Errorf("%q: %q, want %q", base, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		e := endpointAt(rapid.StringN(0, 500, -1).Draw(t, "base"), "hunter2")
		got := e.says(model.Failure(rapid.SampledFrom([]string{"provider_auth", "provider_quota", "x"}).Draw(t, "failure")), 401, rapid.StringN(0, 3000, -1).Draw(t, "words")+" hunter2")
		if utf8.RuneCountInString(got) > MaxPublic || strings.Contains(got, "hunter2") || strings.ContainsAny(got, "\r\n\x00") {
			t.Fatalf("%q", got)
		}
	})
}

func TestAnUnusableAddressIsNamed(t *testing.T) {
	for base, named := range map[string]string{"api.test/v1": "“api.test/v1”", "ftp://h.test": "“ftp://h.test”", "http://max:hunter2@h:port": "“h:port”", "": "“”"} {
		err := Do(t.Context(), Call{Base: base, Path: "x", Header: http.Header{}, Secret: "secret"}, nil)
		e, ok := err.(*model.Error)
		if !ok || e.Failure != model.FailUnknown || !strings.Contains(e.Public, named) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", base, err)
		}
	}
}

func TestAConnectionThatFailsNamesTheEndpoint(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10") // and nothing comes
	}))
	defer s.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	for base, want := range map[string]string{
		gone.URL: "The connection to the endpoint at " + gone.URL + " failed: ",
		s.URL:    "The endpoint at " + s.URL + " closed the connection before its answer was complete; try again.",
	} {
		err := Do(t.Context(), Call{Base: base, Path: "x", Header: http.Header{}}, func(s *Stream) error {
			_, err := s.Next()
			if err == io.EOF {
				err = s.Incomplete()
			}
			return err
		})
		if e, ok := err.(*model.Error); !ok || !strings.HasPrefix(e.Public, want) || !strings.HasSuffix(e.Public, "try again.") {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// What is in the error besides its sentence goes into the log.
func TestAnAddressThatMayHoldASecretIsNotInTheLog(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	at, _ := url.Parse(s.URL)
	s.Close()
	at.User, at.RawQuery = url.UserPassword("someone", "hunter22"), "key=tellnobody"
	err := Do(t.Context(), Call{Base: at.String(), Path: "v1", Header: http.Header{}, Body: []byte(`{}`)}, nil)
	var fault *model.Error
	if !errors.As(err, &fault) || fault.Err == nil {
		t.Fatalf("%v", err)
	}
	for _, secret := range []string{"someone", "hunter22", "tellnobody"} {
		if strings.Contains(fault.Public+fault.Err.Error(), secret) {
			t.Errorf("%s is in: %s | %v", secret, fault.Public, fault.Err)
		}
	}
}
