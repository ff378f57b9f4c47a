import { useLayoutEffect, useRef } from "preact/hooks";
import { t } from "../core/i18n";
import { route } from "../core/router";
import { dismiss, toasts } from "../state/toasts";
import { Icon } from "./icons";

const roomBelow = 160; // px under a composer that stands in the middle

/**
 * Keeps its element above the composer, where that is at the bottom: at the
 * side, where there is one, since the newest message is in the middle.
 */
function useAboveComposer(shown: number) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (shown === 0) return;
    const place = () => {
      const composer = document.querySelector(".composer")?.getBoundingClientRect();
      const main = document.querySelector(".main")?.getBoundingClientRect();
      const el = box.current!;
      const atBottom = composer && window.innerHeight - composer.bottom < roomBelow;
      el.style.bottom = atBottom ? `${window.innerHeight - composer.top + 4}px` : "";
      el.style.right = main ? `${window.innerWidth - main.right + 12}px` : "";
    };
    place();
    const watch = new ResizeObserver(place);
    watch.observe(document.body);
    for (const el of document.querySelectorAll(".main, .composer")) watch.observe(el);
    return () => watch.disconnect();
  }, [shown, route.value]);
  return box;
}

export function Toasts() {
  const list = toasts.value;
  const box = useAboveComposer(list.at(-1)?.id ?? 0);
  return (
    <div class="toasts" role="status" aria-live="polite" ref={box}>
      {list.map((x) => (
        <div class={`toast ${x.tone}`} key={x.id}>
          <span>{x.text}</span>
          {x.action ? (
            <button
              type="button"
              class="link"
              onClick={() => {
                dismiss(x.id);
                x.action!.run();
              }}
            >
              {x.action.label}
            </button>
          ) : null}
          <button type="button" class="ghost icon-button small" aria-label={t("dismiss")} title={t("dismiss")} onClick={() => dismiss(x.id)}>
            <Icon name="close" size={14} />
          </button>
        </div>
      ))}
    </div>
  );
}
