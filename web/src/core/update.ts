// From what the model was told of a fact to the few words of a slim line. Only
// what the texts themselves say is used; what cannot be shortened is cut.

export interface Told {
  from?: string;
  to?: string; // the value in a few words
  gone?: boolean; // it no longer applies
  text: string; // the beginning of the text, where there is no value to show
}

const longest = 72; // characters of a slim line
const arrowed = 40; // of each side of an arrow

/** What a text tells of a fact; before is what was told of it last, if that is known. */
export function told(fact: string, text: string, before?: string): Told {
  const line = firstLine(text);
  const cut = clip(unended(line));
  const both = /\b(?:is|are) now (.+) \(was (.+)\)\.?$/su.exec(line);
  if (both) return { from: plain(both[2]!), to: plain(both[1]!), text: cut };
  if (/ no longer appl(?:y|ies)\b|^There (?:is|are) no .+ any longer\b/u.test(line)) return { gone: true, text: cut };
  const now = sides(fact, line);
  if (now.length === 0) return { text: cut };
  const was = before === undefined ? [] : sides(fact, firstLine(before));
  const changed = was.length === now.length ? now.findIndex((x, i) => x !== was[i]) : -1;
  if (changed < 0) return { to: plain(now[0]!), text: cut };
  const [from, to] = [plain(was[changed]!), plain(now[changed]!)];
  return from === "" || to === "" || from.length > arrowed || to.length > arrowed ? { to: to || cut, text: cut } : { from, to, text: cut };
}

/** What a baseline says of a fact, as far as it can be found in it again. */
export function inBaseline(fact: string, baseline: string): string | undefined {
  const begin = fact === "core/workspace" ? "The workspace is " : fact === "core/date" ? "Today is " : fact + " is ";
  return baseline.split("\n").find((line) => line.startsWith(begin));
}

// What a value consists of, the most telling first; nothing where the text is
// in words of its own.
function sides(fact: string, line: string): string[] {
  if (fact === "core/workspace") {
    const m = /^The workspace is (?:now )?(.+?) \([^()]*\)\.(.*)$/su.exec(line);
    if (!m) return [];
    const head = /The git branch is (.+?)\.(?: |$)|Git has commit (\S+) checked out/u.exec(m[2]!);
    const dirty = /(There are changes that are not committed|Nothing is changed since the last commit)/u.exec(m[2]!);
    return [head?.[1] ?? head?.[2] ?? m[1]!, m[1]!, dirty?.[1] ?? ""];
  }
  if (fact === "core/date") {
    const m = /^Today is (?:now )?(.+?) \(time zone (.+)\)\.$/u.exec(line);
    return m ? [m[1]!, m[2]!] : [];
  }
  const is = line.startsWith(fact + " is ") ? line.slice(fact.length + 4) : (/\b(?:is|are) (now .+)$/su.exec(line)?.[1] ?? "");
  const value = unended(is.replace(/^now /u, ""));
  return value === "" ? [] : [value];
}

/** What a fact is called without its namespace. */
export function nameOf(fact: string): string {
  const slash = fact.indexOf("/");
  return slash < 0 ? fact : fact.slice(slash + 1);
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
