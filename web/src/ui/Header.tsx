import { full } from "../core/format";
import { t } from "../core/i18n";
import { sidebar } from "../core/prefs";
import { href } from "../core/router";
import { patch } from "../state/acting";
import { inspectorOpen, setInspector } from "../state/inspector";
import type { Timeline } from "../state/timeline";
import { attempt } from "../state/toasts";
import { askRename, askVisibility, conversationActions } from "./ConversationDialogs";
import { Icon } from "./icons";
import { originWords, ScopeWords, Title } from "./Marks";
import { openMenuBy } from "./Menu";
import { ModelSelect } from "./Models";

export function ListButton() {
  if (sidebar.value === "open") return null;
  return (
    <button type="button" class="ghost icon-button" aria-label={t("showList")} title={t("showList")} onClick={() => (sidebar.value = "open")}>
      <Icon name="panel" />
    </button>
  );
}

export function Header({ timeline }: { timeline: Timeline }) {
  const c = timeline.conversation.value;
  if (!c)
    return (
      <header class="top"><ListButton /></header>
    );
  return (
    <header class="top">
      <ListButton />
      <div class="top-title">
        <h1>
          <button type="button" class="ghost title-button" title={t("rename")} onClick={() => askRename(c)}><Title c={c} /></button>
        </h1>
        <div class="top-marks">
          <button type="button" class="ghost scope-button" title={t("visibilityChange")} aria-label={`${t("visibilityChange")}: ${t(c.visibility.level)}${c.visibility.category ? ", " + c.visibility.category : ""}`} onClick={() => askVisibility(c)}>
            <ScopeWords scope={c.visibility} />
          </button>
          {c.parent ? (
            <a class="mark-kind" href={href(c.parent)} title={t("parentLink")}>
              <Icon name="branch" size={13} /> {t("branchKind")}
            </a>
          ) : null}
          {c.origin ? (
            <span class="mark-origin" title={`${originWords(c.origin)}: ${c.origin.file}, ${full(c.origin.imported_at)}`}>
              <Icon name="import" size={13} /> <span>{originWords(c.origin)}</span>
            </span>
          ) : null}
          {c.archived ? <span class="tag">{t("archived")}</span> : null}
        </div>
      </div>
      <ModelSelect value={c.model ?? ""} onChange={(model) => void attempt(() => patch(c.id, { model }))} />
      <button type="button" class="ghost icon-button" aria-pressed={inspectorOpen.value} aria-label={t("showInspector")} title={t("showInspector")} onClick={() => setInspector(!inspectorOpen.peek())}>
        <Icon name="scope" />
      </button>
      <button type="button" class="ghost icon-button" aria-haspopup="menu" aria-label={t("more")} title={t("more")} onClick={(e) => openMenuBy(e.currentTarget, t("more"), conversationActions(c))}>
        <Icon name="more" />
      </button>
    </header>
  );
}
