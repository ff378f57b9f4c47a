// Characters that a reader cannot see but that change what they read: bidi
// marks, zero-width characters, controls, tags. Where a person decides about a
// text, they are shown by their code point.

export interface Piece {
  text: string;
  code?: string; // "U+202E" for an invisible character
}

const invisible = /[\p{Cf}\p{Cc}\p{Co}\p{Cn}\u115f\u1160\u3164\uffa0\u034f\u17b4\u17b5\u180b-\u180d\u2028\u2029\u{e0100}-\u{e01ef}]/u;

// A joiner inside an emoji or between letters of scripts that need it is part
// of how the text is spelt.
// (Asked of single code points, and not anchored: V8 of 2026 finds no class that
// holds astral characters right before a $.)
const beforeJoiner = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f\p{L}\p{M}]/u;
const afterJoiner = /[\p{Extended_Pictographic}\p{L}\p{M}]/u;
const latin = /[\p{Script=Latin}\p{Script=Han}\p{Script=Cyrillic}\p{Script=Greek}]/u;

export function reveal(text: string): Piece[] {
  const out: Piece[] = [];
  let plain = "";
  const points = Array.from(text);
  points.forEach((ch, i) => {
    if (ch === "\n" || ch === "\t" || !invisible.test(ch) || spelt(points, i)) {
      plain += ch;
      return;
    }
    if (plain) out.push({ text: plain });
    plain = "";
    out.push({ text: ch, code: "U+" + ch.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0") });
  });
  if (plain) out.push({ text: plain });
  return out;
}

function spelt(points: string[], i: number): boolean {
  const ch = points[i]!;
  if (ch !== "\u200d" && ch !== "\u200c") return false;
  const before = points[i - 1] ?? "";
  const after = points[i + 1] ?? "";
  return beforeJoiner.test(before) && afterJoiner.test(after) && !latin.test(before) && !latin.test(after);
}
