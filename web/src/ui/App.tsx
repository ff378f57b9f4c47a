import { useEffect, useState } from "preact/hooks";
import { signedIn } from "../core/http";
import { t } from "../core/i18n";
import { go, href, open, openNew, route } from "../core/router";
import type { Visibility } from "../core/types";
import { newDraft } from "../state/drafts";
import { chosen, inspectorOpen } from "../state/inspector";
import { items, loaded, watch } from "../state/list";
import { start } from "../state/sending";
import { current, show, type Timeline } from "../state/timeline";
import { attempt } from "../state/toasts";
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
    if (known && r.view === "home" && loaded.value) go(newest === undefined ? "#/new" : href(newest), true);
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
      <Settings />
      <Menu />
      <Toasts />
    </div>
  );
}

function ConversationView({ timeline }: { timeline: Timeline }) {
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
