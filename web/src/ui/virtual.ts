// The adapter of virtual-core for Preact: it owns one Virtualizer, and draws
// again when that says that something moved.

import { elementScroll, observeElementOffset, observeElementRect, Virtualizer, type VirtualizerOptions } from "@tanstack/virtual-core";
import { useLayoutEffect, useReducer, useRef } from "preact/hooks";
import { flushSync } from "./sync";

type Options = Omit<VirtualizerOptions<HTMLElement, HTMLElement>, "observeElementRect" | "observeElementOffset" | "scrollToFn" | "onChange">;

export function useVirtualizer(options: Options): Virtualizer<HTMLElement, HTMLElement> {
  const [, again] = useReducer<number, void>((n) => n + 1, 0);
  const drawing = useRef(false);
  drawing.current = true;
  const all: VirtualizerOptions<HTMLElement, HTMLElement> = {
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    ...options,
    onChange: (_, sync) => {
      if (sync && !drawing.current) flushSync(() => again());
      else again();
    },
  };
  const held = useRef<Virtualizer<HTMLElement, HTMLElement> | null>(null);
  const virtualizer = (held.current ??= new Virtualizer(all));
  virtualizer.setOptions(all);
  useLayoutEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => {
    drawing.current = false;
    virtualizer._willUpdate();
  });
  return virtualizer;
}
