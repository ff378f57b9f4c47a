// One conversation as it is shown: a contiguous window of its timeline, what
// waits in its inbox, and the answer that is being written.
//
// Order and identity come from seq alone, so an item that arrives twice (by a
// page and by an event, or after a reconnect) is one item. The stream resumes
// behind the last durable event; deltas are joined by their offset, and a gap
// among them asks for a new snapshot.

import { batch, computed, signal } from "@preact/signals";
import { json, p, Problem } from "../core/http";
import { emptyPartial, merge, type Delta, type Partial as Written } from "../core/partial";
import type { SSEvent } from "../core/events";
import { EventStream } from "../core/sse";
import { t } from "../core/i18n";
import type { Context, Conversation, Input, Item, OpenCall, Page, Work } from "../core/types";
import { learned } from "./list";
import { toast } from "./toasts";

const pageSize = 100;

interface Snapshot extends Partial<Work> {
  conversation: Conversation;
  inputs: Input[];
}

const nothing: Work = { calls: [] };

export class Timeline {
  readonly id: string;
  readonly conversation = signal<Conversation | null>(null);
  readonly items = signal<Item[]>([]);
  readonly inputs = signal<Input[]>([]);
  readonly partial = signal<Written | null>(null);
  /** The step that has not settled, and its calls. */
  readonly work = signal<Work>(nothing);
  readonly hasBefore = signal(false);
  readonly hasAfter = signal(false);
  readonly loaded = signal(false);
  readonly fault = signal<Problem | null>(null);
  readonly connection = signal<"connecting" | "live" | "lost">("connecting");
  readonly showHidden = signal(false);
  readonly highlight = signal<string | null>(null);
  readonly running = computed(() => this.conversation.value?.state === "running" || this.partial.value !== null);
  /** Tool calls that wait for the person. */
  readonly waitingCalls = computed(() => this.work.value.calls.filter((c) => c.state === "waiting" && !c.decision && !this.decidedHere.value.has(keyOf(c))));
  /** The step whose answer is being written. */
  readonly writing = computed(() => this.partial.value?.step);
  /** What is on screen: all, or without what a rewind hid. */
  readonly visible = computed(() => (this.showHidden.value ? this.items.value : this.items.value.filter((i) => !i.hidden)));

  private readonly decidedHere = signal<ReadonlySet<string>>(new Set()); // said, and not heard back yet
  private stream: EventStream | null = null;
  private lastEvent = 0;
  private busy: Promise<void> | null = null;
  private resync = 0;
  private reorder = 0;
  private closed = false;
  private readonly settled = new Set<string>(); // steps whose answer is an item

