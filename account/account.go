// Package account says who a request comes from.
//
// There is one owner. Its token (WEIR_TOKEN, or one made at first start) is
// the owner: it sees all and may confirm. A browser gets a session for a
// one-time sign-in link. Passwords and further people come later.
//
// Promises. Secrets: of a token, a link and a session only the SHA-256 is
// kept, here and in the store, and comparisons take the same time whatever
// differs. Loss: sessions are durable and survive a restart; links are not,
// and each works once. Concurrency: an Account may be used from any goroutine;
// of two who use a link at the same time one gets in.
package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"weir"
)

// Cookie is the name of the session's cookie.
const Cookie = "weir_session"

// How long things last, and how many links are kept.
const (
	SessionLife = 30 * 24 * time.Hour
	LinkLife    = 24 * time.Hour
	maxLinks    = 64
)

// Store keeps small values for good: InitSetting adds one unless it is there and
// returns the stored one; Setting fails NotFound for none. Nothing is ever
// replaced, so a session that was ended cannot come back.
type Store interface {
	Setting(ctx context.Context, name string) ([]byte, error)
	InitSetting(ctx context.Context, name string, value []byte) ([]byte, error)
}

// Config is what an Account needs.
type Config struct {
	Store Store
	Name  string // the owner's, as the model is told
	Token string // the owner's bearer token
	Now   func() time.Time
}

// Account knows the owner.
type Account struct {
	cfg   Config
	owner weir.OwnerID
	token [sha256.Size]byte

	mu    sync.Mutex
	links map[[sha256.Size]byte]time.Time // until when each is good
}

// OwnerSetting is the setting that holds the owner's id.
const OwnerSetting = "owner"

