// Times and sizes, in the language chosen.

import { lang } from "./prefs";

const locale = () => (lang.value === "zh" ? "zh-CN" : "en");

const cache = new Map<string, Intl.DateTimeFormat>();

function format(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = locale() + JSON.stringify(options);
  let f = cache.get(key);
  if (!f) cache.set(key, (f = new Intl.DateTimeFormat(locale(), options)));
  return f;
}

export function clock(time: string): string {
  return format({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(new Date(time));
}

export function day(time: string): string {
  const d = new Date(time);
  const sameYear = d.getFullYear() === new Date().getFullYear();
  return format({ weekday: "short", day: "numeric", month: "short", ...(sameYear ? {} : { year: "numeric" }) }).format(d);
}

export function full(time: string): string {
  return format({ dateStyle: "medium", timeStyle: "medium" }).format(new Date(time));
}

/** Local midnight of a time, to tell days apart. */
export function dayKey(time: string): string {
  const d = new Date(time);
  return `${d.getFullYear()}-${d.getMonth()}-${d.getDate()}`;
}

export function bytes(n: number): string {
  if (n < 1024) return `${n} B`;
  if (n < 1024 * 1024) return `${(n / 1024).toFixed(n < 10 * 1024 ? 1 : 0)} KB`;
  return `${(n / 1024 / 1024).toFixed(1)} MB`;
}

export function count(n: number): string {
  return new Intl.NumberFormat(locale()).format(n);
}
