package turn

import (
	"context"
	"errors"
	"slices"

	"weir"
	"weir/model"
	"weir/modelview"
)

// refusals is what providers have judged and not taken: of this conversation,
// and of the models at all. It is the store's to say.
type refusals struct {
	steps   []weir.Step
	lessons []weir.Lesson
}

func readRefusals(ctx context.Context, r Reader, c *weir.Conversation) (refusals, error) {
	steps, err := r.RefusedSteps(ctx, c)
	if err != nil {
		return refusals{}, err
	}
	lessons, err := r.Lessons(ctx)
	return refusals{steps, lessons}, err
}

// taught returns a profile with what was learnt of its model, by all and by
// this conversation.
func (r *refusals) taught(p model.Profile) model.Profile {
	for _, l := range r.lessons {
		if l.Model == p.ID {
			p, _ = p.Without(model.Objection(l.Objection))
		}
	}
	for i := range r.steps {
		for _, o := range []model.Objection{model.ObjectsSystem, model.ObjectsRoles, model.ObjectsBareCalls} {
			if s := &r.steps[i]; s.Model == p.ID && s.Code == o.CodeRefused() {
				p, _ = p.Without(o)
			}
		}
	}
	return p
}

// unsigned is up to where signed reasoning is not sent to a model again: the
// newest request for which it refused some.
func (r *refusals) unsigned(id string) (upto weir.Seq) {
	code := model.ObjectsReasoning.CodeRefused()
	for i := range r.steps {
		if s := &r.steps[i]; s.Model == id && s.Code == code && s.Ledger.SHA256 != "" {
			upto = max(upto, s.Seq)
		}
	}
	return upto
}

// same returns the fault of a request whose exact bytes the model has refused.
// They are not sent a second time.
func (r *refusals) same(req *modelview.Request, id string) error {
	i := slices.IndexFunc(r.steps, func(s weir.Step) bool { return s.Model == id && s.Ledger.SHA256 == req.Ledger.SHA256 })
	if i < 0 {
		return nil
	}
	was := &r.steps[i]
	return weir.Fault(weir.Unprocessable, was.Code,
		"%s This is what the same request was answered before, so it was not sent again: write something more, rewind, or choose another model.", was.Reason)
}

// remedy is what makes the next request another one than the one refused.
type remedy struct {
	chain  chain
	lesson *weir.Lesson // of the model; none: of this conversation, which its log says
	says   string
}

// remedied returns how to go on after a request was refused for a reason that
// the next one can do without; nil for not at all. The steps of a chain are
// counted, and bytes that were refused never go again, so this ends.
func (d *drain) remedied(st *begun, failed error, w *watch) *remedy {
	var failure *model.Error
	n := st.step.Chained + st.step.Attempts
	if !errors.As(failed, &failure) || failure.Failure != model.FailRefused || failure.Objection == "" || w.begun() || n >= maxAttempts {
		return nil
	}
	r := &remedy{chain: chain{attempts: n, code: failure.Code(), reason: storable(failure.Public)}}
	if failure.Objection == model.ObjectsReasoning {
		r.says = "The request is made once more, without the reasoning so far."
		return r
	}
	if _, changes := st.profile.Without(failure.Objection); !changes {
		return nil
	}
	if failure.Own {
		// What people and tools write here must not change what others get.
		r.says = "The request is made once more in the way that it seems to take; what is sent here holds the same words, so this holds for this conversation alone."
		return r
	}
	r.lesson = &weir.Lesson{Model: st.step.Model, Objection: string(failure.Objection), At: d.e.cfg.Now()}
	r.says = "This is remembered of the model, and the request is made once more in the way that it takes."
	return r
}

// refused reports whether a code says that a provider has judged a request.
func refused(code string) bool { return slices.Contains(weir.RefusedCodes(), code) }
