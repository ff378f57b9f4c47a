// One menu for the whole page. It is opened by a button, a right click,
// Shift+F10 or a long press, and closed by choosing, Escape, Tab, or pressing
// anywhere else. It listens for NEW presses only (pointerdown): the events of
// the gesture that opened it (contextmenu, pointerup, auxclick) close nothing.

import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Icon, type IconName } from "./icons";

export interface Action {
  label: string;
  icon?: IconName;
  danger?: boolean;
  disabled?: boolean;
  hint?: string | undefined; // why it is disabled
  run: () => void;
}

interface Opened {
  label: string;
  actions: Action[];
  x: number;
  y: number;
  from: HTMLElement | null; // takes the focus back
}

const opened = signal<Opened | null>(null);

export function openMenuAt(x: number, y: number, label: string, actions: Action[], from: HTMLElement | null): void {
  opened.value = { label, actions, x, y, from };
}

/** Below a control, or where the keyboard asked for it. */
export function openMenuBy(el: HTMLElement, label: string, actions: Action[]): void {
  const r = el.getBoundingClientRect();
  openMenuAt(r.left, Math.min(r.bottom + 4, window.innerHeight - 8), label, actions, el);
}

function close(refocus: boolean): void {
  const from = opened.peek()?.from;
  opened.value = null;
  if (refocus && from?.isConnected) from.focus({ preventScroll: true });
}

export function Menu() {
  const box = useRef<HTMLDivElement>(null);
  const now = opened.value;

  useLayoutEffect(() => {
    const el = box.current;
    if (!now || !el) return;
    const margin = 8;
    const { width, height } = el.getBoundingClientRect();
    el.style.left = Math.max(margin, Math.min(now.x, window.innerWidth - width - margin)) + "px";
    el.style.top = Math.max(margin, Math.min(now.y, window.innerHeight - height - margin)) + "px";
    el.querySelector<HTMLElement>("[role=menuitem]:not([aria-disabled=true])")?.focus({ preventScroll: true });
  }, [now]);

  useEffect(() => {
    if (!now) return;
    const press = (e: PointerEvent) => {
      if (!box.current?.contains(e.target as Node)) close(false);
    };
    const away = () => close(false);
    document.addEventListener("pointerdown", press, true);
    window.addEventListener("resize", away);
    return () => {
      document.removeEventListener("pointerdown", press, true);
      window.removeEventListener("resize", away);
    };
  }, [now]);

  if (!now) return null;

  const move = (by: number | "first" | "last") => {
    const all = [...box.current!.querySelectorAll<HTMLElement>("[role=menuitem]")];
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to = by === "first" ? 0 : by === "last" ? all.length - 1 : (at + by + all.length) % all.length;
    all[to]?.focus();
  };

  const key = (e: KeyboardEvent) => {
    const known: Record<string, () => void> = {
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      Home: () => move("first"),
      End: () => move("last"),
      Escape: () => close(true),
      Tab: () => close(true),
    };
    const act = known[e.key];
    if (act) {
      e.preventDefault();
      e.stopPropagation();
      act();
      return;
    }
    if (e.key.length === 1 && !e.ctrlKey && !e.metaKey && !e.altKey && e.key !== " ") {
      const all = [...box.current!.querySelectorAll<HTMLElement>("[role=menuitem]")];
      all.find((x) => x.textContent?.trim().toLowerCase().startsWith(e.key.toLowerCase()))?.focus();
    }
  };

  const choose = (a: Action) => {
    if (a.disabled) return;
    close(true);
    a.run();
  };

  return (
    <div class="menu" role="menu" aria-label={now.label} ref={box} onKeyDown={key} onContextMenu={(e) => e.preventDefault()}>
      {now.actions.map((a) => (
        <button type="button" role="menuitem" class={a.danger ? "danger" : ""} tabIndex={-1} aria-disabled={a.disabled ? "true" : undefined} title={a.hint} onClick={() => choose(a)} key={a.label}>
          {a.icon ? <Icon name={a.icon} size={16} /> : null}
          <span>{a.label}</span>
        </button>
      ))}
    </div>
  );
}
