// Quiet lines between messages: what happened that no one said.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { clock, full } from "../core/format";
import { t, tMaybe } from "../core/i18n";
import type { Item } from "../core/types";
import { type Change, inBaseline, nameOf, type Side, told } from "../core/update";
import { hiddenBy, retry, undoRewind } from "../state/acting";
import { inspectContext } from "../state/inspector";
import type { Timeline } from "../state/timeline";
import { attempt } from "../state/toasts";
import { Icon, type IconName } from "./icons";
import { Plain } from "./Marks";

interface Props {
  timeline: Timeline;
  item: Item;
  offered: boolean; // what can be done about it is done here, and nowhere else
  before?: string | undefined; // of an update: what was told of the fact last
}

export function TimelineMark({ timeline, item, offered, before }: Props) {
  const line = (icon: IconName, words: ComponentChildren, more?: ComponentChildren, tone = "") => (
    <div class={`mark-line ${tone}`} data-seq={item.seq} data-kind={item.kind} title={full(item.time)}>
      <Icon name={icon} size={14} />
      <span class="mark-words">{words}</span>
      {more}
    </div>
  );
  switch (item.kind) {
    case "rewind": {
      const shown = timeline.showHidden.value;
      return line(
        "rewind",
        <Hidden conversation={timeline.id} item={item} />,
        <>
          <button type="button" class="link" aria-pressed={shown} onClick={() => void attempt(() => timeline.toggleHidden(!shown))}>
            {shown ? t("hideHidden") : t("showHidden")}
          </button>
          {offered ? (
            <button type="button" class="link" onClick={() => void undoRewind(timeline.id)}>{t("undo")}</button>
          ) : null}
        </>,
      );
    }
    case "undo":
      return line("rewind", t("markUndo"));
    case "title":
      return line("pencil", t("markTitle", { title: item.title || t("untitled") }));
    case "step_end":
      return failed(line, timeline, item, offered);
    case "system":
      return <UpdateLine timeline={timeline} item={item} before={before} />;
    case "notice":
      return fold("warn", t("markNotice"), item.text);
    case "recall":
      return fold("link", t("markRecall"), item.text);
    case "checkpoint":
      return fold("archive", t("markGeneration"), item.text);
    case "epoch":
      return (
        <div class="divider" role="separator" data-seq={item.seq} data-kind={item.kind} title={full(item.time)}>
          <span class="divider-words"><Icon name="scope" size={14} /> {t("markEpoch")}{t("comma")}<time dateTime={item.time}>{clock(item.time)}</time></span>
          {standing(timeline, item)}
        </div>
      );
    case "approval":
      return line(item.approval?.decision === "allow" ? "check" : "stop", t(item.approval?.decision === "allow" ? "markAllowed" : "markDenied", { tool: item.approval?.name || t("toolCall") }));
    case "model":
      return line("gear", t("markModel", { model: item.model || t("modelDefault") }));
    case "visibility":
      return line("lock", t("markVisibility"));
    case "workspace":
      return line("gear", t("markWorkspace"));
    case "agent":
      return line("gear", t("markAgent"));
    default:
      return line("more", item.kind);
  }
}

// Only the baseline in force can be shown: the newest that was not rewound.
function standing(timeline: Timeline, item: Item) {
  if (item.hidden) return null;
  if (timeline.items.value.findLast((i) => i.kind === "epoch" && !i.hidden)?.id !== item.id) return <span>{t("baselineOver")}</span>;
  return timeline.hasAfter.value ? null : <button type="button" class="link" onClick={inspectContext}>{t("showBaseline")}</button>;
}

