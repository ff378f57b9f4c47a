// What a person does to a conversation or to a message of it.

import { json, p, Problem, send } from "../core/http";
import { t } from "../core/i18n";
import { open, openNew, route } from "../core/router";
import { address, mention } from "../core/uri";
import type { Conversation, Input, Item, OpenCall, Page } from "../core/types";
import * as drafts from "./drafts";
import { learned, refreshSoon, titleOf } from "./list";
import { focusComposer, offerAgain } from "./quoting";
import { current, type Timeline } from "./timeline";
import { attempt, toast } from "./toasts";

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(t("copied"));
  } catch {
    if (copyByHand(text)) toast(t("copied"));
    else toast(t("copyFailed"), { tone: "bad" });
  }
}

// Without TLS, beyond loopback, browsers have no clipboard for pages.
function copyByHand(text: string): boolean {
  const before = document.activeElement as HTMLElement | null;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "sr";
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  before?.focus({ preventScroll: true });
  return done;
}

export const copyReference = (conversation: string, message: string): Promise<void> =>
  copy(mention(titleOf(conversation) ?? t("untitled"), address(conversation, message)));

export async function branch(conversation: string, at: string): Promise<void> {
  await attempt(async () => {
    const child = await json<Conversation>(p`/v1/conversations/${conversation}/branch`, { method: "POST", body: { at } });
    learned(child);
    refreshSoon();
    open(child.id);
    toast(t("branched"));
  });
}

/** The head as the person sees it; only the conversation on screen has one. */
async function headSeen(conversation: string): Promise<number | undefined> {
  const now = current.peek();
  return now?.id === conversation ? now.sureHead() : undefined;
}

/** The messages that a rewind hid, as a person counts them; "100+" for very many. */
export async function hiddenBy(conversation: string, r: { from: number; upto: number }): Promise<string> {
  const got = await json<Page<Item>>(p`/v1/conversations/${conversation}/messages`, {
    query: { hidden: "include", after: r.from - 1, before: r.upto + 1, limit: 500 },
  });
  // What an earlier rewind had hidden already is not counted again.
  const earlier = new Set<string>();
  const messages = got.items.filter((i) => i.kind === "user" || i.kind === "assistant");
  for (const { rewind } of got.items) {
    if (!rewind) continue;
    for (const m of messages) {
      if (m.seq < rewind.from || m.seq > rewind.upto) continue;
      if (rewind.undo) earlier.delete(m.id);
      else earlier.add(m.id);
    }
  }
  return String(messages.length - earlier.size) + (got.next ? "+" : "");
}

/** Whether there is anything after a message that a rewind to it would hide. */
export function isLast(conversation: string, item: Item): boolean {
  const now = current.peek();
  if (now?.id !== conversation || now.hasAfter.peek()) return false;
  return now.visible.peek().findLast((i) => i.kind === "user" || i.kind === "assistant")?.id === item.id;
}

export async function rewind(conversation: string, to: string): Promise<void> {
  if (current.peek()?.id === conversation) current.peek()!.highlight.value = null;
  focusComposer.value++; // what is typed next is the next message
  await attempt(async () => {
    const if_seq = await headSeen(conversation);
    await json(p`/v1/conversations/${conversation}/rewind`, { method: "POST", body: { to, if_seq } });
    toast(t("rewound"), { action: { label: t("undo"), run: () => void undoRewind(conversation) } });
  });
}

export async function undoRewind(conversation: string): Promise<void> {
  focusComposer.value++;
  await attempt(async () => {
    await json(p`/v1/conversations/${conversation}/rewind/undo`, { method: "POST", body: {} });
    toast(t("undone"));
  });
}

export async function retry(conversation: string): Promise<void> {
  await attempt(async () => {
    const if_seq = await headSeen(conversation);
    await json(p`/v1/conversations/${conversation}/retry`, { method: "POST", body: { if_seq } });
  });
}

/** Stops the answer; with "steer" it then goes on with what was said meanwhile. */
export async function interrupt(conversation: string, then?: "steer"): Promise<void> {
  await attempt(() => send(p`/v1/conversations/${conversation}/interrupt`, { method: "POST", body: then ? { then } : {} }));
}

