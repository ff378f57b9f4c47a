package api

import (
	"embed"
	"encoding/json"
	"net/http"
	"strings"
)

//go:embed docs
var docFiles embed.FS

// docRoutes serves the document that describes the operations, made from the
// types that handle them, and a page that reads it out.
func (s *server) docRoutes() error {
	doc := s.huma.OpenAPI()
	for name := range doc.Components.Schemas.Map() {
		if strings.HasSuffix(name, "ErrorModel") || strings.HasSuffix(name, "ErrorDetail") {
			delete(doc.Components.Schemas.Map(), name) // huma's own, which is never answered
		}
	}
	body, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	described := newAsset("openapi.json", body)
	s.mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, r *http.Request) { described.serve(w, r) })
	for address, name := range map[string]string{
		"/docs": "docs/index.html", "/docs/docs.js": "docs/docs.js", "/docs/docs.css": "docs/docs.css",
	} {
		body, err := docFiles.ReadFile(name)
		if err != nil {
			return err
		}
		file := newAsset(name, body)
		s.mux.HandleFunc("GET "+address, func(w http.ResponseWriter, r *http.Request) { file.serve(w, r) })
	}
	return nil
}
