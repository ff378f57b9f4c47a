package transcript_test

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir"
	"weir/transcript"
)

// kinds lists all kinds and whether a person is shown records of them.
var kinds = map[weir.RecordKind]bool{
	weir.KindUser: true, weir.KindAssistant: true, weir.KindToolResult: true, weir.KindRecall: true,
	weir.KindSystem: true, weir.KindCheckpoint: true, weir.KindNotice: true,
	weir.KindRewind: true, weir.KindUndo: true, weir.KindTitle: true, weir.KindModel: true, weir.KindStepEnd: true,
	weir.KindVisibility: false, weir.KindAgent: false, weir.KindWorkspace: false, weir.KindEpoch: true,
	weir.KindStep: false, weir.KindApproval: true, weir.KindRedaction: false,
}

// mayShow lists the members of bodies whose strings reach the timeline.
var mayShow = map[string]bool{
	"UserMessage.Input": true, "UserMessage.Shown": true,
	"Frozen.Type": true, "Frozen.Conversation": true, "Frozen.Message": true, "Frozen.Title": true, "Frozen.Text": true,
	"AssistantMessage.Step": true, "AssistantMessage.Model": true,
	"Part.Type": true, "Part.Text": true, "Part.Call": true, "Part.Name": true, "Part.Input": true,
	"ToolResult.Call": true, "ToolResult.Name": true, "ToolResult.Text": true, "ToolResult.Artefact": true,
	"Approval.Call": true, "Approval.Name": true, "Approval.Decision": true,
	"Update.Fact": true, "Update.Text": true, "Checkpoint.Text": true, "Notice.Text": true,
	"Retitled.Title": true, "ModelSet.Model": true,
	"StepEnd.Step": true, "StepEnd.Outcome": true, "StepEnd.Code": true, "StepEnd.Reason": true,
}

// fill puts a string that names its place into every string below v, so that
// a member that is added later is looked for as well.
func fill(v reflect.Value, place string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("‹" + place + "›")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), place)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`"‹` + place + `›"`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		for i := range v.Len() {
			fill(v.Index(i), place)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				fill(v.Field(i), v.Type().Name()+"."+f.Name)
			}
		}
	}
}

// partTypes makes filled parts such as there are.
func partTypes(b weir.Body) {
	if m, ok := b.(*weir.AssistantMessage); ok {
		for i, t := range []weir.PartType{weir.PartText, weir.PartReasoning, weir.PartToolCall} {
			m.Parts[i].Type = t
		}
	}
}

func TestNothingReachesTheTimelineThatIsNotOnTheList(t *testing.T) {
	shown := map[string]bool{}
	second := transcript.Fold([]weir.Record{{Seq: 1, Body: &weir.Epoch{}}})
	for kind, want := range kinds {
		body := weir.NewBody(kind)
		fill(reflect.ValueOf(body).Elem(), string(kind))
		partTypes(body)
		r := weir.Record{Conversation: "‹written in›", Seq: 7, ID: "m7", Generation: "g", Time: time.Unix(1, 0), Body: body}
		item, ok := transcript.Project(&r, second, weir.Chat)
		if ok != want {
			t.Errorf("%s: shown %v, want %v", kind, ok, want)
		}
		if !ok {
			continue
		}
		data, err := json.Marshal(item)
		if err != nil {
			t.Fatal(err)
		}
		for _, piece := range strings.Split(string(data), "‹")[1:] {
			place, _, _ := strings.Cut(piece, "›")
			if !mayShow[place] {
				t.Errorf("%s: %s is shown: %s", kind, place, data)
			}
			shown[place] = true
		}
	}
	for place := range mayShow {
		if !shown[place] && place != "Part.Type" {
			t.Errorf("%s is not shown", place)
		}
	}
}

func TestEveryKindIsDecidedAbout(t *testing.T) {
	for _, kind := range allKinds(t) {
		if _, ok := kinds[kind]; !ok {
			t.Errorf("%s: shown or not?", kind)
		}
	}
}

// allKinds reads the kinds from their declaration.
func allKinds(t *testing.T) []weir.RecordKind {
	t.Helper()
	src, err := os.ReadFile("../record.go")
	if err != nil {
		t.Fatal(err)
	}
	var all []weir.RecordKind
	for _, m := range regexp.MustCompile(`RecordKind = "(\w+)"`).FindAllSubmatch(src, -1) {
		all = append(all, weir.RecordKind(m[1]))
	}
	if len(all) < 19 {
		t.Fatalf("found only %v", all)
	}
	return all
}

func TestAReferenceShowsItsCardOnly(t *testing.T) {
	text := strings.Repeat("é", 300)
	r := weir.Record{Seq: 1, ID: "m1", Body: &weir.UserMessage{Text: "see", References: []weir.Frozen{{
		Type: weir.Quote, Conversation: "a", Message: "m", Generation: "g", Title: "Harbour", Role: "user", Text: text,
		TextLength: 300, SourceScope: weir.Scope{Path: []weir.ConversationID{"island"}, Category: "secret"},
		NeededConfirmation: true, Confirmation: "Really?", Reasons: []weir.Reason{weir.ReasonIsolation}, Note: "<framework>",
	}, {Type: weir.Pointer, Conversation: "b", Title: "Quay", Note: "three lines"}}}}
	item, _ := transcript.Project(&r, nil, weir.Chat)
	want := []transcript.ItemReference{
		{Type: weir.Quote, Conversation: "a", Message: "m", Title: "Harbour", Excerpt: strings.Repeat("é", 280), TextLength: 300},
		{Type: weir.Pointer, Conversation: "b", Title: "Quay"},
	}
	if diff := cmp.Diff(want, item.References); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	data, _ := json.Marshal(item)
	for _, secret := range []string{"island", "secret", "Really?", "isolation", "framework", "three lines", strings.Repeat("é", 281)} {
		if strings.Contains(string(data), secret) {
			t.Errorf("%q leaks: %s", secret, data)
		}
	}
}

