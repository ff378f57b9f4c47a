// Which tools models may call, and whether that is asked about: what a person
// decided for good is seen and taken back here.

import { useEffect, useState } from "preact/hooks";
import { json, p, send } from "../core/http";
import { t } from "../core/i18n";
import type { ToolList } from "../core/types";
import { attempt, words } from "../state/toasts";
import { Icon } from "./icons";
import { Plain } from "./Marks";

const decisions = ["ask", "allow", "deny"] as const;

export function ToolRules() {
  const [list, setList] = useState<ToolList | null>(null);
  const [fault, setFault] = useState("");
  const load = () =>
    json<ToolList>("/v1/tools").then(
      (got) => (setList(got), setFault("")),
      (err: unknown) => setFault(words(err)),
    );
  useEffect(() => void load(), []);
  if (fault) return <p class="fault" role="alert">{fault}</p>;
  if (!list || list.items.length + list.servers.length === 0) return null;
  const decide = (name: string, decision: string) =>
    attempt(async () => {
      await send(p`/v1/tools/${name}/approval`, { method: "PUT", body: { decision } });
    }).then(load);
  return (
    <fieldset class="tool-rules">
      <legend>{t("tools")}</legend>
      <ul>
        {list.items.map((x) => (
          <li key={x.name} data-tool={x.name}>
            <label>
              <span class="tool-name" title={x.description}><Plain text={x.name} /></span>
              <select value={x.remembered ?? x.approval} disabled={x.approval === "deny"} onChange={(e) => void decide(x.name, e.currentTarget.value)}>
                {decisions.map((d) => <option value={d} key={d}>{t(`rule_${d}`)}</option>)}
              </select>
            </label>
          </li>
        ))}
        {list.servers.filter((s) => s.state !== "ready").map((s) => (
          <li key={"s " + s.name} class="not-ready" data-server={s.name}>
            <Icon name="warn" size={14} />
            <span>{t(s.state === "failed" ? "serverFailed" : "serverStarting", { name: s.name })}{s.reason ? <>: <Plain text={s.reason} /></> : null}</span>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}
