package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"weir"
	"weir/tool"
	"weir/tool/mcp"
)

func TestToolsOfAServerAreOfferedUnderItsNameAndRun(t *testing.T) {
	w := newWorld(t, child("sdk"))
	if v := w.server(); v.State != tool.ServerReady || v.Reason != "" || len(v.LeftOut) != 0 {
		t.Fatalf("%+v", v)
	}
	first, err := w.Offered()
	if err != nil || !strings.Contains(string(first), `"name":"peer__echo","description":"Says it again.","input_schema":{`) {
		t.Fatalf("%s, %v", first, err)
	}
	w.says(t, "peer__echo", `{"text":"<b>ü</b>"}`, "<b>ü</b>", false)
	w.says(t, "peer__fail", `{}`, "no such page", true)
	w.says(t, "peer__nothing", `{}`, `The tool "peer__nothing" is not available: the server peer does not offer it.`, true)
	w.says(t, "other__nothing", `{}`, `The tool "other__nothing" is not available.`, true)
	if got := w.run(t, "peer__echo", `{"text":7}`); !got.IsError || got.Text == "" {
		t.Errorf("arguments against the schema: %+v", got)
	}
	again, _ := newWorld(t, child("sdk")).Offered()
	if string(again) != string(first) {
		t.Errorf("the same server is offered as\n%s\nand then as\n%s", first, again)
	}
}

func TestContentThatIsNotTextIsNamedInWords(t *testing.T) {
	newWorld(t, child("sdk")).says(t, "peer__show", `{}`, strings.Join([]string{
		"first",
		"[an image, image/png, 4 bytes, that cannot be shown here]",
		"[a sound, audio/wav, 2 bytes, that cannot be shown here]",
		"[a link to a  b: file:///x]",
		"[the resource file:///t]\ninside",
		"[the resource file:///b, of an unknown kind, 3 bytes, that cannot be shown here]",
		"last",
	}, "\n"), false)
}

func TestALongResultIsCutAndHandedOverWhole(t *testing.T) {
	got := newWorld(t, child("sdk")).Run(t.Context(), "peer__long", tool.Call{Input: json.RawMessage(`{}`), Artefact: "art_1"})
	if len(got.Text) > 32<<10 || len(got.Full) != 100_000 || !strings.Contains(got.Text, "artefact art_1") {
		t.Errorf("%d bytes to the model, %d kept", len(got.Text), len(got.Full))
	}
}

func TestCallsAskUnlessTheConfigurationSaysOtherwise(t *testing.T) {
	deny := child("sdk")
	deny.Name, deny.Approval = "no", weir.Deny
	yes := allowed(child("sdk"))
	yes.Name = "yes"
	w := newWorld(t, child("sdk"), deny, yes)
	for name, want := range map[string]tool.Consent{
		"peer__echo": weir.Ask, "no__echo": weir.Deny, "yes__echo": weir.Allow,
		"peer__not_there": weir.Ask, // it may come before the call runs
		"nobody__x":       weir.Allow,
	} {
		if got := w.Consent(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestAServerGetsNothingOfOurEnvironmentThatItNeedNotHave(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-secret")
	t.Setenv("WEIR_TOKEN", "secret")
	got := newWorld(t, child("sdk")).run(t, "peer__environment", `{}`)
	if strings.Contains(got.Text, "secret") || !strings.Contains(got.Text, "TOKEN=sesame-1234") || !strings.Contains(got.Text, "PATH=") {
		t.Errorf("the server has %s", got.Text)
	}
}

func TestAServerThatDiesInTheMiddleOfACallIsStartedAgain(t *testing.T) {
	w := newWorld(t, child("sdk"))
	w.says(t, "peer__die", `{}`, "The connection to the server peer was lost during the call, which may or may not have taken effect.", true)
	w.log.await(t, "it is tried again", 1)
	if v := w.server(); v.State != tool.ServerFailed || v.Reason != "it ended (exit status 3)" || !slices.Contains(v.Tools, "peer__echo") {
		t.Errorf("%+v", v)
	}
	w.says(t, "peer__echo", `{"text":"x"}`, "The server peer is not running; try again later.", true)
	w.says(t, "peer__nothing", `{}`, `The tool "peer__nothing" is not available: the server peer is not running; try again later.`, true)
	w.log.await(t, "is ready", 2)
	w.says(t, "peer__echo", `{"text":"x"}`, "x", false)
}

func TestAnInterruptedCallIsToldToTheServer(t *testing.T) {
	w := newWorld(t, child("sdk"))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan tool.Result)
	go func() { done <- w.Run(ctx, "peer__hang", tool.Call{Input: json.RawMessage(`{}`)}) }()
	w.log.await(t, "hanging", 1)
	cancel()
	if got := <-done; got.Text != "interrupted; it may or may not have taken effect" {
		t.Errorf("%+v", got)
	}
	w.log.await(t, "told to stop", 1)
}

func TestACallHasTheTimeThatIsConfigured(t *testing.T) {
	c := child("sdk")
	c.Timeout = 300 * time.Millisecond
	w := newWorld(t, c)
	w.says(t, "peer__hang", `{}`, "The server peer did not answer within 300ms; the call may or may not have taken effect.", true)
	w.log.await(t, "told to stop", 1)
	w.says(t, "peer__echo", `{"text":"on"}`, "on", false)
}

func TestAChangedListIsFollowed(t *testing.T) {
	w := newWorld(t, child("sdk"))
	w.says(t, "peer__grown", `{}`, `The tool "peer__grown" is not available: the server peer does not offer it.`, true)
	w.says(t, "peer__grow", `{}`, "grown", false)
	w.log.await(t, "is ready", 2)
	w.says(t, "peer__grown", `{}`, "I am new.", false)
	w.says(t, "peer__fail", `{}`, `The tool "peer__fail" is not available: the server peer does not offer it.`, true)
	if w.offers("peer__fail") || !w.offers("peer__grown") {
		t.Error("the definitions do not follow")
	}
}

func TestNothingIsGivenToAServerThatAsks(t *testing.T) {
	w := newWorld(t, child("sdk"))
	got := w.run(t, "peer__ask_back_"+hashOf("ask back"), `{}`)
	if strings.Contains(got.Text, "true") || strings.Contains(got.Text, "roots: 1") {
		t.Errorf("the server got %q", got.Text)
	}
}

func TestWhatAServerLogsIsBoundedAndWithoutSecrets(t *testing.T) {
	w := newWorld(t, child("sdk"))
	w.says(t, "peer__log", `{}`, "logged", false)
	w.log.await(t, "the rest is left out", 1)
	w.says(t, "peer__log", `{}`, "logged", false) // it does not hang
	if text := w.log.String(); strings.Contains(text, "sesame") || !strings.Contains(text, "the token is …") || len(text) > 100_000 {
		t.Errorf("%d bytes: %.300s", len(text), text)
	}
}

func TestAServerThatCannotBeStartedSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		config mcp.Config
		reason string
	}{
		"no such program": {mcp.Config{Name: "x", Command: []string{"/no/such/program", "--key=sesame"}}, "its program cannot be started; look at its command"},
		"no such command": {mcp.Config{Name: "x", Command: []string{"no-such-program-here"}}, "its program cannot be started; look at its command"},
		"ends at once":    {child("die at once"), "it ended (exit status 3)"},
		"floods":          {child("flood"), "it sent more than it may and was cut off"},
		"a torrent":       {child("torrent"), "it sent a message of more than 16 MiB"},
		"pesters":         {child("pestered"), "it sent more than it may and was cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.config)
			if v := w.server(); v.State != tool.ServerFailed || v.Reason != c.reason {
				t.Errorf("%+v", v)
			}
			if strings.Contains(fmt.Sprint(w.Servers(), w.log), "sesame") {
				t.Error("a secret is shown")
			}
		})
	}
}

