package model

import "context"

// Listed is what a provider says of one of its models; zero is nothing said.
type Listed struct {
	Name          string    `json:"name"`
	ContextWindow int64     `json:"context_window,omitempty"`
	MaxOutput     int64     `json:"max_output,omitempty"`
	Lifecycle     Lifecycle `json:"lifecycle,omitempty"`
	Chats         bool      `json:"chats,omitempty"` // the provider says that it answers in conversations
}

// Lister is a client whose endpoint can be asked what models it has.
type Lister interface {
	// List asks for all of them. Those of which the provider says that they do
	// not answer in conversations are left out. The error is an *Error; its
	// status is 404 where the endpoint has no such list.
	List(ctx context.Context) ([]Listed, error)
}

// The bounds of a list.
const (
	// MaxListed is how many models of one provider are taken.
	MaxListed = 2000
	// MaxListPages is how many pages are asked for.
	MaxListPages = 20
)

// Patch returns what is known from the list as a patch of a model of a
// provider. Limits that no model has are left out.
func (l Listed) Patch(provider string) Patch {
	p := Patch{"id": provider + "/" + l.Name, "provider": provider, "name": l.Name}
	for member, n := range map[string]int64{"context_window": l.ContextWindow, "max_output": l.MaxOutput} {
		if n > 0 && n <= mostTokens {
			p[member] = n
		}
	}
	if l.Lifecycle != "" {
		p["lifecycle"] = string(l.Lifecycle)
	}
	return p
}

// mostTokens is more than any model has.
const mostTokens = 1_000_000_000
