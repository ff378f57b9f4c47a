// One way to ask the server, with a deadline and one kind of failure.

import { signal } from "@preact/signals";

/** A refusal of the server (RFC 9457), or "network" when it was not reached. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly body: Record<string, unknown>;

  constructor(status: number, code: string, detail: string, body: Record<string, unknown> = {}) {
    super(detail || code);
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.body = body;
  }

  /** Whether nobody knows if the request arrived. */
  get unsure(): boolean {
    return this.code === "network" || this.status === 502 || this.status === 503 || this.status === 504;
  }
}

/** False once the server has said that it does not know us. */
export const signedIn = signal(true);

export interface Ask {
  method?: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
  signal?: AbortSignal;
  headers?: Record<string, string>;
  timeout?: number;
}

const defaultTimeout = 30_000;

let skew = 0; // ms by which the server's clock is ahead of ours

/** What time it is where times come from; about a second exact. */
export const serverNow = (): number => Date.now() + skew;

function readClock(res: Response): void {
  const date = Date.parse(res.headers.get("Date") ?? "");
  if (!Number.isNaN(date)) skew = Math.abs(date - Date.now()) < 2_000 ? 0 : date - Date.now();
}

export function url(path: string, query: Ask["query"] = {}): string {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(query)) if (v !== undefined && v !== "") q.set(k, String(v));
  const s = q.toString();
  return s ? `${path}?${s}` : path;
}

/** p`/v1/conversations/${id}`: the values are percent-encoded. */
export function p(parts: TemplateStringsArray, ...values: (string | number)[]): string {
  return parts.reduce((all, part, i) => all + encodeURIComponent(String(values[i - 1])) + part);
}

export async function send(path: string, ask: Ask = {}): Promise<Response> {
  const deadline = AbortSignal.timeout(ask.timeout ?? defaultTimeout);
  const init: RequestInit = {
    method: ask.method ?? "GET",
    headers: { Accept: "application/json", ...ask.headers },
    credentials: "same-origin",
    signal: ask.signal ? AbortSignal.any([ask.signal, deadline]) : deadline,
  };
  if (ask.body !== undefined) {
    init.body = JSON.stringify(ask.body);
    (init.headers as Record<string, string>)["Content-Type"] = "application/json";
  }
  let res: Response;
  try {
    res = await fetch(url(path, ask.query), init);
  } catch (err) {
    if (ask.signal?.aborted) throw err;
    throw new Problem(0, "network", "");
  }
  readClock(res);
  if (res.ok) return res;
  throw await refusal(res);
}

export async function refusal(res: Response): Promise<Problem> {
  if (res.status === 401) signedIn.value = false;
  let body: Record<string, unknown> = {};
  try {
    body = (await res.json()) as Record<string, unknown>;
  } catch {
    // not a problem document: the status has to do
  }
  const text = (v: unknown) => (typeof v === "string" ? v : "");
  return new Problem(res.status, text(body["code"]) || `http_${res.status}`, text(body["detail"]) || text(body["title"]), body);
}

export async function json<T>(path: string, ask: Ask = {}): Promise<T> {
  const res = await send(path, ask);
  if (res.status === 204) return undefined as T;
  try {
    return (await res.json()) as T;
  } catch (err) {
    if (ask.signal?.aborted) throw err;
    throw new Problem(0, "network", ""); // cut off in the middle of the body
  }
}
