// What is written but not sent, per conversation, kept in this browser.
//
// A pending quote belongs to the draft of its TARGET: its content points to the
// source; its place, and where it will be sent, are the target's alone. There
// is no draft, and no list of cards, that all conversations share.

import { signal, type Signal } from "@preact/signals";
import { read, write } from "../core/prefs";
import type { Preview, Reference } from "../core/types";

export interface Card {
  reference: Reference; // without confirmed and seen: those are added when sending
  preview: Preview | null; // null: not asked yet
  confirmed: boolean; // the person said yes to exactly preview.digest
  fault?: string; // why the preview was refused
}

export interface Draft {
  text: string;
  cards: Card[];
  /** The id under which this draft was or will be sent, until the outcome is known. */
  input?: string;
  /** A message that sending replaces (edit and resend). */
  replaces?: string;
  /** Sent without an answer: the network failed; the same body goes again. */
  unsure?: { delivery: "steer" | "queue" };
}

/** The key of the draft of a conversation that does not exist yet. */
export const newDraft = "";

const prefix = "weir.draft.";
const empty = (): Draft => ({ text: "", cards: [] });

const drafts = new Map<string, Signal<Draft>>();
const dirty = new Map<string, number>(); // conversation → timer

/** False once a draft could not be stored. */
export const storable = signal(true);

function parse(stored: string | null): Draft {
  if (!stored) return empty();
  try {
    const d = JSON.parse(stored) as Partial<Draft>;
    if (typeof d.text !== "string" || !Array.isArray(d.cards)) return empty();
    return { ...d, text: d.text, cards: d.cards.filter((c) => c && typeof c.reference?.conversation === "string") };
  } catch {
    return empty();
  }
}

export function draft(conversation: string): Signal<Draft> {
  let s = drafts.get(conversation);
  if (!s) {
    s = signal(parse(read(prefix + conversation)));
    drafts.set(conversation, s);
  }
  return s;
}

/** Changes a draft. Cards are stored at once, keystrokes a moment later. */
export function change(conversation: string, fn: (d: Draft) => Draft): void {
  const s = draft(conversation);
  const before = s.peek();
  const after = fn(before);
  if (after === before) return;
  s.value = after;
  const onlyText = after.cards === before.cards && after.input === before.input && after.unsure === before.unsure;
  if (!onlyText || after.text === "") return store(conversation);
  if (dirty.has(conversation)) return;
  dirty.set(
    conversation,
    window.setTimeout(() => store(conversation), 200),
  );
}

export function setText(conversation: string, text: string): void {
  change(conversation, (d) => (d.text === text ? d : { ...d, text }));
}

/** The cards that say the same are one card; the newer decision counts. */
export function addCard(conversation: string, card: Card): boolean {
  let added = true;
  change(conversation, (d) => {
    const at = d.cards.findIndex((c) => same(c.reference, card.reference));
    if (at < 0) return { ...d, cards: [...d.cards, card] };
    added = false;
    return { ...d, cards: d.cards.map((c, i) => (i === at ? card : c)) };
  });
  return added;
}

export function removeCard(conversation: string, card: Reference): void {
  change(conversation, (d) => ({ ...d, cards: d.cards.filter((c) => !same(c.reference, card)) }));
}

export function clear(conversation: string): void {
  change(conversation, empty);
}

export function same(a: Reference, b: Reference): boolean {
  return a.type === b.type && a.conversation === b.conversation && a.message === b.message;
}

/** What goes to the server for the cards of a draft. */
export function references(cards: Card[]): Reference[] {
  return cards.map((c) =>
    c.preview?.needs_confirmation && c.confirmed
      ? { ...c.reference, confirmed: true as const, seen: c.preview.digest }
      : c.reference,
  );
}

function store(conversation: string): void {
  const timer = dirty.get(conversation);
  if (timer !== undefined) clearTimeout(timer);
  dirty.delete(conversation);
  const d = draft(conversation).peek();
  const nothing = d.text === "" && d.cards.length === 0 && !d.input && !d.replaces;
  storable.value = write(prefix + conversation, nothing ? null : JSON.stringify(d));
}

export function flush(): void {
  for (const conversation of [...dirty.keys()]) store(conversation);
}

window.addEventListener("pagehide", flush);
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden") flush();
});

// Another tab changed a draft: take it over, unless there is something newer here.
window.addEventListener("storage", (e) => {
  if (!e.key?.startsWith(prefix)) return;
  const conversation = e.key.slice(prefix.length);
  const s = drafts.get(conversation);
  if (s && !dirty.has(conversation)) s.value = parse(e.newValue);
});

/** Moves everything of one draft to another conversation's composer. */
export function move(from: string, to: string): void {
  const d = draft(from).peek();
  change(to, () => d);
  clear(from);
}
