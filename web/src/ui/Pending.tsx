// What waits in the inbox: accepted, not yet said.

import { signal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { t } from "../core/i18n";
import { read, write } from "../core/prefs";
import type { Input } from "../core/types";
import { changeInput, interrupt, moveInput, retry, withdraw } from "../state/acting";
import { addCard, change } from "../state/drafts";
import type { Timeline } from "../state/timeline";
import { focusComposer, offerAgain } from "../state/quoting";
import { toast } from "../state/toasts";
import { Icon } from "./icons";
import { stateWords } from "./Marks";

// Rejected inputs that a person has dealt with; the server goes on listing them
// for a while.
const dismissedKey = "weir.dismissed";
const dismissed = signal<string[]>((read(dismissedKey) ?? "").split("\n").filter(Boolean));
function dismiss(id: string): void {
  dismissed.value = [...dismissed.peek(), id].slice(-200);
  write(dismissedKey, dismissed.peek().join("\n"));
}

export function Pending({ timeline }: { timeline: Timeline }) {
  const gone = dismissed.value;
  const list = timeline.inputs.value.filter((i) => (i.kind === undefined || i.kind === "user") && !(i.state === "rejected" && gone.includes(i.id)));
  const box = useRef<HTMLUListElement>(null);
  const moved = useRef<{ id: string; by: string } | null>(null);
  const [said, setSaid] = useState("");
  const pending = list.filter((i) => i.state === "pending");
  const queue = pending.filter((i) => i.delivery === "queue");

  // Moving an element takes the focus from it.
  const order = queue.map((i) => i.id).join();
  useLayoutEffect(() => {
    const m = moved.current;
    moved.current = null;
    if (!m || !box.current) return;
    const row = box.current.querySelector<HTMLElement>(`li[data-input="${CSS.escape(m.id)}"]`);
    const button = m.by === "key" ? null : row?.querySelector<HTMLButtonElement>(`[data-move="${m.by}"]:not(:disabled)`);
    (button ?? row)?.focus();
    setSaid(t("movedTo", { n: queue.findIndex((i) => i.id === m.id) + 1, all: queue.length }));
  }, [order]);

  const move = (input: Input, by: -1 | 1, how: "up" | "down" | "key") => {
    const at = queue.findIndex((i) => i.id === input.id);
    if (at < 0 || at + by < 0 || at + by >= queue.length) return;
    moved.current = { id: input.id, by: how };
    const before = by < 0 ? queue[at - 1]!.id : (queue[at + 2]?.id ?? "");
    void moveInput(timeline, input, before);
  };

  if (list.length === 0) return null;
  const waiting = pending.length;
  const goOn = (timeline.running.value || timeline.waitingCalls.value.length > 0) && pending.some((i) => i.delivery === "steer");
  return (
    <>
      <ul class="pending" aria-label={t("pending")} ref={box}>
        {waiting > 0 && isHeld(timeline) ? (
          <li class="held">
            <Icon name="stop" size={14} />
            <span class="pending-text">{t(waiting === 1 ? "heldOne" : "heldMany")}</span>
            <button type="button" class="small-button primary" onClick={() => void retry(timeline.id)}>{t("release")}</button>
          </li>
        ) : null}
        {list.map((i) =>
          i.state === "rejected" ? (
            <li key={i.id} class={i.state} data-input={i.id}><Rejected timeline={timeline} input={i} /></li>
          ) : (
            <Waiting key={i.id} timeline={timeline} input={i} place={queue.findIndex((x) => x.id === i.id)} places={queue.length} onMove={(by, how) => move(i, by, how)} />
          ),
        )}
      </ul>
      {goOn ? (
        <div class="go-on">
          <button type="button" class="small-button" onClick={() => void interrupt(timeline.id, "steer")}>
            <Icon name="arrow" size={14} /> {t("stopAndGoOn")}
          </button>
        </div>
      ) : null}
      <div class="sr" role="status" aria-live="polite">{said}</div>
    </>
  );
}

/** Whether what is pending waits for the person, who stopped the answer. */
function isHeld(timeline: Timeline): boolean {
  const c = timeline.conversation.value;
  return c?.state === "waiting" && c.waiting_for === "resume";
}

/** Why an input is not said yet. */
function whyPending(timeline: Timeline, input: Input): string {
  const c = timeline.conversation.value;
  if (isHeld(timeline)) return t("pendingHeld");
  if (timeline.waitingCalls.value.length > 0) return t("pendingDecide");
  if (c?.state === "blocked") return stateWords(c);
  if (!timeline.running.value) return t("pendingNext");
  return input.delivery === "steer" ? t("pendingSteer") : t("pendingQueue");
}

interface WaitingProps {
  timeline: Timeline;
  input: Input;
  place: number; // among the queued ones; -1 for one that steers
  places: number;
  onMove: (by: -1 | 1, how: "up" | "down" | "key") => void;
}

function Waiting({ timeline, input, place, places, onMove }: WaitingProps) {
  const [editing, setEditing] = useState<string | null>(null);
  const row = useRef<HTMLLIElement>(null);
  const steer = input.delivery === "steer";
  const why = whyPending(timeline, input);
  const active = timeline.running.value || timeline.waitingCalls.value.length > 0;
  const movable = place >= 0 && places > 1;
  const stop = () => {
    setEditing(null);
    requestAnimationFrame(() => row.current?.focus());
  };
  const save = async () => {
    if (editing === null || editing.trim() === "") return;
    // What was attached stays attached: the gate gets the same references.
    const done = await changeInput(timeline.id, input.id, { text: editing, revision: input.revision });
    if (done) stop();
  };
  const takeBack = async () => {
    if (!(await withdraw(timeline.id, input.id))) return;
    focusComposer.value++;
    toast(t("withdrawn"), { action: { label: t("backToComposer"), run: () => void putBack(timeline.id, input) } });
  };
  if (editing !== null)
    return (
      <li class={input.state} data-input={input.id}>
        <form
          class="pending-edit"
          onSubmit={(e) => {
            e.preventDefault();
            void save();
          }}
          onKeyDown={(e) => {
            if (e.isComposing || e.keyCode === 229) return;
            if (e.key === "Escape") stop();
            else if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) void save();
          }}
        >
          <textarea aria-label={t("edit")} value={editing} rows={3} onInput={(e) => setEditing(e.currentTarget.value)} ref={focusOnce} />
          <button type="submit" class="small-button primary">{t("save")}</button>
          <button type="button" class="small-button" onClick={stop}>{t("cancel")}</button>
        </form>
      </li>
    );
  const key = (e: KeyboardEvent) => {
    if (e.altKey && (e.key === "ArrowUp" || e.key === "ArrowDown") && movable) {
      e.preventDefault();
      return onMove(e.key === "ArrowUp" ? -1 : 1, "key");
    }
    if (e.target !== e.currentTarget || e.altKey || e.ctrlKey || e.metaKey) return;
    if (e.key === "Enter") setEditing(input.text);
    else if (e.key === "Delete" || e.key === "Backspace") void takeBack();
    else return;
    e.preventDefault();
  };
  return (
    <li class={input.state} data-input={input.id} tabIndex={0} aria-description={t(movable ? "pendingKeysQueued" : "pendingKeys")} onKeyDown={key} ref={row}>
      <span class="pending-kind" title={why}>
        <Icon name={steer && active ? "arrow" : "queue"} size={14} />
        <span class="sr">{why}</span>
      </span>
      <span class="pending-text" dir="auto">{input.text}</span>
      <span class="pending-tools">
        {movable ? (
          <span class="pending-moves">
            <button type="button" class="ghost icon-button small" data-move="up" aria-label={t("moveUp")} title={`${t("moveUp")} (Alt+↑)`} disabled={place === 0} onClick={() => onMove(-1, "up")}><Icon name="up" size={14} /></button>
            <button type="button" class="ghost icon-button small" data-move="down" aria-label={t("moveDown")} title={`${t("moveDown")} (Alt+↓)`} disabled={place === places - 1} onClick={() => onMove(1, "down")}><Icon name="down" size={14} /></button>
          </span>
        ) : null}
        {active ? (
          <button type="button" class="link" onClick={() => void changeInput(timeline.id, input.id, { delivery: steer ? "queue" : "steer", revision: input.revision })}>
            {steer ? t("toQueue") : t("toSteer")}
          </button>
        ) : null}
        <button type="button" class="link" onClick={() => setEditing(input.text)}>{t("edit")}</button>
        <button type="button" class="link" onClick={() => void takeBack()}>{t("withdraw")}</button>
      </span>
    </li>
  );
}

