// From what the model was told of a fact to the few words of a slim line. Only
// what the texts themselves say is used; what cannot be shortened is cut.

/** What a value is, or a part of one. */
export type Kind = "value" | "path" | "branch" | "rebase" | "commit" | "ungit" | "missing" | "dirty" | "clean" | "unsure" | "date" | "zone";

export interface Side {
  kind: Kind;
  value: string; // "" where the kind says it all
}

export interface Change {
  from: Side;
  to: Side;
}

export interface Told {
  changes: Change[]; // each of like with like
  now: Side[]; // the value in a few words, where no change can be shown
  gone?: boolean; // it no longer applies
  text: string; // the beginning of the text, where there is no value to show
}

const longest = 72; // characters of a slim line
const arrowed = 40; // of each side of an arrow

/** What a text tells of a fact; before is what was told of it last, if that is known. */
export function told(fact: string, text: string, before?: string): Told {
  const line = firstLine(text);
  const none = { changes: [], now: [], text: clip(unended(line)) };
  const both = /\b(?:is|are) now (.+) \(was (.+)\)\.?$/su.exec(line);
  if (both) return { ...none, changes: [{ from: side("value", both[2]!), to: side("value", both[1]!) }] };
  if (/ no longer appl(?:y|ies)\b|^There (?:is|are) no .+ any longer\b/u.test(line)) return { ...none, gone: true };
  const now = sides(fact, line);
  const was = before === undefined ? [] : sides(fact, firstLine(before));
  const differ = now.flatMap((to, i) => (was[i] && (was[i].kind !== to.kind || was[i].value !== to.value) ? [{ from: was[i], to }] : []));
  // Whether something is uncommitted is news only where the rest is as it was.
  const news = differ.filter((c) => differ.length === 1 || !states.has(c.to.kind));
  const changes = news.map((c) => (c.to.kind === "path" ? { from: ending(c.from, c.to), to: ending(c.to, c.from) } : { from: short(c.from), to: short(c.to) }));
  const fits = changes.every((c) => c.to.kind === "path" || (c.from.value.length <= arrowed && c.to.value.length <= arrowed));
  return fits && changes.length > 0 ? { ...none, changes } : { ...none, now: now.filter((x) => !states.has(x.kind)).map(short) };
}

const states: ReadonlySet<Kind> = new Set(["dirty", "clean", "unsure"]);

/** What a baseline says of a fact, as far as it can be found in it again. */
export function inBaseline(fact: string, baseline: string): string | undefined {
  const begin = fact === "core/workspace" ? "The workspace is " : fact === "core/date" ? "Today is " : fact + " is ";
  return baseline.split("\n").find((line) => line.startsWith(begin));
}

// What a value consists of, each part always at the same place; nothing where
// the text is in words of its own.
function sides(fact: string, line: string): Side[] {
  if (fact === "core/workspace") {
    const m = /^The workspace is (?:now )?(.+?) \([a-z0-9]+\/[a-z0-9]+\)\.(.*)$/su.exec(line);
    return m ? [{ kind: "path", value: m[1]! }, head(m[2]!), dirt(m[2]!)] : [];
  }
  if (fact === "core/date") {
    const m = /^Today is (?:now )?(.+?) \(time zone (.+)\)\.$/u.exec(line);
    return m ? [side("date", m[1]!), side("zone", m[2]!)] : [];
  }
  const is = line.startsWith(fact + " is ") ? line.slice(fact.length + 4) : (/\b(?:is|are) (now .+)$/su.exec(line)?.[1] ?? "");
  const value = unended(is.replace(/^now /u, ""));
  return value === "" ? [] : [{ kind: "value", value }];
}

function head(words: string): Side {
  const m = /^ The git branch (?:is (\S+)\.(?: |$)|(\S+) is being rebased\.)|^ Git has commit (\S+) checked out/u.exec(words);
  if (m?.[1]) return { kind: "branch", value: m[1] };
  if (m?.[2]) return { kind: "rebase", value: m[2] };
  if (m?.[3]) return { kind: "commit", value: m[3] };
  return { kind: words.startsWith(" There is no such folder.") ? "missing" : "ungit", value: "" };
}

function dirt(words: string): Side {
  return { kind: words.includes(" There are changes that are not committed.") ? "dirty" : words.includes(" Nothing is changed since") ? "clean" : "unsure", value: "" };
}

const side = (kind: Kind, value: string): Side => ({ kind, value: plain(value) });
const short = (s: Side): Side => ({ kind: s.kind, value: plain(s.value) });

// The end of a long path tells most, as long as it is not the other's too.
function ending(path: Side, other: Side): Side {
  const end = tail(path.value);
  return end === tail(other.value) ? path : { kind: path.kind, value: end };
}

function tail(path: string): string {
  if (path.length <= arrowed) return path;
  const end = path.slice(1 - arrowed);
  return "…" + end.slice(Math.max(0, end.search(/[/\\]/u)));
}

/** What a fact is called: ours without their namespace, a client's in full. */
export function nameOf(fact: string): string {
  return fact.replace(/^core\//u, "");
}

function firstLine(text: string): string {
  return (text.split("\n").find((l) => l.trim() !== "") ?? "").trim();
}

const unended = (s: string): string => s.replace(/(?<![.])[.。]$/u, "");

// A JSON string reads better without its quotes.
function plain(json: string): string {
  const m = /^"((?:[^"\\])*)"$/u.exec(json);
  return clip(m ? m[1]! : json);
}

function clip(s: string): string {
  const chars = [...s];
  return chars.length <= longest ? s : chars.slice(0, longest - 1).join("") + "…";
}
