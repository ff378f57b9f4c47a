package app

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"weir"
	"weir/api"
	"weir/model"
)

// The bounds of a refresh.
const (
	refreshTime   = time.Minute
	refreshAtOnce = 4 // providers asked at the same time
)

// Refresh asks every configured provider for its list of models, keeps what
// they said, and replaces the catalogue. A provider that did not answer takes
// nothing away.
func (m *models) Refresh(ctx context.Context) ([]api.Refreshed, error) {
	if !m.refresh.TryLock() {
		return nil, weir.Fault(weir.Conflict, "refresh_running", "The providers are being asked already; wait for the answer.")
	}
	defer m.refresh.Unlock()
	ctx, cancel := context.WithTimeout(ctx, refreshTime)
	defer cancel()
	out := make([]api.Refreshed, len(m.config.Providers))
	heard := make([]*said, len(m.config.Providers))
	var asking sync.WaitGroup
	slots := make(chan struct{}, refreshAtOnce)
	for i, p := range m.config.Providers {
		asking.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			out[i], heard[i] = m.ask(ctx, p)
		})
	}
	asking.Wait()
	next := &learnt{Providers: maps.Clone(m.learnt.Load().Providers)}
	for i, p := range m.config.Providers {
		if heard[i] != nil {
			next.Providers[p.ID] = *heard[i]
		}
	}
	before := m.catalogue.Load()
	after, err := catalogueOf(m.config, next)
	if err != nil {
		return nil, err
	}
	if err := next.write(m.config); err != nil {
		return nil, &weir.Error{Kind: weir.Internal, Code: "internal", Op: "app.Refresh", Err: err}
	}
	m.learnt.Store(next)
	m.catalogue.Store(after)
	for i, p := range m.config.Providers {
		if heard[i] != nil {
			compare(&out[i], p.ID, before, after, heard[i].Models)
		}
	}
	return out, nil
}

// ask asks one provider.
func (m *models) ask(ctx context.Context, p Provider) (api.Refreshed, *said) {
	r := api.Refreshed{Provider: p.ID}
	if variable, ok := m.missing[p.ID]; ok {
		r.Outcome, r.Detail = api.NotAsked, "Its key is taken from "+variable+", and that variable was empty when the server started."
		return r, nil
	}
	lister := m.lister(p)
	if lister == nil {
		r.Outcome, r.Detail = api.NoList, "It has no list of models to ask for."
		return r, nil
	}
	models, err := lister.List(ctx)
	var fault *model.Error
	switch {
	case err == nil && len(models) > 0:
		r.Outcome, r.Models = api.Listed, len(models)
		return r, &said{Address: addressOf(p), At: time.Now().UTC().Truncate(time.Second), Models: models}
	case err == nil:
		r.Outcome, r.Detail = api.Failed, "Its list names no model; what was known stays."
	case errors.As(err, &fault) && slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented}, fault.Status):
		r.Outcome, r.Detail = api.NoList, "The endpoint has no list of models; what was known stays."
	case errors.As(err, &fault):
		r.Outcome, r.Detail = api.Failed, fault.Public
	default:
		r.Outcome, r.Detail = api.Failed, "The list could not be read."
	}
	return r, nil
}

// lister is the client that can ask a provider for its list, if any can.
func (m *models) lister(p Provider) model.Lister {
	clients := m.clients[p.ID]
	if l, ok := clients[model.Dialect(p.Dialect)].(model.Lister); ok {
		return l
	}
	for _, d := range slices.Sorted(maps.Keys(clients)) {
		if l, ok := clients[d].(model.Lister); ok {
			return l
		}
	}
	return nil
}

// compare says what a list changed.
func compare(r *api.Refreshed, provider string, before, after *model.Catalogue, listed []model.Listed) {
	old := map[string]model.Profile{}
	for _, p := range before.All() {
		old[p.ID] = p
	}
	names := map[string]bool{}
	for _, l := range listed {
		names[l.Name] = true
	}
	r.Others = len(names)
	called := map[string]bool{}
	for _, p := range after.All() {
		if p.Provider != provider {
			continue
		}
		was, known := old[p.ID]
		switch {
		case !known:
			r.Added = append(r.Added, p.ID)
		case p.Lifecycle == model.Retired && was.Lifecycle != model.Retired:
			r.Retired = append(r.Retired, p.ID)
		case p != was:
			r.Changed = append(r.Changed, p.ID)
		}
		if !names[p.Name] {
			r.Missing = append(r.Missing, p.ID)
		} else if !called[p.Name] {
			called[p.Name] = true
			r.Others--
		}
	}
}
