package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"weir"
)

// newHuma makes the registry of operations. It serves nothing by itself: no
// schema links in answers, no pages that load scripts from elsewhere.
func newHuma(mux *http.ServeMux, version string) huma.API {
	if version == "" {
		version = "0"
	}
	json := huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: json.Unmarshal}
	api := humago.New(mux, huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title:   "Weir",
				Version: version,
				Description: "Conversations with language models, and the gate between them. " +
					"Refusals are RFC 9457 problems with a stable code. Ids in paths are percent-encoded.",
			},
			Components: &huma.Components{
				Schemas: huma.NewMapRegistry("#/components/schemas/", schemaName),
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"token":   {Type: "http", Scheme: "bearer", Description: "The owner's token."},
					"session": {Type: "apiKey", In: "cookie", Name: "weir_session", Description: "A browser's session."},
				},
			},
			Security: []map[string][]string{{"token": {}}, {"session": {}}},
		},
		Formats:       map[string]huma.Format{"application/json": json, "json": json},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{ours},
	})
	api.OpenAPI().Components.Schemas.Map()["Problem"] = (*problem)(nil).Schema(nil)
	api.UseMiddleware(func(ctx huma.Context, next func(huma.Context)) { next(&statusContext{humaContext: ctx}) })
	return api
}

// schemaName is a type's own name, with its room before it when that is not
// this one: rooms have types of the same name.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if room := path.Base(t.PkgPath()); t.Name() != "" && t.PkgPath() != "" && room != "api" {
		name = strings.ToUpper(room[:1]) + room[1:] + name
	}
	return name
}

// statusContext lets a problem of ours take the place of huma's, with its own
// status.
type statusContext struct {
	humaContext
	status int
}

type humaContext huma.Context // under a name that its method Context leaves free

func (c *statusContext) Unwrap() huma.Context { return c.humaContext }

func (c *statusContext) SetStatus(status int) {
	if c.status != 0 {
		status = c.status
	}
	c.humaContext.SetStatus(status)
}

// ours turns huma's own refusals, which are all about what a client sent, into
// problems. It quotes names of members and never their values.
func ours(ctx huma.Context, _ string, v any) (any, error) {
	model, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	p := problemOf(faultOf(model))
	noteOf(ctx.Context()).code = p.Code
	if c, ok := ctx.(*statusContext); ok {
		c.status = p.Status
	}
	return p, nil
}

func faultOf(model *huma.ErrorModel) error {
	if model.Status >= http.StatusInternalServerError {
		return errors.New("huma: " + model.Detail)
	}
	if len(model.Errors) == 0 {
		return bodyInvalid("The body is missing or broken: %s.", model.Detail)
	}
	// Members are looked at in no order; the answer should have one.
	details := slices.Clone(model.Errors)
	slices.SortStableFunc(details, func(a, b *huma.ErrorDetail) int { return strings.Compare(a.Location, b.Location) })
	first := details[0]
	where, name, _ := strings.Cut(first.Location, ".")
	switch {
	case where == "query" || where == "header" || where == "path":
		return parameterInvalid("The parameter %s does not fit: %s.", shown(name), cut(first.Message)).With("parameter", cut(name))
	case name == "" && strings.Contains(first.Message, "json"):
		return bodyInvalid("The body does not fit: a value has the wrong type or is out of range.")
	case name == "":
		return bodyInvalid("The body does not fit: %s.", cut(first.Message))
	case first.Message == "unexpected property":
		return inReference(name, unknownMember(name))
	}
	return inReference(name, bodyInvalid("The member %s does not fit: %s.", shown(name), cut(first.Message)).With("member", cut(name)))
}

// inReference gives a fault inside a reference the gate's code.
func inReference(name string, fault *weir.Error) error {
	rest, one := strings.CutPrefix(name, "reference")
	if !one {
		return fault
	}
	if list, many := strings.CutPrefix(rest, "s["); many {
		digits, _, _ := strings.Cut(list, "]")
		if n, err := strconv.Atoi(digits); err == nil {
			fault.Code = "reference_invalid"
			return fault.With("reference", n)
		}
	}
	if rest == "" || strings.HasPrefix(rest, ".") {
		fault.Code = "reference_invalid"
	}
	return fault
}

// about describes an operation.
func about(id, method, address, summary string, status int) huma.Operation {
	return huma.Operation{
		OperationID: id, Method: method, Path: address, Summary: summary, DefaultStatus: status,
		Tags: []string{tagOf(address)}, MaxBodyBytes: -1, BodyReadTimeout: -1, // read and bounded before
	}
}

func tagOf(address string) string {
	parts := strings.Split(strings.TrimPrefix(address, "/v1/"), "/")
	if len(parts) > 2 && parts[0] == "conversations" {
		return parts[2]
	}
	return parts[0]
}

// add registers an operation whose refusals are ours.
func add[I, O any](s *server, op huma.Operation, fn func(ctx context.Context, a weir.Actor, in *I) (*O, error)) {
	document(s, &op)
	huma.Register(s.huma, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := fn(ctx, actorOf(ctx), in)
		if err != nil {
			return nil, s.noted(ctx, err)
		}
		return out, nil
	})
}

// document puts our problem where huma would put its own.
func document(s *server, op *huma.Operation) {
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	op.Responses["default"] = &huma.Response{
		Description: "A problem.",
		Content: map[string]*huma.MediaType{
			"application/problem+json": {Schema: &huma.Schema{Ref: "#/components/schemas/Problem"}},
		},
	}
	status := strconv.Itoa(op.DefaultStatus)
	if op.Responses[status] == nil {
		op.Responses[status] = &huma.Response{Description: http.StatusText(op.DefaultStatus)}
	}
}

// optional is a parameter that tells left out from zero.
type optional[T any] struct {
	Value T
	Set   bool
}

// Receiver is for huma: where to parse the parameter into.
func (o *optional[T]) Receiver() reflect.Value { return reflect.ValueOf(o).Elem().Field(0) }

// OnParamSet is for huma.
func (o *optional[T]) OnParamSet(set bool, _ any) { o.Set = set }

// Schema documents it as what it holds.
func (o optional[T]) Schema(r huma.Registry) *huma.Schema {
	return huma.SchemaFromType(r, reflect.TypeFor[T]())
}
