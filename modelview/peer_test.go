package modelview_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"pgregory.net/rapid"

	"weir"
	"weir/model"
	"weir/model/anthropic"
	"weir/model/openai"
	"weir/modelview"
	"weir/test/strictpeer/strictpeer"
)

// direct carries requests to a handler without a network.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w.Result(), nil
}

// peers is a provider of strict peers, asked over the product's own wires.
func peers() (provider, func() []string) {
	type end struct {
		peer   *strictpeer.Peer
		client model.Client
	}
	ends := map[string]end{}
	for profile, name := range map[string]string{"a/claude": strictpeer.Anthropic, "a/old": strictpeer.AnthropicOld, "chat": strictpeer.OpenAIChat,
		"l/first": strictpeer.QwenTemplate, "l/gemma": strictpeer.AlternatingTemplate, "d/seek": strictpeer.DeepSeek} {
		peer := strictpeer.New(name)
		hc := &http.Client{Transport: direct{peer}}
		client := openai.New("http://peer/v1", "key", hc)
		if name == strictpeer.Anthropic || name == strictpeer.AnthropicOld {
			client = anthropic.New("http://peer", "key", hc)
		}
		ends[profile] = end{peer, client}
	}
	ask := func(p model.Profile, r *modelview.Request, want []weir.Part) ([]weir.Part, error) {
		e, ok := ends[p.ID]
		if !ok {
			e = ends["chat"]
		}
		e.peer.Script(script(want))
		a, err := e.client.Stream(ctx, r.Body, func(model.Event) error { return nil })
		if err != nil {
			return nil, fmt.Errorf("%v; %v", err, e.peer.Refusals())
		}
		return a.Parts, nil
	}
	refusals := func() (all []string) {
		for _, e := range ends {
			all = append(all, e.peer.Refusals()...)
		}
		return all
	}
	return ask, refusals
}

// script is the answer that has these parts.
func script(parts []weir.Part) strictpeer.Answer {
	var a strictpeer.Answer
	for i, p := range parts {
		switch p.Type {
		case weir.PartReasoning:
			a = append(a, strictpeer.Think(fmt.Sprintf("thought %d", i)))
		case weir.PartToolCall:
			a = append(a, strictpeer.Call(p.Call, p.Name, string(p.Input)))
		default:
			a = append(a, strictpeer.Say(p.Text))
		}
	}
	return a
}

func TestTheStrictPeerTakesEveryRequestAndAllReasoning(t *testing.T) {
	ask, refusals := peers()
	rapid.Check(t, func(t *rapid.T) { live(t, memoryBackend{newMemory()}, "root", ask) })
	for _, r := range refusals() {
		t.Errorf("refused: %s", r)
	}
}
