package oracles

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	"google.golang.org/genai"

	"weir/model"
	"weir/test/strictpeer/strictpeer"
)

// talker is a conversation that a vendor's SDK holds with a peer.
type talker interface {
	say(text string)
	// ask streams an answer and keeps it in the history.
	ask(t *testing.T) (heard, error)
	// whole asks without a stream and keeps nothing.
	whole(t *testing.T) (heard, error)
	// result answers a call.
	result(call heardCall, output string)
}

func talkerOf(t *testing.T, profile, base string) talker {
	t.Helper()
	switch strictpeer.Model(profile, "p/m", "m").Dialect {
	case model.Anthropic:
		c := anthropic.NewClient(anthropicoption.WithAPIKey("key"), anthropicoption.WithBaseURL(base), anthropicoption.WithMaxRetries(0))
		return &messagesTalker{c: c, params: anthropic.MessageNewParams{Model: "m", MaxTokens: 1000,
			Tools: []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{Properties: map[string]any{}}, "read"), anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{Properties: map[string]any{}}, "list")}}}
	case model.OpenAIChat:
		k := &chatTalker{c: openAIAt(base), deep: profile == strictpeer.DeepSeek, params: openai.ChatCompletionNewParams{Model: "m",
			StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}}}
		for _, name := range []string{"read", "list"} {
			k.params.Tools = append(k.params.Tools, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: name, Parameters: shared.FunctionParameters{"type": "object"}}))
		}
		return k
	case model.OpenAIResponses:
		k := &responsesTalker{c: openAIAt(base), params: responses.ResponseNewParams{Model: "m", Store: openai.Bool(false),
			Include: []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}}}
		for _, name := range []string{"read", "list"} {
			k.params.Tools = append(k.params.Tools, responses.ToolUnionParam{OfFunction: &responses.FunctionToolParam{
				Name: name, Parameters: map[string]any{"type": "object"}, Strict: openai.Bool(false)}})
		}
		return k
	}
	return &contentsTalker{c: gemini(t, nil, base), config: &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{
		{Name: "read", ParametersJsonSchema: map[string]any{"type": "object"}}, {Name: "list", ParametersJsonSchema: map[string]any{"type": "object"}}}}}}}
}

func openAIAt(base string) openai.Client {
	return openai.NewClient(openaioption.WithAPIKey("key"), openaioption.WithBaseURL(base+"/v1"), openaioption.WithMaxRetries(0))
}

func TestThePeerIsToTheVendorsSDKAsTheVendorIs(t *testing.T) {
	for _, profile := range strictpeer.Profiles() {
		t.Run(profile, func(t *testing.T) {
			peer := strictpeer.New(profile, strictpeer.Key("key"))
			server := httptest.NewServer(peer)
			defer server.Close()
			k := talkerOf(t, profile, server.URL)

			first := strictpeer.Answer{strictpeer.Think("Hm."), strictpeer.Say("I look, 世界."), strictpeer.Call("call_1", "read", `{"p":"x"}`), strictpeer.Call("call_2", "list", `{}`)}
			peer.Script(first, first, strictpeer.Answer{strictpeer.Say("It is done.")})
			k.say("hello")
			whole, err := k.whole(t)
			if err != nil {
				t.Fatalf("without a stream: %v", err)
			}
			h, err := k.ask(t)
			if err != nil {
				t.Fatal(err)
			}
			want := heard{Text: "I look, 世界.", Calls: []heardCall{heardCallOf("call_1", "read", `{"p":"x"}`), heardCallOf("call_2", "list", `{}`)}, Finish: model.FinishTools}
			for how, got := range map[string]heard{"streamed": h, "whole": whole} {
				if got.Usage.Fresh+got.Usage.Read+got.Usage.Write < 1 || got.Usage.Output < 1 {
					t.Errorf("%s: the usage is %+v", how, got.Usage)
				}
				got.Thoughts, got.Bound, got.Usage = "", nil, want.Usage
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s: -scripted +heard by the SDK\n%s", how, d)
				}
			}
			for _, call := range h.Calls {
				k.result(call, "found")
			}
			if h, err = k.ask(t); err != nil || h.Text != "It is done." || h.Finish != model.FinishEnd {
				t.Errorf("after the results: %+v, %v", h, err)
			}
			if refused := peer.Refusals(); refused != nil {
				t.Errorf("the peer refused the SDK: %q", refused)
			}
		})
	}
}

