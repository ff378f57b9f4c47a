package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"weir/model"
)

// The bounds of one document that is asked for.
const (
	maxDocument  = 8 << 20
	documentTime = 20 * time.Second
)

var errSlow = errors.New("wire: the document did not come in time")

// Get asks for a JSON document and decodes it into v. Its error is a
// *model.Error. Body and the deadlines of the call are not used.
func Get(ctx context.Context, c Call, v any) error {
	req, err := c.request()
	if err != nil {
		return err
	}
	req.Method, req.Body, req.ContentLength, req.GetBody = http.MethodGet, nil, 0, nil
	req.Header.Del("Content-Type")
	req.Header.Set("Accept", "application/json")
	parent := ctx
	ctx, cancel := context.WithTimeoutCause(parent, documentTime, errSlow)
	defer cancel()
	s := &Stream{parent: parent, ctx: ctx, endpoint: endpointAt(c.Base, c.Secret)}
	resp, err := c.client().Do(req.WithContext(ctx))
	if err != nil {
		return s.late(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	switch {
	case err != nil:
		return s.late(err)
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return &model.Error{Failure: model.FailRefused, Status: resp.StatusCode, Public: fmt.Sprintf(
			"The endpoint at %s answered GET %s with a redirect, which is not followed; correct its base_url.", s.endpoint.at, req.URL.Path)}
	case resp.StatusCode != http.StatusOK:
		return c.document(resp, body[:min(len(body), maxErrorBody)], s)
	case len(body) > maxDocument:
		return &model.Error{Failure: model.FailTooMuch, Status: resp.StatusCode, Public: fmt.Sprintf(
			"The endpoint at %s answered GET %s with more than is taken.", s.endpoint.at, req.URL.Path)}
	}
	if err := json.Unmarshal(body, v); err != nil {
		return &model.Error{Failure: model.FailRefused, Status: resp.StatusCode, Err: err, Public: fmt.Sprintf(
			"The endpoint at %s answered GET %s with something that cannot be understood; check its base_url and dialect.", s.endpoint.at, req.URL.Path)}
	}
	return nil
}

// late says how a document did not come.
func (s *Stream) late(err error) *model.Error {
	if s.parent.Err() == nil && errors.Is(context.Cause(s.ctx), errSlow) {
		return &model.Error{Failure: model.FailBroken, Err: errSlow,
			Public: "The endpoint at " + s.endpoint.at + " did not answer in time; try again."}
	}
	return s.broken(err)
}

// document says what an error document says.
func (c *Call) document(resp *http.Response, body []byte, s *Stream) *model.Error {
	fault := c.Classify(resp.StatusCode, body)
	if fault == nil {
		fault = &model.Error{Failure: ByStatus(resp.StatusCode)}
	}
	fault.Status = resp.StatusCode
	fault.Public = s.endpoint.says(fault.Failure, resp.StatusCode, fault.Public)
	return fault
}
