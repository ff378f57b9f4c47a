// "Quote into…": from a message (or a conversation) to a card on the composer
// of a target. The server previews, decides and says the sentence; here is only
// who is asked and where the card is put: always on the TARGET.

import { signal } from "@preact/signals";
import { json, p, Problem } from "../core/http";
import { t } from "../core/i18n";
import { open } from "../core/router";
import type { Conversation, Item, ItemReference, Page, Preview, Reference } from "../core/types";
import * as drafts from "./drafts";
import { titleOf } from "./list";
import { attempt, toast } from "./toasts";

export interface Quoting {
  reference: Reference;
  stage: "pick" | "asking" | "confirm";
  target?: { id: string; title: string };
  preview?: Preview;
  fault?: string;
}

export const quoting = signal<Quoting | null>(null);

export function beginQuote(conversation: string, message: string): void {
  quoting.value = { reference: { type: "quote", conversation, message }, stage: "pick" };
}

export function beginPointer(conversation: string): void {
  quoting.value = { reference: { type: "pointer", conversation }, stage: "pick" };
}

export const cancelQuote = (): void => {
  quoting.value = null;
};

export function preview(target: string, reference: Reference): Promise<Preview> {
  const { type, conversation, message } = reference;
  return json<Preview>("/v1/references/preview", {
    method: "POST",
    body: { target, reference: message === undefined ? { type, conversation } : { type, conversation, message } },
  });
}

/** Asks the gate about a target that was picked. */
export async function pick(target: { id: string; title: string }): Promise<void> {
  const q = quoting.peek();
  if (!q || q.stage === "asking") return;
  const asking: Quoting = { reference: q.reference, stage: "asking", target };
  quoting.value = asking;
  try {
    const seen = await preview(target.id, q.reference);
    if (quoting.peek() !== asking) return; // closed meanwhile
    if (!seen.needs_confirmation) return place(target.id, { reference: q.reference, preview: seen, confirmed: false });
    quoting.value = { ...asking, stage: "confirm", preview: seen };
  } catch (err) {
    if (quoting.peek() !== asking) return;
    const fault = err instanceof Problem && err.detail ? err.detail : t("networkDown");
    quoting.value = { reference: q.reference, stage: "pick", fault };
  }
}

/** The person said yes to the sentence on screen. */
export function confirmQuote(): void {
  const q = quoting.peek();
  if (q?.stage !== "confirm" || !q.target || !q.preview) return;
  place(q.target.id, { reference: q.reference, preview: q.preview, confirmed: true });
}

function place(target: string, card: drafts.Card): void {
  quoting.value = null;
  if (!drafts.addCard(target, card)) toast(t("alreadyThere"));
  focusComposer.value++;
  open(target);
}

/** Goes up when the composer on screen should take the focus. */
export const focusComposer = signal(0);

/** Where a message may be quoted into: everything but its own conversation. */
export async function targets(words: string, source: string, signal: AbortSignal): Promise<Conversation[]> {
  const got = await json<Page<Conversation>>("/v1/conversations", {
    query: { query: words.trim(), archived: false, limit: 30 },
    signal,
  });
  return (got.items ?? []).filter((c) => c.id !== source && c.kind !== "task");
}

/** Opens the source of a quote at its message; says so when it is gone. */
export async function openSource(reference: Pick<ItemReference, "conversation" | "message">): Promise<void> {
  try {
    if (reference.message === undefined) await json(p`/v1/conversations/${reference.conversation}`);
    else await json<Item>(p`/v1/conversations/${reference.conversation}/messages/${reference.message}`);
  } catch (err) {
    const gone = err instanceof Problem && (err.status === 404 || err.status === 410);
    toast(gone ? t("sourceGone") : t("networkDown"), { tone: "bad" });
    return;
  }
  open(reference.conversation, reference.message);
}

/** Offers the references of a message again, on the composer that edits it. */
export async function offerAgain(target: string, references: Pick<ItemReference, "type" | "conversation" | "message">[]): Promise<drafts.Card[]> {
  return Promise.all(
    references
      .filter((r) => r.type !== "recall")
      .map(async (r): Promise<drafts.Card> => {
        const reference: Reference = { type: r.type, conversation: r.conversation };
        if (r.message !== undefined) reference.message = r.message;
        try {
          return { reference, preview: await preview(target, reference), confirmed: false };
        } catch (err) {
          const fault = err instanceof Problem && err.detail ? err.detail : t("networkDown");
          return { reference, preview: null, confirmed: false, fault };
        }
      }),
  );
}

/** What a conversation is called, wherever that can be learned from. */
export function nameOf(id: string): string {
  return titleOf(id) ?? t("untitled");
}

export { attempt };
