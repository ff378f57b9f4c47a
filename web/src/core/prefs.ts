// What a person likes, kept in this browser. boot.ts applies theme and
// language before the first paint with the same keys.

import { effect, signal } from "@preact/signals";

export type Theme = "auto" | "light" | "dark";
export type Lang = "en" | "zh";

export function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // storage is forbidden here: preferences last as long as the page
  }
}

export function write(key: string, value: string | null): boolean {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
    return true;
  } catch {
    return false; // full or forbidden
  }
}

function kept<T extends string>(key: string, allowed: readonly T[], initial: T) {
  const stored = read(key) as T | null;
  const s = signal<T>(stored !== null && allowed.includes(stored) ? stored : initial);
  let first = true;
  effect(() => {
    const v = s.value;
    if (!first) write(key, v);
    first = false;
  });
  return s;
}

const preferred: Lang = navigator.languages?.[0]?.toLowerCase().startsWith("zh") ? "zh" : "en";

export const theme = kept<Theme>("weir.theme", ["auto", "light", "dark"], "auto");
export const lang = kept<Lang>("weir.lang", ["en", "zh"], preferred);
export const touchEnter = kept<"newline" | "send">("weir.touch_enter", ["newline", "send"], "newline");

const sidebarBeside = kept<"open" | "closed">("weir.sidebar", ["open", "closed"], "open");

/** Where the list lies over the conversation instead of beside it. */
export const narrow = window.matchMedia("(max-width: 800px)");

/** The list as it is now. What is kept is only what was chosen where there is room for it. */
export const sidebar = signal<"open" | "closed">("open");
const byWidth = () => (sidebar.value = narrow.matches ? "closed" : sidebarBeside.peek());
byWidth();
narrow.addEventListener("change", byWidth);
effect(() => {
  const v = sidebar.value;
  if (!narrow.matches) sidebarBeside.value = v;
});

effect(() => {
  document.documentElement.dataset["theme"] = theme.value;
});
effect(() => {
  document.documentElement.lang = lang.value === "zh" ? "zh-CN" : "en";
});
