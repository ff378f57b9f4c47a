package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Patch is what a row of the catalogue, or a [[model]] of the configuration,
// says of a model: members of [Profile] by their names, as JSON or TOML decode
// them. It says nothing about members that it does not name, and what it names
// it sets, be it to false or zero.
type Patch map[string]any

// text returns a member that is a text; empty when it is none.
func (p Patch) text(member string) string {
	if v := reflect.ValueOf(p[member]); v.Kind() == reflect.String {
		return v.String()
	}
	return ""
}

// ID returns the id of the model that the patch is about.
func (p Patch) ID() string {
	return cmp.Or(p.text("id"), p.text("provider")+"/"+p.text("name"))
}

// Calls returns which provider the patch's model is called at, and by what name.
func (p Patch) Calls() (provider, name string) {
	provider, name, _ = strings.Cut(p.ID(), "/")
	return cmp.Or(p.text("provider"), provider), cmp.Or(p.text("name"), name)
}

// Patch returns a patch that sets every member to what it is.
func (p Profile) Patch() Patch {
	raw, err := json.Marshal(p)
	var out Patch
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		panic("model: a profile that is no JSON: " + err.Error()) // none of its members can be
	}
	return out
}

// lay returns the profile with what the patch sets.
func (p Patch) lay(under Profile) (Profile, error) {
	if unknown := p.Unknown(); unknown != "" {
		return under, invalid("The model %s has the member %q, and there is none of that name; those of a model are %s.",
			orNone(p.text("id")), unknown, strings.Join(Members(), ", "))
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return under, invalid("The model %s has a value that no member takes; correct it in the configuration.", orNone(p.text("id")))
	}
	over := under
	var typ *json.UnmarshalTypeError
	if err := json.Unmarshal(raw, &over); errors.As(err, &typ) {
		return under, invalid("The model %s has a %s for %s, which takes %s; correct it in the configuration.",
			orNone(p.text("id")), typ.Value, typ.Field, inWords(typ.Type))
	} else if err != nil {
		return under, invalid("The model %s cannot be read: %v; correct it in the configuration.", orNone(p.text("id")), err)
	}
	return over, nil
}

// Unknown returns the first member that no profile has, "" when there is none.
func (p Patch) Unknown() string { return unknownMember(p, reflect.TypeFor[Profile](), "") }

// Members returns the names of all members of a model, those of a table after
// its own with a dot.
func Members() []string { return members(reflect.TypeFor[Profile](), "") }

func members(t reflect.Type, prefix string) []string {
	var all []string
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			all = append(all, members(f.Type, prefix)...)
			continue
		}
		name := prefix + f.Tag.Get("json")
		all = append(all, name)
		if f.Type.Kind() == reflect.Struct {
			all = append(all, members(f.Type, name+".")...)
		}
	}
	return all
}

// unknownMember returns the first member that a type does not have. The
// decoder's own check takes any case of a name and does not say where it stands.
func unknownMember(p map[string]any, t reflect.Type, prefix string) string {
	known := members(t, "")
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if !slices.Contains(known, name) || strings.Contains(name, ".") {
			return prefix + name
		}
		if table, ok := p[name].(map[string]any); ok {
			if inner, ok := fieldOf(t, name); ok && inner.Kind() == reflect.Struct {
				if unknown := unknownMember(table, inner, prefix+name+"."); unknown != "" {
					return unknown
				}
			}
		}
	}
	return ""
}

func fieldOf(t reflect.Type, name string) (reflect.Type, bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			if inner, ok := fieldOf(f.Type, name); ok {
				return inner, true
			}
		} else if f.Tag.Get("json") == name {
			return f.Type, true
		}
	}
	return nil, false
}

// inWords says what a type of a member is.
func inWords(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int64:
		return "a whole number"
	case reflect.String:
		return "a text"
	}
	return "a table"
}

func orNone(s string) string {
	if s == "" {
		return "without an id"
	}
	return clip(s)
}

// or spells a choice.
func or(choices []string) string {
	var said []string
	for _, c := range choices {
		if c != "" {
			said = append(said, c)
		}
	}
	switch len(said) {
	case 0:
		return "left out"
	case 1:
		return said[0]
	}
	return strings.Join(said[:len(said)-1], ", ") + " or " + said[len(said)-1]
}
