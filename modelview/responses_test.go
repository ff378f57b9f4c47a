package modelview_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/modelview"
)

// kept is a part with what the vendor gave beside it.
func kept(p weir.Part, raw string) weir.Part {
	p.Raw = json.RawMessage(raw)
	return p
}

// reasoned is a reasoning item as the vendor spells it, n in its id.
func reasoned(n string) weir.Part {
	return thought(`{"id":"rs_` + n + `","type":"reasoning","summary":[{"type":"summary_text","text":"a \u003c b"}],"encrypted_content":"e` + n + `=="}`)
}

// responsesShapes are answers with what binds in them, and how they go back.
func responsesShapes() map[string]func(k *talk) {
	return map[string]func(k *talk){
		"whole": func(k *talk) {
			k.epoch("You think.", twoTools)
			k.user("one")
			k.step()
			k.answer(reasoned("1"), kept(text("I look."), `{"id":"msg_1","phase":"commentary"}`),
				kept(call("call_1", "list", `{}`), `{"id":"fc_1"}`), kept(call("call_2", "read", `{"p":"a\u003cb"}`), `{"id":"fc_2","arguments":"{\"p\": \"a\u003cb\"}"}`))
			k.result("call_2", "b")
			k.result("call_1", "a")
			k.update("It rains.")
			k.step()
			k.answer(reasoned("2"), kept(call("call_1", "list", `{}`), `{"id":"fc_3"}`)) // an id of a call again
			k.result("call_1", "c")
			k.step()
			k.answer(reasoned("3"), kept(text("It"), `{"id":"msg_2","phase":"final_answer"}`), kept(text("rains."), `{"id":"msg_2","phase":"final_answer"}`),
				kept(text("More?"), `{"id":"msg_3"}`))
			k.user("no")
		},
		"in-part": func(k *talk) {
			k.epoch("You think.", twoTools)
			for _, parts := range [][]weir.Part{
				{kept(text("reasoning comes last"), `{"id":"msg_1","phase":"final_answer"}`), reasoned("1")},
				{reasoned("2")},
				{reasoned("3"), text("a text without an id")},
				{reasoned("4"), kept(text("a text with another's id"), `{"id":"fc_1"}`)},
				{thought(""), kept(text("reasoning without content"), `{"id":"msg_2","phase":"final_answer"}`)},
				{thought(`{"type":"reasoning","id":"rs_5","summary":[],"encrypted_content":null}`), kept(text("nor this"), `{"id":"msg_3"}`)},
				{reasoned("6"), {Type: "other"}, kept(text("something that is not known"), `{"id":"msg_4"}`)},
				{reasoned("7"), kept(text("an id"), `{"id":"msg_5"}`), reasoned("8"), kept(text("twice"), `{"id":"msg_5"}`)},
				{thought(`{"type":"input_text","text":"no","id":"rs_9","type":"reasoning","encrypted_content":"e"}`), kept(text("an odd spelling"), `{"id":"msg_6"}`)},
				{kept(text("no reasoning at all"), `{"id":"msg_7","phase":"final_answer"}`)},
			} {
				k.user("so?")
				k.step()
				k.answer(parts...)
			}
			k.user("so?")
			k.step()
			k.m.append(k.c, &weir.AssistantMessage{Step: k.stepID(), Model: k.p.ID, Interrupted: true,
				Parts: []weir.Part{reasoned("10"), kept(text("cut off"), `{"id":"msg_8","phase":"commentary"}`)}})
			k.user("so?")
			k.step()
			k.m.append(k.c, &weir.AssistantMessage{Step: k.stepID(), Model: "r/other",
				Parts: []weir.Part{reasoned("11"), kept(text("another model's"), `{"id":"msg_9","phase":"commentary"}`)}})
			k.user("so?")
			k.step()
			k.answer(reasoned("12"), kept(call("call_1", "list", `{}`), `{"id":"call_1"}`)) // of a server with other ids
			k.result("call_1", "a")
			k.user("the end")
		},
	}
}

func TestAnAnswerGoesBackWholeOrWithoutWhatBinds(t *testing.T) {
	p := profiles()["responses"]
	for shape, make := range responsesShapes() {
		t.Run(shape, func(t *testing.T) {
			k := newTalk(t, p)
			make(k)
			r := k.step()
			k.rebuild()
			if err := accepted(p, r.Body); err != nil {
				t.Errorf("refused: %v\n%s", err, r.Body)
			}
			file := filepath.Join("testdata", "responses", "reasoning-"+shape+".golden")
			got := dump(k, r)
			if update() {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), string(got)); d != "" {
				t.Errorf("-stored +now\n%s", d)
			}
		})
	}
}

func TestReasoningAndIdsAreDroppedTogetherWhereThePrefixIsAnother(t *testing.T) {
	k := newTalk(t, profiles()["responses"])
	k.epoch("You think.", "")
	k.user("one")
	k.step()
	k.answer(reasoned("1"), kept(text("first"), `{"id":"msg_1","phase":"final_answer"}`))
	k.user("two")
	before := k.step()
	if !bytes.Contains(before.Body, []byte(`"encrypted_content":"e1=="`)) || !bytes.Contains(before.Body, []byte(`"id":"msg_1"`)) {
		t.Fatalf("it was not kept: %s", before.Body)
	}
	k.answer(reasoned("2"), kept(text("second"), `{"id":"msg_2","phase":"commentary"}`))
	k.epoch("You think otherwise.", "")
	k.user("three")
	after := string(k.step().Body)
	if strings.Contains(after, "encrypted_content\":") || strings.Contains(after, `"id":`) {
		t.Errorf("some of it is left: %s", after)
	}
	for _, phase := range []string{`"first","phase":"final_answer"`, `"second","phase":"commentary"`} {
		if !strings.Contains(after, phase) {
			t.Errorf("no %s in %s", phase, after)
		}
	}
}

func TestAModelThatBindsNothingIsAskedForNothingEncrypted(t *testing.T) {
	for name, want := range map[string]bool{"responses": true, "responses-old": false} {
		k := newTalk(t, profiles()[name])
		k.epoch("", "")
		k.user("one")
		if got := bytes.Contains(k.step().Body, []byte("include")); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestALimitIsNeverUnderWhatTheVendorTakes(t *testing.T) {
	d, p := modelview.OpenAIResponses(), profiles()["responses"]
	for given, want := range map[int64]string{1: `"max_output_tokens":16,`, 17: `"max_output_tokens":17,`, 0: `"max_output_tokens":1000,`} {
		if tail := d.Tail(p, modelview.Options{MaxTokens: given}, nil, "k"); !strings.Contains(tail, want) {
			t.Errorf("%d: %s", given, tail)
		}
	}
	if tail := d.Tail(p, modelview.Options{}, nil, strings.Repeat("k", 65)); strings.Contains(tail, "kk") {
		t.Errorf("a cache key that is too long: %s", tail)
	}
}
