// "Quote into…": choose a target, then, only where a boundary is crossed, say
// yes or no to the server's sentence.

import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../core/i18n";
import type { Conversation } from "../core/types";
import { create, learned } from "../state/list";
import { cancelQuote, confirmQuote, pick, quoting, targets } from "../state/quoting";
import { attempt } from "../state/toasts";
import { Answers, Crossing } from "./CrossingDialog";
import { Dialog } from "./Dialog";
import { Icon } from "./icons";
import { Marks, Title } from "./Marks";

export function QuoteDialog() {
  const q = quoting.value;
  if (!q) return null;
  if (q.stage === "confirm" && q.preview && q.target)
    return (
      <Dialog key="confirm" title={t("crossing")} class="crossing-dialog" onClose={cancelQuote}>
        <Crossing preview={q.preview} targetTitle={q.target.title} />
        <Answers yes={t("quoteAnyway")} onYes={confirmQuote} onNo={cancelQuote} />
      </Dialog>
    );
  return (
    <Dialog key="pick" title={q.reference.type === "pointer" ? t("pickTargetPointer") : t("pickTarget")} class="picker-dialog" onClose={cancelQuote}>
      <Picker source={q.reference.conversation} busy={q.stage === "asking"} fault={q.fault} />
    </Dialog>
  );
}

function Picker({ source, busy, fault }: { source: string; busy: boolean; fault: string | undefined }) {
  const [words, setWords] = useState("");
  const [found, setFound] = useState<Conversation[] | null>(null);
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);

  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(
      () =>
        targets(words, source, abort.signal).then(
          (got) => {
            got.forEach(learned);
            setFound(got);
            setAt(0);
          },
          () => abort.signal.aborted || setFound([]),
        ),
      words ? 120 : 0,
    );
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [words, source]);

  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [at, found]);

  const options = found ?? [];
  const count = options.length + 1; // the last one makes a new conversation
  const choose = (index: number) => {
    const c = options[index];
    if (c) void pick({ id: c.id, title: c.title });
    else
      void attempt(async () => {
        const made = await create({ level: "open" }, words.trim() || undefined);
        await pick({ id: made.id, title: made.title });
      });
  };
  const key = (e: KeyboardEvent) => {
    if (e.isComposing || e.keyCode === 229) return;
    if (e.key === "ArrowDown") setAt((at + 1) % count);
    else if (e.key === "ArrowUp") setAt((at - 1 + count) % count);
    else if (e.key === "Enter") choose(at);
    else return;
    e.preventDefault();
  };

  return (
    <div class="picker">
      <label class="field search">
        <Icon name="search" size={16} />
        <span class="sr">{t("searchConversations")}</span>
        <input
          type="text"
          data-autofocus
          role="combobox"
          aria-expanded="true"
          aria-controls="targets"
          aria-autocomplete="list"
          aria-activedescendant={`target-${at}`}
          placeholder={t("searchConversations")}
          value={words}
          onInput={(e) => setWords(e.currentTarget.value)}
          onKeyDown={key}
        />
      </label>
      {fault ? <p class="fault" role="alert">{fault}</p> : null}
      <ul class="options" role="listbox" id="targets" aria-label={t("targets")} aria-busy={busy} ref={list}>
        {found === null ? <li class="quiet">{t("loading")}</li> : null}
        {options.map((c, i) => (
          <li role="option" id={`target-${i}`} aria-selected={i === at} key={c.id} data-target={c.id} onPointerMove={() => setAt(i)} onClick={() => choose(i)}>
            <span class="option-title"><Title c={c} /></span>
            <Marks c={c} />
          </li>
        ))}
        <li role="option" id={`target-${options.length}`} aria-selected={at === options.length} class="option-new" onPointerMove={() => setAt(options.length)} onClick={() => choose(options.length)}>
          <Icon name="plus" size={15} /> <span class="option-title">{t("newConversation")}{words.trim() ? `: ${words.trim()}` : ""}</span>
        </li>
      </ul>
    </div>
  );
}
