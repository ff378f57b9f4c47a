package oracles

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"weir/model"
)

func TestTheVendorsSDKsSendWhatWeSend(t *testing.T) {
	judged(t, func(b body) error { return sentAlike(b.profile, b.bytes) })
}

// sentAlike decodes a body into the types of the vendor's SDK, has the SDK send
// it and compares, as JSON values.
func sentAlike(p model.Profile, ours []byte) error {
	want, err := plain(p, ours)
	if err != nil {
		return err
	}
	data, err := json.Marshal(want)
	if err != nil {
		return err
	}
	send := map[model.Dialect]func([]byte, *http.Client) error{
		model.Anthropic: sendMessages, model.OpenAIChat: sendChat, model.OpenAIResponses: sendResponses, model.Gemini: sendContents,
	}[p.Dialect]
	if send == nil {
		return fmt.Errorf("no SDK for the dialect %q", p.Dialect)
	}
	var taken taker
	if err := send(data, &http.Client{Transport: &taken}); err != nil && !errors.Is(err, errTaken) {
		return err
	}
	var theirs any
	if err := json.Unmarshal(taken.body, &theirs); err != nil {
		return fmt.Errorf("the SDK sent %q: %v", taken.body, err)
	}
	if d := cmp.Diff(spelled(want), spelled(theirs)); d != "" {
		return fmt.Errorf("-ours +the SDK's\n%s", d)
	}
	return nil
}

// plain is a body as JSON values, without what vendors of a dialect that is
// OpenAI's have added to it.
func plain(p model.Profile, ours []byte) (map[string]any, error) {
	var v map[string]any
	if err := json.Unmarshal(ours, &v); err != nil {
		return nil, err
	}
	if p.Dialect == model.Gemini {
		spelled(v) // the SDK takes one of the two alphabets of base64
	}
	if p.Dialect != model.OpenAIChat || p.ReasoningRequired != model.ReasoningContent {
		return v, nil
	}
	messages, _ := v["messages"].([]any)
	for i, m := range messages {
		m, _ := m.(map[string]any)
		// DeepSeek: https://api-docs.deepseek.com/guides/thinking_mode
		if _, ok := m["reasoning_content"].(string); ok && m["role"] == "assistant" {
			delete(m, "reasoning_content")
		} else if _, ok := m["tool_calls"]; ok {
			return nil, fmt.Errorf("message %d has calls and no reasoning_content", i)
		}
	}
	return v, nil
}

// spelled spells in one way what the vendors let one spell in two.
func spelled(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = spelled(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = spelled(v[name])
		}
		text, isText := v["content"].(string)
		content, there := v["content"]
		switch {
		case v["type"] == "tool_result" && isText: // Anthropic: short for one block
			v["content"] = []any{map[string]any{"type": "text", "text": text}}
		case v["role"] == "assistant" && there && content == nil: // OpenAI: optional, or null
			delete(v, "content")
		}
		spelledByGoogle(v)
	}
	return v
}

// spelledByGoogle leaves out what is the default in the JSON of protocol
// buffers, https://protobuf.dev/programming-guides/json/.
func spelledByGoogle(v map[string]any) {
	if s, ok := v["thoughtSignature"].(string); ok { // bytes, in either alphabet of base64
		v["thoughtSignature"] = strings.NewReplacer("-", "+", "_", "/").Replace(s)
		if v["text"] == "" {
			delete(v, "text")
		}
	}
	if call, ok := v["functionCall"].(map[string]any); ok && cmp.Equal(call["args"], map[string]any{}) {
		delete(call, "args")
	}
	if _, ok := v["parametersJsonSchema"]; ok && v["description"] == "" {
		delete(v, "description")
	}
	if system, ok := v["systemInstruction"].(map[string]any); ok && system["role"] == "user" { // which it has anyway
		delete(system, "role")
	}
}

var errTaken = errors.New("the body was taken")

// taker takes the body of a request and sends it nowhere.
type taker struct{ body []byte }

func (t *taker) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	t.body = body
	return nil, errTaken
}

func sendMessages(body []byte, hc *http.Client) error {
	var params anthropic.MessageNewParams
	if err := json.Unmarshal(body, &params); err != nil {
		return err
	}
	// The SDK sets stream by itself and has no member for it.
	if err := known(&params, "stream"); err != nil {
		return err
	}
	c := anthropic.NewClient(anthropicoption.WithAPIKey("key"), anthropicoption.WithHTTPClient(hc), anthropicoption.WithMaxRetries(0))
	return c.Messages.NewStreaming(context.Background(), params).Err()
}

