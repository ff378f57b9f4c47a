// Which part of a request a provider had seen before: in our bytes, which are
// proved, and in its own tokens, which it says.

import { bytes, count } from "../core/format";
import { t, tMaybe } from "../core/i18n";
import type { Ledger, Usage } from "../core/types";

/** What a request is made of, in bytes; the three add up to it. */
export function shares(ledger: Ledger): { shared: number; fresh: number; rest: number } {
  const shared = Math.min(ledger.shared, ledger.prefix_bytes);
  return { shared, fresh: Math.max(0, ledger.prefix_bytes - shared), rest: Math.max(0, ledger.bytes - ledger.prefix_bytes) };
}

/** Drawn as SVG, whose geometry needs no inline style. */
export function PrefixBar({ ledger, slim = false }: { ledger: Ledger; slim?: boolean }) {
  const { shared, fresh } = shares(ledger);
  const total = Math.max(1, shared + fresh);
  const width = (shared / total) * 100;
  const label = t("prefixBar", { shared: bytes(shared), fresh: bytes(fresh) });
  const broken = ledger.reason !== undefined && ledger.reason !== "" && ledger.reason !== "first";
  return (
    <div class={`prefix${slim ? " slim" : ""}`}>
      <svg class="prefix-bar" role="img" aria-label={label} viewBox="0 0 100 8" preserveAspectRatio="none">
        <title>{label}</title>
        <rect class="prefix-fresh" x="0" y="0" width="100" height="8" />
        <rect class="prefix-shared" x="0" y="0" width={width} height="8" />
        {broken ? <rect class="prefix-break" x={Math.max(0, Math.min(99, width - 0.5))} y="0" width="1" height="8" /> : null}
      </svg>
      {slim ? null : (
        <div class="prefix-legend">
          <span><i class="swatch shared" /> {t("reused")} {bytes(shared)}</span>
          <span><i class="swatch fresh" /> {t("fresh")} {bytes(fresh)}</span>
        </div>
      )}
    </div>
  );
}

/** What the provider read from its cache, wrote to it, and read anew. */
export function TokenBar({ usage, slim = false }: { usage: Usage; slim?: boolean }) {
  const total = usage.read + usage.write + usage.fresh;
  if (total <= 0) return null;
  const parts = [
    { kind: "read", n: usage.read, label: t("tokensRead") },
    { kind: "written", n: usage.write, label: t("tokensWritten") },
    { kind: "fresh", n: usage.fresh, label: t("tokensFresh") },
  ];
  let x = 0;
  return (
    <div class={`prefix tokens${slim ? " slim" : ""}`}>
      <svg class="prefix-bar" role="img" aria-label={tokenWords(usage)} viewBox="0 0 100 8" preserveAspectRatio="none">
        <title>{tokenWords(usage)}</title>
        {parts.map((p) => {
          const width = (p.n / total) * 100;
          const at = x;
          x += width;
          return width > 0 ? <rect class={`tokens-${p.kind}`} x={at} y="0" width={width} height="8" key={p.kind} /> : null;
        })}
      </svg>
      {slim ? null : (
        <div class="prefix-legend">
          {parts.map((p) => <span key={p.kind}><i class={`swatch ${p.kind}`} /> {p.label} {count(p.n)}</span>)}
        </div>
      )}
    </div>
  );
}

export function tokenWords(usage: Usage): string {
  return t("tokenBar", { read: count(usage.read), write: count(usage.write), fresh: count(usage.fresh) });
}

/** Whether a request went out at all; a step can fail before. */
export const wasSent = (ledger: Ledger): boolean => ledger.sha256 !== "";

/** How a request stands to the one before it, in one sentence. */
export function prefixWords(ledger: Ledger): string {
  if (!wasSent(ledger)) return t("notSent");
  if (!ledger.reason) return t("extends");
  if (ledger.reason === "first") return t("firstRequest");
  return t("brokeBy", { reason: tMaybe("reason_" + ledger.reason) ?? ledger.reason });
}
