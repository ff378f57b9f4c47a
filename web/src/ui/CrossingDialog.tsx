// Where content would cross a boundary, the person is asked, in the server's
// own sentence and with everything it is about. The default answer is no.

import { t } from "../core/i18n";
import type { Preview } from "../core/types";
import { nameOf } from "../state/quoting";
import type { Sending } from "../state/sending";
import { Dialog } from "./Dialog";
import { Icon } from "./icons";
import { Plain, ScopeWords } from "./Marks";
import { count } from "../core/format";

export function Crossing({ preview, targetTitle }: { preview: Preview; targetTitle: string }) {
  return (
    <div class="crossing">
      <p class="sentence"><Plain text={preview.confirmation ?? ""} /></p>
      <div class="route">
        <End label={t("from")} title={preview.title} scope={preview.source} />
        <Icon name="arrow" size={18} />
        <End label={t("to")} title={targetTitle} scope={preview.target} />
      </div>
      {preview.excerpt ? (
        <figure class="excerpt">
          <blockquote dir="auto"><Plain text={preview.excerpt} />{preview.text_length > [...preview.excerpt].length ? "…" : ""}</blockquote>
          <figcaption>
            {t("characters", { n: count(preview.text_length) })}
            {preview.truncated ? ` · ${t("cutTo")}` : ""}
          </figcaption>
        </figure>
      ) : null}
    </div>
  );
}

function End({ label, title, scope }: { label: string; title: string; scope: Preview["source"] }) {
  return (
    <div class="end">
      <span class="end-label">{label}</span>
      <strong><bdi><Plain text={title || t("untitled")} /></bdi></strong>
      <ScopeWords scope={scope} />
    </div>
  );
}

export function Answers({ yes, onYes, onNo }: { yes: string; onYes: () => void; onNo: () => void }) {
  return (
    <div class="dialog-foot">
      <button type="button" class="button" data-autofocus onClick={onNo}>{t("cancel")}</button>
      <button type="button" class="button caution" onClick={onYes}>{yes}</button>
    </div>
  );
}

/** Sending was refused until these are confirmed. */
export function AskDialog({ conversation, ask, onAnswer }: { conversation: string; ask: NonNullable<Sending["ask"]>; onAnswer: (yes: boolean) => void }) {
  return (
    <Dialog title={ask.stale ? t("changedMeanwhile") : t("crossing")} class="crossing-dialog" onClose={() => onAnswer(false)}>
      {ask.previews.map((x) => <Crossing preview={x} targetTitle={nameOf(conversation)} key={x.digest} />)}
      <Answers yes={t("sendAnyway")} onYes={() => onAnswer(true)} onNo={() => onAnswer(false)} />
    </Dialog>
  );
}