/** One thing that the model was told, in a few words; opened, the exact text. */
function UpdateLine({ timeline, item, before }: { timeline: Timeline; item: Item; before: string | undefined }) {
  const update = item.update ?? { fact: "", text: "" };
  const at = update.at ?? item.time;
  const [first, setFirst] = useState<string | undefined>(undefined); // what the baseline says of it
  // Only the oldest on screen asks: what it is compared with may be there.
  useEffect(() => {
    if (before !== undefined || timeline.hasBefore.value) return;
    let mine = true;
    timeline.baseline(item.seq).then(
      (text) => mine && setFirst(inBaseline(update.fact, text)),
      () => undefined, // said without it
    );
    return () => {
      mine = false;
    };
  }, [item.id, before === undefined, timeline.hasBefore.value]);
  const short = shortly(update.fact, update.text, before ?? first);
  return (
    <details class="fold mark-fold update" data-seq={item.seq} data-kind={item.kind} data-fact={update.fact}>
      <summary title={update.fact}>
        <Icon name="scope" size={14} />
        <span class="update-words"><span class="sr">{t("updateTold")}: </span><bdi><Plain text={short} /></bdi>{t("comma")}<time dateTime={at} title={full(at)}>{clock(at)}</time></span>
      </summary>
      <div class="fold-text" dir="auto"><Plain text={update.text} /></div>
    </details>
  );
}

function shortly(fact: string, text: string, before: string | undefined): string {
  const said = told(fact, text, before);
  const name = tMaybe("fact_" + fact) ?? nameOf(fact);
  if (said.gone) return t("updateGone", { what: name });
  if (said.changes.length > 0) return said.changes.map((c) => changed(name, c, said.changes.length === 1)).join(t("semicolon"));
  return t("updateNow", { what: name, value: said.now.map((s) => sideWords(s)).join(t("comma")) || said.text });
}

// A branch alone needs no name: nothing else is changed as often.
function changed(name: string, { from, to }: Change, alone: boolean): string {
  if (from.kind !== to.kind || to.value === "") return t("updateNow", { what: name, value: `${sideWords(from)} → ${sideWords(to)}` });
  const arrow = `${from.value} → ${to.value}`;
  if (to.kind === "branch" && alone) return arrow;
  return t("updateNow", { what: tMaybe("side_" + to.kind) ?? name, value: arrow });
}

function sideWords({ kind, value }: Side): string {
  return tMaybe("is_" + kind)?.replace("{value}", () => value) ?? value;
}

type Line = (icon: IconName, words: ComponentChildren, more?: ComponentChildren, tone?: string) => ComponentChildren;

function failed(line: Line, timeline: Timeline, item: Item, offered: boolean) {
  const again = offered ? <Retry timeline={timeline} /> : null;
  if (item.outcome === "interrupted") return line("stop", t("markInterrupted"), again);
  const reason = item.reason || (item.code ? (tMaybe("code_" + item.code) ?? item.code) : "");
  return line(
    "warn",
    <>
      <strong>{t("markFailed")}</strong> <Plain text={reason} />
    </>,
    again,
    offered ? "bad" : "", // what was got over is quiet
  );
}

const counted = new Map<string, string>(); // by rewind: it hides the same for good

/** How much a rewind hid. */
function Hidden({ conversation, item }: { conversation: string; item: Item }) {
  const [n, setN] = useState(counted.get(item.id));
  useEffect(() => {
    if (n !== undefined || !item.rewind) return;
    let mine = true;
    hiddenBy(conversation, item.rewind).then(
      (got) => {
        counted.set(item.id, got);
        if (mine) setN(got);
      },
      () => undefined, // said without a number
    );
    return () => {
      mine = false;
    };
  }, [conversation, item.id]);
  return <>{n === undefined || n === "0" ? t("markRewindPlain") : n === "1" ? t("markRewindOne") : t("markRewind", { n })}</>;
}

/** Not while something runs, nor where pending messages have their own "Send now". */
export function Retry({ timeline }: { timeline: Timeline }) {
  if (timeline.running.value || timeline.conversation.value?.state === "waiting") return null;
  return (
    <button type="button" class="small-button" onClick={() => void retry(timeline.id)}>
      <Icon name="retry" size={14} /> {t("retry")}
    </button>
  );
}

function fold(icon: IconName, words: string, text: string | undefined) {
  return (
    <details class="fold mark-fold">
      <summary>
        <Icon name={icon} size={14} /> <Plain text={words} />
      </summary>
      {text ? <div class="fold-text" dir="auto">{text}</div> : null}
    </details>
  );
}
