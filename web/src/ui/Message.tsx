import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { clock, full } from "../core/format";
import { t } from "../core/i18n";
import type { Item, ItemPart } from "../core/types";
import { branch, copy, copyReference, editAndResend, isLast, rewind } from "../state/acting";
import { inspect } from "../state/inspector";
import { beginQuote } from "../state/quoting";
import type { Timeline } from "../state/timeline";
import { Icon } from "./icons";
import { Plain } from "./Marks";
import { GrowingMarkdown, Markdown } from "./Markdown";
import { openMenuAt, openMenuBy, type Action } from "./Menu";
import { SentCard } from "./QuoteCard";
import { textOf } from "./rows";
import { ToolCall } from "./ToolCall";

interface Props {
  timeline: Timeline;
  item: Item;
  results: Item[];
  active: boolean; // the one message that Tab reaches
  retry?: ComponentChildren; // for an answer that was cut short
}

/** Why a message cannot be quoted; undefined where it can. */
const unquotable = (item: Item): string | undefined => (item.quotable ? undefined : t(item.hidden ? "notQuotableHidden" : "notQuotable"));

export function actionsFor(conversation: string, item: Item): Action[] {
  const list: Action[] = [
    { label: t("quoteInto"), icon: "quote", disabled: !item.quotable, hint: unquotable(item), run: () => beginQuote(conversation, item.id) },
    { label: t("copyReference"), icon: "link", run: () => void copyReference(conversation, item.id) },
    { label: t("copyText"), icon: "copy", run: () => void copy(textOf(item)) },
    { label: t("branchHere"), icon: "branch", run: () => void branch(conversation, item.id) },
  ];
  if (!item.hidden && !isLast(conversation, item)) list.push({ label: t("rewindHere"), icon: "rewind", run: () => void rewind(conversation, item.id) });
  if (item.kind === "user" && !item.hidden) list.push({ label: t("editResend"), icon: "pencil", run: () => void editAndResend(conversation, item) });
  if (item.step) list.push({ label: t("showStep"), icon: "scope", run: () => inspect(item.step!) });
  return list;
}

/** Opens the menu by right click, Shift+F10 or the menu key, or a long press. */
function useMenuGestures(open: (x: number, y: number, from: HTMLElement) => void) {
  const timer = useRef(0);
  const start = useRef<[number, number]>([0, 0]);
  const stop = () => clearTimeout(timer.current);
  return {
    onContextMenu: (e: MouseEvent) => {
      const el = e.currentTarget as HTMLElement;
      // The browser's own menu stays within reach: on links, on selected text
      // and with Shift.
      const selected = window.getSelection();
      const onSelection = selected && !selected.isCollapsed && el.contains(selected.anchorNode);
      if (e.shiftKey || onSelection || (e.target as Element).closest("a[href], textarea, input")) return;
      e.preventDefault();
      stop();
      // A menu key has no place of its own.
      const keyboard = e.clientX === 0 && e.clientY === 0;
      const r = el.getBoundingClientRect();
      open(keyboard ? r.left + 24 : e.clientX, keyboard ? Math.max(r.top, 0) + 24 : e.clientY, el);
    },
    onKeyDown: (e: KeyboardEvent) => {
      if (e.target !== e.currentTarget) return;
      if ((e.key === "F10" && e.shiftKey) || e.key === "ContextMenu") {
        e.preventDefault();
        const el = e.currentTarget as HTMLElement;
        const r = el.getBoundingClientRect();
        open(r.left + 24, Math.max(r.top, 0) + 24, el);
      }
    },
    onPointerDown: (e: PointerEvent) => {
      if (e.pointerType !== "touch" || (e.target as Element).closest("a, button, summary")) return;
      const el = e.currentTarget as HTMLElement;
      start.current = [e.clientX, e.clientY];
      stop();
      timer.current = window.setTimeout(() => open(start.current[0], start.current[1], el), 550);
    },
    onPointerMove: (e: PointerEvent) => {
      if (Math.hypot(e.clientX - start.current[0], e.clientY - start.current[1]) > 10) stop();
    },
    onPointerUp: stop,
    onPointerCancel: stop,
  };
}

