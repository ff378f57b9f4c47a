package api

import (
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
// frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; " +
	"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// asset is one file of the page, ready to be sent.
type asset struct {
	body []byte
	kind string
	tag  string
}

// pageRoutes serves the page at the root, and problems at all other addresses.
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
		if index, ok := files["/index.html"]; ok {
			files["/"] = index
		}
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		a, ok := files[r.URL.Path]
		if !ok || r.Method != http.MethodGet && r.Method != http.MethodHead {
			s.nowhere(w, r)
			return
		}
		a.serve(w, r)
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
	return asset{body, kind, `"` + base64.RawURLEncoding.EncodeToString(sum[:18]) + `"`}
}

func (a asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cache-Control", "no-cache")
	h.Set("Etag", a.tag)
	h.Set("Content-Type", a.kind)
	if strings.Contains(r.Header.Get("If-None-Match"), a.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if r.Method != http.MethodHead {
		_, _ = w.Write(a.body)
	}
}

// nowhere answers for addresses that are none, and for methods that an address
// does not take.
func (s *server) nowhere(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete} {
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
