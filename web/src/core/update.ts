// From what the model was told of a fact to the few words of a slim line. Only
// what the texts themselves say is used; what cannot be shortened is cut.

export interface Told {
  from?: string;
  to?: string; // the value in a few words
  gone?: boolean; // it no longer applies
  text: string; // the beginning of the text, where there is no value to show
}

const longest = 72; // characters of a slim line

/** What a text tells; before is what was told of the same fact last, if that is known. */
export function told(text: string, before?: string): Told {
  const line = firstLine(text);
  const was = /\b(?:is|are) now (.+) \(was (.+)\)\.?$/su.exec(line);
  if (was) return { from: plain(was[2]!), to: plain(was[1]!), text: line };
  if (/ no longer appl(?:y|ies)\b/u.test(line)) return { gone: true, text: clip(unended(line)) };
  const to = value(line);
  if (to === undefined) return { text: clip(unended(line)) };
  const from = before === undefined ? undefined : told(before).to;
  return from === undefined || from === to ? { to, text: line } : { from, to, text: line };
}

function value(line: string): string | undefined {
  const m = /\b(?:is|are) now (.+?)\.?$/su.exec(line);
  return m ? plain(m[1]!) : undefined;
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
