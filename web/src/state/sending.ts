// From a draft to an admitted input.
//
// A draft is sent under one input id until its outcome is known, whatever
// happens in between: a retry after a lost answer cannot admit it twice, and a
// refusal (which stores nothing) may use the id again. Nothing of a draft is
// cleared before the server has said that it is admitted, and only what was
// sent: the person may go on writing meanwhile.

import { signal, type Signal } from "@preact/signals";
import { json, p, Problem } from "../core/http";
import { newId } from "../core/ids";
import type { Conversation, Delivery, Input, Preview, Visibility } from "../core/types";
import * as drafts from "./drafts";
import { create } from "./list";
import { current } from "./timeline";

export interface Sending {
  phase: "idle" | "sending" | "waiting";
  problem: Problem | null;
  /** Crossings that the server wants confirmed before this draft may go. */
  ask: { previews: Preview[]; stale: boolean; delivery: Delivery } | null;
  /** Something to say that is no refusal. */
  note: "alreadySent" | "needText" | null;
}

const idle: Sending = { phase: "idle", problem: null, ask: null, note: null };
const states = new Map<string, Signal<Sending>>();

export function sending(conversation: string): Signal<Sending> {
  let s = states.get(conversation);
  if (!s) states.set(conversation, (s = signal(idle)));
  return s;
}

const retryTimers = new Map<string, { timer: number; attempt: number }>();

function stopRetrying(conversation: string): void {
  const r = retryTimers.get(conversation);
  if (r) clearTimeout(r.timer);
  retryTimers.delete(conversation);
}

/** Sends the draft of a conversation. True when it was admitted. */
export async function submit(conversation: string, delivery: Delivery): Promise<boolean> {
  const state = sending(conversation);
  if (state.peek().phase === "sending") return false;
  const d = drafts.draft(conversation).peek();
  if (d.text.trim() === "") {
    if (d.cards.length > 0) state.value = { ...idle, note: "needText" };
    return false;
  }
  stopRetryingTimer(conversation);
  const id = d.input ?? newId("inp");
  state.value = { ...idle, phase: "sending" };
  const body: Record<string, unknown> = {
    id,
    text: d.text,
    delivery,
    ...(d.cards.length > 0 ? { references: drafts.references(d.cards) } : {}),
  };
  drafts.change(conversation, (x) => ({ ...x, input: id, unsure: { delivery } }));
  try {
    if (d.replaces) {
      body["replaces"] = d.replaces;
      const shown = current.peek();
      if (shown?.id === conversation) body["if_seq"] = await shown.sureHead();
    }
    const answer = await json<{ input: Input }>(p`/v1/conversations/${conversation}/messages`, { method: "POST", body });
    admitted(conversation, d, answer.input);
    return true;
  } catch (err) {
    refused(conversation, err instanceof Problem ? err : new Problem(0, "network", ""), delivery);
    return false;
  }
}

function admitted(conversation: string, sent: drafts.Draft, input: Input): void {
  const again = retryTimers.has(conversation);
  stopRetrying(conversation);
  const rest = unsent(drafts.draft(conversation).peek(), sent, again);
  drafts.change(conversation, () => rest.draft);
  sending(conversation).value = rest.whole ? { ...idle, note: "alreadySent" } : idle;
  const t = current.peek();
  if (t?.id !== conversation) return;
  // The event may have been faster than the answer.
  const known = t.items.peek().some((i) => i.input === input.id) || t.inputs.peek().some((i) => i.id === input.id);
  if (!known && input.state === "pending") t.inputs.value = [...t.inputs.peek(), { ...input, text: input.text ?? sent.text, revision: input.revision ?? 1 }];
}

