// The address of what is shown, in the fragment, so that the server has one page.

import { signal } from "@preact/signals";

export type Route =
  | { view: "home" } // nothing chosen: the newest conversation, if there is one
  | { view: "new" }
  | { view: "conversation"; id: string; message?: string; visit: number };

let visits = 0;

function parse(hash: string): Route {
  if (hash === "" || hash === "#" || hash === "#/") return { view: "home" };
  const m = /^#\/c\/([^/?]+)(?:\/m\/([^/?]+))?$/.exec(hash);
  if (!m) return { view: "new" };
  try {
    const id = decodeURIComponent(m[1]!);
    const message = m[2] === undefined ? undefined : decodeURIComponent(m[2]);
    return message === undefined ? { view: "conversation", id, visit: ++visits } : { view: "conversation", id, message, visit: ++visits };
  } catch {
    return { view: "new" };
  }
}

export const route = signal<Route>(parse(location.hash));

window.addEventListener("hashchange", () => {
  route.value = parse(location.hash);
});

/** Whether the address names nothing; the event that tells of a new one comes later than it. */
export const atHome = (): boolean => parse(location.hash).view === "home";

export function href(id: string, message?: string): string {
  const base = "#/c/" + encodeURIComponent(id);
  return message === undefined ? base : `${base}/m/${encodeURIComponent(message)}`;
}

export function go(hash: string, replace = false): void {
  if (location.hash === hash) {
    route.value = parse(hash); // the same place again: highlight again
    return;
  }
  if (replace) {
    history.replaceState(null, "", hash);
    route.value = parse(hash);
  } else {
    location.hash = hash;
  }
}

export const open = (id: string, message?: string): void => go(href(id, message));
export const openNew = (): void => go("#/new");