function focusOnce(el: HTMLTextAreaElement | null): void {
  if (!el || el.dataset["seen"]) return;
  el.dataset["seen"] = "yes";
  el.focus();
  el.setSelectionRange(el.value.length, el.value.length);
}

/** Puts an input that will not be said back into the composer, with what it carried. */
async function putBack(conversation: string, input: Input): Promise<void> {
  const cards = await offerAgain(conversation, input.asked ?? []);
  change(conversation, (d) => ({ ...d, text: d.text ? d.text + "\n\n" + input.text : input.text }));
  for (const card of cards) addCard(conversation, card);
  focusComposer.value++;
}

function Rejected({ timeline, input }: { timeline: Timeline; input: Input }) {
  const back = async () => {
    await putBack(timeline.id, input);
    dismiss(input.id);
  };
  return (
    <>
      <Icon name="warn" size={14} />
      <span class="pending-text" dir="auto">{input.text}</span>
      <span class="pending-reason">{t("rejectedInput", { reason: input.reason ?? input.code ?? "" })}</span>
      <span class="pending-tools">
        <button type="button" class="link" onClick={() => void back()}>{t("backToComposer")}</button>
        <button type="button" class="link" onClick={() => dismiss(input.id)}>{t("dismiss")}</button>
      </span>
    </>
  );
}
