import { useEffect, useState } from "preact/hooks";
import { json } from "../core/http";
import { t } from "../core/i18n";
import { sidebar } from "../core/prefs";
import { href } from "../core/router";
import type { Model } from "../core/types";
import { patch } from "../state/acting";
import { inspectorOpen, setInspector } from "../state/inspector";
import type { Timeline } from "../state/timeline";
import { attempt } from "../state/toasts";
import { askRename, askVisibility, conversationActions } from "./ConversationDialogs";
import { Icon } from "./icons";
import { ScopeWords, Title } from "./Marks";
import { openMenuBy } from "./Menu";

export function ListButton() {
  if (sidebar.value === "open") return null;
  return (
    <button type="button" class="ghost icon-button" aria-label={t("showList")} title={t("showList")} onClick={() => (sidebar.value = "open")}>
      <Icon name="panel" />
    </button>
  );
}

let models: Promise<Model[]> | null = null;
function allModels(): Promise<Model[]> {
  models ??= json<{ items?: Model[] }>("/v1/models").then(
    (got) => got.items ?? [],
    () => {
      models = null; // asked again next time
      return [];
    },
  );
  return models;
}

export function ModelSelect({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const [list, setList] = useState<Model[]>([]);
  useEffect(() => void allModels().then(setList), []);
  if (list.length === 0) return null;
  const initial = list.find((m) => m.default);
  return (
    <label class="model-select">
      <span class="sr">{t("model")}</span>
      <select value={value} onChange={(e) => onChange(e.currentTarget.value)}>
        <option value="">{initial ? (initial.name ?? initial.id) : t("modelDefault")}</option>
        {list.filter((m) => m.id !== initial?.id).map((m) => <option value={m.id} key={m.id}>{m.name ?? m.id}</option>)}
        {value !== "" && !list.some((m) => m.id === value) ? <option value={value}>{value}</option> : null}
      </select>
    </label>
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