export function Message({ timeline, item, results, active, retry }: Props) {
  const conversation = timeline.id;
  const label = t("messageMenu");
  const gestures = useMenuGestures((x, y, from) => openMenuAt(x, y, label, actionsFor(conversation, item), from));
  const user = item.kind === "user";
  const who = user ? t("you") : t("assistant");
  const tab = active ? 0 : -1;
  return (
    <article
      class={`message ${user ? "user" : "assistant"}${item.hidden ? " rewound" : ""}`}
      aria-label={`${who}, ${full(item.time)}`}
      tabIndex={tab}
      data-message={item.id}
      data-seq={item.seq}
      data-step={item.step}
      {...gestures}
    >
      {item.references?.length ? (
        <div class="sent-cards">
          {item.references.map((r, i) => <SentCard conversation={conversation} message={item.id} index={i} reference={r} key={i} />)}
        </div>
      ) : null}
      <div class="bubble">{user ? <UserText text={item.text ?? ""} /> : <Answer timeline={timeline} item={item} results={results} retry={retry} />}</div>
      <footer class="message-foot">
        {item.hidden ? <span class="tag">{t("rewoundLabel")}</span> : null}
        {item.synthetic ? <span class="tag">{t("imported")}</span> : null}
        <time dateTime={item.time} title={full(item.time)}>{clock(item.time)}</time>
        {!user && item.model ? <span class="model-name">{item.model}</span> : null}
        <span class="message-tools">
          <button type="button" class="ghost icon-button small" tabIndex={tab} aria-label={t("quoteInto")} title={unquotable(item) ?? t("quoteInto")} disabled={!item.quotable} onClick={() => beginQuote(conversation, item.id)}>
            <Icon name="quote" size={15} />
          </button>
          <button type="button" class="ghost icon-button small" tabIndex={tab} aria-label={t("copyText")} title={t("copyText")} onClick={() => void copy(textOf(item))}>
            <Icon name="copy" size={15} />
          </button>
          <button type="button" class="ghost icon-button small" tabIndex={tab} aria-haspopup="menu" aria-label={label} title={label} onClick={(e) => openMenuBy(e.currentTarget, label, actionsFor(conversation, item))}>
            <Icon name="more" size={15} />
          </button>
        </span>
      </footer>
    </article>
  );
}

const foldAt = 340; // px

/** What a person typed, exactly; long ones fold. */
function UserText({ text }: { text: string }) {
  const box = useRef<HTMLDivElement>(null);
  const [long, setLong] = useState(text.length > 4_000);
  const [unfolded, setUnfolded] = useState(false);
  useLayoutEffect(() => {
    if (box.current && box.current.scrollHeight > foldAt + 60) setLong(true);
  }, [text]);
  return (
    <>
      <div class={`user-text${long && !unfolded ? " folded" : ""}`} ref={box} dir="auto">{text}</div>
      {long ? (
        <button type="button" class="link" aria-expanded={unfolded} onClick={() => setUnfolded(!unfolded)}>
          {unfolded ? t("showLess") : t("showMore")}
        </button>
      ) : null}
    </>
  );
}

function Answer({ timeline, item, results, retry }: Pick<Props, "timeline" | "item" | "results" | "retry">) {
  const parts = item.parts ?? (item.text ? [{ type: "text", text: item.text } as ItemPart] : []);
  return (
    <>
      {parts.map((part, i) => <Part timeline={timeline} item={item} part={part} results={results} key={i} />)}
      {parts.length === 0 ? <p class="quiet">{t("emptyAnswer")}</p> : null}
      {item.interrupted ? <p class="interrupted"><Icon name="stop" size={14} /> <span>{t("interrupted")}</span> {retry}</p> : null}
    </>
  );
}

function Part({ timeline, item, part, results }: Pick<Props, "timeline" | "item" | "results"> & { part: ItemPart }) {
  switch (part.type) {
    case "text":
      return part.text ? <Markdown text={part.text} /> : null;
    case "reasoning":
      return part.text ? (
        <details class="fold">
          <summary>{t("reasoning")}</summary>
          <div class="fold-text" dir="auto">{part.text}</div>
        </details>
      ) : null;
    case "tool_call":
      return (
        <ToolCall
          timeline={timeline}
          answer={item}
          call={part.call ?? ""}
          name={part.name ?? ""}
          input={part.input ?? ""}
          result={results.find((r) => r.tool?.call === part.call)}
          decision={results.find((r) => r.approval?.call === part.call)?.approval?.decision}
        />
      );
    default:
      return null;
  }
}

/** The answer that is being written. It alone is drawn again for each delta. */
export function Streaming({ timeline, step }: { timeline: Timeline; step: string }) {
  const partial = timeline.partial.value;
  if (partial?.step !== step) return null;
  return (
    <article class="message assistant streaming" aria-label={t("assistant")} aria-busy="true" data-step={partial.step}>
      <div class="bubble">
        {partial.reasoning.text ? (
          <details class="fold">
            <summary>{t("reasoning")}</summary>
            <div class="fold-text" dir="auto">{partial.reasoning.text}</div>
          </details>
        ) : null}
        {partial.text.text ? <GrowingMarkdown text={partial.text.text} /> : null}
        {partial.tool ? (
          <p class="quiet"><Icon name="tool" size={14} /> <Plain text={partial.tool} />…</p>
        ) : null}
        {!partial.text.text && !partial.tool && !timeline.work.value.step?.next_try ? (
          <p class="thinking" aria-label={t("thinking")}><span /><span /><span /></p>
        ) : null}
      </div>
    </article>
  );
}
