// Server-sent events over fetch: unlike EventSource it shows the status of a
// refusal, and it lets us say from where to resume.

import { EventParser, type SSEvent } from "./events";
import { refusal } from "./http";

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
