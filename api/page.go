package api

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"

	"weir"
)

// policy is what the page may do: load its own scripts, styles and pictures,
// and speak to its own server. Nothing inline, nothing from elsewhere, in no
// frame; and HTML from text only through its sanitizer.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; " +
	"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types dompurify"

// asset is one file of the page, ready to be sent.
type asset struct {
	body   []byte
	zipped []byte // nil where that saves nothing
	kind   string
	tag    string // without its quotes
}

// lost is what a browser gets for an address that is none.
const lost = "/404.html"

// pageRoutes serves the page at the root. All other addresses are problems,
// which for a person's browser are a page that leads back.
// The files keep their names from build to build, so a browser has to ask each
// time whether its copy is still right; the answer is mostly 304.
func (s *server) pageRoutes() error {
	files := map[string]asset{}
	if s.cfg.Web != nil {
		err := fs.WalkDir(s.cfg.Web, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			body, err := fs.ReadFile(s.cfg.Web, name)
			if err != nil {
				return err
			}
			files["/"+name] = newAsset(name, body)
			return nil
		})
		if err != nil {
			return err
		}
		for address, name := range map[string]string{"/": "/index.html", "/favicon.ico": "/icon.svg"} {
			if file, ok := files[name]; ok {
				files[address] = file
			}
		}
	}
	notHere, forBrowsers := files[lost]
	delete(files, lost)
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		a, ok := files[r.URL.Path]
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		switch {
		case ok && reads:
			a.serve(w, r)
		case reads && forBrowsers && wantsPage(r) && !strings.HasPrefix(r.URL.Path+"/", "/v1/"):
			notHere.missing(w, r)
		default:
			s.nowhere(w, r)
		}
	})
	return nil
}

func newAsset(name string, body []byte) asset {
	kind := mime.TypeByExtension(path.Ext(name))
	switch path.Ext(name) { // the same on every machine
	case ".html":
		kind = "text/html; charset=utf-8"
	case ".js", ".mjs":
		kind = "text/javascript; charset=utf-8"
	case ".css":
		kind = "text/css; charset=utf-8"
	case ".svg":
		kind = "image/svg+xml"
	case ".woff2":
		kind = "font/woff2"
	case ".json", ".map":
		kind = "application/json"
	case ".webmanifest":
		kind = "application/manifest+json"
	case "":
		kind = "application/octet-stream"
	}
	sum := sha256.Sum256(body)
	return asset{body: body, zipped: zip(body), kind: kind, tag: base64.RawURLEncoding.EncodeToString(sum[:18])}
}

func zip(body []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(body) // never fails: it writes to memory
	_ = z.Close()
	if b.Len() >= len(body) {
		return nil
	}
	return b.Bytes()
}

// wantsPage reports whether a person's browser asks, and no client of the API.
func wantsPage(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

// takesGzip reports whether the client takes gzip. Who says that it takes
// anything, or qualifies what it takes, gets the plain bytes.
func takesGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		if strings.TrimSpace(coding) == "gzip" {
			return true
		}
	}
	return false
}

func (a asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	a.guard(h)
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept-Encoding")
	body, tag := a.body, `"`+a.tag+`"`
	zipped := a.zipped != nil && takesGzip(r)
	if zipped {
		body, tag = a.zipped, `"`+a.tag+`-gzip"`
	}
	h.Set("Etag", tag)
	if strings.Contains(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if zipped {
		h.Set("Content-Encoding", "gzip")
	}
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
}

// missing shows a in the place of what is not there.
func (a asset) missing(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	a.guard(h)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNotFound)
	if r.Method != http.MethodHead {
		_, _ = w.Write(a.body)
	}
}

func (a asset) guard(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Content-Type", a.kind)
}

// nowhere answers for addresses that are none, and for methods that an address
// does not take.
func (s *server) nowhere(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		probe := &http.Request{Method: m, URL: r.URL, Host: r.Host}
		if _, pattern := s.mux.Handler(probe); pattern != "" && pattern != "/" && m != r.Method {
			allowed = append(allowed, m)
		}
	}
	if len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		s.refuse(w, r, &problem{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed",
			Detail: "This address does not take that method; it takes " + strings.Join(allowed, ", ") + "."})
		return
	}
	s.refuse(w, r, weir.Fault(weir.NotFound, "address_unknown", "There is nothing at this address. /docs says what there is."))
}
