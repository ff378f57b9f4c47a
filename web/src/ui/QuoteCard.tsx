// A reference as a card: pending on a composer, or sent above a message.

import { useState } from "preact/hooks";
import { count } from "../core/format";
import { json, p } from "../core/http";
import { t } from "../core/i18n";
import type { ItemReference } from "../core/types";
import { removeCard, type Card } from "../state/drafts";
import { nameOf, openSource } from "../state/quoting";
import { attempt } from "../state/toasts";
import { Icon } from "./icons";
import { Plain } from "./Marks";

interface Sent {
  conversation: string; // where it was sent
  message: string; // with which
  index: number; // among its references
  reference: ItemReference;
}

/** What went along with a message, as it was then; it leads to the source. */
export function SentCard({ conversation, message, index, reference }: Sent) {
  const [whole, setWhole] = useState<string | null>(null);
  const title = reference.title || t("untitled");
  const name = reference.type === "pointer" ? t("pointerCard", { title }) : t("quoteCard", { title });
  const more = reference.excerpt !== undefined && (reference.text_length ?? 0) > [...reference.excerpt].length;
  const unfold = () =>
    attempt(async () => {
      const got = await json<{ text: string }>(p`/v1/conversations/${conversation}/messages/${message}/references/${index}/body`);
      setWhole(got.text);
    });
  return (
    <div class="sent-card">
      <button type="button" class="card sent" onClick={() => void openSource(reference)} aria-label={`${name}. ${t("openSource")}`}>
        <span class="card-head">
          <Icon name={reference.type === "pointer" ? "link" : "quote"} size={14} />
          <bdi class="card-title"><Plain text={title} /></bdi>
          <Icon name="arrow" size={13} />
        </span>
        {reference.excerpt && whole === null ? (
          <span class="card-text" dir="auto"><Plain text={reference.excerpt} />{more ? "…" : ""}</span>
        ) : null}
      </button>
      {whole !== null ? <div class="card-whole" dir="auto" tabIndex={0}><Plain text={whole} /></div> : null}
      {more ? (
        <button type="button" class="link small" aria-expanded={whole !== null} onClick={() => (whole === null ? void unfold() : setWhole(null))}>
          {whole === null ? t("wholeQuote", { n: count(reference.text_length ?? 0) }) : t("showLess")}
        </button>
      ) : null}
    </div>
  );
}

export function PendingCard({ target, card, onRemoved }: { target: string; card: Card; onRemoved: () => void }) {
  const title = card.preview?.title || nameOf(card.reference.conversation);
  const name = card.reference.type === "pointer" ? t("pointerCard", { title }) : t("quoteCard", { title });
  const needs = card.preview?.needs_confirmation === true && !card.confirmed;
  const remove = () => {
    removeCard(target, card.reference);
    onRemoved();
  };
  return (
    <div
      class={`card pending${needs || card.fault ? " attention" : ""}`}
      role="group"
      tabIndex={0}
      aria-label={`${name}. ${t("cardHint")}`}
      data-source={card.reference.conversation}
      data-message={card.reference.message}
      onKeyDown={(e) => {
        if (e.target !== e.currentTarget) return;
        if (e.key === "Delete" || e.key === "Backspace") {
          e.preventDefault();
          remove();
        } else if (e.key === "Enter") {
          e.preventDefault();
          void openSource(card.reference);
        }
      }}
    >
      <span class="card-head">
        <Icon name={card.reference.type === "pointer" ? "link" : "quote"} size={14} />
        <bdi class="card-title"><Plain text={title} /></bdi>
        {card.preview?.needs_confirmation ? (
          <span class={`card-state ${card.confirmed ? "yes" : "no"}`}>
            <Icon name={card.confirmed ? "check" : "warn"} size={13} />
            {card.confirmed ? t("cardConfirmed") : t("cardNeeds")}
          </span>
        ) : null}
        <button type="button" class="ghost icon-button small" aria-label={t("removeCard")} title={t("removeCard")} onClick={remove}>
          <Icon name="close" size={14} />
        </button>
      </span>
      {card.fault ? <span class="card-fault">{card.fault}</span> : null}
      {card.preview?.excerpt ? (
        <span class="card-text" dir="auto"><Plain text={card.preview.excerpt} />{card.preview.text_length > [...card.preview.excerpt].length ? "…" : ""}</span>
      ) : null}
    </div>
  );
}
