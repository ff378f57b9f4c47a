import { useEffect, useMemo, useState } from "preact/hooks";
import { bytes, count, full } from "../core/format";
import { t } from "../core/i18n";
import { blocksOf, takeApart, textsOf, type Part } from "../core/request";
import type { Step, Usage } from "../core/types";
import { copy } from "../state/acting";
import { request, type SentRequest } from "../state/inspector";
import { words } from "../state/toasts";
import { Icon } from "./icons";
import { Plain } from "./Marks";
import { PrefixBar, prefixWords, shares, TokenBar, wasSent } from "./PrefixBar";

export function RequestView({ conversation, step }: { conversation: string; step: Step }) {
  const [sent, setSent] = useState<SentRequest | null>(null);
  const [fault, setFault] = useState("");
  const [raw, setRaw] = useState(false);
  useEffect(() => {
    if (!wasSent(step.ledger)) return;
    let mine = true;
    request(conversation, step.id).then(
      (got) => mine && setSent(got),
      (err) => mine && setFault(words(err)),
    );
    return () => {
      mine = false;
    };
  }, [conversation, step.id]);

  const parts = useMemo(() => (sent ? takeApart(sent.body) : null), [sent]);
  const l = step.ledger;
  const s = shares(l);
  return (
    <div class="request">
      <div class="request-head">
        <h2 class="request-title">
          <span>{step.model}</span>
          {sent ? (
            sent.verified ? (
              <span class="verified" title={t("verifiedHint")}><Icon name="shield" size={15} /> {t("verified")}</span>
            ) : (
              <span class="verified not"><Icon name="warn" size={15} /> {t("notVerified")}</span>
            )
          ) : null}
        </h2>
        {wasSent(l) ? <PrefixBar ledger={l} /> : null}
        {step.usage ? <TokenBar usage={step.usage} /> : null}
      </div>
      <dl class="facts">
        <div><dt>{t("prefix")}</dt><dd>{prefixWords(l)}</dd></div>
        {wasSent(l) ? <div><dt>{t("bytes")}</dt><dd>{t("bytesSum", { n: count(l.bytes), shared: count(s.shared), fresh: count(s.fresh), rest: count(s.rest) })}</dd></div> : null}
        {step.usage ? <UsageLine usage={step.usage} /> : null}
        {step.attempts > 1 ? <div><dt>{t("attempts")}</dt><dd>{step.attempts}</dd></div> : null}
        {step.started_at ? <div><dt>{t("started")}</dt><dd><time dateTime={step.started_at}>{full(step.started_at)}</time></dd></div> : null}
        {wasSent(l) ? <div><dt>{t("digest")}</dt><dd class="digest" title={l.sha256}>{l.sha256}</dd></div> : null}
        {step.reason ? <div><dt>{t("why")}</dt><dd><Plain text={step.reason} /></dd></div> : null}
      </dl>
      {fault ? <p class="fault" role="alert">{fault}</p> : null}
      {sent ? (
        <>
          <div class="request-bar">
            <div class="tabs" role="tablist">
              <button type="button" role="tab" class="ghost" aria-selected={!raw} onClick={() => setRaw(false)}>{t("pretty")}</button>
              <button type="button" role="tab" class="ghost" aria-selected={raw} onClick={() => setRaw(true)}>{t("raw")}</button>
            </div>
            <button type="button" class="ghost icon-button small" aria-label={t("copyRequest")} title={t("copyRequest")} onClick={() => void copy(sent.body)}>
              <Icon name="copy" size={15} />
            </button>
          </div>
          {raw || !parts ? <pre class="raw" tabIndex={0}>{sent.body}</pre> : <Pretty parts={parts} shared={l.shared} prefix={l.prefix_bytes} />}
        </>
      ) : fault || !wasSent(l) ? null : (
        <p class="quiet">{t("loading")}</p>
      )}
    </div>
  );
}

function UsageLine({ usage }: { usage: Usage }) {
  return (
    <>
      <div><dt>{t("tokensIn")}</dt><dd>{t("tokensInWords", { n: count(usage.fresh + usage.read + usage.write), read: count(usage.read), write: count(usage.write) })}</dd></div>
      <div><dt>{t("tokensOut")}</dt><dd>{t("tokens", { n: count(usage.output) })}</dd></div>
      {usage.cost ? <div><dt>{t("cost")}</dt><dd>${usage.cost}</dd></div> : null}
    </>
  );
}

function Pretty({ parts, shared, prefix }: { parts: Part[]; shared: number; prefix: number }) {
  // Behind the last message that lies wholly in the reused part.
  let boundary = -1;
  parts.forEach((x, i) => {
    if (x.end > 0 && x.end <= shared) boundary = i;
  });
  return (
    <ol class="parts">
      {parts.map((x, i) => (
        <li key={i} class={x.end > 0 ? (x.end <= shared ? "old" : "new") : ""}>
          <PartView part={x} />
          {i === boundary && shared < prefix ? <div class="boundary"><span>{t("boundary")} · {bytes(shared)}</span></div> : null}
        </li>
      ))}
    </ol>
  );
}

const folds = 2_400; // characters that are shown before a fold

function PartView({ part }: { part: Part }) {
  if (part.kind === "message") {
    const blocks = blocksOf(part.value);
    return (
      <section class={`wire role-${part.role ?? "none"}`}>
        <h3>{part.role ?? ""}</h3>
        {blocks.map((b, i) => <Block type={b.type} text={b.text} key={i} />)}
      </section>
    );
  }
  const label = t(part.kind);
  const blocks = part.kind === "system" ? textsOf(part.value) : [{ type: "json", text: JSON.stringify(part.value, null, 2) }];
  return (
    <details class="wire" open={part.kind === "system" && blocks.every((b) => b.text.length < 600)}>
      <summary><h3>{label}</h3></summary>
      {blocks.map((b, i) => <Block type={b.type} text={b.text} key={i} />)}
    </details>
  );
}

const plain = ["text", "input_text", "output_text", "json"]; // that a role says enough of

function Block({ type, text }: { type: string; text: string }) {
  const [all, setAll] = useState(text.length <= folds);
  return (
    <div class="block">
      {!plain.includes(type) ? <span class="block-type">{type}</span> : null}
      <pre dir="auto">{all ? text : text.slice(0, folds) + "…"}</pre>
      {all ? null : <button type="button" class="link" onClick={() => setAll(true)}>{t("showMore")}</button>}
    </div>
  );
}
