package oracles

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"weir"
	"weir/model"
)

// heardBySDK has the vendor's SDK read a stream.
func heardBySDK(t *testing.T, d model.Dialect, data []byte) heard {
	t.Helper()
	hc := recorded(data, nil)
	switch d {
	case model.Anthropic:
		c := anthropic.NewClient(anthropicoption.WithAPIKey("key"), anthropicoption.WithHTTPClient(hc), anthropicoption.WithMaxRetries(0))
		h, _, _ := streamMessages(t, c, anthropic.MessageNewParams{MaxTokens: 1})
		return h
	case model.OpenAIChat:
		h, _, _ := streamChat(t, openAI(hc), openai.ChatCompletionNewParams{})
		return h
	case model.OpenAIResponses:
		h, _, _ := streamResponse(openAI(hc), responses.ResponseNewParams{})
		return h
	case model.Gemini:
		h, _, _ := streamContents(t, gemini(t, hc, ""), nil, nil)
		return h
	}
	t.Fatalf("no SDK for the dialect %q", d)
	return heard{}
}

func streamMessages(t *testing.T, c anthropic.Client, params anthropic.MessageNewParams) (heard, anthropic.Message, error) {
	t.Helper()
	s := c.Messages.NewStreaming(context.Background(), params)
	var m anthropic.Message
	for s.Next() {
		if err := m.Accumulate(s.Current()); err != nil {
			t.Errorf("the SDK cannot take %s: %v", s.Current().RawJSON(), err)
		}
	}
	return heardMessage(m, s.Err()), m, s.Err()
}

func heardMessage(m anthropic.Message, err error) heard {
	u := m.Usage
	h := heard{Usage: weir.Usage{Fresh: u.InputTokens, Read: u.CacheReadInputTokens, Write: u.CacheCreationInputTokens, Output: u.OutputTokens}}
	for _, b := range m.Content {
		h.Text += b.Text
		h.Thoughts += b.Thinking
		if bound := b.Signature + b.Data; bound != "" {
			h.Bound = append(h.Bound, bound)
		}
		if b.Type == "tool_use" {
			h.Calls = append(h.Calls, heardCallOf(b.ID, b.Name, string(b.Input)))
		}
	}
	if err == nil {
		h.Finish = map[anthropic.StopReason]model.Finish{
			anthropic.StopReasonEndTurn: model.FinishEnd, anthropic.StopReasonToolUse: model.FinishTools,
			anthropic.StopReasonMaxTokens: model.FinishLength, anthropic.StopReasonRefusal: model.FinishFiltered,
		}[m.StopReason]
	}
	return h
}

func streamChat(t *testing.T, c openai.Client, params openai.ChatCompletionNewParams) (heard, openai.ChatCompletionMessage, error) {
	t.Helper()
	s := c.Chat.Completions.NewStreaming(context.Background(), params)
	var acc openai.ChatCompletionAccumulator
	var usage openai.CompletionUsage // of which the SDK's accumulator loses a part
	thoughts := ""
	for s.Next() {
		chunk := s.Current()
		if chunk.JSON.Usage.Valid() {
			usage = chunk.Usage
		}
		if !acc.AddChunk(chunk) {
			t.Errorf("the SDK cannot take %s", chunk.RawJSON())
		}
		for _, choice := range chunk.Choices { // DeepSeek's member has no type in this SDK
			var piece *string
			if raw := choice.Delta.JSON.ExtraFields["reasoning_content"].Raw(); raw != "" {
				if err := json.Unmarshal([]byte(raw), &piece); err != nil {
					t.Error(err)
				}
			}
			if piece != nil {
				thoughts += *piece
			}
		}
	}
	acc.Usage = usage
	h := heardChat(acc.ChatCompletion, s.Err())
	h.Thoughts = thoughts
	if s.Err() != nil || len(acc.Choices) == 0 {
		return h, openai.ChatCompletionMessage{}, s.Err()
	}
	return h, acc.Choices[0].Message, nil
}

func heardChat(c openai.ChatCompletion, err error) heard {
	u := c.Usage
	h := heard{Usage: weir.Usage{Read: u.PromptTokensDetails.CachedTokens, Write: u.PromptTokensDetails.CacheWriteTokens, Output: u.CompletionTokens}}
	h.Usage.Fresh = u.PromptTokens - h.Usage.Read - h.Usage.Write
	if len(c.Choices) == 0 {
		return h
	}
	choice := c.Choices[0]
	h.Text = choice.Message.Content + choice.Message.Refusal
	for _, call := range choice.Message.ToolCalls {
		h.Calls = append(h.Calls, heardCallOf(call.ID, call.Function.Name, call.Function.Arguments))
	}
	if err == nil {
		h.Finish = map[string]model.Finish{
			"stop": model.FinishEnd, "tool_calls": model.FinishTools, "length": model.FinishLength, "content_filter": model.FinishFiltered,
		}[choice.FinishReason]
		if choice.Message.Refusal != "" {
			h.Finish = model.FinishFiltered
		}
	}
	return h
}