/** Says yes or no to a tool call that waits; true when that is now so. */
export async function decide(timeline: Timeline, call: OpenCall, decision: "allow" | "deny", remember: boolean): Promise<boolean> {
  const done = await attempt(async () => {
    await send(p`/v1/conversations/${timeline.id}/approvals/${call.call}`, { method: "POST", body: remember ? { decision, remember } : { decision } });
    return true;
  });
  if (done) timeline.decided(call);
  return done === true;
}

/** Asks for a fresh baseline at the next step. */
export async function newEpoch(conversation: string): Promise<void> {
  await attempt(async () => {
    const if_seq = await headSeen(conversation);
    await send(p`/v1/conversations/${conversation}/epoch`, { method: "POST", body: { if_seq } });
    toast(t("newEpochAsked"));
  });
}

/** Puts an earlier message into the composer; sending replaces it. */
export async function editAndResend(conversation: string, item: Item): Promise<void> {
  const cards = await offerAgain(conversation, item.references ?? []);
  drafts.change(conversation, (d) => ({ ...d, text: item.text ?? "", cards, replaces: item.id, input: undefined, unsure: undefined }));
  focusComposer.value++;
}

export function stopEditing(conversation: string): void {
  drafts.clear(conversation);
}

export interface Change {
  title?: string;
  archived?: boolean;
  model?: string;
  visibility?: { level: string; category?: string };
  confirmed?: true;
  seen?: string;
}

/** What the server wants to know before it takes a wall down. */
export interface Question {
  confirmation: string;
  digest: string;
}

/** Changes a conversation; a question where the change needs a yes first. */
export async function patch(id: string, change: Change): Promise<Question | null> {
  try {
    const c = await json<Conversation>(p`/v1/conversations/${id}`, { method: "PATCH", body: change });
    if (c) {
      learned(c);
      const now = current.peek();
      if (now?.id === id) now.learn(c);
    }
    refreshSoon();
    return null;
  } catch (err) {
    if (err instanceof Problem && err.status === 409 && typeof err.body["confirmation"] === "string" && typeof err.body["digest"] === "string") {
      return { confirmation: err.body["confirmation"], digest: err.body["digest"] };
    }
    throw err;
  }
}

/** Where a quote of what was deleted stays. */
export interface Copy {
  conversation: string;
  title: string;
}

export type Removal = { branches: { id: string; title?: string }[] } | { copies: Copy[] };

/** Deletes; or says which branches are in the way, for the person to choose. */
export async function remove(id: string, branches?: "keep" | "delete"): Promise<Removal> {
  let copies: Copy[];
  try {
    const done = await json<{ copies?: Copy[] }>(p`/v1/conversations/${id}`, { method: "DELETE", query: { branches } });
    copies = done?.copies ?? [];
  } catch (err) {
    const list = err instanceof Problem && err.status === 409 ? err.body["branches"] : undefined;
    if (Array.isArray(list)) return { branches: list as { id: string; title?: string }[] };
    throw err;
  }
  drafts.clear(id);
  refreshSoon();
  const r = route.peek();
  if (r.view === "conversation" && r.id === id) openNew();
  toast(t("deleted"));
  return { copies };
}

export async function withdraw(conversation: string, input: string): Promise<boolean> {
  const done = await attempt(async () => {
    await send(p`/v1/conversations/${conversation}/inputs/${input}`, { method: "DELETE" });
    const now = current.peek();
    if (now?.id === conversation) now.inputs.value = now.inputs.peek().filter((i) => i.id !== input);
    return true;
  });
  return done === true;
}

/** Puts a queued input before another one, or behind all of them (""). */
export async function moveInput(timeline: Timeline, input: Input, before: string): Promise<boolean> {
  const done = await changeInput(timeline.id, input.id, { before, revision: input.revision });
  await attempt(() => timeline.fetchInputs());
  return done;
}

export async function changeInput(conversation: string, input: string, body: Record<string, unknown>): Promise<boolean> {
  const done = await attempt(async () => {
    await send(p`/v1/conversations/${conversation}/inputs/${input}`, { method: "PATCH", body });
    return true;
  });
  return done === true;
}