func TestAServerThatNeverAnswersHoldsNothingUp(t *testing.T) {
	for _, kind := range []string{"mute", "deaf"} {
		c, err := mcp.New([]mcp.Config{child(kind)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.Start(t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if c.Ready(ctx) == nil {
			t.Errorf("%s is ready", kind)
		}
		cancel()
		if v := c.Servers()[0]; v.State != tool.ServerStarting {
			t.Errorf("%+v", v)
		}
		c.Stop() // neither the handshake nor the child's stubbornness does
		if c.Servers()[0].State != tool.ServerFailed || len(c.Tools()) != 0 {
			t.Errorf("after its end: %+v", c.Servers())
		}
	}
}

func TestOldGreetingsAreFoundByThemselves(t *testing.T) {
	for _, kind := range []string{"old", "fragile"} {
		if w := newWorld(t, child(kind)); !w.offers("peer__t") {
			t.Errorf("%s: %+v", kind, w.Servers())
		}
	}
}

func TestTenThousandToolsAreNotOffered(t *testing.T) {
	w := newWorld(t, child("many"))
	defs := w.Definitions()
	if len(defs) != 128 || defs[0].Name != "peer__tool_00000" || defs[127].Name != "peer__tool_00127" {
		t.Errorf("%d tools, from %s", len(defs), defs[0].Name)
	}
	left := w.server().LeftOut
	if len(left) != 21 || left[0] != "peer__tool_00128: more than 128 tools are offered by one server" || left[20] != "and 9852 more" {
		t.Errorf("left out: %q", left)
	}
}

func TestAListWithoutEndIsEnded(t *testing.T) {
	w := newWorld(t, child("endless"))
	if n := len(w.Definitions()); n != 128 {
		t.Errorf("%d tools", n)
	}
	if left := w.server().LeftOut; !slices.Contains(left, "all after the first pages: the list does not end") {
		t.Errorf("left out: %q", left)
	}
}

func TestDefinitionsThatCouldDoHarmAreLeftOutWithAReason(t *testing.T) {
	w := newWorld(t, child("hostile"))
	valid := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	var names []string
	for _, d := range w.Definitions() {
		names = append(names, d.Name)
		if !valid.MatchString(d.Name) {
			t.Errorf("%q is offered", d.Name)
		}
	}
	long := strings.Repeat("z", 100)
	want := []string{"peer__a_b_" + hashOf("a b"), "peer__a_b_" + hashOf("a.b"), "peer__good",
		"peer__" + long[:49] + "_" + hashOf(long), "peer__" + long[:49] + "_" + hashOf(long+"z")}
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("offered: %q\nwant     %q", names, want)
	}
	left := strings.Join(w.server().LeftOut, "\n")
	for _, why := range []string{
		"good: it is listed twice", "a tool whose name is empty", "wordy: its description is over 16384 bytes", "wide: its input schema is over 65536 bytes",
		`listy: its input schema is not of "type": "object"`, "choosy: its input schema has anyOf at the top", "bare: its input schema is not a JSON object",
	} {
		if !strings.Contains(left, why) {
			t.Errorf("nothing says %q:\n%s", why, left)
		}
	}
}
