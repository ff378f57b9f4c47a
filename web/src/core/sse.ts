// Server-sent events over fetch: unlike EventSource it shows the status of a
// refusal, and it lets us say from where to resume.

import { refusal } from "./http";

export interface SSEvent {
  name: string;
  data: string;
  id?: string;
}

/** Cuts a byte stream into events as the HTML standard says. */
export class EventParser {
  private rest = "";
  private name = "";
  private data: string[] = [];
  private id: string | undefined;

  feed(chunk: string, emit: (e: SSEvent) => void): void {
    this.rest += chunk;
    for (;;) {
      const m = /\r\n|\n|\r/.exec(this.rest);
      if (!m) return;
      // A lone CR at the very end may be half of a CRLF.
      if (m[0] === "\r" && m.index === this.rest.length - 1) return;
      const line = this.rest.slice(0, m.index);
      this.rest = this.rest.slice(m.index + m[0].length);
      this.line(line, emit);
    }
  }

  private line(line: string, emit: (e: SSEvent) => void): void {
    if (line === "") {
      if (this.data.length > 0) {
        const e: SSEvent = { name: this.name || "message", data: this.data.join("\n") };
        if (this.id !== undefined) e.id = this.id;
        emit(e);
      }
      this.name = "";
      this.data = [];
      this.id = undefined;
      return;
    }
    if (line.startsWith(":")) return;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "event") this.name = value;
    else if (field === "data") this.data.push(value);
    else if (field === "id" && !value.includes("\0")) this.id = value;
  }
}

export interface StreamHandlers {
  /** Where to go on from; asked at every connect. */
  path: () => string;
  lastId?: () => string | undefined;
  event: (e: SSEvent) => void;
  state: (s: "connecting" | "live" | "lost") => void;
  /** A refusal that trying again will not change; the stream ends. */
  refused: (status: number) => void;
}

const silence = 45_000; // three missed comments

/** Keeps one stream open until stopped; a hidden page lets go of it. */
export class EventStream {
  private readonly h: StreamHandlers;
  private stopped = false;
  private attempt = 0;
  private abort: AbortController | null = null;
  private timer = 0;
  private hideTimer = 0;

  constructor(h: StreamHandlers) {
    this.h = h;
    document.addEventListener("visibilitychange", this.visibility);
    window.addEventListener("online", this.again);
    void this.run();
  }

  stop(): void {
    this.stopped = true;
    document.removeEventListener("visibilitychange", this.visibility);
    window.removeEventListener("online", this.again);
    clearTimeout(this.timer);
    clearTimeout(this.hideTimer);
    this.abort?.abort();
  }

  /** Connects anew at once. */
  readonly again = (): void => {
    if (this.stopped) return;
    clearTimeout(this.timer);
    this.abort?.abort();
    this.attempt = 0;
    void this.run();
  };

  // Browsers allow six connections to a host; tabs in the background must not
  // use them up. Resuming loses nothing.
  private readonly visibility = (): void => {
    clearTimeout(this.hideTimer);
    if (document.visibilityState === "hidden") {
      this.hideTimer = window.setTimeout(() => {
        clearTimeout(this.timer);
        this.abort?.abort();
        this.abort = null;
      }, 5_000);
    } else if (!this.abort) {
      this.again();
    }
  };

  private async run(): Promise<void> {
    const abort = new AbortController();
    this.abort = abort;
    if (this.attempt === 0) this.h.state("connecting");
    let watchdog = 0;
    const alive = () => {
      clearTimeout(watchdog);
      watchdog = window.setTimeout(() => abort.abort("silence"), silence);
    };
    try {
      alive();
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      const last = this.h.lastId?.();
      if (last) headers["Last-Event-ID"] = last;
      const res = await fetch(this.h.path(), { headers, credentials: "same-origin", signal: abort.signal, cache: "no-store" });
      if (!res.ok || !res.body) {
        const problem = await refusal(res);
        if (problem.status >= 400 && problem.status < 500 && problem.status !== 408 && problem.status !== 429) {
          this.stop();
          this.h.refused(problem.status);
          return;
        }
        throw problem;
      }
      this.h.state("live");
      this.attempt = 0;
      await this.read(res.body, abort, alive);
    } catch {
      // falls through to the next attempt
    } finally {
      clearTimeout(watchdog);
    }
    // Another run has taken over, or nobody wants one.
    if (this.stopped || this.abort !== abort) return;
    this.abort = null;
    this.h.state("lost");
    const wait = Math.min(10_000, 250 * 2 ** this.attempt) * (0.8 + Math.random() * 0.4);
    this.attempt++;
    this.timer = window.setTimeout(() => void this.run(), wait);
  }

  private async read(body: ReadableStream<Uint8Array>, abort: AbortController, alive: () => void): Promise<void> {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    const parser = new EventParser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      alive();
      parser.feed(decoder.decode(value, { stream: true }), (e) => {
        // What an aborted stream still delivers belongs to nobody.
        if (!abort.signal.aborted) this.h.event(e);
      });
    }
  }
}
