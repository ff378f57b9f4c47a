// A request body taken apart for reading, without changing what it says: where
// each message lies in the bytes, so that what was reused can be told from what
// was new.

export interface Part {
  kind: "system" | "tools" | "message" | "options";
  role?: string;
  value: unknown;
  end: number; // offset in the unmarked prefix behind this part; 0 when it has none
}

/** How a cache mark is spelt in a request; it is no part of the prefix. */
const mark = /,"cache_control":\{"type":"ephemeral"(?:,"ttl":"[^"]*")?\}/g;

/** What each dialect calls the history and the system's text. */
const dialects = [
  { history: "messages", system: "system" }, // in openai-chat the system's text is a message
  { history: "input", system: "instructions" }, // openai-responses
  { history: "contents", system: "systemInstruction" }, // gemini
];

export function takeApart(body: string): Part[] | null {
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(body) as Record<string, unknown>;
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const dialect = dialects.find((d) => Array.isArray(value[d.history]));
  if (!dialect) return null;
  const { history, system } = dialect;
  const parts: Part[] = [];
  if (value[system] !== undefined) parts.push({ kind: "system", value: value[system], end: 0 });
  if (Array.isArray(value["tools"]) && value["tools"].length > 0) parts.push({ kind: "tools", value: value["tools"], end: 0 });
  const ends = elementEnds(body.replace(mark, ""), `"${history}":[`);
  (value[history] as Message[]).forEach((m, i) => {
    const part: Part = { kind: "message", value: m, end: ends[i] ?? 0 };
    const role = m.role ?? sides[m.type ?? ""];
    if (role) part.role = role;
    parts.push(part);
  });
  const rest = Object.fromEntries(Object.entries(value).filter(([k]) => ![system, "tools", history].includes(k)));
  parts.push({ kind: "options", value: rest, end: 0 });
  return parts;
}

/** A message of any dialect, or an item of the Responses API. */
interface Message {
  role?: string;
  type?: string;
  content?: unknown;
  reasoning_content?: string; // openai-chat
  tool_calls?: unknown;
  parts?: unknown;
  output?: unknown;
}

/** Whose an item of the Responses API is that names no role. */
const sides: Record<string, string> = { function_call: "assistant", reasoning: "assistant", function_call_output: "tool" };

/** What a message says, block by block. */
export function blocksOf(message: unknown): Block[] {
  const m = message as Message;
  if (m.type === "function_call_output") {
    return textsOf(m.output).map((b) => (b.type === "json" ? b : { type: "function_call_output", text: b.text }));
  }
  if (m.type !== undefined && m.type !== "message") return textsOf([m]);
  const blocks = textsOf(m.parts ?? m.content);
  if (m.reasoning_content) blocks.unshift({ type: "reasoning_content", text: m.reasoning_content });
  if (m.tool_calls !== undefined) blocks.push({ type: "tool_calls", text: JSON.stringify(m.tool_calls, null, 2) });
  return blocks;
}

/** Byte offsets behind each element of the array that follows a key at the top. */
function elementEnds(body: string, key: string): number[] {
  const from = topLevel(body, key);
  if (from < 0) return [];
  const ends: number[] = [];
  const encoder = new TextEncoder();
  let bytes = encoder.encode(body.slice(0, from)).length;
  let done = from;
  let depth = 0;
  for (let i = from; i < body.length; i++) {
    const ch = body[i];
    if (ch === '"') {
      i = stringEnd(body, i);
      continue;
    }
    if (ch === "{" || ch === "[") depth++;
    else if (ch === "}" || ch === "]") {
      if (depth === 0) break;
      depth--;
      if (depth === 0) {
        bytes += encoder.encode(body.slice(done, i + 1)).length;
        done = i + 1;
        ends.push(bytes);
      }
    }
  }
  return ends;
}

function topLevel(body: string, key: string): number {
  let depth = 0;
  for (let i = 0; i < body.length; i++) {
    const ch = body[i];
    if (ch === '"') {
      if (depth === 1 && body.startsWith(key, i)) return i + key.length;
      i = stringEnd(body, i);
    } else if (ch === "{" || ch === "[") depth++;
    else if (ch === "}" || ch === "]") depth--;
  }
  return -1;
}

function stringEnd(body: string, at: number): number {
  for (let i = at + 1; i < body.length; i++) {
    if (body[i] === "\\") i++;
    else if (body[i] === '"') return i;
  }
  return body.length;
}

export interface Block {
  type: string;
  text: string;
}

/** The texts of a content in the order in which a model reads them. */
export function textsOf(content: unknown): Block[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) {
    if (content === undefined || content === null) return [];
    const parts = (content as { parts?: unknown }).parts; // Gemini's
    return Array.isArray(parts) ? textsOf(parts) : [{ type: "json", text: JSON.stringify(content, null, 2) }];
  }
  return content.map((block: unknown) => {
    if (typeof block === "string") return { type: "text", text: block };
    const b = block as { type?: string; text?: string; thinking?: string };
    if (typeof b?.text === "string") return { type: b.type ?? "text", text: b.text };
    if (typeof b?.thinking === "string") return { type: b.type ?? "thinking", text: b.thinking };
    return { type: b?.type ?? gemini.find((k) => b !== null && typeof b === "object" && k in b) ?? "json", text: JSON.stringify(block, null, 2) };
  });
}

/** Gemini's parts have no type but the member that they have. */
const gemini = ["functionCall", "functionResponse"];
