// From timeline items to the rows on screen: days apart, tool results and
// decisions folded into the call that asked for them, what streams at the end.
// Pure.

import type { Item } from "../core/types";
import { dayKey } from "../core/format";

export type Row =
  | { key: string; kind: "beginning" }
  | { key: string; kind: "day"; time: string }
  | { key: string; kind: "message"; item: Item; results: Item[]; end?: Item }
  | { key: string; kind: "tool"; item: Item }
  | { key: string; kind: "mark"; item: Item; before?: string } // of an update: what was told of the fact last
  | { key: string; kind: "streaming"; step: string };

// Records without anything for a person to see.
const silent = new Set(["step"]);

export function rowsOf(items: Item[], running: string | undefined, atBeginning: boolean): Row[] {
  const rows: Row[] = [];
  const steps = new Set<string>();
  let day = "";
  let answered = false;
  let calls = new Map<string, Item[]>(); // of the newest assistant message
  let told = new Map<string, string>(); // by fact, since the newest epoch

  if (atBeginning && items.length > 0) rows.push({ key: "beginning", kind: "beginning" });
  for (const item of items) {
    if (silent.has(item.kind) || (item.kind === "step_end" && !item.outcome && !item.reason)) continue;
    if (item.kind === "step_end" && item.outcome === "done") continue;
    // An answer that was cut short says so itself.
    const before = rows.at(-1);
    if (item.kind === "step_end" && item.outcome === "interrupted" && before?.kind === "message" && before.item.interrupted && before.item.step === item.step) {
      before.end = item;
      continue;
    }
    const d = dayKey(item.time);
    if (d !== day) {
      rows.push({ key: "day:" + d + ":" + item.seq, kind: "day", time: item.time });
      day = d;
    }
    switch (item.kind) {
      case "user":
        calls = new Map();
        rows.push({ key: "s" + item.seq, kind: "message", item, results: [] });
        break;
      case "assistant": {
        const results: Item[] = [];
        answered = true;
        calls = new Map();
        for (const part of item.parts ?? []) if (part.type === "tool_call" && part.call) calls.set(part.call, results);
        // One step, one answer: it takes the place of what streamed.
        const key = item.step && !steps.has(item.step) ? "a" + item.step : "s" + item.seq;
        if (item.step) steps.add(item.step);
        rows.push({ key, kind: "message", item, results });
        break;
      }
      case "tool_result": {
        const results = item.tool && calls.get(item.tool.call);
        if (results) results.push(item);
        else rows.push({ key: "s" + item.seq, kind: "tool", item });
        break;
      }
      case "approval": {
        const results = item.approval && calls.get(item.approval.call);
        if (results) results.push(item);
        else rows.push({ key: "s" + item.seq, kind: "mark", item });
        break;
      }
      case "system": {
        const row: Row = { key: "s" + item.seq, kind: "mark", item };
        const before = item.update && told.get(item.update.fact);
        if (before !== undefined) row.before = before;
        if (item.update && !item.hidden) told.set(item.update.fact, item.update.text);
        rows.push(row);
        break;
      }
      case "epoch":
        told = new Map();
        rows.push({ key: "s" + item.seq, kind: "mark", item });
        break;
      default:
        // The title that a first message gave by itself is no news.
        if (item.kind === "title" && atBeginning && !answered) break;
        rows.push({ key: "s" + item.seq, kind: "mark", item });
    }
  }
  if (running !== undefined) rows.push({ key: "a" + running, kind: "streaming", step: running });
  return rows;
}

/**
 * The one row that offers to try again: the newest failure or interruption,
 * while nothing was said after it. -1 where there is none.
 */
export function retryRow(rows: Row[]): number {
  for (let i = rows.length - 1; i >= 0; i--) {
    const row = rows[i]!;
    if (row.kind === "mark" && row.item.kind === "step_end") return i;
    if (row.kind === "message") return row.end ? i : -1;
    if (row.kind === "streaming") return -1;
  }
  return -1;
}

/** The newest rewind, while nothing was said after it: that one can be undone. */
export function undoRow(rows: Row[]): number {
  const at = rows.findLastIndex((r) => r.kind === "message" || r.kind === "streaming" || (r.kind === "mark" && (r.item.kind === "rewind" || r.item.kind === "undo")));
  const row = rows[at];
  return row?.kind === "mark" && row.item.kind === "rewind" ? at : -1;
}

/** The visible text of an item, for copying and for measuring. */
export function textOf(item: Item): string {
  if (item.text) return item.text;
  return (item.parts ?? [])
    .filter((x) => x.type === "text" && x.text)
    .map((x) => x.text)
    .join("\n\n");
}

/** About how high a row will be, until it is measured. */
export function estimate(row: Row): number {
  switch (row.kind) {
    case "message": {
      const text = textOf(row.item);
      const lines = Math.min(400, text.length / 80 + (text.match(/\n/g)?.length ?? 0) * 0.7);
      return 64 + lines * 25 + (row.item.references?.length ?? 0) * 84 + (row.item.parts?.length ?? 0) * 8;
    }
    case "streaming":
      return 90;
    default:
      return 44;
  }
}
