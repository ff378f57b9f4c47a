// The text field of the composer. CodeMirror holds the text; the draft of the
// conversation is where it lives.

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { Compartment, EditorState, Prec } from "@codemirror/state";
import { EditorView, keymap, placeholder as placeholderText } from "@codemirror/view";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { effect } from "@preact/signals";
import { t } from "../core/i18n";
import { touchEnter } from "../core/prefs";
import { draft, setText } from "../state/drafts";
import { focusComposer } from "../state/quoting";
import { edited } from "../state/sending";
import { current } from "../state/timeline";

interface Props {
  conversation: string;
  placeholder: string;
  label: string;
  onEnter: (queue: boolean) => void;
  onUpAtStart: () => boolean;
}

const coarse = window.matchMedia("(pointer: coarse)");
const hovers = window.matchMedia("(any-hover: hover)");

/** Whether Enter comes from a keyboard on a screen, where it breaks the line. */
export const touchTyping = (): boolean => coarse.matches && !hovers.matches && touchEnter.value === "newline";

export function Editor(props: Props) {
  const box = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  const view = useRef<EditorView | null>(null);
  const words = useRef(new Compartment());
  latest.current = props;

  useLayoutEffect(() => {
    const { conversation } = props;
    const state = EditorState.create({
      doc: draft(conversation).peek().text,
      extensions: [
        Prec.highest(EditorView.domEventHandlers({ keydown: (e) => onKey(e, latest.current) })),
        history(),
        keymap.of([...historyKeymap, ...defaultKeymap]),
        EditorView.lineWrapping,
        words.current.of(placeholderText(props.placeholder)),
        EditorView.contentAttributes.of({ "aria-label": props.label, "aria-multiline": "true", autocapitalize: "sentences", spellcheck: "true" }),
        EditorView.updateListener.of((u) => {
          if (!u.docChanged || u.transactions.some((x) => x.isUserEvent("weir.outside"))) return;
          setText(conversation, u.state.doc.toString());
          edited(conversation);
        }),
      ],
    });
    const editor = new EditorView({ state, parent: box.current! });
    editor.dispatch({ selection: { anchor: state.doc.length } });
    view.current = editor;
    // The draft changed elsewhere: sent, edited again, or in another tab.
    const stop = effect(() => {
      const text = draft(conversation).value.text;
      if (editor.composing || text === editor.state.doc.toString()) return;
      editor.dispatch({
        changes: { from: 0, to: editor.state.doc.length, insert: text },
        selection: { anchor: text.length },
        userEvent: "weir.outside",
      });
    });
    return () => {
      stop();
      editor.destroy();
      view.current = null;
    };
  }, [props.conversation]);

  useEffect(() => {
    view.current?.dispatch({ effects: words.current.reconfigure(placeholderText(props.placeholder)) });
  }, [props.placeholder]);

  const asked = focusComposer.value;
  useEffect(() => {
    // A message that was asked for has the focus instead.
    if (current.peek()?.highlight.peek()) return;
    if (asked > 0 || !coarse.matches) view.current?.focus();
  }, [props.conversation, asked]);

  return <div class="editor" ref={box} data-label={t("composer")} />;
}

/** True when the key is dealt with. */
function onKey(e: KeyboardEvent, props: Props): boolean {
  // An input method is at work. Safari ends the composition first and then
  // reports the Enter that ended it with the key code 229.
  if (e.isComposing || e.keyCode === 229) return e.key === "Enter" && !touchTyping();
  if (e.key === "ArrowUp" && !e.shiftKey && !e.altKey && !e.metaKey && !e.ctrlKey) return props.onUpAtStart();
  if (e.key !== "Enter" || e.shiftKey) return false;
  if (e.ctrlKey || e.metaKey) {
    props.onEnter(e.altKey);
    return true;
  }
  if (touchTyping()) return false;
  props.onEnter(e.altKey);
  return true;
}