func openAI(hc *http.Client) openai.Client {
	return openai.NewClient(openaioption.WithAPIKey("key"), openaioption.WithHTTPClient(hc), openaioption.WithMaxRetries(0))
}

func sendChat(body []byte, hc *http.Client) error {
	var params openai.ChatCompletionNewParams
	if err := json.Unmarshal(body, &params); err != nil {
		return err
	}
	if err := known(&params, "stream"); err != nil {
		return err
	}
	c := openAI(hc)
	return c.Chat.Completions.NewStreaming(context.Background(), params).Err()
}

func sendResponses(body []byte, hc *http.Client) error {
	var params responses.ResponseNewParams
	if err := json.Unmarshal(body, &params); err != nil {
		return err
	}
	if err := outputs(params.Input.OfInputItemList, body); err != nil {
		return err
	}
	if err := known(&params, "stream"); err != nil {
		return err
	}
	c := openAI(hc)
	return c.Responses.NewStreaming(context.Background(), params).Err()
}

// outputs decodes the answers that came from the vendor as the SDK's users hold
// them. A decoder cannot tell their type from that of messages made by hand:
// both say "message".
func outputs(items responses.ResponseInputParam, body []byte) error {
	var b struct{ Input []json.RawMessage }
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	for i, raw := range b.Input {
		var kind struct {
			Type, Role string
			Content    any
		}
		if err := json.Unmarshal(raw, &kind); err != nil {
			return err
		}
		if _, list := kind.Content.([]any); !list || kind.Type != "message" || kind.Role != "assistant" {
			continue
		}
		var m responses.ResponseOutputMessageParam
		if err := json.Unmarshal(raw, &m); err != nil {
			return err
		}
		items[i] = responses.ResponseInputItemUnionParam{OfOutputMessage: &m}
	}
	return nil
}

// contents is a body of generateContent, in the SDK's types. The SDK has none
// for the whole: it takes apart what its caller gives as a config.
type contents struct {
	SystemInstruction *genai.Content          `json:"systemInstruction"`
	Contents          []*genai.Content        `json:"contents"`
	Tools             []*genai.Tool           `json:"tools"`
	ToolConfig        *genai.ToolConfig       `json:"toolConfig"`
	GenerationConfig  *genai.GenerationConfig `json:"generationConfig"`
}

func sendContents(body []byte, hc *http.Client) error {
	var c contents
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return err
	}
	config := &genai.GenerateContentConfig{SystemInstruction: c.SystemInstruction, Tools: c.Tools, ToolConfig: c.ToolConfig}
	if g := c.GenerationConfig; g != nil {
		config.MaxOutputTokens, config.ThinkingConfig = g.MaxOutputTokens, g.ThinkingConfig
	}
	client, err := genai.NewClient(context.Background(), &genai.ClientConfig{APIKey: "key", Backend: genai.BackendGeminiAPI, HTTPClient: hc})
	if err != nil {
		return err
	}
	for _, err := range client.Models.GenerateContentStream(context.Background(), "m", c.Contents, config) {
		if err != nil {
			return err
		}
	}
	return nil
}

// known reports what of a decoded body the SDK has no types for: such members
// are kept beside the typed ones. Those in own may be, at the top.
func known(params any, own ...string) error {
	var found []string
	walk(reflect.ValueOf(params), "", func(path string, v any) {
		if o, ok := v.(interface{ Overrides() (any, bool) }); ok {
			if raw, is := o.Overrides(); is {
				found = append(found, fmt.Sprintf("%s is kept as it was: %v", path, raw))
			}
		}
		e, ok := v.(interface{ ExtraFields() map[string]any })
		if !ok {
			return
		}
		for name, value := range e.ExtraFields() {
			at := strings.TrimPrefix(path+"."+name, ".")
			if !cmp.Equal(own, []string{at}) {
				found = append(found, fmt.Sprintf("%s = %v", at, value))
			}
		}
	})
	if found != nil {
		return fmt.Errorf("the SDK does not know %s", strings.Join(found, "; "))
	}
	return nil
}

// walk visits every struct that a value holds.
func walk(v reflect.Value, path string, visit func(path string, v any)) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			walk(v.Elem(), path, visit)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			walk(v.Index(i), fmt.Sprintf("%s.%d", path, i), visit)
		}
	case reflect.Map:
		for i := v.MapRange(); i.Next(); {
			walk(i.Value(), fmt.Sprintf("%s.%v", path, i.Key()), visit)
		}
	case reflect.Struct:
		if v.CanInterface() {
			visit(path, v.Interface())
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if name != "" {
					name = "." + name
				}
				walk(v.Field(i), path+name, visit)
			}
		}
	}
}