func TestAnAnswerShowsItsPartsWhereTextIsNotAll(t *testing.T) {
	text := weir.Part{Type: weir.PartText, Text: "ok"}
	call := weir.Part{Type: weir.PartToolCall, Call: "c", Name: "ls", Input: json.RawMessage(`{"a":1}`)}
	signed := weir.Part{Type: weir.PartReasoning, Raw: json.RawMessage(`{"signature":"s"}`)}
	plain, _ := transcript.Project(&weir.Record{Seq: 1, Body: &weir.AssistantMessage{Parts: []weir.Part{text}}}, nil, weir.Chat)
	if plain.Text != "ok" || plain.Parts != nil || !plain.Quotable {
		t.Errorf("%+v", plain)
	}
	mixed, _ := transcript.Project(&weir.Record{Seq: 1, Body: &weir.AssistantMessage{Parts: []weir.Part{signed, text, call}}}, nil, weir.Chat)
	want := []transcript.ItemPart{{Type: weir.PartText, Text: "ok"}, {Type: weir.PartToolCall, Call: "c", Name: "ls", Input: `{"a":1}`}}
	if diff := cmp.Diff(want, mixed.Parts); diff != "" || mixed.Text != "ok" {
		t.Errorf("text %q (-want +got)\n%s", mixed.Text, diff)
	}
}

func TestRewindAndUndoItemsCarryTheHiddenRange(t *testing.T) {
	var l log
	l.user()
	l.user()
	l.user()
	rewind := l.rewind(2)
	undo := l.undo(rewind)
	s := transcript.Fold(l)
	got, _ := transcript.Project(&l[rewind-1], s, weir.Chat)
	if *got.Rewind != (transcript.ItemRewind{From: 2, Upto: 3}) {
		t.Errorf("rewind: %+v", got.Rewind)
	}
	got, _ = transcript.Project(&l[undo-1], s, weir.Chat)
	if *got.Rewind != (transcript.ItemRewind{From: 2, Upto: 3, Undo: true}) {
		t.Errorf("undo: %+v", got.Rewind)
	}
	hidden, _ := transcript.Project(&l[1], transcript.Fold(l[:rewind]), weir.Chat)
	if !hidden.Hidden || hidden.Quotable {
		t.Errorf("a rewound message: %+v", hidden)
	}
}

func TestOnlyAStepThatDidNotEndWellIsShown(t *testing.T) {
	for outcome, want := range map[weir.StepState]bool{weir.StepDone: false, weir.StepFailed: true, weir.StepInterrupted: true} {
		r := weir.Record{Seq: 1, Body: &weir.StepEnd{Outcome: outcome, Code: "c", Reason: "why"}}
		if item, ok := transcript.Project(&r, nil, weir.Chat); ok != want || ok && item.Reason != "why" {
			t.Errorf("%s: %v %+v", outcome, ok, item)
		}
	}
}

func TestATitleThatNobodyGaveIsNotToldAsAnEvent(t *testing.T) {
	for auto, want := range map[bool]bool{true: false, false: true} {
		r := weir.Record{Seq: 1, Body: &weir.Retitled{Title: "T", Auto: auto}}
		if _, shown := transcript.Project(&r, transcript.Fold(nil), weir.Chat); shown != want {
			t.Errorf("auto %v: shown %v", auto, shown)
		}
	}
}

func TestAnEpochDividesOnlyWhereSomethingCameBeforeIt(t *testing.T) {
	var l log
	first := l.add(&weir.Epoch{Baseline: "b"})
	l.user()
	second := l.add(&weir.Epoch{Baseline: "b"})
	l.rewind(first)
	third := l.add(&weir.Epoch{Baseline: "b"})
	s := transcript.Fold(l)
	for seq, want := range map[weir.Seq]bool{first: false, second: true, third: true} {
		if _, shown := transcript.Project(&l[seq-1], s, weir.Chat); shown != want {
			t.Errorf("the epoch at %d: shown %v, want %v", seq, shown, want)
		}
	}
	if _, shown := transcript.Project(&l[second-1], nil, weir.Chat); shown {
		t.Error("an epoch is shown in a log without structure")
	}
}

func TestAnUpdateSaysWhatTheModelWasToldAndWhen(t *testing.T) {
	at := time.Date(2026, 11, 30, 14, 2, 0, 0, time.UTC)
	r := weir.Record{Seq: 1, Body: &weir.Update{Fact: "core/date", Text: "told", At: at, Value: json.RawMessage(`"secret"`), Removal: "later"}}
	item, _ := transcript.Project(&r, nil, weir.Chat)
	if diff := cmp.Diff(&transcript.ItemUpdate{Fact: "core/date", Text: "told", At: at}, item.Update); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
