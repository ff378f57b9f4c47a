import { signal } from "@preact/signals";
import { send, signedIn } from "../core/http";
import { t, type Word } from "../core/i18n";
import { lang, theme, touchEnter, type Lang, type Theme } from "../core/prefs";
import { attempt } from "../state/toasts";
import { Dialog } from "./Dialog";
import { ToolRules } from "./ToolRules";

export const settingsOpen = signal(false);

export function LanguageSwitch() {
  return (
    <label class="language">
      <span class="sr">{t("language")}</span>
      <select value={lang.value} onChange={(e) => (lang.value = e.currentTarget.value as Lang)}>
        <option value="en" lang="en">English</option>
        <option value="zh" lang="zh-CN">中文</option>
      </select>
    </label>
  );
}

interface Choice<T extends string> {
  legend: Word;
  name: string;
  value: T;
  options: readonly (readonly [T, Word])[];
  onChange: (v: T) => void;
}

export function Segmented<T extends string>({ legend, name, value, options, onChange }: Choice<T>) {
  return (
    <fieldset class="segmented">
      <legend>{t(legend)}</legend>
      <div>
        {options.map(([v, word]) => (
          <label key={v}>
            <input type="radio" name={name} value={v} checked={v === value} onChange={() => onChange(v)} />
            <span>{t(word)}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

export function Settings() {
  if (!settingsOpen.value) return null;
  const close = () => (settingsOpen.value = false);
  const out = () =>
    attempt(async () => {
      await send("/v1/session", { method: "DELETE" });
      signedIn.value = false;
      close();
    });
  return (
    <Dialog title={t("settings")} onClose={close} class="settings">
      <Segmented<Theme>
        legend="theme"
        name="theme"
        value={theme.value}
        options={[["auto", "themeAuto"], ["light", "themeLight"], ["dark", "themeDark"]]}
        onChange={(v) => (theme.value = v)}
      />
      <fieldset class="segmented">
        <legend>{t("language")}</legend>
        <LanguageSwitch />
      </fieldset>
      <Segmented<"newline" | "send">
        legend="touchEnter"
        name="touch-enter"
        value={touchEnter.value}
        options={[["newline", "touchNewline"], ["send", "touchSend"]]}
        onChange={(v) => (touchEnter.value = v)}
      />
      <ToolRules />
      <div class="dialog-foot">
        <a class="link" href="/docs" target="_blank" rel="noopener noreferrer">{t("api")}</a>
        <button type="button" class="button" onClick={() => void out()}>{t("signOut")}</button>
      </div>
    </Dialog>
  );
}
