// A tool call and what became of it. Folded, except while it waits for a
// person: then it is open, with the question.

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { bytes } from "../core/format";
import { t } from "../core/i18n";
import type { Item, OpenCall } from "../core/types";
import { decide } from "../state/acting";
import { focusComposer } from "../state/quoting";
import { keyOf, type Timeline } from "../state/timeline";
import { showArtefact } from "./Artefact";
import { Icon } from "./icons";
import { Plain } from "./Marks";

interface Props {
  timeline: Timeline;
  answer?: Item; // the message that asked for it
  call: string;
  name: string;
  input?: string;
  result: Item | undefined;
  decision?: "allow" | "deny" | undefined;
}

type State = "waiting" | "running" | "decided" | "failed" | "interrupted" | "done" | "unknown";

/** What the server says of a call that has no result yet. */
function openCall({ timeline, answer, call, result }: Props): OpenCall | undefined {
  if (result || !answer?.step) return undefined;
  return timeline.work.value.calls.find((c) => c.call === call && c.step === answer.step);
}

function stateOf(props: Props, open: OpenCall | undefined): State {
  const settled = props.result?.tool;
  // A call that was cut short has not failed: the result says what is known.
  if (settled) return !settled.is_error ? "done" : settled.text.startsWith("interrupted; it ") ? "interrupted" : "failed";
  // Before the server has said so, a call of the step at work runs.
  if (!open) return props.answer?.step && props.timeline.running.value && props.timeline.work.value.step?.id === props.answer.step ? "running" : "unknown";
  if (open.state === "started") return "running";
  return props.timeline.waitingCalls.value.includes(open) ? "waiting" : "decided";
}

export function ToolCall(props: Props) {
  const { timeline, call, name, input, result, decision } = props;
  const unsettled = openCall(props);
  const state = stateOf(props, unsettled);
  const [open, setOpen] = useState(state === "waiting");
  useEffect(() => setOpen(state === "waiting"), [state === "waiting"]);
  const artefact = result?.tool?.artefact;
  return (
    <details class={`fold tool ${state}`} data-call={call} data-state={state} open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <Icon name="tool" size={14} />
        <span class="tool-name"><Plain text={name || t("toolCall")} /></span>
        <span class="tool-hint" dir="auto">{hint(input)}</span>
        <Tag state={state} decision={decision ?? unsettled?.decision} />
      </summary>
      {open ? (
        <div class="fold-text">
          {input ? (
            <>
              <h4>{t("arguments")}</h4>
              <pre tabIndex={0}><Plain text={pretty(input)} /></pre>
            </>
          ) : null}
          {state === "waiting" && unsettled ? <Decision timeline={timeline} call={unsettled} /> : null}
          {result?.tool ? (
            <>
              <h4>{t("result")}</h4>
              <pre tabIndex={0} dir="auto">{result.tool.text}</pre>
            </>
          ) : null}
          {artefact ? (
            <p class="whole">
              {t("resultCut")}{" "}
              <button type="button" class="link" onClick={() => showArtefact({ conversation: timeline.id, id: artefact, name })}>{result?.tool?.size ? t("showWholeOf", { size: bytes(result.tool.size) }) : t("showWhole")}</button>
            </p>
          ) : null}
        </div>
      ) : null}
    </details>
  );
}

function Tag({ state, decision }: { state: State; decision: Props["decision"] }) {
  if (state === "waiting") return <span class="tag caution">{t("callWaiting")}</span>;
  if (state === "running")
    return (
      <span class="tag">
        <span class="spinner" aria-hidden="true" /> {t("callRunning")}
      </span>
    );
  if (decision === "deny") return <span class="tag">{t("callDenied")}</span>;
  if (state === "interrupted") return <span class="tag caution">{t("toolInterrupted")}</span>;
  if (state === "failed") return <span class="tag bad">{t("toolFailed")}</span>;
  return decision === "allow" ? <span class="tag">{t("callAllowed")}</span> : null;
}

const asked = signal<ReadonlySet<string>>(new Set()); // calls whose decision is on its way

/** The question. Allow is not the default: nothing has the focus by itself. */
function Decision({ timeline, call }: { timeline: Timeline; call: OpenCall }) {
  const [always, setAlways] = useState(false);
  const key = keyOf(call);
  const busy = asked.value.has(key);
  const say = async (decision: "allow" | "deny") => {
    if (asked.peek().has(key)) return;
    asked.value = new Set(asked.peek()).add(key);
    const done = await decide(timeline, call, decision, always);
    asked.value = new Set([...asked.peek()].filter((x) => x !== key));
    if (done) onwards(timeline);
  };
  const words = t("callAsks", { tool: call.name || t("toolCall") });
  return (
    <div class="decision" role="group" aria-label={words}>
      <span class="decision-words"><Plain text={words} /></span>
      <span class="decision-tools">
        <label class="check"><input type="checkbox" checked={always} onChange={(e) => setAlways(e.currentTarget.checked)} /> {t("always")}</label>
        <span class="decision-answers">
          <button type="button" class="small-button" data-decision="deny" disabled={busy} onClick={() => void say("deny")}>{t("deny")}</button>
          <button type="button" class="small-button primary" data-decision="allow" disabled={busy} onClick={() => void say("allow")}>{t("allow")}</button>
        </span>
      </span>
    </div>
  );
}

/** The focus goes on to the next question; after the last, to the composer. */
function onwards(timeline: Timeline): void {
  const next = timeline.waitingCalls.peek()[0];
  if (!next || !focusDecision(next)) focusComposer.value++;
}

/** Puts the focus on the question about a call, if it is on screen. */
export function focusDecision(call: OpenCall): boolean {
  const details = document.querySelector<HTMLDetailsElement>(`[data-step="${CSS.escape(call.step)}"] .tool[data-call="${CSS.escape(call.call)}"]`);
  if (!details) return false;
  details.open = true;
  requestAnimationFrame(() => {
    details.scrollIntoView({ block: "nearest" });
    details.querySelector<HTMLElement>("[data-decision=deny]")?.focus();
  });
  return true;
}

function pretty(input: string): string {
  try {
    return JSON.stringify(JSON.parse(input), null, 2);
  } catch {
    return input;
  }
}

// The first words of the arguments, to tell folded calls apart.
function hint(input: string | undefined): string {
  if (!input) return "";
  try {
    const values = Object.values(JSON.parse(input) as Record<string, unknown>);
    const first = values.find((v) => typeof v === "string" && v !== "");
    return typeof first === "string" ? first.slice(0, 120).replace(/\s+/g, " ") : "";
  } catch {
    return input.slice(0, 120);
  }
}
