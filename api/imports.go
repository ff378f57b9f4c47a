package api

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"weir"
)

// Limits of an import, and how many there are at once: each holds in memory
// what it knows of its conversations.
const (
	MaxImport  = 1 << 30
	MaxImports = 2
	importTime = 30 * time.Minute
	importWait = "5" // seconds
)

func (s *server) importRoutes() {
	if s.cfg.Import == nil {
		return
	}
	places := make(chan struct{}, MaxImports)
	s.mux.HandleFunc("POST "+importPath, func(w http.ResponseWriter, r *http.Request) {
		if err := s.imports(w, r, places); err != nil {
			s.refuse(w, r, err)
		}
	})
	text := &huma.Schema{Type: huma.TypeString}
	op := about("import", http.MethodPost, importPath, "Bring in a transcript of another product, sent as it is", http.StatusOK)
	for _, p := range [][2]string{
		{"format", "claude-code; recognised by content when left out"}, {"dry_run", "true: only report"},
		{"level", "open or isolated; conversations that are there and are not so are refused (visibility_differs)"}, {"category", "a label; as with level, conversations that are there must have it"}, {"file", "the transcript's name"},
	} {
		op.Parameters = append(op.Parameters, &huma.Param{Name: p[0], In: "query", Description: p[1], Schema: text})
	}
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/x-ndjson": {Schema: text}}}
	document(s, &op)
	s.huma.OpenAPI().AddOperation(&op)
}

// imports streams a transcript to the importer: it may be longer than memory.
func (s *server) imports(w http.ResponseWriter, r *http.Request, places chan struct{}) error {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/x-ndjson" || r.Header.Get("Content-Encoding") != "" {
		return weir.Fault(weir.Unsupported, "media_type_unsupported", "Send the transcript as application/x-ndjson, not compressed.")
	}
	o, err := importOptions(r)
	if err != nil {
		return err
	}
	if r.ContentLength > MaxImport {
		return weir.Fault(weir.TooLarge, "body_too_large", "The transcript is over %d bytes; split it.", MaxImport)
	}
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
	default:
		w.Header().Set("Retry-After", importWait)
		return weir.Fault(weir.Unavailable, "imports_busy", "%d imports are under way; try again when one is done.", MaxImports)
	}
	deadlines(w, importTime, importTime)
	ctx := r.Context()
	report, err := s.cfg.Import(ctx, actorOf(ctx), o, http.MaxBytesReader(w, r.Body, MaxImport))
	var long *http.MaxBytesError
	if errors.As(err, &long) {
		return weir.Fault(weir.TooLarge, "body_too_large", "The transcript is over %d bytes; split it.", MaxImport)
	}
	if err != nil {
		return err
	}
	body, err := json.Marshal(report)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(append(body, '\n'))
	return errIfNothing(err)
}

// errIfNothing drops the error of a write: the client is gone, and so is the
// place for an answer.
func errIfNothing(error) error { return nil }

func importOptions(r *http.Request) (ImportOptions, error) {
	q := r.URL.Query()
	o := ImportOptions{Format: q.Get("format"), Level: weir.Level(q.Get("level")), Category: q.Get("category"), File: q.Get("file")}
	switch q.Get("dry_run") {
	case "", "false":
	case "true":
		o.DryRun = true
	default:
		return o, parameterInvalid("dry_run is true or false.")
	}
	if o.Level != "" && o.Level != weir.Open && o.Level != weir.Isolated {
		return o, parameterInvalid("level is open or isolated.")
	}
	if len(o.File) > 4096 || len(o.Category) > 4096 || len(o.Format) > 64 {
		return o, parameterInvalid("A parameter is too long.")
	}
	return o, nil
}
