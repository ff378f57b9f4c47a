import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { t } from "../core/i18n";
import { Icon } from "./icons";

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  class?: string;
}

/** A modal dialog of the browser's own: focus stays inside, Escape closes. */
export function Dialog({ title, onClose, children, class: cls = "" }: Props) {
  const box = useRef<HTMLDialogElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  useLayoutEffect(() => {
    const el = box.current!;
    const back = document.activeElement as HTMLElement | null;
    el.showModal();
    // autofocus in what is inside, else the first field.
    el.querySelector<HTMLElement>("[data-autofocus]")?.focus();
    return () => {
      el.close();
      if (back?.isConnected) back.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog
      ref={box}
      class={cls}
      aria-label={title}
      onCancel={(e) => {
        e.preventDefault();
        close.current();
      }}
      onPointerDown={(e) => {
        if (e.target === box.current) close.current(); // on the backdrop
      }}
    >
      <div class="dialog-body">
        <header class="dialog-head">
          <h2>{title}</h2>
          <button type="button" class="ghost icon-button" aria-label={t("close")} onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