func TestTheVendorsSDKUnderstandsHowThePeerFails(t *testing.T) {
	for _, profile := range strictpeer.Profiles() {
		t.Run(profile, func(t *testing.T) {
			peer := strictpeer.New(profile, strictpeer.Key("key"))
			server := httptest.NewServer(peer)
			defer server.Close()
			peer.Script(strictpeer.Answer{strictpeer.Fail(429, "slow down")}, strictpeer.Answer{strictpeer.Fail(503, "overloaded now")},
				strictpeer.Answer{strictpeer.Say("half"), strictpeer.Fail(500, "it broke")})
			k := talkerOf(t, profile, server.URL)
			k.say("hello")
			for _, want := range []struct {
				status int
				says   string
			}{{429, "slow down"}, {503, "overloaded now"}} {
				_, err := k.ask(t)
				if status, says := failureTold(err); status != want.status || !strings.Contains(says, want.says) {
					t.Errorf("status %d, %q; want %d and %q", status, says, want.status, want.says)
				}
			}
			if h, err := k.ask(t); err == nil || h.Text != "half" || !strings.Contains(err.Error(), "it broke") {
				t.Errorf("broken in the middle: %+v, %v", h, err)
			}
			k.result(heardCall{ID: "call_9", Name: "read"}, "of no call")
			_, err := k.ask(t)
			status, says := failureTold(err)
			if refused := peer.Refusals(); status != 400 || len(refused) != 1 || !strings.Contains(says, refused[0]) {
				t.Errorf("a result without a call: status %d, %q; refused %q", status, says, refused)
			}
		})
	}
}

// failureTold returns what the SDK makes of an error document: its status and
// the message in it, which of Anthropic's is read from the document.
func failureTold(err error) (int, string) {
	var a *anthropic.Error
	var o *openai.Error
	var g genai.APIError
	switch {
	case errors.As(err, &a):
		var document struct{ Error struct{ Message string } }
		if json.Unmarshal([]byte(a.RawJSON()), &document) != nil {
			return a.StatusCode, ""
		}
		return a.StatusCode, document.Error.Message
	case errors.As(err, &o):
		return o.StatusCode, o.Message
	case errors.As(err, &g):
		return g.Code, g.Message
	}
	return 0, ""
}

type messagesTalker struct {
	c      anthropic.Client
	params anthropic.MessageNewParams
}

func (k *messagesTalker) user(b anthropic.ContentBlockParamUnion) {
	if n := len(k.params.Messages); n > 0 && k.params.Messages[n-1].OfUser != nil {
		k.params.Messages[n-1].OfUser.Content = append(k.params.Messages[n-1].OfUser.Content, b)
		return
	}
	k.params.Messages = append(k.params.Messages, anthropic.NewUserMessage(b))
}

func (k *messagesTalker) say(text string) { k.user(anthropic.NewTextBlock(text)) }

func (k *messagesTalker) result(call heardCall, output string) {
	k.user(anthropic.NewToolResultBlock(call.ID, output, false))
}

func (k *messagesTalker) ask(t *testing.T) (heard, error) {
	h, m, err := streamMessages(t, k.c, k.params)
	if err == nil {
		k.params.Messages = append(k.params.Messages, m.ToParam())
	}
	return h, err
}

func (k *messagesTalker) whole(t *testing.T) (heard, error) {
	m, err := k.c.Messages.New(t.Context(), k.params)
	if err != nil {
		return heard{}, err
	}
	return heardMessage(*m, nil), nil
}

