package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// everything is all that the API shows of a server's store; with ids, the list
// and what it shows of those.
func (w *world) everything(ids ...string) string {
	w.Helper()
	var b bytes.Buffer
	list := w.get("/v1/conversations?limit=500").is(200)
	b.Write(list.body)
	b.Write(w.get("/v1/flows?limit=500").is(200).body)
	b.Write(w.get("/v1/context/facts").is(200).body)
	b.Write(w.get("/v1/tools").is(200).body)
	if len(ids) == 0 {
		var page struct{ Items []m }
		list.into(&page)
		for _, c := range page.Items {
			ids = append(ids, c["id"].(string))
		}
	}
	for _, id := range ids {
		b.Write(w.get(at(id, "messages") + "?hidden=include&limit=500").is(200).body)
		b.Write(w.get(at(id, "inputs")).is(200).body)
		b.Write(w.get(at(id, "steps")).is(200).body)
		b.Write(w.get(at(id, "context")).is(200).body)
		b.Write(w.get(at(id, "context", "facts")).is(200).body)
	}
	return b.String()
}

// bad is a request that has to be refused.
type bad struct {
	name string
	ask
	status int
	code   string
	member string // the problem names it
}

func badRequests(c, mid string) []bad {
	messages, conversations := at(c, "messages"), "/v1/conversations"
	post := func(name, path string, body any, status int, code string, member ...string) bad {
		b := bad{name: name, ask: ask{method: "POST", path: path, body: body}, status: status, code: code}
		if len(member) > 0 {
			b.member = member[0]
		}
		return b
	}
	headed := func(b bad, header map[string]string) bad { b.header = header; return b }
	deep := strings.Repeat(`{"a":`, 200_000) + "1" + strings.Repeat("}", 200_000)
	fact := func(name, key string, body any, status int, code string, member ...string) bad {
		b := post(name, at(c, "context", "facts", "ci")+"/"+key, body, status, code, member...)
		b.method = "PUT"
		return b
	}
	many := func(key string) bad {
		b := fact("a fact named "+key, "", `{"value":1}`, 400, "fact_key_invalid")
		b.path = "/v1/context/facts/" + key
		return b
	}
	list := []bad{
		fact("a fact without a body", "status", nil, 400, "body_invalid"),
		fact("a fact without a value", "status", `{}`, 400, "body_invalid"),
		fact("a fact that is null", "status", `{"value":null}`, 400, "body_invalid", "value"),
		fact("a fact with a name twice", "status", `{"value":{"a":1,"a":2}}`, 400, "body_invalid", "a"),
		fact("a fact with an unknown member", "status", `{"value":1,"Removal":"x"}`, 400, "body_invalid", "Removal"),
		fact("a fact with half a surrogate", "status", `{"value":{"\udc00":1}}`, 400, "body_invalid"),
		fact("a fact nested too deep", "status", `{"value":`+strings.Repeat("[", 20)+strings.Repeat("]", 20)+`}`, 400, "body_invalid"),
		fact("a fact that is no number", "status", `{"value":1e999}`, 400, "body_invalid"),
		fact("a fact that is too long", "status", m{"value": strings.Repeat("x", 70_000)}, 413, "fact_too_long"),
		fact("a fact whose text is too long", "status", m{"value": 1, "update_text": strings.Repeat("x", 70_000)}, 413, "fact_too_long"),
		fact("a fact whose text has a NUL", "status", `{"value":1,"update_text":"a\u0000"}`, 400, "fact_invalid"),
		fact("a fact of no time", "status", `{"value":1,"changed_at":"yesterday"}`, 400, "body_invalid", "changed_at"),
		fact("a fact of a time as a number", "status", `{"value":1,"changed_at":1700000000}`, 400, "body_invalid", "changed_at"),
		fact("a fact in capitals", "Status", `{"value":1}`, 400, "fact_key_invalid"),
		fact("a fact with a NUL", "%00", `{"value":1}`, 400, "fact_key_invalid"),
		fact("a fact with a space", "a%20b", `{"value":1}`, 400, "fact_key_invalid"),
		fact("a fact with a long name", strings.Repeat("x", 300), `{"value":1}`, 400, "fact_key_invalid"),
		many("-x/y"), many("x/.y"), many("%C3%A4/y"), many("x%2Fy/z"),
		{name: "a fact of the server's own", ask: ask{method: "PUT", path: "/v1/context/facts/core/date", body: `{"value":"2000-01-01"}`}, status: 422, code: "fact_reserved"},
		{name: "a fact of nobody's conversation", ask: ask{method: "PUT", path: at("cnv_x", "context", "facts", "ci", "status"), body: `{"value":1}`}, status: 404, code: "conversation_not_found"},
		{name: "a fact by POST", ask: ask{method: "POST", path: at(c, "context", "facts", "ci", "status"), body: `{"value":1}`}, status: 405, code: "method_not_allowed"},
		{name: "a fact that is not kept, taken back", ask: ask{method: "DELETE", path: at(c, "context", "facts", "ci", "status")}, status: 404, code: "fact_not_found"},
		{name: "a fact of all that is not kept, taken back", ask: ask{method: "DELETE", path: "/v1/context/facts/ci/status"}, status: 404, code: "fact_not_found"},
		{name: "a fact with a NUL, taken back", ask: ask{method: "DELETE", path: "/v1/context/facts/ci/%00"}, status: 404, code: "fact_not_found"},
		{name: "a fact taken back at no time", ask: ask{method: "DELETE", path: "/v1/context/facts/ci/status?changed_at=now"}, status: 400, code: "parameter_invalid"},
		{name: "the context of nobody's conversation", ask: ask{method: "GET", path: at("cnv_x", "context")}, status: 404, code: "conversation_not_found"},

		post("an epoch that is late", at(c, "epoch"), `{"if_seq":1}`, 409, "moved_on"),
		post("an epoch with words", at(c, "epoch"), `{"baseline":"x"}`, 400, "body_invalid", "baseline"),
		post("an epoch of nobody's conversation", at("cnv_x", "epoch"), `{}`, 404, "conversation_not_found"),
		post("a decision about nothing", at(c, "approvals", "call_x"), `{"decision":"allow"}`, 404, "call_not_found"),
		post("a decision about a NUL", at(c, "approvals")+"/%00", `{"decision":"allow"}`, 404, "call_not_found"),
		post("no decision", at(c, "approvals", "call_x"), `{}`, 400, "body_invalid"),
		post("no body for a decision", at(c, "approvals", "call_x"), nil, 400, "body_invalid"),
		post("a decision to ask", at(c, "approvals", "call_x"), `{"decision":"ask"}`, 400, "body_invalid", "decision"),
		post("a decision remembered as a word", at(c, "approvals", "call_x"), `{"decision":"allow","remember":"yes"}`, 400, "body_invalid", "remember"),
		post("an interrupt and then what", at(c, "interrupt"), `{"then":"queue"}`, 400, "body_invalid", "then"),
		post("an interrupt with words", at(c, "interrupt"), `{"why":"x"}`, 400, "body_invalid", "why"),
		{name: "an artefact that is not there", ask: ask{method: "GET", path: at(c, "artefacts", "art_x")}, status: 404, code: "artefact_not_found"},
		{name: "an artefact with a NUL", ask: ask{method: "GET", path: at(c, "artefacts") + "/%00"}, status: 404, code: "artefact_not_found"},
		{name: "moving what is not there", ask: ask{method: "PATCH", path: at(c, "inputs", "inp_x"), body: `{"revision":1,"before":""}`}, status: 404, code: "input_not_found"},
		{name: "a rule about no tool", ask: ask{method: "PUT", path: "/v1/tools/nothing/approval", body: `{"decision":"allow"}`}, status: 404, code: "tool_not_found"},
		{name: "a rule about a NUL", ask: ask{method: "PUT", path: "/v1/tools/%00/approval", body: `{"decision":"allow"}`}, status: 404, code: "tool_not_found"},
		{name: "a rule that is none", ask: ask{method: "PUT", path: "/v1/tools/nothing/approval", body: `{"decision":"maybe"}`}, status: 400, code: "body_invalid", member: "decision"},
		post("a tool", "/v1/tools", `{}`, 405, "method_not_allowed"),

		post("broken JSON", messages, `{"text":"hi"`, 400, "body_invalid"),
		post("no JSON", messages, `hello`, 400, "body_invalid"),
		post("two values", messages, `{"text":"hi"} {"text":"ho"}`, 400, "body_invalid"),
		post("a trailing comma", messages, `{"text":"hi",}`, 400, "body_invalid"),
		post("an array", messages, `[{"text":"hi"}]`, 400, "body_invalid"),
		post("null", messages, `null`, 400, "body_invalid"),
		post("an empty body", messages, ``, 400, "body_invalid"),
		post("an empty object", messages, `{}`, 400, "body_invalid"),
		post("an unknown member", messages, `{"text":"hi","texd":"x"}`, 400, "body_invalid", "texd"),
		post("a member in capitals", messages, `{"TEXT":"hi"}`, 400, "body_invalid", "TEXT"),
		post("a member with a long s", messages, `{"text":"hi","ifſeq":1}`, 400, "body_invalid", "ifſeq"),
		post("a member twice", messages, `{"text":"hi","text":"ho"}`, 400, "body_invalid", "text"),
		post("a member twice, once escaped", messages, `{"text":"hi","te\u0078t":"ho"}`, 400, "body_invalid", "text"),
		post("a wrong type", messages, `{"text":7}`, 400, "body_invalid", "text"),
		post("a null text", messages, `{"text":null}`, 400, "body_invalid", "text"),
		post("an empty text", messages, `{"text":""}`, 400, "text_invalid"),
		post("a NUL in the text", messages, `{"text":"a\u0000b"}`, 400, "text_invalid"),
		post("half a surrogate pair", messages, `{"text":"\ud83d"}`, 400, "body_invalid"),
		post("the other half", messages, `{"text":"x\ude00"}`, 400, "body_invalid"),
		post("bad UTF-8", messages, []byte("{\"text\":\"\xff\"}"), 400, "body_invalid"),
		post("an overlong form", messages, []byte("{\"text\":\"\xc0\xaf\"}"), 400, "body_invalid"),
		post("a text over a million bytes", messages, m{"text": strings.Repeat("a", 1_000_001)}, 413, "text_too_long"),
		post("5 MiB", messages, m{"text": strings.Repeat("a", 5<<20)}, 413, "body_too_large"),
		post("deep nesting", messages, deep, 400, "body_invalid"),
		post("a fraction as a seq", messages, `{"text":"hi","if_seq":1.5}`, 400, "body_invalid", "if_seq"),
		post("a huge seq", messages, `{"text":"hi","if_seq":1e300}`, 400, "body_invalid"),
		post("a seq nobody has", messages, `{"text":"hi","if_seq":-9223372036854775808}`, 409, "moved_on"),
		post("an id with a NUL", messages, `{"text":"hi","id":"a\u0000"}`, 400, "id_invalid"),
		post("an id too long", messages, m{"text": "hi", "id": strings.Repeat("x", 513)}, 400, "id_invalid"),
		post("a delivery unknown", messages, `{"text":"hi","delivery":"now"}`, 400, "body_invalid", "delivery"),
		post("mentions as a word unknown", messages, `{"text":"hi","mentions":"some"}`, 400, "body_invalid", "mentions"),
		post("mentions as fractions", messages, `{"text":"hi","mentions":[0.5]}`, 400, "body_invalid"),
		post("mentions below zero", messages, `{"text":"hi","mentions":[-1]}`, 400, "body_invalid"),
		post("mentions that are not there", messages, `{"text":"hi","mentions":[7]}`, 400, "reference_invalid"),
		post("replaces nothing", messages, `{"text":"hi","replaces":"msg_x"}`, 404, "message_not_found"),
		post("replaces a NUL", messages, `{"text":"hi","replaces":"\u0000"}`, 404, "message_not_found"),
		post("references of a wrong type", messages, `{"text":"hi","references":{}}`, 400, "body_invalid", "references"),
		post("a reference of a wrong type", messages, `{"text":"hi","references":["x"]}`, 400, "reference_invalid"),
		post("a reference without a type", messages, m{"text": "hi", "references": []m{{"conversation": c}}}, 400, "reference_invalid"),
		post("a reference of an unknown type", messages, m{"text": "hi", "references": []m{{"type": "copy", "conversation": c}}}, 400, "reference_invalid"),
		post("a reference with a title", messages, m{"text": "hi", "references": []m{with(pointer(c), m{"title": "x"})}}, 400, "reference_invalid", "references[0].title"),
		post("a reference with a level", messages, m{"text": "hi", "references": []m{with(pointer(c), m{"level": "open"})}}, 400, "reference_invalid"),
		post("a confirmation as a word", messages, m{"text": "hi", "references": []m{with(pointer(c), m{"confirmed": "true"})}}, 400, "reference_invalid"),
		post("a confirmation as a number", messages, m{"text": "hi", "references": []m{with(pointer(c), m{"confirmed": 1})}}, 400, "reference_invalid"),
		post("a quote without a message", messages, m{"text": "hi", "references": []m{{"type": "quote", "conversation": c}}}, 400, "reference_invalid"),
		post("a pointer with a message", messages, m{"text": "hi", "references": []m{with(pointer(c), m{"message": mid})}}, 400, "reference_invalid"),
		post("a reference to a NUL", messages, m{"text": "hi", "references": []m{pointer("a\x00")}}, 0, ""),
		post("a reference to itself", messages, m{"text": "hi", "references": []m{quote(c, mid)}}, 422, "reference_self"),
		post("a recall", messages, m{"text": "hi", "references": []m{{"type": "recall", "conversation": "cnv_x"}}}, 400, "reference_invalid"),
		post("a mention with a bad address", messages, m{"text": "@[x](weir:%%%)", "mentions": "all"}, 400, "reference_invalid"),

		post("a conversation of an unknown kind", conversations, `{"kind":"task"}`, 400, "body_invalid", "kind"),
		post("a conversation of an unknown level", conversations, `{"visibility":{"level":"shut"}}`, 400, "body_invalid", "visibility.level"),
		post("a conversation with an owner", conversations, `{"owner":"own_x"}`, 400, "body_invalid", "owner"),
		post("a category of two lines", conversations, `{"visibility":{"category":"a\nb"}}`, 400, "visibility_invalid"),
		post("a model unknown", conversations, `{"model":"x/y"}`, 422, "model_unknown"),
		post("an id taken", conversations, m{"id": c}, 409, "conversation_exists"),

		post("a branch at nothing", at(c, "branch"), `{}`, 400, "body_invalid"),
		post("a branch at a number", at(c, "branch"), `{"at":1}`, 400, "body_invalid", "at"),
		post("a branch elsewhere", at(c, "branch"), `{"at":"msg_x"}`, 422, "cut_invalid"),
		post("a rewind without a seq", at(c, "rewind"), m{"to": mid}, 400, "body_invalid"),
		post("a rewind that is late", at(c, "rewind"), m{"to": mid, "if_seq": 1}, 409, "moved_on"),
		post("an undo of nothing", at(c, "rewind", "undo"), `{}`, 409, "nothing_to_undo"),
		post("a retry that is late", at(c, "retry"), `{"if_seq":1}`, 409, "moved_on"),
		post("a preview of nothing", "/v1/references/preview", `{}`, 400, "body_invalid"),
		post("a preview with a title", "/v1/references/preview", m{"target": c, "reference": with(pointer("x"), m{"title": "t"})}, 400, "reference_invalid"),

		headed(post("text/plain", messages, `{"text":"hi"}`, 415, "media_type_unsupported"), map[string]string{"Content-Type": "text/plain"}),
		headed(post("a form", messages, `text=hi`, 415, "media_type_unsupported"), map[string]string{"Content-Type": "application/x-www-form-urlencoded"}),
		headed(post("no type", messages, `{"text":"hi"}`, 415, "media_type_unsupported"), map[string]string{"Content-Type": ""}),
		headed(post("JSON in Latin-1", messages, `{"text":"hi"}`, 415, "media_type_unsupported"), map[string]string{"Content-Type": "application/json; charset=latin1"}),
		headed(post("a compressed body", messages, `{"text":"hi"}`, 415, "media_type_unsupported"), map[string]string{"Content-Encoding": "gzip"}),
		headed(post("a key that is too long", messages, `{"text":"hi"}`, 400, "parameter_invalid"), map[string]string{"Idempotency-Key": strings.Repeat("k", 300)}),

		{name: "nothing to change in an input", ask: ask{method: "PATCH", path: at(c, "inputs", "inp_x"), body: `{"revision":1}`}, status: 404, code: "input_not_found"},
		{name: "a title as a number", ask: ask{method: "PATCH", path: at(c), body: `{"title":5}`}, status: 400, code: "body_invalid", member: "title"},
		{name: "an empty title", ask: ask{method: "PATCH", path: at(c), body: `{"title":""}`}, status: 400, code: "title_invalid"},
		{name: "a kind by PATCH", ask: ask{method: "PATCH", path: at(c), body: `{"kind":"main"}`}, status: 400, code: "body_invalid", member: "kind"},
		{name: "branches unknown", ask: ask{method: "DELETE", path: at(c) + "?branches=both"}, status: 400, code: "parameter_invalid"},
		{name: "a limit of words", ask: ask{method: "GET", path: messages + "?limit=many"}, status: 400, code: "parameter_invalid"},
		{name: "a limit of zero", ask: ask{method: "GET", path: messages + "?limit=0"}, status: 400, code: "parameter_invalid"},
		{name: "a limit too large", ask: ask{method: "GET", path: messages + "?limit=501"}, status: 400, code: "parameter_invalid"},
		{name: "an after of words", ask: ask{method: "GET", path: messages + "?after=x"}, status: 400, code: "parameter_invalid"},
		{name: "hidden unknown", ask: ask{method: "GET", path: messages + "?hidden=yes"}, status: 400, code: "parameter_invalid"},
		{name: "a cursor made up", ask: ask{method: "GET", path: messages + "?cursor=zz"}, status: 400, code: "parameter_invalid"},
		{name: "a cursor made up for steps", ask: ask{method: "GET", path: at(c, "steps") + "?cursor=zz"}, status: 400, code: "parameter_invalid"},
		{name: "a cursor made up for the list", ask: ask{method: "GET", path: conversations + "?cursor=%F0%9F%98%80"}, status: 400, code: "cursor_invalid"},
		{name: "a cursor made up for flows", ask: ask{method: "GET", path: "/v1/flows?cursor=zz"}, status: 400, code: "cursor_invalid"},
		{name: "a NUL in a query", ask: ask{method: "GET", path: conversations + "?query=%00"}, status: 400, code: "parameter_invalid"},
		{name: "bad UTF-8 in a query", ask: ask{method: "GET", path: conversations + "?query=%ff"}, status: 400, code: "parameter_invalid"},
		{name: "a broken query", ask: ask{method: "GET", path: conversations + "?query=%zz"}, status: 400, code: "parameter_invalid"},
		{name: "a long query", ask: ask{method: "GET", path: conversations + "?query=" + strings.Repeat("q", 20_000)}, status: 400, code: "parameter_invalid"},
		{name: "events after words", ask: ask{method: "GET", path: at(c, "events") + "?after=x"}, status: 400, code: "parameter_invalid"},
		{name: "events after less than nothing", ask: ask{method: "GET", path: at(c, "events"), header: map[string]string{"Last-Event-ID": "-1"}}, status: 400, code: "parameter_invalid"},
		{name: "a method unknown", ask: ask{method: "PUT", path: at(c)}, status: 405, code: "method_not_allowed"},
		{name: "a made-up method", ask: ask{method: "BREW", path: at(c)}, status: 405, code: "method_not_allowed"},
		{name: "an address unknown", ask: ask{method: "GET", path: "/v1/nothing"}, status: 404, code: "address_unknown"},
		{name: "no later issue's route", ask: ask{method: "POST", path: at(c, "compact"), body: "{}"}, status: 404, code: "address_unknown"},
		{name: "an import as JSON", ask: ask{method: "POST", path: "/v1/imports", body: "{}"}, status: 415, code: "media_type_unsupported"},
		{name: "a wrong Host", ask: ask{method: "GET", path: conversations, host: "evil.example"}, status: 421, code: "host_unknown"},
		{name: "a wrong Host with our port", ask: ask{method: "POST", path: messages, body: `{"text":"hi"}`, host: "evil.example:7447"}, status: 421, code: "host_unknown"},
		{name: "no token", ask: ask{method: "GET", path: conversations, anonymous: true}, status: 401, code: "unauthenticated"},
		{name: "a wrong token", ask: ask{method: "GET", path: conversations, header: map[string]string{"Authorization": "Bearer x"}}, status: 401, code: "token_invalid"},
		{name: "no scheme", ask: ask{method: "GET", path: conversations, header: map[string]string{"Authorization": token}}, status: 401, code: "token_invalid"},
	}
	for _, path := range []string{"/v1/conversations/%00", "/v1/conversations/%FF", "/v1/conversations/" + strings.Repeat("x", 600), "/v1/conversations/%2E%2E", "/v1/conversations/a%2Fb"} {
		list = append(list, bad{name: "an id like " + path[:min(len(path), 30)], ask: ask{method: "GET", path: path}, status: 404, code: "conversation_not_found"})
	}
	for _, path := range []string{at(c, "messages") + "/%00", at(c, "messages") + "/%FF"} {
		list = append(list, bad{name: "a message id like " + path[len(path)-3:], ask: ask{method: "GET", path: path}, status: 404, code: "message_not_found"})
	}
	for _, n := range []string{"x", "-1", "0", "99999999999999999999"} {
		list = append(list, bad{name: "reference " + n, ask: ask{method: "GET", path: at(c, "messages", mid, "references", n, "body")}, status: 404, code: "reference_not_found"})
	}
	return list
}

