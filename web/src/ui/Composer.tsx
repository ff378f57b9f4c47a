// Where a message is written. Everything here belongs to one conversation: its
// draft, its cards, its sending.

import { useEffect, useRef } from "preact/hooks";
import { t } from "../core/i18n";
import { interrupt, stopEditing } from "../state/acting";
import { draft, newDraft, storable } from "../state/drafts";
import { focusComposer } from "../state/quoting";
import { scrollDown } from "../state/scroll";
import { answerAsk, resume, sending, submit } from "../state/sending";
import type { Timeline } from "../state/timeline";
import { words } from "../state/toasts";
import { AskDialog } from "./CrossingDialog";
import { Editor, touchTyping } from "./Editor";
import { Icon } from "./icons";
import { Pending } from "./Pending";
import { Standing } from "./Standing";
import { PendingCard } from "./QuoteCard";

interface Props {
  conversation: string;
  timeline: Timeline | null; // null while there is no conversation yet
  onStart?: () => Promise<void>;
}

export function Composer({ conversation, timeline, onStart }: Props) {
  const d = draft(conversation).value;
  const state = sending(conversation).value;
  const box = useRef<HTMLDivElement>(null);
  const running = timeline?.running.value ?? false;
  const asking = (timeline?.waitingCalls.value.length ?? 0) > 0;
  const busy = state.phase === "sending";

  useEffect(() => {
    if (conversation !== newDraft) resume(conversation);
  }, [conversation]);

  const go = (queue: boolean) => {
    if (busy) return;
    if (onStart) {
      if (draft(conversation).peek().text.trim() !== "") void onStart();
      return;
    }
    void submit(conversation, queue && running ? "queue" : "steer").then((ok) => ok && scrollDown.value++);
  };

  const placeholder = touchTyping() ? t("placeholderTouch") : asking ? t("placeholderWaiting") : running ? t("placeholderRunning") : t("placeholderIdle");
  const focusCard = () => {
    const cards = box.current?.querySelectorAll<HTMLElement>(".card.pending");
    const last = cards?.[cards.length - 1];
    last?.focus();
    return last !== undefined;
  };

  return (
    <section class="composer" aria-label={t("composer")} ref={box} data-conversation={conversation}>
      {timeline ? <Standing timeline={timeline} /> : null}
      {timeline ? <Pending timeline={timeline} /> : null}
      <div class="composer-box">
        {d.replaces ? (
          <div class="composer-note">
            <Icon name="pencil" size={14} /> <span>{t("replacing")}</span>
            <button type="button" class="link" onClick={() => stopEditing(conversation)}>{t("stopEditing")}</button>
          </div>
        ) : null}
        {d.cards.length > 0 ? (
          <div class="cards">
            {d.cards.map((c) => (
              <PendingCard target={conversation} card={c} key={`${c.reference.type}/${c.reference.conversation}/${c.reference.message}`} onRemoved={() => focusComposer.value++} />
            ))}
          </div>
        ) : null}
        <Editor
          key={conversation}
          conversation={conversation}
          placeholder={placeholder}
          label={t("composer")}
          onEnter={go}
          onUpAtStart={() => draft(conversation).peek().text === "" && focusCard()}
        />
        <div class="composer-bar">
          <Status conversation={conversation} />
          {running || asking ? (
            <button type="button" class="ghost round" aria-label={t("stop")} title={`${t("stop")} (Esc)`} aria-keyshortcuts="Escape" onClick={() => void interrupt(conversation)}>
              <Icon name="stop" />
            </button>
          ) : null}
          {running && d.text.trim() !== "" ? (
            <button type="button" class="ghost round" aria-label={t("queueSend")} title={`${t("queueSend")} (Alt+Enter)`} disabled={busy} onClick={() => go(true)}>
              <Icon name="queue" />
            </button>
          ) : null}
          <button type="button" class="primary round send" aria-label={t("send")} title={t("send")} disabled={busy || d.text.trim() === ""} onClick={() => go(false)}>
            <Icon name="send" />
          </button>
        </div>
      </div>
      {state.ask ? <AskDialog conversation={conversation} ask={state.ask} onAnswer={(yes) => void answerAsk(conversation, yes).then(() => yes && scrollDown.value++)} /> : null}
    </section>
  );
}

function Status({ conversation }: { conversation: string }) {
  const state = sending(conversation).value;
  let text = "";
  let bad = false;
  if (state.phase === "sending") text = t("sending");
  else if (state.phase === "waiting") text = t("sendWaiting");
  else if (state.note) text = t(state.note);
  else if (state.problem) {
    text = `${t("sendRefused")}: ${words(state.problem)}`;
    bad = true;
  } else if (!storable.value) {
    text = t("draftTooBig");
    bad = true;
  }
  return (
    <span class={`composer-status${bad ? " bad" : ""}`} role="status" aria-live="polite">
      {text}
      {state.phase === "waiting" ? (
        <button type="button" class="link" onClick={() => void submit(conversation, draft(conversation).peek().unsure?.delivery ?? "steer")}>{t("sendNow")}</button>
      ) : null}
    </span>
  );
}
