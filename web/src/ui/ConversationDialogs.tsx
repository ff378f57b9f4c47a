// What is asked about a conversation as a whole: its name, its wall, its end.

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { t } from "../core/i18n";
import { href } from "../core/router";
import type { Conversation, Visibility } from "../core/types";
import { patch, remove, type Question, type Removal } from "../state/acting";
import { beginPointer } from "../state/quoting";
import { attempt, words } from "../state/toasts";
import { Answers } from "./CrossingDialog";
import { Dialog } from "./Dialog";
import { Plain } from "./Marks";
import type { Action } from "./Menu";
import { ChooseModel } from "./Models";
import { VisibilityFields } from "./VisibilityFields";

type Asked = { what: "rename" | "visibility" | "model" | "delete"; c: Conversation };
const asked = signal<Asked | null>(null);
const close = () => (asked.value = null);

export const askRename = (c: Conversation): void => void (asked.value = { what: "rename", c });
export const askVisibility = (c: Conversation): void => void (asked.value = { what: "visibility", c });
export const askModel = (c: Conversation): void => void (asked.value = { what: "model", c });
export const askDelete = (c: Conversation): void => void (asked.value = { what: "delete", c });

export function conversationActions(c: Conversation): Action[] {
  return [
    { label: t("rename"), icon: "pencil", run: () => askRename(c) },
    { label: t("visibilityChange"), icon: "lock", run: () => askVisibility(c) },
    { label: t("modelChange"), icon: "gear", run: () => askModel(c) },
    { label: t("pointInto"), icon: "link", run: () => beginPointer(c.id) },
    { label: c.archived ? t("unarchive") : t("archive"), icon: "archive", run: () => void attempt(() => patch(c.id, { archived: !c.archived })) },
    { label: t("delete"), icon: "trash", danger: true, run: () => askDelete(c) },
  ];
}

export function ConversationDialogs() {
  const a = asked.value;
  if (!a) return null;
  if (a.what === "rename") return <Rename c={a.c} />;
  if (a.what === "visibility") return <ChangeVisibility c={a.c} />;
  if (a.what === "model") return <ChooseModel c={a.c} onClose={close} />;
  return <Delete c={a.c} />;
}

function Rename({ c }: { c: Conversation }) {
  const [title, setTitle] = useState(c.title);
  const [fault, setFault] = useState("");
  const save = async (e: Event) => {
    e.preventDefault();
    try {
      await patch(c.id, { title: title.trim() });
      close();
    } catch (err) {
      setFault(words(err));
    }
  };
  return (
    <Dialog title={t("renameTitle")} onClose={close}>
      <form onSubmit={(e) => void save(e)}>
        <label class="field">
          <span>{t("title")}</span>
          <input type="text" data-autofocus value={title} maxLength={400} onInput={(e) => setTitle(e.currentTarget.value)} onFocus={(e) => e.currentTarget.select()} />
        </label>
        <p class="fault" role="alert">{fault}</p>
        <div class="dialog-foot">
          <button type="button" class="button" onClick={close}>{t("cancel")}</button>
          <button type="submit" class="button primary" disabled={title.trim() === ""}>{t("save")}</button>
        </div>
      </form>
    </Dialog>
  );
}

function ChangeVisibility({ c }: { c: Conversation }) {
  const [value, setValue] = useState<Visibility>(
    c.visibility.category ? { level: c.visibility.level, category: c.visibility.category } : { level: c.visibility.level },
  );
  const [question, setQuestion] = useState<Question | null>(null);
  const [fault, setFault] = useState("");
  const visibility = () => ({ level: value.level, category: value.category ?? "" });
  const save = async (confirmed?: Question) => {
    setFault("");
    try {
      const asks = await patch(c.id, {
        visibility: visibility(),
        ...(confirmed ? { confirmed: true as const, seen: confirmed.digest } : {}),
      });
      if (asks) setQuestion(asks);
      else close();
    } catch (err) {
      setFault(words(err));
    }
  };
  if (question)
    return (
      <Dialog key="question" title={t("crossing")} class="crossing-dialog" onClose={close}>
        <p class="sentence"><Plain text={question.confirmation} /></p>
        <p class="fault" role="alert">{fault}</p>
        <Answers yes={t("visibilityChange")} onYes={() => void save(question)} onNo={close} />
      </Dialog>
    );
  return (
    <Dialog key="fields" title={t("visibilityChange")} onClose={close}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void save();
        }}
      >
        <VisibilityFields value={value} onChange={setValue} />
        <p class="fault" role="alert">{fault}</p>
        <div class="dialog-foot">
          <button type="button" class="button" onClick={close}>{t("cancel")}</button>
          <button type="submit" class="button primary">{t("save")}</button>
        </div>
      </form>
    </Dialog>
  );
}

function Delete({ c }: { c: Conversation }) {
  const [stage, setStage] = useState<Removal | null>(null);
  const go = (choice?: "keep" | "delete") =>
    attempt(async () => {
      const came = await remove(c.id, choice);
      if ("copies" in came && came.copies.length === 0) close();
      else setStage(came);
    });
  const title = c.title || t("untitled");
  if (stage && "copies" in stage)
    return (
      <Dialog key="copies" title={t("deleted")} onClose={close}>
        <p>{t("copiesStay")}</p>
        <ul class="branch-list">
          {stage.copies.map((x, i) => (
            <li key={i}><a href={href(x.conversation)} onClick={close}><Plain text={x.title || t("untitled")} /></a></li>
          ))}
        </ul>
        <div class="dialog-foot">
          <button type="button" class="button" data-autofocus onClick={close}>{t("close")}</button>
        </div>
      </Dialog>
    );
  return (
    <Dialog key="ask" title={t("deleteTitle")} onClose={close}>
      <p><Plain text={t("deleteLead", { title })} /></p>
      {stage ? (
        <>
          <p>{t("deleteBranches")}</p>
          <ul class="branch-list">{stage.branches.map((b) => <li key={b.id}><Plain text={b.title || b.id} /></li>)}</ul>
        </>
      ) : null}
      <div class="dialog-foot">
        <button type="button" class="button" data-autofocus onClick={close}>{t("cancel")}</button>
        {stage ? (
          <>
            <button type="button" class="button" onClick={() => void go("keep")}>{t("deleteKeep")}</button>
            <button type="button" class="button danger" onClick={() => void go("delete")}>{t("deleteAll")}</button>
          </>
        ) : (
          <button type="button" class="button danger" onClick={() => void go()}>{t("deleteDo")}</button>
        )}
      </div>
    </Dialog>
  );
}