type chatTalker struct {
	c      openai.Client
	params openai.ChatCompletionNewParams
	deep   bool // reasoning is sent back beside calls, which is DeepSeek's own
}

func (k *chatTalker) say(text string) {
	k.params.Messages = append(k.params.Messages, openai.UserMessage(text))
}

func (k *chatTalker) result(call heardCall, output string) {
	k.params.Messages = append(k.params.Messages, openai.ToolMessage(output, call.ID))
}

func (k *chatTalker) ask(t *testing.T) (heard, error) {
	h, m, err := streamChat(t, k.c, k.params)
	if err == nil {
		param := m.ToAssistantMessageParam()
		if k.deep {
			param.SetExtraFields(map[string]any{"reasoning_content": h.Thoughts})
		}
		k.params.Messages = append(k.params.Messages, openai.ChatCompletionMessageParamUnion{OfAssistant: &param})
	}
	return h, err
}

func (k *chatTalker) whole(t *testing.T) (heard, error) {
	params := k.params
	params.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
	c, err := k.c.Chat.Completions.New(t.Context(), params)
	if err != nil {
		return heard{}, err
	}
	return heardChat(*c, nil), nil
}

type responsesTalker struct {
	c      openai.Client
	params responses.ResponseNewParams
}

func (k *responsesTalker) add(item responses.ResponseInputItemUnionParam) {
	k.params.Input.OfInputItemList = append(k.params.Input.OfInputItemList, item)
}

func (k *responsesTalker) say(text string) {
	k.add(responses.ResponseInputItemParamOfMessage(text, responses.EasyInputMessageRoleUser))
}

func (k *responsesTalker) result(call heardCall, output string) {
	item := responses.ResponseInputItemParamOfFunctionCallOutput(output)
	item.OfFunctionCallOutput.CallID = openai.String(call.ID)
	k.add(item)
}

func (k *responsesTalker) ask(*testing.T) (heard, error) {
	h, r, err := streamResponse(k.c, k.params)
	for _, item := range r.Output {
		switch item.Type {
		case "reasoning":
			p := item.AsReasoning().ToParam()
			k.add(responses.ResponseInputItemUnionParam{OfReasoning: &p})
		case "message":
			p := item.AsMessage().ToParam()
			k.add(responses.ResponseInputItemUnionParam{OfOutputMessage: &p})
		case "function_call":
			p := item.AsFunctionCall().ToParam()
			k.add(responses.ResponseInputItemUnionParam{OfFunctionCall: &p})
		}
	}
	return h, err
}

func (k *responsesTalker) whole(t *testing.T) (heard, error) {
	r, err := k.c.Responses.New(t.Context(), k.params)
	if err != nil {
		return heard{}, err
	}
	return heardResponse(*r), nil
}

type contentsTalker struct {
	c       *genai.Client
	history []*genai.Content
	config  *genai.GenerateContentConfig
}

func (k *contentsTalker) user(p *genai.Part) {
	if n := len(k.history); n > 0 && k.history[n-1].Role == genai.RoleUser {
		k.history[n-1].Parts = append(k.history[n-1].Parts, p)
		return
	}
	k.history = append(k.history, &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{p}})
}

func (k *contentsTalker) say(text string) { k.user(&genai.Part{Text: text}) }

func (k *contentsTalker) result(call heardCall, output string) {
	k.user(&genai.Part{FunctionResponse: &genai.FunctionResponse{ID: call.ID, Name: call.Name, Response: map[string]any{"output": output}}})
}

func (k *contentsTalker) ask(t *testing.T) (heard, error) {
	h, said, err := streamContents(t, k.c, k.history, k.config)
	if err == nil {
		k.history = append(k.history, said)
	}
	return h, err
}

func (k *contentsTalker) whole(t *testing.T) (heard, error) {
	r, err := k.c.Models.GenerateContent(context.Background(), "m", k.history, k.config)
	if err != nil {
		return heard{}, err
	}
	var h heard
	hearChunk(t, &h, &genai.Content{}, r)
	return h, nil
}
