package turn_test

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"testing"

	"weir/test/stores"
	"weir/test/strictpeer/strictpeer"
	"weir/turn"
)

func TestThatAProviderLeftReasoningOutIsInTheLog(t *testing.T) {
	var log bytes.Buffer
	w := newWorld(t, stores.SQLite(t))
	p := newProvider(t, strictpeer.Responses)
	p.Script(strictpeer.Answer{strictpeer.Say("fine"), strictpeer.Raw(`data: {"type":"response.completed","response":{` +
		`"input_transformations":[{"type":"reasoning","id":"rs_1","action":"removed","reason":"prefix_mismatch"}]}}` + "\n\n"), strictpeer.Cut()})
	w.engine = w.another(withModels(p), func(c *turn.Config) {
		c.Log = slog.New(slog.NewTextHandler(io.MultiWriter(&log, writer{t}), nil))
	})
	w.start()
	w.conversation("c")
	w.send("c", "one")
	w.rests("c")
	w.engine.Stop()
	if !strings.Contains(log.String(), "left out reasoning that was sent back") || !strings.Contains(log.String(), "prefix_mismatch") {
		t.Errorf("the log says %s", log.String())
	}
	want(t, w.transcript("c"), "title: one", "user: one", "step", "assistant: fine", "end done")
}
