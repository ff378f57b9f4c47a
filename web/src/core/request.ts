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

export function takeApart(body: string): Part[] | null {
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(body) as Record<string, unknown>;
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null || !Array.isArray(value["messages"])) return null;
  const parts: Part[] = [];
  if (value["system"] !== undefined) parts.push({ kind: "system", value: value["system"], end: 0 });
  if (Array.isArray(value["tools"]) && value["tools"].length > 0) parts.push({ kind: "tools", value: value["tools"], end: 0 });
  const ends = elementEnds(body.replace(mark, ""), '"messages":[');
  (value["messages"] as { role?: string; content?: unknown }[]).forEach((m, i) => {
    const part: Part = { kind: "message", value: m, end: ends[i] ?? 0 };
    if (m.role) part.role = m.role;
    parts.push(part);
  });
  const rest = Object.fromEntries(Object.entries(value).filter(([k]) => !["system", "tools", "messages"].includes(k)));
  parts.push({ kind: "options", value: rest, end: 0 });
  return parts;
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

/** The texts of a message in the order in which a model reads them. */
export function textsOf(content: unknown): { type: string; text: string }[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) return content === undefined || content === null ? [] : [{ type: "json", text: JSON.stringify(content, null, 2) }];
  return content.map((block: unknown) => {
    if (typeof block === "string") return { type: "text", text: block };
    const b = block as { type?: string; text?: string; thinking?: string };
    if (typeof b?.text === "string") return { type: b.type ?? "text", text: b.text };
    if (typeof b?.thinking === "string") return { type: b.type ?? "thinking", text: b.thinking };
    return { type: b?.type ?? "json", text: JSON.stringify(block, null, 2) };
  });
}
