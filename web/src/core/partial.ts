// The answer that is being written, put together from deltas. Each delta says
// at which byte of the text it begins, so whatever comes twice is recognised
// and whatever is missing is noticed.

export interface Stretch {
  text: string;
  bytes: number; // length of text in UTF-8
}

export interface Partial {
  step: string;
  text: Stretch;
  reasoning: Stretch;
  tool: string; // name of a tool call that has begun
}

export interface Delta {
  step: string;
  offset: number;
  text?: string;
  reasoning?: string;
  tool?: string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const stretch = (text = ""): Stretch => ({ text, bytes: encoder.encode(text).length });

export const emptyPartial = (step: string, text = "", reasoning = ""): Partial => ({
  step,
  text: stretch(text),
  reasoning: stretch(reasoning),
  tool: "",
});

/** Joins more to s at a byte offset; null when bytes between are missing. */
export function join(s: Stretch, offset: number, more: string): Stretch | null {
  if (offset > s.bytes) return null;
  const bytes = encoder.encode(more);
  const known = s.bytes - offset;
  if (known >= bytes.length) return s;
  const fresh = known === 0 ? more : decoder.decode(bytes.subarray(known));
  return { text: s.text + fresh, bytes: offset + bytes.length };
}

/**
 * Adds a delta; null when text is missing and the snapshot is needed. Snapshots
 * do not carry reasoning, so what of that is missing is left out and said.
 */
export function merge(now: Partial | null, d: Delta): Partial | null {
  const base = now && now.step === d.step ? now : emptyPartial(d.step);
  const next: Partial = { ...base };
  if (d.tool) next.tool = d.tool;
  if (d.text) {
    const text = join(base.text, d.offset, d.text);
    if (!text) return null;
    next.text = text;
    next.tool = d.tool ?? "";
  }
  if (d.reasoning) {
    next.reasoning = join(base.reasoning, d.offset, d.reasoning) ?? join({ text: "… ", bytes: d.offset }, d.offset, d.reasoning)!;
  }
  return next;
}
