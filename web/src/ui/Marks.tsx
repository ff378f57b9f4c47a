// The small signs that say where a conversation stands: its wall, its label,
// what kind it is, whether it is at work.

import { t } from "../core/i18n";
import { reveal } from "../core/invisible";
import type { Conversation, Level, Origin } from "../core/types";
import { Icon, Spinner } from "./icons";

export function LevelMark({ level, inside = false }: { level: Level; inside?: boolean }) {
  if (level === "isolated")
    return (
      <span class="mark-level isolated" title={t("isolated")}>
        <Icon name="lock" size={13} />
        <span class="sr">{t("isolated")}</span>
      </span>
    );
  if (inside)
    return (
      <span class="mark-level inside" title={t("inIsland")}>
        <Icon name="lock" size={13} />
        <span class="sr">{t("inIsland")}</span>
      </span>
    );
  return null;
}

export function CategoryMark({ category }: { category: string | undefined }) {
  if (!category) return null;
  return (
    <span class="mark-category" title={`${t("category")}: ${category}`}>
      <Plain text={category} />
    </span>
  );
}

/** Why a conversation stands still, or that it does not. */
export function stateWords(c: Pick<Conversation, "state" | "waiting_for">): string {
  switch (c.state) {
    case "running":
      return t("running");
    case "waiting":
      return c.waiting_for === "resume" ? t("waitingResume") : t(c.waiting_for === "approval" ? "waitingApproval" : "waiting");
    case "blocked":
      return c.waiting_for ? t("blockedBy", { what: c.waiting_for }) : t("blocked");
    default:
      return "";
  }
}

export const originWords = (o: Origin): string => t("importedFrom", { product: o.product });

export function Marks({ c }: { c: Conversation }) {
  const inside = c.visibility.level !== "isolated" && (c.visibility.island?.length ?? 0) > 0;
  return (
    <span class="marks">
      {c.state === "running" ? <Spinner label={t("running")} /> : null}
      {c.state === "waiting" || c.state === "blocked" ? <span class="dot" role="img" aria-label={stateWords(c)} title={stateWords(c)} /> : null}
      {c.kind === "branch" ? (
<span class="mark-kind tag" title={t("parentLink")}>{t("branchTag")}</span>
      ) : null}
      {c.origin ? (
        <span class="mark-origin" title={originWords(c.origin)}>
          <Icon name="import" size={13} />
          <span class="sr">{originWords(c.origin)}</span>
        </span>
      ) : null}
      <LevelMark level={c.visibility.level} inside={inside} />
      <CategoryMark category={c.visibility.category} />
    </span>
  );
}

export function ScopeWords({ scope }: { scope: { level: Level; category?: string } }) {
  return (
    <span class="scope">
      <span class={`scope-level ${scope.level}`}>
        {scope.level === "isolated" ? <Icon name="lock" size={13} /> : null}
        {t(scope.level)}
      </span>
      {scope.category ? <CategoryMark category={scope.category} /> : <span class="scope-none">{t("categoryNone")}</span>}
    </span>
  );
}

/** Text in which nothing hides: what cannot be seen is spelt out. */
export function Plain({ text }: { text: string }) {
  return <>{reveal(text).map((x, i) => (x.code ? <span class="hidden-char" key={i}>{x.code}</span> : x.text))}</>;
}

export function Title({ c }: { c: Pick<Conversation, "title"> | { title: string } }) {
  return c.title ? <bdi><Plain text={c.title} /></bdi> : <em class="untitled">{t("untitled")}</em>;
}
