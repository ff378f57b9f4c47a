// Package client speaks Weir's HTTP API for Go programs and for the command
// line. It keeps no state beside the address and the token, retries nothing by
// itself, and may be used from any goroutine. What the server refuses comes
// back as a *[Problem].
package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// MaxAnswer is the longest JSON answer that is read.
const MaxAnswer = 64 << 20

// Problem is the server's refusal (RFC 9457), whole in Raw.
type Problem struct {
	Status int             `json:"status"`
	Code   string          `json:"code"`
	Title  string          `json:"title"`
	Detail string          `json:"detail"`
	Raw    json.RawMessage `json:"-"`
}

func (p *Problem) Error() string {
	text := p.Detail
	if text == "" {
		text = p.Title
	}
	return fmt.Sprintf("%s (%s)", strings.TrimSuffix(text, "."), p.Code)
}

// Client speaks to one server as one owner.
type Client struct {
	base  string
	token string
	http  *http.Client
}

// New returns a client for a server's address, such as http://127.0.0.1:7447.
func New(address, token string) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("%q is not the address of a server: write it as http://127.0.0.1:7447", address)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = 2 * time.Minute
	return &Client{base: strings.TrimSuffix(address, "/"), token: token, http: &http.Client{Transport: transport}}, nil
}

// Path joins segments to a path below /v1, each percent-encoded.
func Path(segments ...string) string {
	var b strings.Builder
	b.WriteString("/v1")
	for _, s := range segments {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(s))
	}
	return b.String()
}

// Do sends in as JSON (nothing for nil) and decodes the answer into out
// (dropped for nil). Query may be nil.
func (c *Client) Do(ctx context.Context, method, path string, query url.Values, in, out any) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	answer, err := c.send(ctx, method, path, query, "application/json", body)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, MaxAnswer+1))
	if err != nil {
		return fmt.Errorf("the server's answer broke off: %w", err)
	}
	if len(data) > MaxAnswer {
		return fmt.Errorf("the server's answer is over %d bytes", MaxAnswer)
	}
	switch dst := out.(type) {
	case nil:
		return nil
	case *[]byte:
		*dst = data
		return nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("the server's answer is not what this version expects: %w", err)
	}
	return nil
}

// Import sends a transcript as it is and decodes the report into out.
func (c *Client) Import(ctx context.Context, query url.Values, transcript io.Reader, out any) error {
	answer, err := c.send(ctx, http.MethodPost, Path("imports"), query, "application/x-ndjson", transcript)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return json.NewDecoder(io.LimitReader(answer.Body, MaxAnswer)).Decode(out)
}

// Event is one server-sent event; ID is empty for those that cannot be resumed from.
type Event struct {
	ID, Name string
	Data     json.RawMessage
}

// Events follows a stream and calls fn for each event until fn returns an
// error ([io.EOF] to end without one), the stream ends, or ctx does.
func (c *Client) Events(ctx context.Context, path string, query url.Values, fn func(Event) error) error {
	answer, err := c.send(ctx, http.MethodGet, path, query, "", nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	lines := bufio.NewReaderSize(answer.Body, 64<<10)
	var e Event
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		line = strings.TrimRight(line, "\r\n")
		switch {
		case line == "":
			if e.Data != nil {
				if err := fn(e); err != nil {
					if errors.Is(err, io.EOF) {
						return nil
					}
					return err
				}
			}
			e = Event{}
		case strings.HasPrefix(line, "id:"):
			e.ID = strings.TrimPrefix(line[3:], " ")
		case strings.HasPrefix(line, "event:"):
			e.Name = strings.TrimPrefix(line[6:], " ")
		case strings.HasPrefix(line, "data:"):
			if len(e.Data) > MaxAnswer {
				return fmt.Errorf("an event is over %d bytes", MaxAnswer)
			}
			e.Data = append(e.Data, strings.TrimPrefix(line[5:], " ")...)
		}
	}
}

func (c *Client) send(ctx context.Context, method, path string, query url.Values, contentType string, body io.Reader) (*http.Response, error) {
	address := c.base + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", contentType)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	answer, err := c.http.Do(req)
	if err != nil {
		var dial *url.Error
		if errors.As(err, &dial) {
			err = dial.Err
		}
		return nil, fmt.Errorf("no answer from %s: %w (is `weir serve` running? WEIR_URL names another address)", c.base, err)
	}
	if answer.StatusCode >= 300 {
		defer answer.Body.Close()
		return nil, problem(answer)
	}
	return answer, nil
}

func problem(answer *http.Response) error {
	raw, _ := io.ReadAll(io.LimitReader(answer.Body, 8<<20))
	p := &Problem{}
	if json.Unmarshal(raw, p) != nil || p.Code == "" {
		return &Problem{Status: answer.StatusCode, Code: fmt.Sprintf("http_%d", answer.StatusCode),
			Title: fmt.Sprintf("the server at this address answered %s, which is not how Weir refuses", answer.Status)}
	}
	p.Raw = raw
	return p
}
