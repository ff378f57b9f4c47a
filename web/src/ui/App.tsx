import { useEffect, useState } from "preact/hooks";
import { signedIn } from "../core/http";
import { t } from "../core/i18n";
import { atHome, go, href, open, openNew, route } from "../core/router";
import type { Visibility } from "../core/types";
import { interrupt } from "../state/acting";
import { newDraft } from "../state/drafts";
import { chosen, inspectorOpen } from "../state/inspector";
import { items, loaded, watch } from "../state/list";
import { start } from "../state/sending";
import { current, show, type Timeline } from "../state/timeline";
import { attempt } from "../state/toasts";
import { ArtefactDialog } from "./Artefact";
import { Composer } from "./Composer";
import { ConversationDialogs } from "./ConversationDialogs";
import { Header, ListButton } from "./Header";
import { Inspector } from "./Inspector";
import { Mark } from "./icons";
import { Menu } from "./Menu";
import { ModelSelect } from "./Models";
import { QuoteDialog } from "./QuoteDialog";
import { Settings } from "./Settings";
import { Sidebar } from "./Sidebar";
import { SignIn } from "./SignIn";
import { TimelineView } from "./TimelineView";
import { Toasts } from "./Toasts";
import { VisibilityFields } from "./VisibilityFields";

export function App() {
  const known = signedIn.value;
  const r = route.value;

  useEffect(() => {
    if (known) watch();
  }, [known]);

  useEffect(() => {
    if (!known) return show(null);
    chosen.value = null;
    if (r.view === "conversation") show(r.id, r.message);
    else show(null);
  }, [known, r]);

  const newest = items.value[0]?.id;
  useEffect(() => {
    if (known && r.view === "home" && loaded.value && atHome()) go(newest === undefined ? "#/new" : href(newest), true);
  }, [known, r, loaded.value, newest]);

  if (!known) return <SignIn />;
  const timeline = current.value;
  return (
    <div class={`app${inspectorOpen.value && timeline ? " with-inspector" : ""}`}>
      <Sidebar />
      <main class="main">
        {timeline && r.view === "conversation" && timeline.id === r.id ? <ConversationView timeline={timeline} key={timeline.id} /> : r.view === "new" ? <NewView /> : null}
      </main>
      {inspectorOpen.value && timeline ? <Inspector timeline={timeline} /> : null}
      <QuoteDialog />
      <ConversationDialogs />
      <ArtefactDialog />
      <Settings />
      <Menu />
      <Toasts />
    </div>
  );
}

function ConversationView({ timeline }: { timeline: Timeline }) {
  useEffect(() => {
    const key = (e: KeyboardEvent) => stops(e) && (timeline.running.peek() || timeline.waitingCalls.peek().length > 0) && void interrupt(timeline.id);
    document.addEventListener("keydown", key);
    return () => document.removeEventListener("keydown", key);
  }, [timeline]);
  const fault = timeline.fault.value;
  const title = timeline.conversation.value?.title;
  useEffect(() => {
    document.title = title ? `${title} · Weir` : "Weir";
    return () => {
      document.title = "Weir";
    };
  }, [title]);

  if (fault && !timeline.conversation.value)
    return (
      <>
        <header class="top"><ListButton /></header>
        <div class="empty">
          <p>{fault.status === 404 || fault.status === 410 ? t("notThere") : fault.detail || t("networkDown")}</p>
          {fault.unsure ? (
            <button type="button" class="button" onClick={() => void timeline.open()}>{t("tryAgain")}</button>
          ) : (
            <button type="button" class="button" onClick={openNew}>{t("toList")}</button>
          )}
        </div>
      </>
    );
  return (
    <>
      <Header timeline={timeline} />
      {timeline.connection.value === "lost" ? <div class="lost" role="status">{t("connectionLost")}</div> : null}
      {timeline.loaded.value ? <TimelineView timeline={timeline} /> : <div class="timeline-frame" />}
      <Composer conversation={timeline.id} timeline={timeline} />
    </>
  );
}

// Escape stops the answer where it has nothing else to close: no menu, no
// dialog, no field that is being edited, no word that an input method composes.
function stops(e: KeyboardEvent): boolean {
  if (e.key !== "Escape" || e.defaultPrevented || e.repeat || e.isComposing || e.keyCode === 229) return false;
  if (e.shiftKey || e.altKey || e.ctrlKey || e.metaKey || document.querySelector("dialog[open], .menu")) return false;
  return !(e.target as Element).closest("input, textarea, select, .sidebar, .inspector");
}

/** Where a conversation begins: its wall is chosen before its first word. */
function NewView() {
  const [visibility, setVisibility] = useState<Visibility>({ level: "open" });
  const [model, setModel] = useState("");
  const begin = () =>
    attempt(async () => {
      const c = await start(visibility, model || undefined);
      open(c.id);
    }).then(() => undefined);
  return (
    <>
      <header class="top new"><ListButton /><div class="top-title" /><ModelSelect value={model} onChange={setModel} /></header>
      <div class="start">
        <div class="start-words">
          <Mark size={44} />
          <h1>{t("startTitle")}</h1>
          <p>{t("startLead")}</p>
        </div>
        <Composer conversation={newDraft} timeline={null} onStart={begin} />
        <VisibilityFields value={visibility} onChange={setVisibility} compact />
      </div>
    </>
  );
}
