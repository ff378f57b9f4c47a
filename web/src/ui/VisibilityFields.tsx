import { t } from "../core/i18n";
import type { Level, Visibility } from "../core/types";
import { categories } from "../state/list";
import { Icon } from "./icons";

interface Props {
  value: Visibility;
  onChange: (v: Visibility) => void;
  compact?: boolean;
}

const levels: Level[] = ["open", "isolated"];

/** The wall and the label of a conversation. */
export function VisibilityFields({ value, onChange, compact = false }: Props) {
  return (
    <div class={`visibility-fields${compact ? " compact" : ""}`}>
      <fieldset class="levels">
        <legend class={compact ? "sr" : ""}>{t("visibility")}</legend>
        {levels.map((level) => (
          <label class={value.level === level ? "chosen" : ""} key={level} title={t(level === "open" ? "openHint" : "isolatedHint")}>
            <input type="radio" name="level" value={level} checked={value.level === level} onChange={() => onChange({ ...value, level })} />
            <span class="level-name">
              {level === "isolated" ? <Icon name="lock" size={14} /> : null}
              {t(level)}
            </span>
            <span class="level-hint">{t(level === "open" ? "openHint" : "isolatedHint")}</span>
          </label>
        ))}
      </fieldset>
      <label class="field category">
        <span class={compact ? "sr" : ""}>{t("category")}</span>
        <Icon name="tag" size={14} />
        <input
          type="text"
          list="categories"
          maxLength={120}
          placeholder={t("categoryNone")}
          title={t("categoryHint")}
          value={value.category ?? ""}
          onInput={(e) => {
            const category = e.currentTarget.value.trim();
            onChange(category ? { level: value.level, category } : { level: value.level });
          }}
        />
        <datalist id="categories">
          {categories.value.map((c) => <option value={c} key={c} />)}
        </datalist>
      </label>
    </div>
  );
}
