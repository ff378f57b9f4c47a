package demo

import (
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"weir/model"
)

func FuzzDemo(f *testing.F) {
	f.Add(quoteNote("a", "user", "b c")+"\nb?", "b c.", 100)
	f.Add(pointerNote, "## Referenced conversations\n\n<referenced-conversations>\n[{\"title\":\"t\"}]\n</referenced-conversations>", 3)
	f.Add("<framework A>\n<quote A>\n\n</quote A>\n</framework A>", "鯨。", 1)
	f.Fuzz(func(t *testing.T, one, two string, limit int) {
		b := body(limit, said{"user", one}, said{"assistant", two}, said{"user", two}, said{"system", one})
		if !json.Valid(b) {
			return
		}
		text := ""
		a, err := New().Stream(t.Context(), b, func(e model.Event) error { text += e.Text; return nil })
		var refused *model.Error
		if err != nil {
			if !errors.As(err, &refused) || refused.Public == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		if len(a.Parts) != 1 || a.Parts[0].Text != text || !utf8.ValidString(text) || a.Usage.Output > int64(limit) {
			t.Fatalf("%+v, streamed %q", a, text)
		}
	})
}
