import { useLayoutEffect, useRef } from "preact/hooks";
import { t } from "../core/i18n";
import { lang } from "../core/prefs";
import { Growing, render } from "../md/markdown";
import { copy } from "../state/acting";

/** A finished markdown text. */
export function Markdown({ text }: { text: string }) {
  const box = useRef<HTMLDivElement>(null);
  const language = lang.value;
  useLayoutEffect(() => {
    box.current?.replaceChildren(render(text));
  }, [text, language]);
  return <div class="md" ref={box} onClick={copyCode} />;
}

/** A markdown text that is being written; drawn once a frame at most. */
export function GrowingMarkdown({ text }: { text: string }) {
  const box = useRef<HTMLDivElement>(null);
  const growing = useRef<Growing | null>(null);
  const latest = useRef(text);
  const frame = useRef(0);
  latest.current = text;
  useLayoutEffect(() => {
    growing.current = new Growing(box.current!);
    growing.current.update(latest.current);
    return () => cancelAnimationFrame(frame.current);
  }, []);
  useLayoutEffect(() => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => growing.current?.update(latest.current));
  }, [text]);
  return <div class="md growing" ref={box} onClick={copyCode} />;
}

// One listener for all code blocks: what is inside was not made by Preact.
function copyCode(e: MouseEvent): void {
  const button = (e.target as Element).closest("button.copy-code");
  if (!button) return;
  const code = button.closest(".code")?.querySelector("code");
  if (!code) return;
  void copy(code.textContent?.replace(/\n$/, "") ?? "");
  const before = button.textContent;
  button.textContent = t("copied");
  setTimeout(() => (button.textContent = before), 1_500);
}