  constructor(id: string) {
    this.id = id;
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.resync);
    clearTimeout(this.reorder);
    this.stream?.stop();
  }

  private get base(): string {
    return p`/v1/conversations/${this.id}`;
  }

  private page(query: Record<string, string | number | undefined>): Promise<Page<Item>> {
    const hidden = this.showHidden.peek() ? "include" : undefined;
    return json<Page<Item>>(this.base + "/messages", { query: { limit: pageSize, hidden, ...query } });
  }

  /** Loads the newest part, or the part around a message, and goes live. */
  async open(message?: string): Promise<void> {
    try {
      const [conversation, anchor] = await Promise.all([
        json<Conversation>(this.base),
        message === undefined ? null : json<Item>(p`/v1/conversations/${this.id}/messages/${message}`).catch(() => null),
      ]);
      if (this.closed) return;
      this.learn(conversation);
      if (anchor) await this.around(anchor);
      else await this.newest();
      if (message !== undefined && !anchor) toast(t("sourceGone"), { tone: "bad" });
      this.fault.value = null;
    } catch (err) {
      if (this.closed) return;
      this.fault.value = err instanceof Problem ? err : new Problem(0, "network", "");
      if (this.fault.value.unsure) this.resync = window.setTimeout(() => void this.open(message), 2_000);
      return;
    }
    if (!this.closed && !this.stream) this.connect();
  }

  /** Shows a message of this conversation; false when it is not there. */
  async reveal(message: string): Promise<boolean> {
    let item = this.items.peek().find((i) => i.id === message);
    if (!item) {
      try {
        item = await json<Item>(p`/v1/conversations/${this.id}/messages/${message}`);
      } catch {
        return false;
      }
      await this.around(item);
    } else {
      this.dim(item);
    }
    this.highlight.value = message;
    return true;
  }

  // A message that was rewound away is shown all the same when it is asked for.
  private dim(item: Item): void {
    if (!item.hidden || this.showHidden.peek()) return;
    this.showHidden.value = true;
    toast(t("sourceHidden"));
  }

  private async around(anchor: Item): Promise<void> {
    this.dim(anchor);
    const half = pageSize / 2;
    const [before, after] = await Promise.all([
      this.page({ before: anchor.seq + 1, limit: half }),
      this.page({ after: anchor.seq, limit: half }),
    ]);
    if (this.closed) return;
    batch(() => {
      this.replace([...before.items, ...after.items]);
      this.hasBefore.value = before.next !== undefined;
      this.hasAfter.value = after.next !== undefined;
      this.highlight.value = anchor.id;
      this.loaded.value = true;
    });
  }

  async newest(): Promise<void> {
    const got = await this.page({});
    if (this.closed) return;
    batch(() => {
      this.replace(got.items);
      this.hasBefore.value = got.next !== undefined;
      this.hasAfter.value = false;
      this.loaded.value = true;
    });
  }

  loadBefore(): void {
    const first = this.items.peek()[0];
    if (!first || !this.hasBefore.peek() || this.busy) return;
    this.busy = this.page({ before: first.seq })
      .then((got) => {
        batch(() => {
          this.hasBefore.value = got.next !== undefined;
          this.add(got.items);
        });
      })
      .catch(() => undefined)
      .finally(() => (this.busy = null));
  }

  loadAfter(): void {
    const last = this.items.peek().at(-1);
    if (!last || !this.hasAfter.peek() || this.busy) return;
    this.busy = this.page({ after: last.seq })
      .then((got) => {
        batch(() => {
          this.hasAfter.value = got.next !== undefined;
          this.add(got.items);
        });
      })
      .catch(() => undefined)
      .finally(() => (this.busy = null));
  }

  /** Fetches the window anew, for when what is hidden has changed. */
  async toggleHidden(show: boolean): Promise<void> {
    this.showHidden.value = show;
    await this.refetch();
  }

  private async refetch(): Promise<void> {
    const list = this.items.peek();
    const first = list[0];
    if (!first) return this.newest();
    const from = first.seq - 1;
    const upto = this.hasAfter.peek() ? (list.at(-1)?.seq ?? 0) + 1 : undefined;
    const all: Item[] = [];
    let after = from;
    for (;;) {
      const got = await this.page({ after, before: upto });
      all.push(...got.items);
      const last = got.items.at(-1);
      if (!last || got.next === undefined) break;
      after = last.seq;
    }
    if (!this.closed) this.replace(all);
  }

  private replace(list: Item[]): void {
    this.items.value = [];
    this.add(list);
  }

  private add(list: Item[]): void {
    const one = list.length === 1 ? list[0]! : null;
    if (one && one.seq > (this.items.peek().at(-1)?.seq ?? 0)) {
      this.items.value = [...this.items.peek(), one];
      this.noteSettled(one);
      return;
    }
    const map = new Map(this.items.peek().map((i) => [i.seq, i]));
    for (const i of list) map.set(i.seq, i);
    this.items.value = [...map.values()].sort((a, b) => a.seq - b.seq);
    for (const i of list) this.noteSettled(i);
  }

  // The item of a step's answer, or of its end, takes the place of what streamed.
  private noteSettled(i: Item): void {
    if (!i.step || (i.kind !== "assistant" && i.kind !== "step_end")) return;
    this.settled.add(i.step);
    if (this.partial.peek()?.step === i.step) this.partial.value = null;
  }

  learn(c: Conversation): void {
    this.conversation.value = c;
    learned(c);
  }

  private connect(): void {
    this.lastEvent = this.items.peek().at(-1)?.seq ?? 0;
    // When the window does not reach the newest, what lies between is paged in
    // later; the stream begins at the head.
    if (this.hasAfter.peek()) this.lastEvent = this.conversation.peek()?.head_seq ?? this.lastEvent;
    this.stream = new EventStream({
      path: () => `${this.base}/events?after=${this.lastEvent}`,
      lastId: () => (this.lastEvent > 0 ? String(this.lastEvent) : undefined),
      event: (e) => this.event(e),
      state: (s) => (this.connection.value = s),
      refused: (status) => {
        this.fault.value = new Problem(status, status === 404 ? "conversation_not_found" : `http_${status}`, "");
      },
    });
  }

  private event(e: SSEvent): void {
    let data: unknown;
    try {
      data = JSON.parse(e.data);
    } catch {
      return;
    }
    batch(() => {
      if (e.id !== undefined) return this.durable(Number(e.id), data as Item);
      switch (e.name) {
        case "snapshot":
          return this.snapshot(data as Snapshot);
        case "delta":
          return this.delta(data as Delta);
        case "state":
          return this.state(data as Conversation & Work);
        case "input":
          return this.input(data as Input);
        case "reset":
          return this.stream?.again();
        case "deleted":
          this.conversation.value = null;
          this.fault.value = new Problem(404, "conversation_not_found", "");
          return this.close();
      }
    });
  }

  private durable(seq: number, item: Item): void {
    if (seq <= this.lastEvent) return;
    this.lastEvent = seq;
    if (!item || typeof item.seq !== "number") return;
    if (item.input) this.inputs.value = this.inputs.peek().filter((i) => i.id !== item.input);
    if (item.rewind) this.rewound(item.rewind);
    if (this.hasAfter.peek()) this.noteSettled(item);
    else this.add([item]);
    const c = this.conversation.peek();
    if (c) this.learn({ ...c, head_seq: Math.max(c.head_seq, seq), ...(item.kind === "title" && item.title ? { title: item.title } : {}) });
  }

  private rewound(r: NonNullable<Item["rewind"]>): void {
    const inside = (i: Item) => i.seq >= r.from && i.seq <= r.upto;
    this.items.value = this.items.peek().map((i) => (inside(i) ? { ...i, hidden: !r.undo } : i));
    // What an undo gives back may not be in the window yet.
    if (r.undo) void this.refetch().catch(() => undefined);
  }

  private state({ step, calls, ...conversation }: Conversation & Partial<Work>): void {
    this.learn(conversation);
    this.work.value = { calls: calls ?? [], ...(step ? { step } : {}) };
    const open = new Set([...this.decidedHere.peek()].filter((x) => calls?.some((c) => keyOf(c) === x)));
    if (open.size < this.decidedHere.peek().size) this.decidedHere.value = open;
  }

  private snapshot(s: Snapshot): void {
    clearTimeout(this.resync);
    this.resync = 0;
    this.state({ ...s.conversation, ...(s.step ? { step: s.step } : {}), calls: s.calls ?? [] });
    this.inputs.value = s.inputs.filter((i) => i.state === "pending" || i.state === "rejected");
    const before = this.partial.peek();
    if (!s.step || this.settled.has(s.step.id)) this.partial.value = null;
    else {
      const partial = emptyPartial(s.step.id, s.step.text ?? "");
      this.partial.value = before?.step === partial.step ? { ...partial, reasoning: before.reasoning } : partial;
    }
  }

  private delta(d: Delta): void {
    if (this.settled.has(d.step)) return; // a late echo of what is an item already
    const next = merge(this.partial.peek(), d);
    if (next) this.partial.value = next;
    else this.resync ||= window.setTimeout(() => this.stream?.again(), 300); // something is missing: a snapshot has it
  }

  /** The person decided: the question is gone before the server says so. */
  decided(call: OpenCall): void {
    this.decidedHere.value = new Set(this.decidedHere.peek()).add(keyOf(call));
  }

  /** What waits, in the order in which it waits. */
  async fetchInputs(): Promise<void> {
    const got = await json<Page<Input>>(this.base + "/inputs");
    if (!this.closed) this.inputs.value = got.items.filter((i) => i.state === "pending" || i.state === "rejected");
  }

  private told: { seq: number; baseline: Promise<Context> } | null = null;

  /** The baseline that a message was written under, as far as it is the one in force; else "". */
  async baseline(seq: number): Promise<string> {
    const epoch = this.items.peek().findLast((i) => i.kind === "epoch")?.seq ?? 0;
    if (this.told?.seq !== epoch) this.told = { seq: epoch, baseline: json<Context>(this.base + "/context") };
    const context = await this.told.baseline.catch((err: unknown) => {
      this.told = null;
      throw err;
    });
    return context.epoch < seq ? context.baseline : "";
  }

  private input(i: Input): void {
    const others = this.inputs.peek().filter((x) => x.id !== i.id);
    const shown = i.state === "pending" || i.state === "rejected";
    const before = this.inputs.peek().findIndex((x) => x.id === i.id);
    if (!shown) this.inputs.value = others;
    else if (before < 0) this.inputs.value = [...others, i];
    else {
      this.inputs.value = this.inputs.peek().map((x) => (x.id === i.id ? i : x));
      // It may have been moved: only the list knows the order.
      this.reorder ||= window.setTimeout(() => {
        this.reorder = 0;
        void this.fetchInputs().catch(() => undefined);
      }, 50);
    }
  }

  /**
   * The seq of the newest record, for changes that must not happen unseen:
   * refused when there is something to see that is not on screen yet.
   */
  async sureHead(): Promise<number> {
    const seen = Math.max(this.lastEvent, this.items.peek().at(-1)?.seq ?? 0);
    const c = await json<Conversation>(this.base);
    const news = await this.page({ after: seen, before: c.head_seq + 1, limit: 1 });
    if (news.items.length > 0) throw new Problem(409, "moved_on", t("movedOn"));
    return c.head_seq;
  }
}

/** Calls have their ids within a step. */
export const keyOf = (c: Pick<OpenCall, "step" | "call">): string => c.step + " " + c.call;

/** The conversation on screen. */
export const current = signal<Timeline | null>(null);

export function show(id: string | null, message?: string): void {
  const now = current.peek();
  if (now && now.id === id) {
    if (message !== undefined) void now.reveal(message);
    return;
  }
  now?.close();
  if (id === null) {
    current.value = null;
    return;
  }
  const next = new Timeline(id);
  current.value = next;
  void next.open(message);
}