func streamResponse(c openai.Client, params responses.ResponseNewParams) (heard, responses.Response, error) {
	s := c.Responses.NewStreaming(context.Background(), params)
	var h heard
	for s.Next() {
		switch e := s.Current(); e.Type {
		case "response.output_text.delta", "response.refusal.delta":
			h.Text += e.Delta
		case "response.completed", "response.incomplete":
			return heardResponse(e.Response), e.Response, s.Err()
		case "error":
			return h, responses.Response{}, errors.New(e.Message)
		case "response.failed":
			return h, responses.Response{}, errors.New(e.Response.Error.Message)
		}
	}
	return h, responses.Response{}, s.Err()
}

func heardResponse(r responses.Response) heard {
	u := r.Usage
	h := heard{Usage: weir.Usage{Read: u.InputTokensDetails.CachedTokens, Write: u.InputTokensDetails.CacheWriteTokens, Output: u.OutputTokens}, Finish: model.FinishEnd}
	h.Usage.Fresh = u.InputTokens - h.Usage.Read - h.Usage.Write
	refused := false
	for _, item := range r.Output {
		switch item.Type {
		case "reasoning":
			for _, s := range item.Summary {
				h.Thoughts += s.Text
			}
			h.Bound = append(h.Bound, item.EncryptedContent)
		case "function_call":
			h.Calls = append(h.Calls, heardCallOf(item.CallID, item.Name, item.Arguments.OfString))
			h.Finish = model.FinishTools
		case "message":
			for _, c := range item.Content {
				h.Text += c.Text + c.Refusal
				refused = refused || c.Refusal != ""
			}
		}
	}
	switch {
	case r.IncompleteDetails.Reason == "max_output_tokens":
		h.Finish = model.FinishLength
	case refused, r.IncompleteDetails.Reason == "content_filter":
		h.Finish = model.FinishFiltered
	}
	return h
}

func gemini(t *testing.T, hc *http.Client, base string) *genai.Client {
	t.Helper()
	c, err := genai.NewClient(context.Background(), &genai.ClientConfig{APIKey: "key", Backend: genai.BackendGeminiAPI, HTTPClient: hc, HTTPOptions: genai.HTTPOptions{BaseURL: base}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// streamContents also returns what the model said, as the next request has it.
func streamContents(t *testing.T, c *genai.Client, history []*genai.Content, config *genai.GenerateContentConfig) (heard, *genai.Content, error) {
	t.Helper()
	var h heard
	said := &genai.Content{Role: genai.RoleModel}
	for r, err := range c.Models.GenerateContentStream(context.Background(), "m", history, config) {
		if err != nil {
			h.Finish = ""
			return h, said, err
		}
		hearChunk(t, &h, said, r)
	}
	return h, said, nil
}

func hearChunk(t *testing.T, h *heard, said *genai.Content, r *genai.GenerateContentResponse) {
	t.Helper()
	if u := r.UsageMetadata; u != nil {
		h.Usage = weir.Usage{Fresh: int64(u.PromptTokenCount - u.CachedContentTokenCount), Read: int64(u.CachedContentTokenCount), Output: int64(u.CandidatesTokenCount + u.ThoughtsTokenCount)}
	}
	if r.PromptFeedback != nil && r.PromptFeedback.BlockReason != "" {
		h.Finish = model.FinishFiltered
	}
	for _, c := range r.Candidates {
		if c.Content != nil {
			said.Parts = append(said.Parts, c.Content.Parts...)
			for _, p := range c.Content.Parts {
				hearPart(t, h, p)
			}
		}
		switch c.FinishReason {
		case genai.FinishReasonStop:
			h.Finish = model.FinishEnd
			if len(h.Calls) > 0 {
				h.Finish = model.FinishTools
			}
		case genai.FinishReasonMaxTokens:
			h.Finish = model.FinishLength
		case genai.FinishReasonSafety:
			h.Finish = model.FinishFiltered
		}
	}
}

func hearPart(t *testing.T, h *heard, p *genai.Part) {
	t.Helper()
	if p.Thought {
		h.Thoughts += p.Text
	} else {
		h.Text += p.Text
	}
	if p.ThoughtSignature != nil {
		h.Bound = append(h.Bound, base64.StdEncoding.EncodeToString(p.ThoughtSignature))
	}
	if p.FunctionCall == nil {
		return
	}
	args, err := json.Marshal(p.FunctionCall.Args)
	if err != nil {
		t.Fatal(err)
	}
	h.Calls = append(h.Calls, heardCallOf(p.FunctionCall.ID, p.FunctionCall.Name, string(args)))
}
