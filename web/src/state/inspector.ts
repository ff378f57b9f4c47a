// What the model was given: the steps of the conversation on screen, the exact
// request of one of them, what it was told with authority, and what crossed a
// boundary.

import { signal } from "@preact/signals";
import { json, p, send } from "../core/http";
import { read, write } from "../core/prefs";
import type { Context, Flow, Page, Step } from "../core/types";

export const inspectorOpen = signal(read("weir.inspector") === "open");
export const tab = signal<"steps" | "context" | "crossings">("steps");
/** The step that is looked at, null for the list. */
export const chosen = signal<string | null>(null);

export function setInspector(open: boolean): void {
  inspectorOpen.value = open;
  write("weir.inspector", open ? "open" : "closed");
}

export function inspect(step: string): void {
  chosen.value = step;
  tab.value = "steps";
  setInspector(true);
}

export function inspectContext(): void {
  chosen.value = null;
  tab.value = "context";
  setInspector(true);
}

export const context = (conversation: string): Promise<Context> => json(p`/v1/conversations/${conversation}/context`);

export const steps = (conversation: string): Promise<Page<Step>> => json(p`/v1/conversations/${conversation}/steps`);

export interface SentRequest {
  body: string;
  verified: boolean;
}

/** The exact bytes of a step's request, rebuilt and checked by the server. */
export async function request(conversation: string, step: string): Promise<SentRequest> {
  const res = await send(p`/v1/conversations/${conversation}/steps/${step}/request`, { timeout: 120_000 });
  return { body: await res.text(), verified: res.headers.get("X-Weir-Verified") === "true" };
}

/** The whole of a tool's result. */
export async function artefact(conversation: string, id: string): Promise<string> {
  const res = await send(p`/v1/conversations/${conversation}/artefacts/${id}`, { timeout: 120_000 });
  return res.text();
}

export const crossingsIn = (conversation: string): Promise<Page<Flow>> => json("/v1/crossings", { query: { target: conversation, limit: 50 } });
export const crossingsOut = (conversation: string): Promise<Page<Flow>> => json("/v1/crossings", { query: { source: conversation, limit: 50 } });
