// Markdown of a model (or of an import) to a DOM that is safe to show.
//
// Two walls: HTML in the text is shown as text, so only tags that the renderer
// below writes get through, and DOMPurify then keeps only those. Nothing is
// loaded from elsewhere: a remote image becomes a link that says so.

import createDOMPurify from "dompurify";
import { Marked, type Tokens, type Token } from "marked";
import { t } from "../core/i18n";
import { lang } from "../core/prefs";
import { highlight } from "./highlight";

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
export const escape = (s: string): string => s.replace(/[&<>"']/g, (ch) => escapes[ch]!);

// Bare tags without attributes that only change how text looks.
const harmless = /^<\/?(?:b|br|code|del|em|i|kbd|mark|s|small|strong|sub|sup|u)\s*\/?>$/i;

const outward = /^(?:https?:|mailto:)/i;
const embedded = /^data:image\/(?:png|gif|jpeg|webp);base64,[a-z0-9+/=]+$/i;

/** An address as it may be opened, or null. */
function reachable(href: string): string | null {
  // What browsers skip inside a scheme may not hide one.
  const clean = href.replace(/[\u0000-\u0020\u007f-\u009f]/g, "");
  return outward.test(clean) ? clean : null;
}

function link(href: string, text: string, className = ""): string {
  const cls = className ? ` class="${className}"` : "";
  return `<a href="${escape(href)}"${cls} target="_blank" rel="noopener noreferrer">${text}</a>`;
}

const marked = new Marked({
  gfm: true,
  renderer: {
    html({ text }: Tokens.HTML | Tokens.Tag): string {
      return harmless.test(text.trim()) ? text.trim() : escape(text);
    },
    link({ href, tokens }: Tokens.Link): string {
      const text = this.parser.parseInline(tokens);
      const to = reachable(href);
      return to === null ? text : link(to, text);
    },
    image({ href, text }: Tokens.Image): string {
      if (embedded.test(href)) return `<img src="${escape(href)}" alt="${escape(text)}">`;
      const to = reachable(href);
      if (to === null) return escape(text);
      let host = to;
      try {
        host = new URL(to).host || to;
      } catch {
        // shown as it is
      }
      return link(to, `${escape(text) || escape(host)} <span class="host">${escape(t("remoteImage", { host }))}</span>`, "remote-image");
    },
    code({ text, lang: info }: Tokens.Code): string {
      const language = (info ?? "").trim().split(/\s+/)[0]!.toLowerCase();
      const code = highlight(text, language) ?? escape(text);
      return (
        `<div class="code"><div class="code-head"><span>${escape(language)}</span>` +
        `<button type="button" class="copy-code" aria-label="${escape(t("copyCode"))}">${escape(t("copy"))}</button></div>` +
        `<pre tabindex="0"><code>${code}\n</code></pre></div>`
      );
    },
    table(token: Tokens.Table): string {
      const cell = (c: Tokens.TableCell, tag: string) =>
        `<${tag}${c.align ? ` align="${c.align}"` : ""}>${this.parser.parseInline(c.tokens)}</${tag}>`;
      const head = token.header.map((c) => cell(c, "th")).join("");
      const body = token.rows.map((r) => `<tr>${r.map((c) => cell(c, "td")).join("")}</tr>`).join("");
      return `<div class="table" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
    },
  },
});

const purify = createDOMPurify(window);

const policy = {
  ALLOWED_TAGS: [
    "a", "b", "blockquote", "br", "button", "code", "del", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "input",
    "kbd", "li", "mark", "ol", "p", "pre", "s", "small", "span", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "u", "ul",
  ],
  ALLOWED_ATTR: ["align", "alt", "aria-label", "checked", "class", "disabled", "href", "rel", "src", "start", "tabindex", "target", "type"],
  ALLOW_DATA_ATTR: false,
  // DOMPurify asks this of every attribute that may hold an address, so what
  // has no scheme has to pass too.
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|data:image\/(?:png|gif|jpeg|webp);base64,|[^a-z]|[a-z+.-]+(?:[^a-z+.\-:]|$))/i,
  RETURN_DOM_FRAGMENT: true as const,
};

function clean(html: string): DocumentFragment {
  const fragment = purify.sanitize(html, policy);
  for (const a of fragment.querySelectorAll("a")) {
    a.setAttribute("rel", "noopener noreferrer");
    a.setAttribute("target", "_blank");
  }
  for (const box of fragment.querySelectorAll("input")) {
    if (box.type !== "checkbox") box.remove();
    else box.disabled = true;
  }
  return fragment;
}

const cache = new Map<string, DocumentFragment>();
const cached = 400;
let cachedIn = lang.peek();

/** The DOM of a finished text. */
export function render(text: string): DocumentFragment {
  if (cachedIn !== lang.peek()) cache.clear(); // its labels are in another language
  cachedIn = lang.peek();
  let fragment = cache.get(text);
  if (fragment) cache.delete(text);
  else fragment = clean(marked.parse(text, { async: false }));
  cache.set(text, fragment);
  if (cache.size > cached) cache.delete(cache.keys().next().value!);
  return fragment.cloneNode(true) as DocumentFragment;
}

/**
 * Shows a text that grows. Blocks that can no longer change are rendered once;
 * only the last ones are rendered again, so a long answer costs as much per
 * piece as a short one.
 */
export class Growing {
  private readonly into: HTMLElement;
  private tail: HTMLElement;
  private done = 0; // characters of the text that are final on screen
  private last = "";

  constructor(into: HTMLElement) {
    this.into = into;
    this.tail = document.createElement("div");
    into.replaceChildren(this.tail);
  }

  update(grown: string): void {
    const text = grown.replace(/\r\n?/g, "\n"); // as the lexer counts
    if (text === this.last) return;
    if (!text.startsWith(this.last.slice(0, this.done))) this.restart();
    this.last = text;
    const tokens = marked.lexer(text.slice(this.done));
    // The last block may still grow, and the one before it may yet be joined to
    // it (a list, a table, a lazy quote).
    const solid = finished(tokens);
    if (solid > 0) {
      const raw = tokens.slice(0, solid).reduce((n, tok) => n + tok.raw.length, 0);
      const part = document.createElement("div");
      part.append(clean(marked.parse(text.slice(this.done, this.done + raw), { async: false })));
      this.into.insertBefore(part, this.tail);
      this.done += raw;
    }
    this.tail.replaceChildren(clean(marked.parse(text.slice(this.done), { async: false })));
  }

  private restart(): void {
    this.done = 0;
    this.tail = document.createElement("div");
    this.into.replaceChildren(this.tail);
  }
}

function finished(tokens: Token[]): number {
  let end = tokens.length - 2;
  while (end > 0 && tokens[end - 1]!.type === "space") end--;
  // Blocks that a following block may still become part of stay in the tail.
  while (end > 0 && (tokens[end - 1]!.type === "list" || tokens[end - 1]!.type === "def")) end--;
  return Math.max(0, end);
}
