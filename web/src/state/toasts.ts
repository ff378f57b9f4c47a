// Short words above the composer, two at most, with at most one thing to do about them.

import { signal } from "@preact/signals";
import { Problem } from "../core/http";
import { t } from "../core/i18n";

export interface Toast {
  id: number;
  text: string;
  tone: "plain" | "bad";
  action?: { label: string; run: () => void };
}

export const toasts = signal<Toast[]>([]);
let ids = 0;

export function toast(text: string, options: { tone?: "plain" | "bad"; action?: Toast["action"] } = {}): void {
  const id = ++ids;
  const entry: Toast = { id, text, tone: options.tone ?? "plain" };
  if (options.action) entry.action = options.action;
  // The newest two; the same words are not said twice.
  toasts.value = [...toasts.value.filter((x) => x.text !== text).slice(-1), entry];
  setTimeout(() => dismiss(id), options.action ? 12_000 : 6_000);
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((x) => x.id !== id);
}

/** A sentence for a person about what went wrong. */
export function words(err: unknown): string {
  if (err instanceof Problem) {
    if (err.code === "network") return t("networkDown");
    return err.detail || t("failed", { reason: err.code });
  }
  return t("failed", { reason: err instanceof Error ? err.message : String(err) });
}

/** Runs something and says so when it fails; undefined then. */
export async function attempt<T>(fn: () => Promise<T>): Promise<T | undefined> {
  try {
    return await fn();
  } catch (err) {
    if (err instanceof DOMException && err.name === "AbortError") return undefined;
    toast(words(err), { tone: "bad" });
    return undefined;
  }
}
