package modelview

import (
	"strings"
	"testing"

	"weir/model"
)

func TestWhereReasoningWasRefusedIsPartOfTheKey(t *testing.T) {
	p := model.Profile{ID: "a/b", Name: "b", Dialect: model.Anthropic, MidSystem: model.MidNative}
	l := New()
	plain, err := l.choose(p, 0, "")
	if err != nil || plain.key != "anthropic/1+native@a/b" {
		t.Fatal(plain.key, err)
	}
	low, err := l.choose(p, 57, plain.key)
	if err != nil || low.key != "anthropic/1+native.unsigned-57@a/b" {
		t.Fatal(low.key, err)
	}
	if back, ok := l.parse(low.key); !ok || back.mode != low.mode || back.mode.Unsigned != 57 {
		t.Errorf("%+v", back.mode)
	}
	for _, bad := range []string{"", "0", "-1", "x", "1x", "99999999999999999999"} {
		if _, ok := l.parse(strings.Replace(low.key, "57", bad, 1)); ok {
			t.Errorf("unsigned-%s is taken", bad)
		}
	}
}
