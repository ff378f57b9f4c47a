// The scrolling part: only the rows near the screen exist. It stays where the
// reader is, whatever grows above or below, and follows the newest only for
// someone who is at the newest.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { defaultRangeExtractor } from "@tanstack/virtual-core";
import { day } from "../core/format";
import { t } from "../core/i18n";
import { scrollDown } from "../state/scroll";
import type { Timeline } from "../state/timeline";
import { attempt } from "../state/toasts";
import { Icon } from "./icons";
import { Message, Streaming } from "./Message";
import { estimate, retryRow, rowsOf, textOf, undoRow, type Row } from "./rows";
import { Retry, TimelineMark } from "./TimelineMark";
import { ToolCall } from "./ToolCall";
import { useVirtualizer } from "./virtual";

const endThreshold = 48;
const nearEnd = 200; // px within which there is nowhere to jump to
const loadWithin = 12; // rows from an edge

export function TimelineView({ timeline }: { timeline: Timeline }) {
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<string | null>(null); // key of the row that Tab reaches
  const [atEnd, setAtEnd] = useState(true);
  const items = timeline.visible.value;
  const writing = timeline.hasAfter.value ? undefined : timeline.writing.value;
  const atBeginning = timeline.loaded.value && !timeline.hasBefore.value;
  const rows = useMemo(() => rowsOf(items, writing, atBeginning), [items, writing, atBeginning]);
  const keys = useRef<Row[]>(rows);
  keys.current = rows;

  let activeKey = active;
  if (activeKey === null || !rows.some((r) => r.key === activeKey)) activeKey = rows.findLast((r) => r.kind === "message")?.key ?? null;
  const activeIndex = rows.findIndex((r) => r.key === activeKey);

  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey: (i) => keys.current[i]?.key ?? i,
    estimateSize: (i) => (keys.current[i] ? estimate(keys.current[i]) : 44),
    overscan: 6,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: endThreshold,
    paddingStart: 12,
    paddingEnd: 20,
    // At the newest from the first frame on; the element clamps it.
    initialOffset: () => (timeline.highlight.peek() ? 0 : 1e9),
    // A focused message must not vanish because it was scrolled out of sight.
    rangeExtractor: (range) => {
      const list = defaultRangeExtractor(range);
      const focused = scroller.current?.contains(document.activeElement) && activeIndex >= 0;
      return focused && !list.includes(activeIndex) ? [...list, activeIndex].sort((a, b) => a - b) : list;
    },
  });

  const shown = virtualizer.getVirtualItems();
  const first = shown[0]?.index ?? 0;
  const lastShown = shown.at(-1)?.index ?? 0;

  // To the newest at the beginning, to a message that was asked for when one was.
  const placed = useRef(false);
  const highlight = timeline.highlight.value;
  useLayoutEffect(() => {
    if (!timeline.loaded.value || placed.current || rows.length === 0) return;
    placed.current = true;
    if (!highlight) virtualizer.scrollToEnd();
  }, [timeline.loaded.value, rows.length]);

  useLayoutEffect(() => {
    if (!highlight) return;
    const at = keys.current.findIndex((r) => r.kind === "message" && r.item.id === highlight);
    if (at < 0) return;
    placed.current = true;
    virtualizer.scrollToIndex(at, { align: "center" });
    setActive(keys.current[at]!.key);
    const focus = requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>(`[data-index="${at}"] > article`)?.focus({ preventScroll: true }));
    const timer = window.setTimeout(() => (timeline.highlight.value = null), 4_000);
    return () => {
      clearTimeout(timer);
      cancelAnimationFrame(focus);
    };
  }, [highlight, rows.length > 0]);

  const toEnd = scrollDown.value;
  useEffect(() => {
    if (toEnd > 0) virtualizer.scrollToEnd();
  }, [toEnd]);

  useEffect(() => {
    if (shown.length === 0 || !placed.current) return;
    if (first < loadWithin) timeline.loadBefore();
    if (lastShown > rows.length - loadWithin) timeline.loadAfter();
  }, [first, lastShown, rows.length]);

  const onScroll = () => {
    const el = scroller.current!;
    setAtEnd(el.scrollHeight - el.scrollTop - el.clientHeight <= nearEnd && !timeline.hasAfter.peek());
  };
  useLayoutEffect(onScroll);

  const jump = async () => {
    if (timeline.hasAfter.peek()) await attempt(() => timeline.newest());
    requestAnimationFrame(() => virtualizer.scrollToEnd());
  };

  const focusRow = (index: number) => {
    const row = keys.current[index];
    if (!row) return;
    setActive(row.key);
    virtualizer.scrollToIndex(index, { align: "auto" });
    requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"] > article`)?.focus({ preventScroll: true }));
  };

  const onKeyDown = (e: KeyboardEvent) => {
    if (!(e.target instanceof HTMLElement) || !e.target.matches("article")) return;
    const messages = rows.map((r, i) => (r.kind === "message" ? i : -1)).filter((i) => i >= 0);
    const at = messages.indexOf(activeIndex);
    const to: Record<string, number | undefined> = {
      ArrowUp: messages[at - 1],
      ArrowDown: messages[at + 1],
      Home: messages[0],
      End: messages.at(-1),
    };
    const next = to[e.key];
    if (next === undefined || e.altKey || e.ctrlKey || e.metaKey) return;
    e.preventDefault();
    focusRow(next);
  };

  const offers = useMemo(() => new Set([retryRow(rows), undoRow(rows)]), [rows]);
  return (
    <div class="timeline-frame">
      <div class="timeline" ref={scroller} onScroll={onScroll} onKeyDown={onKeyDown} role="log" aria-live="off" aria-label={t("timeline")} tabIndex={-1}>
        <div class="timeline-size" style={{ height: `${virtualizer.getTotalSize()}px` }}>
          {shown.map((v) => {
            const row = rows[v.index];
            if (!row) return null;
            const lit = row.kind === "message" && row.item.id === highlight;
            return (
              <div
                class={`row${lit ? " lit" : ""}`}
                key={v.key}
                data-index={v.index}
                ref={(el: HTMLElement | null) => virtualizer.measureElement(el)}
                style={{ transform: `translateY(${v.start}px)` }}
                onFocusIn={() => row.kind === "message" && setActive(row.key)}
              >
                <RowView timeline={timeline} row={row} active={row.key === activeKey} offered={offers.has(v.index)} />
              </div>
            );
          })}
        </div>
      </div>
      {!atEnd && rows.length > 0 ? (
        <button type="button" class="jump" onClick={() => void jump()} aria-label={t("jumpNewest")} title={t("jumpNewest")}>
          <Icon name="down" />
        </button>
      ) : null}
      <Announcer timeline={timeline} />
    </div>
  );
}

