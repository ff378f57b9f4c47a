// What the API speaks, as far as the page uses it.

export type Level = "open" | "isolated";
export type Delivery = "steer" | "queue";

export interface Visibility {
  level: Level;
  category?: string;
  island?: string[];
}

/** Where an imported conversation came from. */
export interface Origin {
  product: string;
  file: string;
  imported_at: string;
}

export interface Conversation {
  id: string;
  title: string;
  kind: "chat" | "main" | "branch" | "task";
  parent?: string;
  generation: string;
  visibility: Visibility;
  workspace?: string;
  model?: string;
  agent?: string;
  archived?: boolean;
  origin?: Origin;
  state: "idle" | "running" | "blocked" | "waiting";
  waiting_for?: string;
  head_seq: number;
  created_at: string;
  last_active: string;
}

/** A tool call that has not settled. */
export interface OpenCall {
  call: string;
  step: string;
  name: string;
  state: "waiting" | "started";
  decision?: "allow" | "deny"; // of one that waits: what the person decided
}

/** The step that has not settled. */
export interface RunningStep {
  id: string;
  text?: string; // of a snapshot
  attempts?: number;
  next_try?: string; // absent while an attempt runs
  code?: string; // why the last attempt failed
  reason?: string;
}

/** What a conversation is at, beside its row. */
export interface Work {
  step?: RunningStep;
  calls: OpenCall[];
}

export interface Page<T> {
  items: T[];
  next?: string;
}

export interface ItemPart {
  type: "text" | "reasoning" | "tool_call";
  text?: string;
  call?: string;
  name?: string;
  input?: string;
  state?: "waiting" | "started" | "settled"; // of a call, when it was asked for
}

export interface ItemReference {
  type: "quote" | "pointer" | "recall";
  conversation: string;
  message?: string;
  title: string;
  excerpt?: string;
  truncated?: boolean;
  text_length?: number;
}

export interface Item {
  id: string;
  seq: number;
  kind: string;
  role?: "user" | "assistant";
  time: string;
  generation: string;
  text?: string;
  parts?: ItemPart[];
  references?: ItemReference[];
  /** Of a result that was too long for the model, artefact has the whole. */
  tool?: { call: string; name?: string; text: string; is_error?: boolean; artefact?: string; size?: number };
  update?: { fact: string; text: string; at?: string };
  approval?: { call: string; name?: string; decision: "allow" | "deny" };
  rewind?: { from: number; upto: number; undo?: boolean };
  input?: string;
  step?: string;
  model?: string;
  outcome?: string;
  code?: string;
  reason?: string;
  title?: string;
  interrupted?: boolean;
  hidden?: boolean;
  synthetic?: boolean;
  quotable?: boolean;
}

export interface Reference {
  type: "quote" | "pointer" | "recall";
  conversation: string;
  message?: string;
  confirmed?: true;
  seen?: string;
}

export interface Preview {
  reference: Reference;
  title: string;
  excerpt: string;
  text_length: number;
  truncated: boolean;
  needs_confirmation: boolean;
  reasons?: string[] | null;
  confirmation?: string;
  digest: string;
  source: { level: Level; category?: string };
  target: { level: Level; category?: string };
}

export interface Input {
  id: string;
  state: "pending" | "promoted" | "rejected" | "withdrawn";
  delivery: Delivery;
  revision: number;
  text: string;
  admitted_at: string;
  references?: ItemReference[];
  /** What was sent, to restore a draft. */
  asked?: Reference[];
  code?: string;
  reason?: string;
  kind?: string;
}

export interface Usage {
  fresh: number;
  read: number;
  write: number;
  output: number;
  cost?: string; // US dollars, where it is known
}

export interface Ledger {
  bytes: number;
  sha256: string;
  prefix_bytes: number;
  prefix_sha256: string;
  shared: number;
  reason?: string;
  options_sha256: string;
}

export interface Step {
  id: string;
  seq: number;
  state: "running" | "done" | "failed" | "interrupted";
  purpose: string;
  provider: string;
  model: string;
  attempts: number;
  usage?: Usage;
  ledger: Ledger;
  code?: string;
  reason?: string;
  started_at?: string;
  ended_at?: string;
}

/** What the model knows with authority, and what it does not know yet. */
export interface Context {
  epoch: number; // seq at which the one in force began; 0: none yet
  began_at?: string;
  baseline: string;
  baseline_sha256: string;
  snapshot: Record<string, { value: unknown; removed_text?: string }>;
  journal: { seq: number; fact: string; value?: unknown; changed_at: string; noticed_at: string }[];
  unavailable: { fact: string; since?: string; reason?: string }[];
}

export interface ToolList {
  items: { name: string; description: string; server?: string; approval: "ask" | "allow" | "deny"; remembered?: "ask" | "allow" | "deny" }[];
  servers: { name: string; state: "starting" | "ready" | "failed"; reason?: string }[];
}

export interface Flow {
  id: number | string;
  time: string;
  form: string;
  source: string;
  target: string;
  message?: string;
  source_title?: string;
  target_title?: string;
  reasons?: string[];
  confirmation?: string;
  result?: string;
}

export interface Model {
  id: string;
  name?: string;
  provider?: string;
  default?: boolean;
}