// What is left of a draft once a version of it has arrived. What was typed
// behind a message on its way is the next message. Whoever changed it, or saw
// that it had not arrived and wrote on, keeps the whole.
function unsent(now: drafts.Draft, sent: drafts.Draft, again: boolean): { draft: drafts.Draft; whole: boolean } {
  const cards = now.cards.filter((c) => !sent.cards.some((x) => drafts.same(x.reference, c.reference)));
  if (now.text === sent.text) return { draft: { text: "", cards }, whole: false };
  if (!again && now.text.startsWith(sent.text)) return { draft: { text: now.text.slice(sent.text.length), cards }, whole: false };
  return { draft: { text: now.text, cards: now.cards }, whole: true };
}

function refused(conversation: string, problem: Problem, delivery: Delivery): void {
  const state = sending(conversation);
  if (problem.unsure) {
    state.value = { ...idle, phase: "waiting", problem };
    const r = retryTimers.get(conversation) ?? { timer: 0, attempt: 0 };
    const wait = Math.min(15_000, 1_000 * 2 ** r.attempt);
    r.attempt++;
    r.timer = window.setTimeout(() => {
      // Only what is still the draft that was sent goes again by itself.
      if (drafts.draft(conversation).peek().unsure) void submit(conversation, delivery);
    }, wait);
    retryTimers.set(conversation, r);
    return;
  }
  stopRetrying(conversation);
  if (problem.code === "input_conflict") {
    // An earlier version did arrive; what is here now is another message.
    drafts.change(conversation, (d) => ({ ...d, input: undefined, unsure: undefined }));
    state.value = { ...idle, note: "alreadySent" };
    return;
  }
  drafts.change(conversation, (d) => ({ ...d, unsure: undefined }));
  const previews = problem.body["previews"];
  if ((problem.code === "confirmation_required" || problem.code === "confirmation_stale") && Array.isArray(previews)) {
    const list = previews as Preview[];
    takeOver(conversation, list);
    state.value = { ...idle, ask: { previews: list, stale: problem.code === "confirmation_stale", delivery } };
    return;
  }
  state.value = { ...idle, problem };
}

// The cards say what is true now, and are no longer confirmed.
function takeOver(conversation: string, previews: Preview[]): void {
  drafts.change(conversation, (d) => ({
    ...d,
    cards: d.cards.map((c) => {
      const fresh = previews.find((x) => drafts.same(x.reference, c.reference));
      return fresh ? { ...c, preview: fresh, confirmed: false } : c;
    }),
  }));
}

/** The person's answer to what submit was asked. */
export async function answerAsk(conversation: string, yes: boolean): Promise<void> {
  const state = sending(conversation);
  const ask = state.peek().ask;
  state.value = idle;
  if (!ask || !yes) return;
  drafts.change(conversation, (d) => ({
    ...d,
    cards: d.cards.map((c) => (ask.previews.some((x) => drafts.same(x.reference, c.reference) && x.digest === c.preview?.digest) ? { ...c, confirmed: true } : c)),
  }));
  await submit(conversation, ask.delivery);
}

/** The person changed the draft: it no longer goes by itself. */
export function edited(conversation: string): void {
  const state = sending(conversation);
  if (drafts.draft(conversation).peek().unsure) drafts.change(conversation, (d) => ({ ...d, unsure: undefined }));
  if (state.peek().phase === "sending") return;
  stopRetrying(conversation);
  if (state.peek() !== idle && !state.peek().ask) state.value = idle;
}

function stopRetryingTimer(conversation: string): void {
  const r = retryTimers.get(conversation);
  if (r) clearTimeout(r.timer);
}

/** A draft that was on its way when the page was left goes on. */
export function resume(conversation: string): void {
  const d = drafts.draft(conversation).peek();
  if (d.unsure && sending(conversation).peek().phase === "idle") void submit(conversation, d.unsure.delivery);
}

/** Makes a conversation of the draft that has none yet, and sends it there. */
export async function start(visibility: Visibility, model?: string): Promise<Conversation> {
  const c = await create(visibility, undefined, model);
  drafts.move(drafts.newDraft, c.id);
  await submit(c.id, "steer");
  return c;
}
