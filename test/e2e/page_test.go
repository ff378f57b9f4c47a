package e2e

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

func TestTheServerDescribesItself(t *testing.T) {
	w := start(t, "")
	got := w.do(ask{method: "GET", path: "/openapi.json", anonymous: true}).is(200)
	doc, raw := got.object(), got.body
	if doc["openapi"] != "3.1.0" {
		t.Errorf("openapi %v", doc["openapi"])
	}
	paths := doc["paths"].(m)
	for address, methods := range map[string]string{
		"/v1/conversations": "get post", "/v1/conversations/{id}": "get patch delete", "/v1/conversations/{id}/branch": "post",
		"/v1/conversations/{id}/rewind": "post", "/v1/conversations/{id}/rewind/undo": "post", "/v1/conversations/{id}/retry": "post",
		"/v1/conversations/{id}/interrupt": "post", "/v1/conversations/{id}/messages": "get post", "/v1/conversations/{id}/messages/{mid}": "get",
		"/v1/conversations/{id}/messages/{mid}/references/{n}/body": "get", "/v1/conversations/{id}/inputs": "get",
		"/v1/conversations/{id}/inputs/{iid}": "patch delete", "/v1/references/preview": "post", "/v1/conversations/{id}/candidates": "get",
		"/v1/flows": "get", "/v1/crossings": "get", "/v1/conversations/{id}/steps": "get", "/v1/conversations/{id}/steps/{sid}": "get",
		"/v1/conversations/{id}/steps/{sid}/request": "get", "/v1/conversations/{id}/events": "get", "/v1/events": "get", "/v1/models": "get", "/v1/models/refresh": "post",
		"/v1/session": "get post delete", "/v1/conversations/{id}/context": "get", "/v1/conversations/{id}/context/facts": "get",
		"/v1/conversations/{id}/context/facts/{ns}/{name}": "put delete", "/v1/context/facts": "get", "/v1/context/facts/{ns}/{name}": "put delete",
		"/v1/conversations/{id}/epoch": "post", "/v1/conversations/{id}/approvals": "get", "/v1/conversations/{id}/approvals/{call}": "post",
		"/v1/conversations/{id}/artefacts/{aid}": "get", "/v1/tools": "get", "/v1/tools/{name}/approval": "put",
	} {
		for method := range strings.FieldsSeq(methods) {
			op, ok := paths[address].(m)[method].(m)
			if !ok {
				t.Errorf("%s %s is not described", method, address)
				continue
			}
			answers := op["responses"].(m)
			if _, ok := answers["default"].(m)["content"].(m)["application/problem+json"]; !ok || op["summary"] == "" || op["operationId"] == "" {
				t.Errorf("%s %s: %v", method, address, op)
			}
		}
	}
	schemas := doc["components"].(m)["schemas"].(m)
	for name := range schemas {
		if strings.Contains(name, "Error") {
			t.Errorf("the document describes %s, a refusal that is never given", name)
		}
	}
	for path, events := range map[string]string{"/v1/conversations/{id}/events": "snapshot item delta state input", "/v1/events": "conversation"} {
		ok := paths[path].(m)["get"].(m)["responses"].(m)["200"].(m)["content"].(m)["text/event-stream"].(m)["schema"].(m)["properties"].(m)
		for name := range strings.FieldsSeq(events) {
			if described, _ := ok[name].(m)["properties"].(m); len(described) == 0 {
				t.Errorf("%s: the event %s is not described", path, name)
			}
		}
	}
	// Every reference leads somewhere, and every object of a request is closed.
	for _, ref := range regexp.MustCompile(`"#/components/schemas/([^"]+)"`).FindAllStringSubmatch(string(raw), -1) {
		if schemas[ref[1]] == nil {
			t.Errorf("the document refers to %s, which it does not have", ref[1])
		}
	}
	for name, s := range schemas {
		if strings.HasSuffix(name, "Body") && s.(m)["additionalProperties"] != false {
			t.Errorf("%s takes unknown members", name)
		}
	}
}

func TestPagesLoadNothingFromElsewhereAndAllowNothingInline(t *testing.T) {
	w := start(t, "")
	elsewhere := regexp.MustCompile(`(?i)(src|href)\s*=\s*["']?(https?:)?//`)
	inline := regexp.MustCompile(`(?is)<script(\s[^>]*)?>\s*[^<\s]|\son\w+\s*=|<style|\sstyle\s*=`)
	for _, path := range []string{"/", "/docs", "/docs/docs.js", "/docs/docs.css", "/openapi.json"} {
		got := w.do(ask{method: "GET", path: path, anonymous: true}).is(200)
		csp := got.header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", "base-uri 'none'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: the policy %q lacks %s", path, csp, want)
			}
		}
		if strings.Contains(csp, "unsafe") || got.header.Get("X-Content-Type-Options") != "nosniff" || got.header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: headers %v", path, got.header)
		}
		if strings.HasPrefix(got.header.Get("Content-Type"), "text/html") && (elsewhere.Match(got.body) || inline.Match(got.body)) {
			t.Errorf("%s: %s", path, got.body)
		}
		tag := got.header.Get("Etag")
		if got.header.Get("Cache-Control") != "no-cache" || tag == "" {
			t.Errorf("%s: may be cached as %q, %q", path, got.header.Get("Cache-Control"), tag)
		}
		w.do(ask{method: "GET", path: path, anonymous: true, header: map[string]string{"If-None-Match": tag}}).is(http.StatusNotModified)
	}
}

func TestOperatorsAreAnsweredWithoutATokenAndLearnNothingOfContents(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.create(m{"id": "codeword-heron", "title": "codeword heron"})
		w.say(c, "codeword heron")
		for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
			got := w.do(ask{method: "GET", path: path, anonymous: true}).is(200)
			if strings.Contains(string(got.body), "heron") {
				t.Errorf("%s: %s", path, got.body)
			}
		}
		w.do(ask{method: "GET", path: "/healthz", anonymous: true, host: "10.0.0.7:7447"}).is(200)
		body := string(w.do(ask{method: "GET", path: "/metrics", anonymous: true}).body)
		if !strings.Contains(body, `weir_http_requests_total{code="",method="POST",route="POST /v1/conversations/{id}/messages",status="202"} 1`) {
			t.Errorf("metrics: %s", body)
		}
		models := w.get("/v1/models").is(200).object()["items"].([]any)
		for _, model := range models {
			if m := model.(m); (m["id"] == "peer/claude") != (m["default"] == true) {
				t.Errorf("models: %v", m)
			}
		}
	})
}
