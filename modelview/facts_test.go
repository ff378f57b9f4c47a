package modelview_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"weir"
	"weir/model"
	"weir/modelview"
	"weir/test/strictpeer/strictpeer"
)

// The table of provider-facts.md §7: histories that providers refuse, and what
// is sent instead. A row's right lowering is compared byte for byte, without
// cache marks, and taken by the strict peer; its wrong histories are refused
// by it, with the vendor's status and words.

// fact is a row.
type fact struct {
	row   int
	says  string
	build func(k *asked)
	// right are the messages on the wire. Profiles whose wire is the same
	// stand in one key, a space between.
	right map[string]string
	wrong []refused
}

// refused is a history that a profile refuses, or takes when words are none.
type refused struct{ profile, history, words string }

// Profiles, as keys name them.
const (
	aNew, aOld  = strictpeer.Anthropic, strictpeer.AnthropicOld
	responses   = strictpeer.Responses
	chat        = strictpeer.OpenAIChat
	deepseek    = strictpeer.DeepSeek
	qwen        = strictpeer.QwenTemplate
	alternating = strictpeer.AlternatingTemplate
	dropping    = strictpeer.DroppingTemplate
	gemini      = strictpeer.Gemini
)

func TestEveryRowOfTheFactsIsLoweredRight(t *testing.T) {
	for _, f := range facts() {
		var seen []string
		for profiles, want := range f.right {
			for profile := range strings.FieldsSeq(profiles) {
				seen = append(seen, profile)
				t.Run(fmt.Sprintf("%d/%s", f.row, profile), func(t *testing.T) {
					k := newAsked(t, profile)
					f.build(k)
					r := k.step()
					if got := messages(r); got != want {
						t.Errorf("%s\n got %s\nwant %s", f.says, got, want)
					}
					if status, words := post(k.peer, profile, r.Body); status != http.StatusOK {
						t.Errorf("refused with status %d: %s\n%s", status, words, r.Body)
					}
					k.rebuild()
				})
			}
		}
		for _, profile := range strictpeer.Profiles() {
			if !slices.Contains(seen, profile) {
				t.Run(fmt.Sprintf("%d/%s", f.row, profile), func(t *testing.T) {
					k := newAsked(t, profile) // the row is about others, and no less taken here
					f.build(k)
					r := k.step()
					if status, words := post(k.peer, profile, r.Body); status != http.StatusOK {
						t.Errorf("%s: refused with status %d: %s\n%s", f.says, status, words, r.Body)
					}
				})
			}
		}
	}
}

func TestEveryRowOfTheFactsIsRefusedWhereItIsWrong(t *testing.T) {
	for _, f := range facts() {
		for i, w := range f.wrong {
			t.Run(fmt.Sprintf("%d/%s/%d", f.row, w.profile, i), func(t *testing.T) {
				status, words := post(strictpeer.New(w.profile), w.profile, whole(w.profile, w.history))
				want := http.StatusBadRequest
				if w.words == "" {
					want = http.StatusOK
				}
				if status != want || !strings.Contains(words, w.words) {
					t.Errorf("%s: status %d: %s\nwant %d: %s\n%s", f.says, status, words, want, w.words, w.history)
				}
			})
		}
	}
}

func TestNoRowOfTheFactsIsForgotten(t *testing.T) {
	rows := map[int]bool{}
	for _, f := range facts() {
		rows[f.row] = true
	}
	for row := 1; row <= 25; row++ {
		if !rows[row] && !slices.Contains(signedRows(), row) {
			t.Errorf("row %d is in no test", row)
		}
	}
}

// messages are a request's messages on the wire, without cache marks.
func messages(r *modelview.Request) string {
	b := bytes.ReplaceAll(r.Body[:len(r.Body)-len(r.Tail)], []byte(mark), nil)
	for _, name := range []string{`"messages":[`, `"input":[`, `"contents":[`} {
		if _, list, found := strings.Cut(string(b), name); found {
			return list
		}
	}
	return string(b)
}

// whole is a body of a profile with these messages.
func whole(profile, history string) []byte {
	const tool = `"name":"list","description":"Lists."`
	switch strictpeer.Model(profile, "peer/m", "m").Dialect {
	case model.Anthropic:
		return []byte(`{"model":"m","max_tokens":9,"tools":[{` + tool + `,"input_schema":{"type":"object"}}],"messages":[` + history + `]}`)
	case model.OpenAIResponses:
		return []byte(`{"model":"m","store":false,"tools":[{"type":"function",` + tool + `,"parameters":{"type":"object"},"strict":false}],"input":[` + history + `]}`)
	case model.Gemini:
		return []byte(`{"tools":[{"functionDeclarations":[{` + tool + `}]}],"contents":[` + history + `]}`)
	}
	return []byte(`{"model":"m","tools":[{"type":"function","function":{` + tool + `}}],"messages":[` + history + `]}`)
}

// post sends a body to a peer as it is, and returns what it says.
func post(peer *strictpeer.Peer, profile string, body []byte, header ...string) (int, string) {
	path := map[model.Dialect]string{
		model.Anthropic: "/v1/messages", model.OpenAIResponses: "/v1/responses", model.OpenAIChat: "/v1/chat/completions",
		model.Gemini: "/v1beta/models/m:streamGenerateContent?alt=sse",
	}[strictpeer.Model(profile, "peer/m", "m").Dialect]
	r := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
	for name, value := range map[string]string{"Content-Type": "application/json", "X-Api-Key": "k", "Anthropic-Version": "2023-06-01", "Authorization": "Bearer k", "X-Goog-Api-Key": "k"} {
		r.Header.Set(name, value)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	peer.ServeHTTP(w, r)
	var doc struct{ Error struct{ Message string } }
	if json.Unmarshal(w.Body.Bytes(), &doc) == nil && doc.Error.Message != "" {
		return w.Code, doc.Error.Message
	}
	return w.Code, w.Body.String()
}

// Histories that more than one row has.

func (k *asked) begin(tools ...string) { k.epoch("Base.", strings.Join(tools, "")) }

// said is a question and its answer.
func (k *asked) said(question, answer string) {
	k.user(question)
	k.step()
	k.answer(text(answer))
}

// called is a question and calls of one tool.
func (k *asked) called(question string, ids ...string) {
	k.user(question)
	k.step()
	var calls []weir.Part
	for _, id := range ids {
		calls = append(calls, call(id, "list", `{}`))
	}
	k.answer(calls...)
}

const oneTool = `[{"name":"list","description":"Lists.","input_schema":{"type":"object"}}]`