// Open finds the owner in the store, or makes one at the first start.
func Open(ctx context.Context, cfg Config) (*Account, error) {
	if cfg.Token == "" || strings.ContainsAny(cfg.Token, " \t\r\n") {
		return nil, weir.Fault(weir.Invalid, "token_unusable",
			"The owner's token (WEIR_TOKEN) is empty or has white space in it; use a long random word.")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	owner, err := cfg.Store.InitSetting(ctx, OwnerSetting, []byte("own_"+secret()[:22]))
	if err != nil {
		return nil, err
	}
	return &Account{
		cfg: cfg, owner: weir.OwnerID(owner), token: sha256.Sum256([]byte(cfg.Token)),
		links: map[[sha256.Size]byte]time.Time{},
	}, nil
}

// NewToken makes a bearer token.
func NewToken() string { return "weir_" + secret() }

func secret() string {
	var b [32]byte
	rand.Read(b[:]) // never fails: crypto/rand aborts the program instead
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Owner returns the owner's id.
func (a *Account) Owner() weir.OwnerID { return a.owner }

// Actor returns who r comes from: by its bearer token if it carries one, else
// by its session. The error is of kind Unauthenticated and says what to do.
func (a *Account) Actor(r *http.Request) (weir.Actor, error) {
	if h := r.Header.Get("Authorization"); h != "" {
		scheme, token, _ := strings.Cut(h, " ")
		if strings.EqualFold(scheme, "Bearer") && same(a.token, strings.TrimSpace(token)) {
			return a.actor("api"), nil
		}
		return weir.Actor{}, notTheToken()
	}
	cookie, err := r.Cookie(Cookie)
	if err != nil {
		return weir.Actor{}, weir.Fault(weir.Unauthenticated, "unauthenticated",
			"Send the owner's token as “Authorization: Bearer …”, or open the sign-in link that the server printed at its start.")
	}
	live, err := a.session(r.Context(), cookie.Value)
	if err != nil {
		return weir.Actor{}, err
	}
	if !live {
		return weir.Actor{}, weir.Fault(weir.Unauthenticated, "session_over",
			"This session is over. Open a new sign-in link, or send the owner's token.")
	}
	return a.actor("web"), nil
}

func notTheToken() error {
	return weir.Fault(weir.Unauthenticated, "token_invalid",
		"This token is not the owner's. Send the one in WEIR_TOKEN, or the one in the file “token” of the data directory.")
}

func (a *Account) actor(door string) weir.Actor {
	return weir.Actor{Owner: a.owner, Name: a.cfg.Name, Door: door, MayConfirm: true}
}

func same(hash [sha256.Size]byte, given string) bool {
	h := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(hash[:], h[:]) == 1
}

// Link makes a code that signs a browser in once.
func (a *Account) Link() string {
	code := secret()
	now := a.cfg.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	for h, until := range a.links {
		if !now.Before(until) || len(a.links) >= maxLinks {
			delete(a.links, h)
		}
	}
	a.links[sha256.Sum256([]byte(code))] = now.Add(LinkLife)
	return code
}

// SignIn uses a link up and answers with the cookie of a new session. Secure
// says that the request came over TLS.
func (a *Account) SignIn(ctx context.Context, code string, secure bool) (*http.Cookie, error) {
	h := sha256.Sum256([]byte(code))
	now := a.cfg.Now()
	a.mu.Lock()
	until, known := a.links[h]
	delete(a.links, h)
	a.mu.Unlock()
	if !known || !now.Before(until) {
		return nil, weir.Fault(weir.Unauthenticated, "link_used",
			"This sign-in link has been used or is too old. Restart the server for a new one.")
	}
	return a.begin(ctx, secure)
}

// SignInWithToken answers with the cookie of a new session to whoever has the
// owner's token, for a browser without a link at hand.
func (a *Account) SignInWithToken(ctx context.Context, token string, secure bool) (*http.Cookie, error) {
	if !same(a.token, token) {
		return nil, notTheToken()
	}
	return a.begin(ctx, secure)
}

func (a *Account) begin(ctx context.Context, secure bool) (*http.Cookie, error) {
	value := secret()
	data, err := json.Marshal(session{Owner: a.owner, Until: a.cfg.Now().Add(SessionLife).UTC()})
	if err != nil {
		return nil, err
	}
	if _, err := a.cfg.Store.InitSetting(ctx, sessionKey(value), data); err != nil {
		return nil, err
	}
	return a.cookie(value, int(SessionLife/time.Second), secure), nil
}

// SignOut ends r's session for good, if it has one, and answers with a cookie
// that clears the browser's.
func (a *Account) SignOut(r *http.Request, secure bool) (*http.Cookie, error) {
	if c, err := r.Cookie(Cookie); err == nil {
		if live, err := a.session(r.Context(), c.Value); err != nil {
			return nil, err
		} else if live {
			if _, err := a.cfg.Store.InitSetting(r.Context(), endedKey(c.Value), []byte("1")); err != nil {
				return nil, err
			}
		}
	}
	return a.cookie("", -1, secure), nil
}

func (a *Account) cookie(value string, age int, secure bool) *http.Cookie {
	return &http.Cookie{
		Name: Cookie, Value: value, Path: "/", MaxAge: age,
		HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode,
	}
}

type session struct {
	Owner weir.OwnerID `json:"owner"`
	Until time.Time    `json:"until"`
}

// session reports whether a cookie's value is a session that is not over.
func (a *Account) session(ctx context.Context, value string) (bool, error) {
	if len(value) > 128 {
		return false, nil
	}
	data, err := a.cfg.Store.Setting(ctx, sessionKey(value))
	if err != nil {
		return false, unlessMissing(err)
	}
	var s session
	if err := json.Unmarshal(data, &s); err != nil {
		return false, err
	}
	if s.Owner != a.owner || !a.cfg.Now().Before(s.Until) {
		return false, nil
	}
	if _, err := a.cfg.Store.Setting(ctx, endedKey(value)); err == nil {
		return false, nil
	} else if err := unlessMissing(err); err != nil {
		return false, err
	}
	return true, nil
}

func unlessMissing(err error) error {
	if weir.KindOf(err) == weir.NotFound {
		return nil
	}
	return err
}

func sessionKey(value string) string { return "session/" + digest(value) }
func endedKey(value string) string   { return "session-over/" + digest(value) }

func digest(value string) string {
	h := sha256.Sum256([]byte(value))
	return hex.EncodeToString(h[:])
}
