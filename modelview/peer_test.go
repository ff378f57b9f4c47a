package modelview_test

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"weir"
	"weir/model"
	"weir/modelview"
	"weir/test/strictpeer/strictpeer"
	"weir/test/wires"
)

// peers are strict peers of every profile, asked over the product's own wires.
type peers struct {
	models []model.Profile
	ends   map[string]*strictpeer.Peer // by provider
}

func newPeers() *peers {
	ps := &peers{ends: map[string]*strictpeer.Peer{}}
	for _, profile := range strictpeer.Profiles() {
		ps.ends[profile] = strictpeer.New(profile)
		for _, name := range []string{"one", "two"} {
			ps.models = append(ps.models, strictpeer.Model(profile, profile+"/"+name, name))
		}
	}
	// What else is set of the endpoints that these peers play.
	more := func(profile, name string, set func(*model.Profile)) {
		p := strictpeer.Model(profile, profile+"/"+name, name)
		set(&p)
		ps.models = append(ps.models, p)
	}
	more(strictpeer.OpenAIChat, "marked", func(p *model.Profile) { p.MidSystem = model.MidNone })
	more(strictpeer.OpenAIChat, "system", func(p *model.Profile) { p.MidSystem = model.MidNative })
	more(strictpeer.OpenAIChat, "breakpoints", func(p *model.Profile) { p.ContentParts, p.CacheStyle = true, model.CacheBreakpoints })
	more(strictpeer.QwenTemplate, "parts", func(p *model.Profile) { p.ContentParts = true })
	return ps
}

// ask is a [provider].
func (ps *peers) ask(p model.Profile, r *modelview.Request, want reply) ([]weir.Part, error) {
	peer := ps.ends[p.Provider]
	answer := script(want.parts)
	if want.cut {
		answer = append(answer, strictpeer.Cut())
	}
	peer.Script(answer)
	a, err := wires.Direct(p, peer).Stream(ctx, r.Body, func(model.Event) error { return nil })
	if refusals := peer.Refusals(); len(refusals) > 0 {
		return nil, fmt.Errorf("%s: %v", p.ID, refusals)
	}
	var lost *model.Error
	if want.cut && errors.As(err, &lost) && lost.Failure == model.FailBroken {
		return a.Parts, nil
	}
	return a.Parts, err
}

// script is the answer that has these parts.
func script(parts []weir.Part) strictpeer.Answer {
	var a strictpeer.Answer
	for i, p := range parts {
		switch p.Type {
		case weir.PartReasoning:
			a = append(a, strictpeer.Think(fmt.Sprintf("thought %d", i)))
		case weir.PartToolCall:
			a = append(a, strictpeer.Call(p.Call, p.Name, p.Text))
		default:
			a = append(a, strictpeer.Say(p.Text))
		}
	}
	return a
}

func TestTheStrictPeerTakesEveryRequestAndAllReasoning(t *testing.T) {
	histories(t, "5000")
	rapid.Check(t, func(t *rapid.T) {
		ps := newPeers()
		live(t, memoryBackend{newMemory()}, "root", ps.ask, ps.models)
	})
}