function RowView({ timeline, row, active, offered }: { timeline: Timeline; row: Row; active: boolean; offered: boolean }) {
  switch (row.kind) {
    case "beginning":
      return <div class="mark-line beginning">{t("beginning")}</div>;
    case "day":
      return <div class="day"><time dateTime={row.time}>{day(row.time)}</time></div>;
    case "message":
      return <Message timeline={timeline} item={row.item} results={row.results} active={active} retry={offered ? <Retry timeline={timeline} /> : null} />;
    case "tool":
      return <ToolCall timeline={timeline} call={row.item.tool?.call ?? ""} name={row.item.tool?.name ?? ""} result={row.item} />;
    case "streaming":
      return <Streaming timeline={timeline} step={row.step} />;
    case "mark":
      return <TimelineMark timeline={timeline} item={row.item} offered={offered} before={row.before} />;
  }
}

// For those who listen: that an answer began, and the whole of it at its end.
// Reading out every delta would be unbearable.
function Announcer({ timeline }: { timeline: Timeline }) {
  const step = timeline.writing.value;
  const before = useRef<string | undefined>(undefined);
  const [words, setWords] = useState("");
  useEffect(() => {
    if (step) setWords(t("answering"));
    else if (before.current) setWords(endWords(timeline, before.current));
    before.current = step;
  }, [step]);
  return <div class="sr" aria-live="polite">{words}</div>;
}

// A step without words ends in a call, in a failure, or in nothing more.
function endWords(timeline: Timeline, step: string): string {
  const of = timeline.items.peek().filter((i) => i.step === step);
  const item = of.findLast((i) => i.kind === "assistant");
  const text = item ? textOf(item).slice(0, 2_000) : "";
  if (text) return text;
  if (item?.parts?.some((x) => x.type === "tool_call") || timeline.work.peek().calls.some((c) => c.step === step)) return t("answerCalls");
  const outcome = of.findLast((i) => i.kind === "step_end")?.outcome;
  return t(outcome === "failed" ? "markFailed" : outcome === "interrupted" ? "markInterrupted" : "answerDone");
}
