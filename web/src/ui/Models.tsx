// Which model answers: a list in the header, or a dialog where that has no room.

import { useEffect, useState } from "preact/hooks";
import { json } from "../core/http";
import { t } from "../core/i18n";
import type { Conversation, Model } from "../core/types";
import { patch } from "../state/acting";
import { attempt } from "../state/toasts";
import { Dialog } from "./Dialog";

let asked: Promise<Model[]> | null = null;
function allModels(): Promise<Model[]> {
  asked ??= json<{ items?: Model[] }>("/v1/models?usable=true").then(
    (got) => got.items ?? [],
    () => {
      asked = null; // asked again next time
      return [];
    },
  );
  return asked;
}

function useModels(): Model[] {
  const [list, setList] = useState<Model[]>([]);
  useEffect(() => void allModels().then(setList), []);
  return list;
}

/**
 * What a model is called: by its name where that tells it apart. A word that
 * any provider might use ("default", "m"), or that two of them do, says less
 * than the id.
 */
function label(m: Model, all: Model[]): string {
  const name = m.name ?? m.id;
  if (/[\d-]/.test(name) && all.filter((x) => (x.name ?? x.id) === name).length === 1) return name;
  return !m.provider || m.id.startsWith(m.provider + "/") ? m.id : `${m.id} (${m.provider})`;
}

interface Option {
  id: string; // "" for the default
  label: string;
}

function options(all: Model[], value: string): Option[] {
  const initial = all.find((m) => m.default);
  const list: Option[] = [{ id: "", label: initial ? label(initial, all) : t("modelDefault") }];
  for (const m of all) if (m.id !== initial?.id) list.push({ id: m.id, label: label(m, all) });
  // What is set may be the default by name, or gone from the catalogue.
  if (!list.some((o) => o.id === value)) list.push({ id: value, label: value });
  return list;
}

export function ModelSelect({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const list = useModels();
  if (list.length === 0) return null;
  return (
    <label class="model-select">
      <span class="sr">{t("model")}</span>
      <select value={value} onChange={(e) => onChange(e.currentTarget.value)}>
        {options(list, value).map((o) => <option value={o.id} key={o.id}>{o.label}</option>)}
      </select>
    </label>
  );
}

export function ChooseModel({ c, onClose }: { c: Conversation; onClose: () => void }) {
  const list = useModels();
  const value = c.model ?? "";
  const choose = (model: string) => {
    onClose();
    if (model !== value) void attempt(() => patch(c.id, { model }));
  };
  return (
    <Dialog title={t("model")} onClose={onClose} class="choose-model">
      <ul class="choices">
        {options(list, value).map((o) => (
          <li key={o.id}>
            <button type="button" class="button" aria-pressed={o.id === value} data-autofocus={o.id === value} onClick={() => choose(o.id)}>{o.label}</button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
