// The bodies of the requests that we stream, in the vendors' own types.
import type Anthropic from "@anthropic-ai/sdk";
import type { Content, GenerationConfig, Tool, ToolConfig } from "@google/genai";
import type OpenAI from "openai";

export type AnthropicMessages = Anthropic.MessageCreateParamsStreaming;
export type OpenAIChat = OpenAI.Chat.ChatCompletionCreateParamsStreaming;
export type OpenAIResponses = OpenAI.Responses.ResponseCreateParamsStreaming;

// What Google's SDK sends. It publishes types of the parts, none of the whole.
export type Gemini = {
	systemInstruction?: Content;
	contents: Content[];
	tools?: Tool[];
	toolConfig?: ToolConfig;
	generationConfig?: GenerationConfig;
};
