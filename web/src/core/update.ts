// From what the model was told of a fact to the few words of a slim line. Only
// what the text itself says is used; what cannot be shortened is cut.

export interface Told {
  /** "main → dev", or the beginning of the text. */
  short: string;
  /** The fact no longer applies; short is what it was called. */
  gone: boolean;
}

const longest = 72; // characters of a slim line

export function told(fact: string, text: string): Told {
  const line = firstLine(text);
  const now = /\b(?:is|are) now (.+?) \(was (.+?)\)\.?$/su.exec(line);
  if (now) return { short: `${plain(now[2]!)} → ${plain(now[1]!)}`, gone: false };
  if (/ no longer appl(?:y|ies)\b/u.test(line)) return { short: nameOf(fact), gone: true };
  const only = /\b(?:is|are) now (.+?)\.?$/su.exec(line);
  if (only && [...only[1]!].length <= longest) return { short: `${nameOf(fact)}: ${plain(only[1]!)}`, gone: false };
  return { short: `${nameOf(fact)}: ${clip(unended(line))}`, gone: false };
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
function plain(value: string): string {
  const m = /^"((?:[^"\\])*)"$/u.exec(value);
  return clip(m ? m[1]! : value);
}

function clip(s: string): string {
  const chars = [...s];
  return chars.length <= longest ? s : chars.slice(0, longest - 1).join("") + "…";
}
