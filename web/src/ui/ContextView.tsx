// What the model knows with authority: the baseline it began with, each fact as
// it was told last, what has changed since, and what cannot be observed.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { clock, full } from "../core/format";
import { t } from "../core/i18n";
import type { Context } from "../core/types";
import { newEpoch } from "../state/acting";
import * as inspector from "../state/inspector";
import type { Timeline } from "../state/timeline";
import { words } from "../state/toasts";
import { Icon } from "./icons";
import { Plain } from "./Marks";

const every = 5_000; // ms

export function ContextView({ timeline }: { timeline: Timeline }) {
  const [context, setContext] = useState<Context | null>(null);
  const [fault, setFault] = useState("");
  const [asked, setAsked] = useState(0);
  // Nothing says when a change is noticed.
  useEffect(() => {
    const timer = window.setInterval(() => document.visibilityState === "visible" && setAsked((n) => n + 1), every);
    return () => clearInterval(timer);
  }, []);
  const head = timeline.conversation.value?.head_seq;
  const state = timeline.conversation.value?.state;
  useEffect(() => {
    let mine = true;
    inspector.context(timeline.id).then(
      (got) => mine && (setContext(got), setFault("")),
      (err) => mine && setFault(words(err)),
    );
    return () => {
      mine = false;
    };
  }, [timeline.id, head, state, asked]);
  if (fault) return <p class="fault" role="alert">{fault}</p>;
  if (!context) return <p class="quiet pad">{t("loading")}</p>;
  return (
    <div class="context">
      <Untold context={context} onAgain={() => setAsked((n) => n + 1)} />
      <Facts context={context} />
      <Baseline context={context} timeline={timeline} />
    </div>
  );
}

function Section({ title, name, children, tool }: { title: string; name: string; children: ComponentChildren; tool?: ComponentChildren }) {
  return (
    <section class="context-part" data-part={name}>
      <header><h3>{title}</h3>{tool}</header>
      {children}
    </section>
  );
}

/** What is not as the model knows it: changed, or nobody can tell. */
function Untold({ context, onAgain }: { context: Context; onAgain: () => void }) {
  const { journal, unavailable } = context;
  return (
    <>
      <Section
        title={t("untold")}
        name="journal"
        tool={<button type="button" class="ghost icon-button small" aria-label={t("lookAgain")} title={t("lookAgain")} onClick={onAgain}><Icon name="retry" size={14} /></button>}
      >
        {journal.length === 0 ? <p class="quiet">{t("untoldNothing")}</p> : <p class="quiet">{t("untoldHint")}</p>}
        <ul class="entries">
          {journal.map((j) => (
            <li key={j.seq} data-fact={j.fact}>
              <span class="entry-head"><code>{j.fact}</code> <Time at={j.changed_at} /></span>
              <Value value={j.value} />
            </li>
          ))}
        </ul>
      </Section>
      {unavailable.length > 0 ? (
        <Section title={t("unavailable")} name="unavailable">
          <ul class="entries">
            {unavailable.map((u) => (
              <li key={u.fact} data-fact={u.fact} class="missing">
                <span class="entry-head"><code>{u.fact}</code> {u.since ? <span>{t("unavailableSince", { time: clock(u.since) })}</span> : null}</span>
                {u.reason ? <span class="value"><Plain text={u.reason} /></span> : null}
              </li>
            ))}
          </ul>
        </Section>
      ) : null}
    </>
  );
}

function Facts({ context }: { context: Context }) {
  const facts = Object.entries(context.snapshot);
  return (
    <Section title={t("told")} name="snapshot">
      {facts.length === 0 ? <p class="quiet">{t("toldNothing")}</p> : null}
      <ul class="entries">
        {facts.map(([key, entry]) => (
          <li key={key} data-fact={key}>
            <span class="entry-head"><code>{key}</code></span>
            <Value value={entry.value} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Baseline({ context, timeline }: { context: Context; timeline: Timeline }) {
  if (context.epoch === 0) return <Section title={t("baseline")} name="baseline"><p class="quiet">{t("noContext")}</p></Section>;
  return (
    <Section title={t("baseline")} name="baseline">
      <dl class="facts">
        {context.began_at ? <div><dt>{t("epochBegan")}</dt><dd><time dateTime={context.began_at}>{full(context.began_at)}</time></dd></div> : null}
        <div><dt>{t("digest")}</dt><dd class="digest" title={context.baseline_sha256}>{context.baseline_sha256}</dd></div>
      </dl>
      <pre class="raw" tabIndex={0} dir="auto"><Plain text={context.baseline} /></pre>
      <p class="quiet">{t("newEpochHint")}</p>
      <button type="button" class="small-button" onClick={() => void newEpoch(timeline.id)}>{t("newEpoch")}</button>
    </Section>
  );
}

function Time({ at }: { at: string }) {
  return <time dateTime={at} title={full(at)}>{clock(at)}</time>;
}

const short = 90; // characters of a value that stand on one line

function Value({ value }: { value: unknown }) {
  if (value === undefined || value === null) return <span class="quiet">{t("gone")}</span>;
  const line = typeof value === "string" ? value : JSON.stringify(value);
  if (line.length <= short && !line.includes("\n")) return <span class="value"><Plain text={line} /></span>;
  return (
    <details class="value">
      <summary><Plain text={line.slice(0, short).replace(/\s+/g, " ")} />…</summary>
      <pre tabIndex={0}><Plain text={typeof value === "string" ? value : JSON.stringify(value, null, 2)} /></pre>
    </details>
  );
}