func TestBadInputIsRefusedWithACodeAndStoresNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.create(m{"title": "T"})
		mid, _ := w.say(c, "hello")
		before, sent := w.everything(), len(w.peer.Bodies())
		for _, b := range badRequests(c, mid) {
			t.Run(b.name, func(t *testing.T) {
				in := *w
				in.TB = t
				got := in.do(b.ask)
				if b.status == 0 { // which refusal is the gate's to say
					if got.status < 400 || got.status >= 500 {
						t.Fatalf("%d %s", got.status, short(got.body))
					}
					return
				}
				p := got.problem(b.status, b.code)
				if b.member != "" && p["member"] != b.member {
					t.Errorf("it names %v, want the member %s: %s", p["member"], b.member, got.body)
				}
				if len(got.body) > 4096 {
					t.Errorf("%d bytes of refusal", len(got.body))
				}
			})
		}
		if after := w.everything(); after != before {
			t.Errorf("something was stored:\n%s\nbefore:\n%s", after, before)
		}
		if n := len(w.peer.Bodies()); n != sent {
			t.Errorf("%d requests reached the model", n-sent)
		}
		w.say(c, "still alive")
	})
}

func TestAPageOfAnotherSiteCannotActWithTheCookie(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.create(m{})
		cookie := w.signIn()
		before := w.everything()
		for name, header := range map[string]map[string]string{
			"another Origin":         {"Origin": "https://evil.example", "Content-Type": "application/json"},
			"as text/plain":          {"Origin": "https://evil.example", "Content-Type": "text/plain"},
			"the browser's own word": {"Sec-Fetch-Site": "cross-site"},
			"a sibling's page":       {"Sec-Fetch-Site": "same-site"},
			"an opaque origin":       {"Origin": "null"},
		} {
			header["Cookie"] = cookie
			got := w.do(ask{method: "POST", path: at(c, "messages"), body: `{"text":"hi"}`, header: header, anonymous: true})
			if got.status != 403 && got.status != 415 {
				t.Errorf("%s: %d %s", name, got.status, got.body)
			}
			del := w.do(ask{method: "DELETE", path: at(c), header: header, anonymous: true})
			if del.status != 403 && del.status != 415 {
				t.Errorf("%s: DELETE: %d", name, del.status)
			}
		}
		if w.everything() != before {
			t.Error("something was stored")
		}
		own := map[string]string{"Cookie": cookie, "Origin": w.run.URL, "Sec-Fetch-Site": "same-origin"}
		w.do(ask{method: "POST", path: at(c, "messages"), body: `{"text":"hi"}`, header: own, anonymous: true}).is(202)
	})
}

