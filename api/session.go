package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"weir"
)

// SignInPath takes a one-time code: SignInPath + "?code=" + account's link.
const SignInPath = "/sign-in"

const sessionPath = "/v1/session"

func (s *server) sessionRoutes() {
	s.mux.HandleFunc("GET "+SignInPath, s.signIn)
	add(s, about("get-session", http.MethodGet, sessionPath, "Who you are here", http.StatusOK), s.whoAmI)
	open := about("sign-in", http.MethodPost, sessionPath, "Begin a browser's session with the owner's token", http.StatusOK)
	open.Security = []map[string][]string{}
	add(s, open, s.beginSession)
	end := about("sign-out", http.MethodDelete, sessionPath, "End this browser's session", http.StatusOK)
	add(s, end, s.endSession)
}

// linkUsed is where the page says what to do about a link that no longer works.
const linkUsed = "/?signin=used"

// signIn uses a link up. A browser that has a session already and follows its
// old link gets to the page as well; another one is told there how to get in.
func (s *server) signIn(w http.ResponseWriter, r *http.Request) {
	to := "/"
	cookie, err := s.cfg.Account.SignIn(r.Context(), r.URL.Query().Get("code"), r.TLS != nil)
	if err != nil {
		if _, known := s.cfg.Account.Actor(r); known != nil {
			if !wantsPage(r) || problemOf(err).Status != http.StatusUnauthorized {
				s.refuse(w, r, err)
				return
			}
			to = linkUsed
		}
	} else {
		http.SetCookie(w, cookie)
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, to, http.StatusSeeOther)
}

type session struct {
	Name string `json:"name,omitempty"`
	Door string `json:"door"`
}

func (s *server) whoAmI(_ context.Context, a weir.Actor, _ *struct{}) (*one[session], error) {
	return &one[session]{session{Name: a.Name, Door: a.Door}}, nil
}

type signInIn struct {
	tls  bool
	Body struct {
		Token string `json:"token" maxLength:"4096"`
	}
}

// Resolve is for huma: it looks at the connection.
func (in *signInIn) Resolve(ctx huma.Context) []error {
	in.tls = ctx.TLS() != nil
	return nil
}

type withCookie struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
	Body      accepted
}

func (s *server) beginSession(ctx context.Context, _ weir.Actor, in *signInIn) (*withCookie, error) {
	cookie, err := s.cfg.Account.SignInWithToken(ctx, in.Body.Token, in.tls)
	if err != nil {
		return nil, err
	}
	return &withCookie{SetCookie: *cookie, Body: accepted{true}}, nil
}

type signOutIn struct{ r *http.Request }

// Resolve is for huma: it keeps the request, for its cookie.
func (in *signOutIn) Resolve(ctx huma.Context) []error {
	in.r, _ = humago.Unwrap(ctx)
	return nil
}

func (s *server) endSession(_ context.Context, _ weir.Actor, in *signOutIn) (*withCookie, error) {
	cookie, err := s.cfg.Account.SignOut(in.r, in.r.TLS != nil)
	if err != nil {
		return nil, err
	}
	return &withCookie{SetCookie: *cookie, Body: accepted{true}}, nil
}
