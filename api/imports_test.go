package api_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"weir"
	"weir/api"
)

// bring posts a transcript.
func (d *door) bring(text string) (*http.Response, map[string]any) {
	resp, err := http.Post(d.url+"/v1/imports", "application/x-ndjson", strings.NewReader(text))
	if err != nil {
		d.Error(err)
		return &http.Response{}, nil
	}
	defer resp.Body.Close()
	var v map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
		d.Error(err)
	}
	return resp, v
}

func TestNoMoreThanTwoImportsRunAtOnce(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	d := serve(t, func(c *api.Config, _ *rooms) {
		c.Import = func(_ context.Context, _ weir.Actor, _ api.ImportOptions, r io.Reader) (any, error) {
			text, err := io.ReadAll(r)
			if string(text) == "long" {
				begun <- struct{}{}
				<-end
			}
			return map[string]any{}, err
		}
	})
	done := make(chan int)
	for range api.MaxImports {
		go func() {
			resp, _ := d.bring("long")
			done <- resp.StatusCode
		}()
		<-begun
	}
	resp, problem := d.bring("short")
	if resp.StatusCode != 503 || problem["code"] != "imports_busy" || resp.Header.Get("Retry-After") == "" {
		t.Errorf("the third: %d %v, Retry-After %q", resp.StatusCode, problem, resp.Header.Get("Retry-After"))
	}
	close(end)
	for range api.MaxImports {
		if status := <-done; status != 200 {
			t.Errorf("one of the two: %d", status)
		}
	}
	if resp, problem := d.bring("short"); resp.StatusCode != 200 {
		t.Errorf("afterwards: %d %v", resp.StatusCode, problem)
	}
}
