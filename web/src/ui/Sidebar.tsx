import { useEffect, useRef } from "preact/hooks";
import { dayKey } from "../core/format";
import { t, type Word } from "../core/i18n";
import { narrow, sidebar } from "../core/prefs";
import { href, openNew, route } from "../core/router";
import type { Conversation } from "../core/types";
import * as list from "../state/list";
import { conversationActions } from "./ConversationDialogs";
import { Icon, Mark } from "./icons";
import { Marks, Title } from "./Marks";
import { openMenuAt, openMenuBy } from "./Menu";
import { settingsOpen } from "./Settings";

/** On a narrow screen the list lies over the conversation: get it out of the way. */
export function leaveList(): void {
  if (narrow.matches) sidebar.value = "closed";
}

const dayMs = 86_400_000;

function group(c: Conversation): Word {
  const key = dayKey(c.last_active);
  if (key === dayKey(new Date().toISOString())) return "today";
  if (key === dayKey(new Date(Date.now() - dayMs).toISOString())) return "yesterday";
  return Date.now() - Date.parse(c.last_active) < 7 * dayMs ? "thisWeek" : "earlier";
}

export function Sidebar() {
  const search = useRef<HTMLInputElement>(null);
  const r = route.value;
  const here = r.view === "conversation" ? r.id : null;

  useEffect(() => {
    const key = (e: KeyboardEvent) => {
      if ((e.ctrlKey || e.metaKey) && !e.shiftKey && !e.altKey && e.key.toLowerCase() === "k") {
        e.preventDefault();
        sidebar.value = "open";
        requestAnimationFrame(() => search.current?.focus());
      }
    };
    document.addEventListener("keydown", key);
    return () => document.removeEventListener("keydown", key);
  }, []);

  if (sidebar.value === "closed") return null;
  const items = list.items.value;
  const groups: { name: Word; items: Conversation[] }[] = [];
  for (const c of items) {
    const name = group(c);
    if (groups.at(-1)?.name === name) groups.at(-1)!.items.push(c);
    else groups.push({ name, items: [c] });
  }
  return (
    <>
      <div class="backdrop" onClick={() => (sidebar.value = "closed")} />
      <nav class="sidebar" aria-label={t("conversations")}>
        <header class="sidebar-head">
          <span class="brand"><Mark /> Weir</span>
          <button type="button" class="ghost icon-button" aria-label={t("hideList")} title={t("hideList")} onClick={() => (sidebar.value = "closed")}>
            <Icon name="panel" />
          </button>
        </header>
        <button
          type="button"
          class="button new"
          onClick={() => {
            openNew();
            leaveList();
          }}
        >
          <Icon name="plus" size={16} /> {t("newConversation")}
        </button>
        {list.archived.value ? (
          <div class="sidebar-view">
            <button type="button" class="ghost icon-button small" aria-label={t("backToAll")} title={t("backToAll")} onClick={() => list.showArchived(false)}>
              <Icon name="left" size={16} />
            </button>
            <h2>{t("showArchived")}</h2>
          </div>
        ) : null}
        <label class="field search">
          <Icon name="search" size={15} />
          <span class="sr">{t("searchConversations")}</span>
          <input ref={search} type="search" placeholder={t("searchConversations")} value={list.query.value} onInput={(e) => list.search(e.currentTarget.value)} />
        </label>
        <div class="list">
          {list.failed.value ? <p class="quiet pad">{t("networkDown")}</p> : null}
          {list.loaded.value && items.length === 0 ? <p class="quiet pad">{t(list.query.value ? "noMatches" : list.archived.value ? "noArchived" : "noConversations")}</p> : null}
          {groups.map((g) => (
            <section key={g.name} aria-label={t(g.name)}>
              <h2>{t(g.name)}</h2>
              <ul>{g.items.map((c) => <Entry c={c} here={c.id === here} key={c.id} />)}</ul>
            </section>
          ))}
          {list.next.value ? (
            <button type="button" class="link pad" onClick={() => void list.more()}>{t("loadMore")}</button>
          ) : null}
        </div>
        <footer class="sidebar-foot">
          <button type="button" class="ghost" aria-pressed={list.archived.value} onClick={() => list.showArchived(!list.archived.value)}>
            <Icon name="archive" size={16} /> {t("showArchived")}
          </button>
          <button type="button" class="ghost icon-button" aria-label={t("settings")} title={t("settings")} onClick={() => (settingsOpen.value = true)}>
            <Icon name="gear" />
          </button>
        </footer>
      </nav>
    </>
  );
}

function Entry({ c, here }: { c: Conversation; here: boolean }) {
  const label = t("more");
  return (
    <li class={`entry${here ? " here" : ""}`} data-conversation={c.id}>
      <a
        href={href(c.id)}
        aria-current={here ? "page" : undefined}
        onClick={leaveList}
        onContextMenu={(e) => {
          if (e.shiftKey) return;
          e.preventDefault();
          if (e.clientX === 0 && e.clientY === 0) openMenuBy(e.currentTarget, label, conversationActions(c));
          else openMenuAt(e.clientX, e.clientY, label, conversationActions(c), e.currentTarget);
        }}
      >
        <span class="entry-title"><Title c={c} /></span>
        <Marks c={c} />
      </a>
      <button type="button" class="ghost icon-button small entry-more" aria-haspopup="menu" aria-label={`${label}: ${c.title || t("untitled")}`} onClick={(e) => openMenuBy(e.currentTarget, label, conversationActions(c))}>
        <Icon name="more" size={16} />
      </button>
    </li>
  );
}
