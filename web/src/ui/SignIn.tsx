import { useEffect, useRef, useState } from "preact/hooks";
import { json, Problem, signedIn } from "../core/http";
import { t } from "../core/i18n";
import { words } from "../state/toasts";
import { Mark } from "./icons";
import { LanguageSwitch } from "./Settings";

// The server leads a browser here whose one-time link no longer works. Said
// once: a reload is a fresh start.
const linkUsed = new URLSearchParams(location.search).get("signin") === "used";
if (location.search !== "") history.replaceState(null, "", location.pathname + location.hash);

/** Words in which `this` is something to type or to look for. */
function Coded({ text }: { text: string }) {
  return <>{text.split("`").map((x, i) => (i % 2 === 1 ? <code key={i}>{x}</code> : x))}</>;
}

/** How to get in, for a browser that the server does not know. */
export function SignIn() {
  const [token, setToken] = useState("");
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);

  const submit = async (e: Event) => {
    e.preventDefault();
    if (busy || token.trim() === "") return;
    setBusy(true);
    setFault("");
    try {
      await json("/v1/session", { method: "POST", body: { token: token.trim() } });
      signedIn.value = true;
    } catch (err) {
      setFault(err instanceof Problem && (err.status === 401 || err.status === 403) ? t("signInRefused") : words(err));
    } finally {
      setBusy(false);
    }
  };

  return (
    <main class="sign-in">
      <form class="sign-in-box" onSubmit={(e) => void submit(e)}>
        <div class="brand"><Mark size={28} /> Weir</div>
        <h1>{t("signInTitle")}</h1>
        {linkUsed ? <p class="sign-in-used" role="alert">{t("signInUsed")}</p> : <p>{t("signInLead")}</p>}
        <p class="quiet"><Coded text={t("signInWhere")} /></p>
        <label class="field">
          <span>{t("token")}</span>
          <input ref={field} type="password" name="token" autocomplete="current-password" value={token} onInput={(e) => setToken(e.currentTarget.value)} aria-invalid={fault ? "true" : undefined} aria-describedby="sign-in-fault" />
        </label>
        <p class="fault" id="sign-in-fault" role="alert">{fault}</p>
        <div class="dialog-foot">
          <LanguageSwitch />
          <button type="submit" class="button primary" disabled={busy || token.trim() === ""}>{t("signIn")}</button>
        </div>
      </form>
    </main>
  );
}
