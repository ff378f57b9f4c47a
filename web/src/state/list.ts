// The conversations that a person sees, newest activity first, kept current by
// the server's list events. Those events only say that something changed: what
// it is now is always fetched.

import { computed, signal } from "@preact/signals";
import { json, p } from "../core/http";
import { EventStream } from "../core/sse";
import type { Conversation, Page, Visibility } from "../core/types";

export const query = signal("");
export const archived = signal(false);
export const items = signal<Conversation[]>([]);
export const next = signal<string | undefined>(undefined);
export const loaded = signal(false);
export const failed = signal(false);
export const connection = signal<"connecting" | "live" | "lost">("connecting");

/** Everything seen so far by id, for titles of conversations not listed now. */
export const known = signal<ReadonlyMap<string, Conversation>>(new Map());

const pageSize = 60;
let generation = 0;
let depth = pageSize; // how many a person has asked for so far

function remember(list: Conversation[]): void {
  if (list.length === 0) return;
  const map = new Map(known.peek());
  for (const c of list) map.set(c.id, c);
  known.value = map;
}

export function titleOf(id: string): string | undefined {
  return known.value.get(id)?.title || undefined;
}

const page = (limit: number, cursor?: string) =>
  json<Page<Conversation>>("/v1/conversations", {
    query: { query: query.peek().trim(), archived: archived.peek(), limit, cursor },
  });

/** Fetches what is shown anew, as deep as it is shown. */
export async function refresh(): Promise<void> {
  const mine = ++generation;
  try {
    const all: Conversation[] = [];
    let cursor: string | undefined;
    do {
      const got = await page(Math.min(100, depth - all.length), cursor);
      if (mine !== generation) return;
      all.push(...(got.items ?? []));
      cursor = got.next || undefined;
    } while (cursor && all.length < depth);
    items.value = all;
    next.value = cursor;
    loaded.value = true;
    failed.value = false;
    remember(all);
  } catch {
    if (mine === generation) failed.value = true;
  }
}

export async function more(): Promise<void> {
  if (!next.peek()) return;
  depth += pageSize;
  await refresh();
}

let searchTimer = 0;
export function search(words: string): void {
  query.value = words;
  depth = pageSize;
  clearTimeout(searchTimer);
  searchTimer = window.setTimeout(() => void refresh(), 120);
}

export function showArchived(yes: boolean): void {
  archived.value = yes;
  depth = pageSize;
  loaded.value = false; // what is listed is of the other view
  items.value = [];
  void refresh();
}

let soon = 0;
/** Many changes in a row are one fetch. */
export function refreshSoon(): void {
  if (soon) return;
  soon = window.setTimeout(() => {
    soon = 0;
    void refresh();
  }, 150);
}

let stream: EventStream | null = null;

export function watch(): void {
  stream?.stop();
  void refresh();
  stream = new EventStream({
    path: () => "/v1/events",
    event: (e) => heard(e.name, e.data),
    state: (s) => (connection.value = s),
    refused: () => (connection.value = "lost"),
  });
}

function heard(name: string, data: string): void {
  if (name === "reset") return void refresh();
  let c: Conversation;
  try {
    c = JSON.parse(data) as Conversation;
  } catch {
    return;
  }
  if (name === "deleted") {
    items.value = items.peek().filter((x) => x.id !== c.id);
    return;
  }
  if (name !== "conversation") return;
  remember([c]);
  const others = items.peek().filter((x) => x.id !== c.id);
  const listed = others.length < items.peek().length;
  if ((c.archived ?? false) !== archived.peek()) {
    items.value = others;
    return;
  }
  if (!loaded.peek()) return;
  // Whether a new one matches the words searched for is the server's to say.
  if (!listed && query.peek().trim() !== "") return refreshSoon();
  items.value = [...others, c].sort((a, b) => (a.last_active < b.last_active ? 1 : a.last_active > b.last_active ? -1 : 0));
}

/** Puts what was learned about one conversation into the list at once. */
export function learned(c: Conversation): void {
  remember([c]);
  if (items.peek().some((x) => x.id === c.id)) items.value = items.peek().map((x) => (x.id === c.id ? c : x));
}

export async function fetchOne(id: string): Promise<Conversation> {
  const c = await json<Conversation>(p`/v1/conversations/${id}`);
  learned(c);
  return c;
}

export async function create(v: Visibility, title?: string, model?: string): Promise<Conversation> {
  const visibility = v.category ? { level: v.level, category: v.category } : { level: v.level };
  const c = await json<Conversation>("/v1/conversations", {
    method: "POST",
    body: { visibility, ...(title ? { title } : {}), ...(model ? { model } : {}) },
  });
  learned(c);
  refreshSoon();
  return c;
}

/** Category labels in use, to offer when choosing one. */
export const categories = computed(() => {
  const set = new Set<string>();
  for (const c of known.value.values()) if (c.visibility?.category) set.add(c.visibility.category);
  return [...set].sort((a, b) => a.localeCompare(b));
});
