package modelview_test

import (
	"encoding/json"
	"testing"

	"weir/model"
)

// Endpoints of this dialect differ in ways that can come together as no vendor
// has them yet: a user's catalogue may say so.
func TestEveryMixOfWaysMakesMessages(t *testing.T) {
	for i := range 1 << 4 {
		p := model.Profile{ID: "x/m", Provider: "x", Name: "m", Dialect: model.OpenAIChat, MidSystem: model.MidDeveloper}
		if i&1 > 0 {
			p.MidSystem, p.RolesAlternate = model.MidNone, i&8 > 0
		}
		p.ContentParts = i&2 > 0
		if i&4 > 0 {
			p.CacheStyle = model.CacheBreakpoints
		}
		for shape, make := range shapes() {
			k := newTalk(t, p)
			make(k)
			r := k.step()
			if !json.Valid(r.Body) {
				t.Errorf("%s of %s: %s", shape, r.Lowering, r.Body)
			}
			if p.MidSystem == model.MidDeveloper && p.ReasoningRequired == model.ReasoningFree {
				if err := accepted(p, r.Body); err != nil {
					t.Errorf("%s of %s: %v\n%s", shape, r.Lowering, err, r.Body)
				}
			}
			k.rebuild()
		}
	}
}
