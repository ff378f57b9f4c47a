// What waits in the inbox: accepted, not yet said.

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { t } from "../core/i18n";
import { read, write } from "../core/prefs";
import type { Input } from "../core/types";
import { changeInput, retry, withdraw } from "../state/acting";
import { addCard, change } from "../state/drafts";
import type { Timeline } from "../state/timeline";
import { focusComposer, offerAgain } from "../state/quoting";
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
  if (list.length === 0) return null;
  const waiting = list.filter((i) => i.state === "pending").length;
  return (
    <ul class="pending" aria-label={t("pending")}>
      {waiting > 0 && isHeld(timeline) ? (
        <li class="held">
          <Icon name="stop" size={14} />
          <span class="pending-text">{t(waiting === 1 ? "heldOne" : "heldMany")}</span>
          <button type="button" class="small-button primary" onClick={() => void retry(timeline.id)}>{t("release")}</button>
        </li>
      ) : null}
      {list.map((i) => (
        <li key={i.id} class={i.state} data-input={i.id}>
          {i.state === "rejected" ? <Rejected timeline={timeline} input={i} /> : <Waiting timeline={timeline} input={i} />}
        </li>
      ))}
    </ul>
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
  if (c?.state === "blocked") return stateWords(c);
  if (!timeline.running.value) return t("pendingNext");
  return input.delivery === "steer" ? t("pendingSteer") : t("pendingQueue");
}

function Waiting({ timeline, input }: { timeline: Timeline; input: Input }) {
  const [editing, setEditing] = useState<string | null>(null);
  const steer = input.delivery === "steer";
  const why = whyPending(timeline, input);
  const save = async () => {
    if (editing === null || editing.trim() === "") return;
    // What was attached stays attached: the gate gets the same references.
    const done = await changeInput(timeline.id, input.id, { text: editing, revision: input.revision });
    if (done) setEditing(null);
  };
  if (editing !== null)
    return (
      <form
        class="pending-edit"
        onSubmit={(e) => {
          e.preventDefault();
          void save();
        }}
      >
        <textarea aria-label={t("edit")} value={editing} rows={3} data-autofocus onInput={(e) => setEditing(e.currentTarget.value)} ref={(el: HTMLTextAreaElement | null) => el?.focus()} onKeyDown={(e) => e.key === "Escape" && setEditing(null)} />
        <button type="submit" class="small-button primary">{t("save")}</button>
        <button type="button" class="small-button" onClick={() => setEditing(null)}>{t("cancel")}</button>
      </form>
    );
  return (
    <>
      <span class="pending-kind" title={why}>
        <Icon name={steer && timeline.running.value ? "arrow" : "queue"} size={14} />
        <span class="sr">{why}</span>
      </span>
      <span class="pending-text" dir="auto">{input.text}</span>
      <span class="pending-tools">
        {timeline.running.value ? (
          <button type="button" class="link" onClick={() => void changeInput(timeline.id, input.id, { delivery: steer ? "queue" : "steer", revision: input.revision })}>
            {steer ? t("toQueue") : t("toSteer")}
          </button>
        ) : null}
        <button type="button" class="link" onClick={() => setEditing(input.text)}>{t("edit")}</button>
        <button type="button" class="link" onClick={() => void withdraw(timeline.id, input.id)}>{t("withdraw")}</button>
      </span>
    </>
  );
}

function Rejected({ timeline, input }: { timeline: Timeline; input: Input }) {
  const back = async () => {
    const cards = await offerAgain(timeline.id, input.asked ?? []);
    change(timeline.id, (d) => ({ ...d, text: d.text ? d.text + "\n\n" + input.text : input.text }));
    for (const card of cards) addCard(timeline.id, card);
    dismiss(input.id);
    focusComposer.value++;
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
