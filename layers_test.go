package weir_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rooms says which rooms a room may import. A room covers the packages below
// it unless they have a line of their own. Anything outside the module is not
// this table's business, except for the root, which takes the standard
// library alone.
var rooms = map[string][]string{
	".":               {},
	"flow":            {"."},
	"mention":         {"."},
	"transcript":      {"."},
	"fact":            {"."},
	"fact/builtin":    {".", "fact"},
	"model":           {"."},
	"model/anthropic": {".", "model"},
	"model/openai":    {".", "model"},
	"model/gemini":    {".", "model"},
	"model/demo":      {".", "model"},
	"modelview":       {".", "transcript", "model"},
	"gate":            {".", "flow", "mention", "transcript"},
	"tool":            {".", "flow", "transcript", "model"},
	"tool/mcp":        {".", "tool"},
	"turn":            {".", "transcript", "gate", "fact", "modelview", "model", "tool"},
	"lifecycle":       {".", "flow", "transcript", "gate", "fact", "modelview", "model"},
	"store":           {"."},
	"live":            {"."},
	"account":         {"."},
	"api":             {".", "account", "gate", "importer", "lifecycle", "live", "model", "modelview", "transcript", "turn"},
	"importer":        {".", "account", "gate", "lifecycle", "live", "model", "modelview", "transcript", "turn"},
	"web":             {},
	"client":          {"."},
	"cli":             {".", "client"},
	"app":             {"*"},
	"cmd":             {"cli", "app"},
	"bench":           {"*"},
	"test":            {"*"}, // doubles and helpers; nothing outside tests imports them
}

type pkg struct {
	dir     string
	doc     bool
	imports map[string]string // imported directory → file that does it
	std     map[string]string // other import path → file
}

func TestEveryRoomImportsOnlyWhatItMay(t *testing.T) {
	for _, p := range packages(t) {
		room := roomOf(p.dir)
		if room == "" {
			t.Errorf("%s is in no room: add it to the table, and to ARCHITECTURE.md", p.dir)
			continue
		}
		for dir, file := range p.imports {
			target := roomOf(dir)
			if target == room || allowed(room, target) {
				continue
			}
			t.Errorf("%s: room %s may not import room %s", file, room, target)
		}
		for imp, file := range p.std {
			if room == "." && strings.Contains(strings.SplitN(imp, "/", 2)[0], ".") {
				t.Errorf("%s: the nouns import %s; they take the standard library alone", file, imp)
			}
		}
	}
}

func TestNoRoomsImportEachOtherInACircle(t *testing.T) {
	edges := map[string]map[string]bool{}
	for _, p := range packages(t) {
		from := roomOf(p.dir)
		for dir := range p.imports {
			if to := roomOf(dir); to != from {
				if edges[from] == nil {
					edges[from] = map[string]bool{}
				}
				edges[from][to] = true
			}
		}
	}
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(room string, trail []string)
	visit = func(room string, trail []string) {
		switch state[room] {
		case done:
			return
		case open:
			t.Errorf("a circle of rooms: %s", strings.Join(append(trail, room), " → "))
			return
		}
		state[room] = open
		for to := range edges[room] {
			visit(to, append(trail, room))
		}
		state[room] = done
	}
	for room := range edges {
		visit(room, nil)
	}
}

func TestEveryRoomSaysWhatItPromises(t *testing.T) {
	for _, p := range packages(t) {
		if !p.doc {
			t.Errorf("%s has no package comment", p.dir)
		}
	}
}

func TestNoRoomIsCalledUtils(t *testing.T) {
	for _, p := range packages(t) {
		switch path.Base(p.dir) {
		case "utils", "util", "common", "helpers", "misc":
			t.Errorf("%s: name the room by what it holds", p.dir)
		}
	}
}

func allowed(room, target string) bool {
	may := rooms[room]
	return slices.Contains(may, "*") || slices.Contains(may, target)
}

// roomOf returns the longest entry of the table that dir lies in.
func roomOf(dir string) string {
	for d := dir; ; d = path.Dir(d) {
		if _, ok := rooms[d]; ok && (d != "." || dir == ".") {
			return d
		}
		if d == "." {
			return ""
		}
	}
}

func packages(t *testing.T) []pkg {
	t.Helper()
	byDir := map[string]*pkg{}
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); base == "node_modules" || base == "testdata" || name == "tmp" || name == "bin" || name != "." && base[0] == '.' {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.ImportsOnly)
		if err != nil {
			return err
		}
		add(byDir, filepath.ToSlash(filepath.Dir(name)), name, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []pkg
	for _, p := range byDir {
		all = append(all, *p)
	}
	if len(all) < 5 {
		t.Fatalf("only %d packages found: the walk is broken", len(all))
	}
	slices.SortFunc(all, func(a, b pkg) int { return strings.Compare(a.dir, b.dir) })
	return all
}

func add(byDir map[string]*pkg, dir, file string, f *ast.File) {
	p := byDir[dir]
	if p == nil {
		p = &pkg{dir: dir, imports: map[string]string{}, std: map[string]string{}}
		byDir[dir] = p
	}
	p.doc = p.doc || f.Doc != nil
	for _, spec := range f.Imports {
		imp, _ := strconv.Unquote(spec.Path.Value)
		switch {
		case imp == "weir":
			p.imports["."] = file
		case strings.HasPrefix(imp, "weir/"):
			p.imports[strings.TrimPrefix(imp, "weir/")] = file
		default:
			p.std[imp] = file
		}
	}
}
