import { options } from "preact";

/** Draws what fn changes before it returns. */
export function flushSync(fn: () => void): void {
  const before = options.debounceRendering;
  options.debounceRendering = (draw) => draw();
  try {
    fn();
  } finally {
    if (before) options.debounceRendering = before;
    else delete options.debounceRendering;
  }
}