// signIn follows a fresh link and returns the session's cookie.
func (w *world) signIn() string {
	w.Helper()
	link := strings.TrimPrefix(w.run.SignInURL(), w.run.URL)
	got := w.do(ask{method: "GET", path: link, anonymous: true}).is(http.StatusSeeOther)
	set := got.header.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Lax", "Path=/"} {
		if !strings.Contains(set, want) {
			w.Errorf("the cookie is %q, without %s", set, want)
		}
	}
	cookie, _, _ := strings.Cut(set, ";")
	w.do(ask{method: "GET", path: link, anonymous: true}).problem(401, "link_used")
	w.do(ask{method: "GET", path: link, anonymous: true, header: map[string]string{"Cookie": cookie}}).is(http.StatusSeeOther)
	return cookie
}

func TestASessionBeginsAndEnds(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		cookie := w.signIn()
		as := func(method, path string) answer {
			return w.do(ask{method: method, path: path, anonymous: true, header: map[string]string{"Cookie": cookie}})
		}
		if who := as("GET", "/v1/session").is(200).object(); who["door"] != "web" || who["name"] != "Max" {
			t.Errorf("it is %v", who)
		}
		w.restart()
		as("GET", "/v1/conversations").is(200)
		as("DELETE", "/v1/session").is(200)
		as("GET", "/v1/conversations").problem(401, "session_over")
		w.do(ask{method: "POST", path: "/v1/session", body: m{"token": "wrong"}, anonymous: true}).problem(401, "token_invalid")
		got := w.do(ask{method: "POST", path: "/v1/session", body: m{"token": token}, anonymous: true}).is(200)
		cookie, _, _ = strings.Cut(got.header.Get("Set-Cookie"), ";")
		as("GET", "/v1/conversations").is(200)
	})
}

func TestABodyThatStopsInTheMiddleStoresNothing(t *testing.T) {
	w := start(t, "")
	c := w.create(m{})
	before := w.everything()
	conn := w.dial()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"text\":\"hi\"", at(c, "messages"), token)
	w.must(conn.CloseWrite())
	answer := make([]byte, 16)
	n, _ := conn.Read(answer)
	if !bytes.HasPrefix(answer[:n], []byte("HTTP/1.1 400")) {
		t.Errorf("%q", answer[:n])
	}
	if w.everything() != before {
		t.Error("something was stored")
	}
}
