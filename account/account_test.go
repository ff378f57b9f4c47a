package account_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"weir"
	"weir/account"
	"weir/store"
	"weir/test/stores"
)

type clock struct{ now atomic.Int64 }

func (c *clock) Now() time.Time           { return time.Unix(c.now.Load(), 0) }
func (c *clock) forward(by time.Duration) { c.now.Add(int64(by / time.Second)) }
func newClock() *clock                    { c := &clock{}; c.now.Store(1_800_000_000); return c }
func bearer(r *http.Request, t string)    { r.Header.Set("Authorization", "Bearer "+t) }
func request(c ...*http.Cookie) *http.Request {
	r := httptest.NewRequest("GET", "http://localhost/v1/models", nil)
	for _, cookie := range c {
		r.AddCookie(cookie)
	}
	return r
}

func open(t *testing.T, s store.Store, c *clock) *account.Account {
	t.Helper()
	a, err := account.Open(t.Context(), account.Config{Store: account.Over[store.Tx](s), Name: "Max", Token: "word", Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func refused(t *testing.T, a *account.Account, r *http.Request, code string) {
	t.Helper()
	if who, err := a.Actor(r); weir.CodeOf(err) != code || weir.KindOf(err) != weir.Unauthenticated {
		t.Errorf("got %+v, %v; want %s", who, err, code)
	}
}

func TestTheOwnersTokenIsTheOwnerAndNothingElseIs(t *testing.T) {
	a := open(t, stores.SQLite(t), newClock())
	r := request()
	bearer(r, "word")
	who, err := a.Actor(r)
	if err != nil || who.Owner != a.Owner() || who.Door != "api" || !who.MayConfirm || who.Name != "Max" {
		t.Errorf("got %+v, %v", who, err)
	}
	refused(t, a, request(), "unauthenticated")
	for _, wrong := range []string{"", "wor", "word2", "Word", strings.Repeat("w", 1<<16)} {
		r := request()
		bearer(r, wrong)
		refused(t, a, r, "token_invalid")
	}
	basic := request()
	basic.SetBasicAuth("x", "word")
	refused(t, a, basic, "token_invalid")
}

func TestTheOwnerIsTheSameAfterARestart(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		if a, b := open(t, s, newClock()).Owner(), open(t, s, newClock()).Owner(); a != b || a == "" {
			t.Errorf("%q, then %q", a, b)
		}
	})
}

func TestALinkSignsOneBrowserInOnce(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		c := newClock()
		a := open(t, s, c)
		code := a.Link()
		cookie, err := a.SignIn(t.Context(), code, true)
		if err != nil {
			t.Fatal(err)
		}
		if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || !cookie.Secure || cookie.Path != "/" || cookie.Name != account.Cookie {
			t.Errorf("the cookie is %s", cookie)
		}
		if _, err := a.SignIn(t.Context(), code, false); weir.CodeOf(err) != "link_used" {
			t.Errorf("the second time: %v", err)
		}
		if _, err := a.SignIn(t.Context(), "made up", false); weir.CodeOf(err) != "link_used" {
			t.Errorf("a made up link: %v", err)
		}
		// The session outlives the process, and what the store has is no key to it.
		later := open(t, s, c)
		if who, err := later.Actor(request(cookie)); err != nil || who.Door != "web" || !who.MayConfirm {
			t.Errorf("after a restart: %+v, %v", who, err)
		}
		forged := *cookie
		forged.Value += "x"
		refused(t, later, request(&forged), "session_over")
		wrong := request(cookie)
		bearer(wrong, "not it")
		refused(t, later, wrong, "token_invalid")
		c.forward(account.SessionLife)
		refused(t, later, request(cookie), "session_over")
	})
}

func TestALinkGrowsOld(t *testing.T) {
	c := newClock()
	a := open(t, stores.SQLite(t), c)
	code := a.Link()
	c.forward(account.LinkLife)
	if _, err := a.SignIn(t.Context(), code, false); weir.CodeOf(err) != "link_used" {
		t.Errorf("a day later: %v", err)
	}
}

func TestOfTwoWhoUseALinkAtOnceOneGetsIn(t *testing.T) {
	a := open(t, stores.SQLite(t), newClock())
	code := a.Link()
	var in atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := a.SignIn(context.Background(), code, false); err == nil {
				in.Add(1)
			}
		})
	}
	all.Wait()
	if in.Load() != 1 {
		t.Errorf("%d got in", in.Load())
	}
}

func TestSigningOutEndsTheSessionForGood(t *testing.T) {
	stores.Each(t, func(t *testing.T, s store.Store) {
		a := open(t, s, newClock())
		if _, err := a.SignInWithToken(t.Context(), "not it", false); weir.CodeOf(err) != "token_invalid" {
			t.Errorf("with a wrong token: %v", err)
		}
		cookie, err := a.SignInWithToken(t.Context(), "word", false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Actor(request(cookie)); err != nil {
			t.Fatal(err)
		}
		cleared, err := a.SignOut(request(cookie), false)
		if err != nil || cleared.MaxAge >= 0 || cleared.Value != "" {
			t.Errorf("the browser is told %s, %v", cleared, err)
		}
		refused(t, a, request(cookie), "session_over")
		refused(t, open(t, s, newClock()), request(cookie), "session_over")
		if _, err := a.SignOut(request(), false); err != nil {
			t.Errorf("signing out without a session: %v", err)
		}
	})
}

func TestAnUnusableTokenIsRefusedAtTheStart(t *testing.T) {
	for _, bad := range []string{"", "two words", "line\n"} {
		if _, err := account.Open(t.Context(), account.Config{Token: bad}); weir.CodeOf(err) != "token_unusable" {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
