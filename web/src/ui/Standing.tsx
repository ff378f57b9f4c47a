// Why nothing moves, above the composer: what a person has to decide, what a
// conversation waits for, when a failed call is tried again. What is read out
// does not change while the seconds count down.

import { useEffect, useState } from "preact/hooks";
import { serverNow } from "../core/http";
import { t, tMaybe } from "../core/i18n";
import type { RunningStep } from "../core/types";
import { scrollDown } from "../state/scroll";
import type { Timeline } from "../state/timeline";
import { attempt } from "../state/toasts";
import { Icon } from "./icons";
import { Plain, stateWords } from "./Marks";
import { focusDecision } from "./ToolCall";

export function Standing({ timeline }: { timeline: Timeline }) {
  const c = timeline.conversation.value;
  const calls = timeline.waitingCalls.value;
  const blocked = c?.state === "blocked";
  const step = timeline.work.value.step;
  const retry = step?.next_try && c?.state === "running" ? { ...step, next_try: step.next_try } : undefined;
  return (
    <>
      {calls.length > 0 ? <Decide timeline={timeline} /> : null}
      {blocked ? (
        <div class="standing blocked">
          <Icon name="clock" size={15} />
          <span class="standing-words"><Plain text={stateWords(c)} /></span>
        </div>
      ) : null}
      {retry ? <NextTry retry={retry} key={retry.next_try} /> : null}
      <div class="sr" role="status" aria-live="polite">
        {blocked ? stateWords(c) : retry ? t("retrySaid", { why: why(retry) }) : ""}
      </div>
      <div class="sr" role="alert">{decideWords(timeline)}</div>
    </>
  );
}

function decideWords(timeline: Timeline): string {
  const calls = timeline.waitingCalls.value;
  if (calls.length === 0) return "";
  return calls.length === 1 ? t("decideOne", { tool: calls[0]!.name }) : t("decideMany", { n: calls.length });
}

function Decide({ timeline }: { timeline: Timeline }) {
  const first = timeline.waitingCalls.value[0]!;
  const said = timeline.inputs.value.some((i) => i.state === "pending");
  const go = async () => {
    if (focusDecision(first)) return;
    if (timeline.hasAfter.peek()) await attempt(() => timeline.newest());
    scrollDown.value++;
    for (let frames = 0; frames < 30 && !focusDecision(first); frames++) await new Promise(requestAnimationFrame);
  };
  return (
    <div class="standing decide">
      <Icon name="tool" size={15} />
      <span class="standing-words"><Plain text={decideWords(timeline)} />{said ? t("decideFirst") : ""}</span>
      <button type="button" class="small-button" onClick={() => void go()}>{t("decide")}</button>
    </div>
  );
}

/** The reason in a few words; what the endpoint said is one hover away. */
function why(r: Pick<RunningStep, "code" | "reason">): string {
  return tMaybe("why_" + (r.code ?? "")) ?? ((r.reason ?? "").trim().replace(/[.。]$/, "") || t("toolFailed"));
}

const left = (until: string): number => Math.max(0, Math.ceil((Date.parse(until) - serverNow()) / 1000));

function NextTry({ retry }: { retry: RunningStep & { next_try: string } }) {
  const [n, setN] = useState(left(retry.next_try));
  useEffect(() => {
    const timer = window.setInterval(() => setN(left(retry.next_try)), 250);
    return () => clearInterval(timer);
  }, [retry.next_try]);
  const words = n === 0 ? t("retryNow", { why: why(retry) }) : n < 60 ? t("retryIn", { why: why(retry), n }) : t("retryInMinutes", { why: why(retry), m: Math.floor(n / 60), n: n % 60 });
  return (
    <div class="standing retrying" aria-hidden="true" title={retry.reason}>
      <Icon name="retry" size={15} />
      <span class="standing-words"><Plain text={words} /></span>
    </div>
  );
}
