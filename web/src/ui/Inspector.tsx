// What the model was given, step by step; what it knows with authority; what
// crossed a boundary.

import { useEffect, useState } from "preact/hooks";
import { bytes, clock, count, full } from "../core/format";
import { t, tMaybe } from "../core/i18n";
import { open } from "../core/router";
import type { Flow, Step, Usage } from "../core/types";
import * as inspector from "../state/inspector";
import { nameOf } from "../state/quoting";
import type { Timeline } from "../state/timeline";
import { words } from "../state/toasts";
import { ContextView } from "./ContextView";
import { Icon } from "./icons";
import { Plain } from "./Marks";
import { PrefixBar, prefixWords, TokenBar, wasSent } from "./PrefixBar";
import { RequestView } from "./RequestView";

export function Inspector({ timeline }: { timeline: Timeline }) {
  const [steps, setSteps] = useState<Step[] | null>(null);
  const [fault, setFault] = useState("");
  // A step that begins or ends is an item of the timeline, or a change of state.
  const head = timeline.conversation.value?.head_seq;
  const state = timeline.conversation.value?.state;

  useEffect(() => {
    let mine = true;
    inspector.steps(timeline.id).then(
      (got) => mine && (setSteps(got.items ?? []), setFault("")),
      (err) => mine && setFault(words(err)),
    );
    return () => {
      mine = false;
    };
  }, [timeline.id, head, state]);

  const chosen = inspector.chosen.value;
  const step = steps?.find((s) => s.id === chosen);
  return (
    <aside class="inspector" aria-label={t("inspector")}>
      <header class="inspector-head">
        {step ? (
          <button type="button" class="ghost icon-button" aria-label={t("back")} onClick={() => (inspector.chosen.value = null)}>
            <Icon name="left" />
          </button>
        ) : (
          <div class="tabs" role="tablist">
            {(["steps", "context", "crossings"] as const).map((x) => (
              <button type="button" role="tab" aria-selected={inspector.tab.value === x} class="ghost" onClick={() => (inspector.tab.value = x)} key={x}>
                {t(x)}
              </button>
            ))}
          </div>
        )}
        <button type="button" class="ghost icon-button" aria-label={t("close")} onClick={() => inspector.setInspector(false)}>
          <Icon name="close" />
        </button>
      </header>
      <div class="inspector-body">
        {fault ? <p class="fault" role="alert">{fault}</p> : null}
        {inspector.tab.value === "crossings" ? <Crossings timeline={timeline} /> : inspector.tab.value === "context" && !step ? <ContextView timeline={timeline} /> : step ? <RequestView key={step.id} conversation={timeline.id} step={step} /> : (
          <>
            <Origin timeline={timeline} />
            <Steps steps={steps} />
          </>
        )}
      </div>
    </aside>
  );
}

/** Where an imported conversation came from. */
function Origin({ timeline }: { timeline: Timeline }) {
  const origin = timeline.conversation.value?.origin;
  if (!origin) return null;
  return (
    <dl class="facts origin">
      <div><dt>{t("importedProduct")}</dt><dd><Plain text={origin.product} /></dd></div>
      <div><dt>{t("importedFile")}</dt><dd><Plain text={origin.file} /></dd></div>
      <div><dt>{t("importedAt")}</dt><dd><time dateTime={origin.imported_at}>{full(origin.imported_at)}</time></dd></div>
    </dl>
  );
}

const tokensShort = (u: Usage): string => {
  const all = u.fresh + u.read + u.write;
  const read = all > 0 ? `${t("tokensReadShort", { share: Math.round((u.read / all) * 100) })} · ` : "";
  return read + t("tokensOutShort", { n: count(u.output) }) + (u.cost ? ` · $${u.cost}` : "");
};

const stateWord = (s: Step): string => tMaybe("state" + s.state[0]!.toUpperCase() + s.state.slice(1)) ?? s.state;

function Steps({ steps }: { steps: Step[] | null }) {
  if (!steps) return <p class="quiet pad">{t("loading")}</p>;
  if (steps.length === 0) return <p class="quiet pad">{t("noSteps")}</p>;
  return (
    <ul class="steps">
      {steps.map((s) => (
        <li key={s.id}>
          <button type="button" class="step" data-step={s.id} onClick={() => (inspector.chosen.value = s.id)}>
            <span class="step-head">
              <strong>{s.model}</strong>
              <span class={`tag ${s.state === "failed" ? "bad" : ""}`}>{stateWord(s)}</span>
              {s.started_at ? <time dateTime={s.started_at} title={full(s.started_at)}>{clock(s.started_at)}</time> : null}
            </span>
            {wasSent(s.ledger) ? <PrefixBar ledger={s.ledger} slim /> : null}
            {s.usage ? <TokenBar usage={s.usage} slim /> : null}
            <span class="step-foot">
              {wasSent(s.ledger) ? `${bytes(s.ledger.bytes)} · ` : ""}{prefixWords(s.ledger)}
              {s.usage ? ` · ${tokensShort(s.usage)}` : ""}
            </span>
            {s.state === "failed" && s.reason ? <span class="step-why"><Plain text={s.reason} /></span> : null}
          </button>
        </li>
      ))}
    </ul>
  );
}

function Crossings({ timeline }: { timeline: Timeline }) {
  const [list, setList] = useState<{ into: Flow[]; out: Flow[] } | null>(null);
  const head = timeline.conversation.value?.head_seq;
  useEffect(() => {
    let mine = true;
    Promise.all([inspector.crossingsIn(timeline.id), inspector.crossingsOut(timeline.id)]).then(
      ([into, out]) => mine && setList({ into: into.items ?? [], out: out.items ?? [] }),
      () => mine && setList({ into: [], out: [] }),
    );
    return () => {
      mine = false;
    };
  }, [timeline.id, head]);
  if (!list) return <p class="quiet pad">{t("loading")}</p>;
  if (list.into.length + list.out.length === 0) return <p class="quiet pad">{t("noCrossings")}</p>;
  return (
    <ul class="flows">
      {list.into.map((f) => <FlowLine flow={f} other={f.source} words={t("crossedIn")} key={"i" + f.id} />)}
      {list.out.map((f) => <FlowLine flow={f} other={f.target} words={t("crossedOut")} key={"o" + f.id} />)}
    </ul>
  );
}

function FlowLine({ flow, other, words: label }: { flow: Flow; other: string; words: string }) {
  return (
    <li class="flow">
      <span class="flow-head">
        {label}{" "}
        <button type="button" class="link" onClick={() => open(other, other === flow.source ? flow.message : undefined)}><Plain text={nameOf(other)} /></button>
        <time dateTime={flow.time} title={full(flow.time)}>{clock(flow.time)}</time>
      </span>
      {flow.confirmation ? <span class="flow-words"><Plain text={flow.confirmation} /></span> : null}
    </li>
  );
}
