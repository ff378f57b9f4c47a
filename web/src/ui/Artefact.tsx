// The whole of a tool's result, of which the model was given a part. It may be
// millions of characters long: a part at a time is put on screen.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { bytes } from "../core/format";
import { t } from "../core/i18n";
import { copy } from "../state/acting";
import { artefact } from "../state/inspector";
import { words } from "../state/toasts";
import { Dialog } from "./Dialog";
import { Icon } from "./icons";

const portion = 200_000; // characters

interface Shown {
  conversation: string;
  id: string;
  name: string; // of the tool
}

const shown = signal<Shown | null>(null);
export const showArtefact = (a: Shown): void => void (shown.value = a);

export function ArtefactDialog() {
  const a = shown.value;
  return a ? <Artefact key={a.id} {...a} onClose={() => (shown.value = null)} /> : null;
}

function Artefact({ conversation, id, name, onClose }: Shown & { onClose: () => void }) {
  const [text, setText] = useState<string | null>(null);
  const [fault, setFault] = useState("");
  const [upto, setUpto] = useState(portion);
  useEffect(() => {
    let mine = true;
    artefact(conversation, id).then(
      (got) => mine && setText(got),
      (err) => mine && setFault(words(err)),
    );
    return () => {
      mine = false;
    };
  }, [conversation, id]);
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => box.current?.focus(), [text]); // arrow keys scroll it
  const end = text === null ? 0 : whole(text, upto);
  return (
    <Dialog title={t("wholeResult", { tool: name || t("toolCall") })} onClose={onClose} class="artefact">
      {fault ? <p class="fault" role="alert">{fault}</p> : null}
      {text === null && !fault ? <p class="quiet">{t("loading")}</p> : null}
      {text !== null ? (
        <>
          <pre class="raw" tabIndex={0} dir="auto" ref={box}>{text.slice(0, end)}</pre>
          <div class="dialog-foot">
            {end < text.length ? (
              <button type="button" class="button" onClick={() => setUpto(end + portion)}>{t("moreOfIt", { size: bytes(text.length - end) })}</button>
            ) : null}
            <button type="button" class="button" onClick={() => void copy(text)}><Icon name="copy" size={15} /> {t("copy")}</button>
          </div>
        </>
      ) : null}
    </Dialog>
  );
}

// Not between the halves of a surrogate pair.
function whole(text: string, upto: number): number {
  if (upto >= text.length) return text.length;
  const last = text.charCodeAt(upto - 1);
  return last >= 0xd800 && last <= 0xdbff ? upto - 1 : upto;
}
