package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"weir"
	"weir/fact"
	"weir/fact/builtin/internal/files"
	"weir/fact/builtin/internal/git"
)

// instructions are AGENTS.md files, in the order in which they are told.
type instructions struct {
	Files []instruction `json:"files"`
}

type instruction struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

const (
	instructionsKey  = "core/instructions"
	instructionsName = "AGENTS.md"
	maxInstructions  = 48 << 10 // bytes of all files together; a fact's value is JSON, and longer
)

// Instructions is the fact core/instructions: the global AGENTS.md, then those
// of the folders from the workspace up to the root of its repository (of the
// workspace alone where it is in none), word for word. Global is that file's
// path, "" for none. A file that is there and cannot be read, is no regular
// file, lies by a symbolic link outside the repository (a stranger may have
// written it, and it would be sent to a provider), or makes them longer than
// 48 KiB together leaves the fact unavailable. Absent where there are none.
func Instructions(global string) fact.Fact {
	return fact.Fact{
		Key:     instructionsKey,
		Breadth: fact.OfWorkspace,
		Observe: func(ctx context.Context, s fact.Subject) fact.Observation {
			list, at, err := readInstructions(ctx, global, s.Conversation.Workspace)
			switch {
			case err != nil:
				return fact.Failed(err)
			case len(list.Files) == 0:
				return fact.Observation{State: fact.Absent}
			}
			o := fact.Observed(list)
			o.At = at
			return o
		},
		Baseline: func(v json.RawMessage) (string, error) {
			return render(v, func(i instructions) string { return "These instructions apply here." + i.say() })
		},
		Update: func(_, v json.RawMessage) (string, error) {
			return render(v, func(i instructions) string {
				return "The instructions have changed. These apply from here on, in place of all earlier ones." + i.say()
			})
		},
		Removed: func(json.RawMessage) (string, error) {
			return "The instructions given earlier no longer apply, and there are no others.", nil
		},
		// The time is that of the file written last: it dates another text of
		// the same files, and neither a file's coming nor its going.
		Dates: func(prev, v json.RawMessage) bool {
			var was, is instructions
			if prev == nil || v == nil || json.Unmarshal(prev, &was) != nil || json.Unmarshal(v, &is) != nil {
				return false
			}
			return slices.EqualFunc(was.Files, is.Files, func(a, b instruction) bool { return a.Path == b.Path })
		},
	}
}

func readInstructions(ctx context.Context, global, workspace string) (instructions, time.Time, error) {
	g := gathering{left: maxInstructions}
	folders, err := upwards(workspace)
	if err == nil && global != "" {
		raw, when, rerr := files.Read(global, g.left)
		err = g.add(global, raw, when, rerr)
	}
	for _, folder := range folders {
		path := filepath.Join(folder, instructionsName)
		if path == global {
			continue
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			break
		}
		root := folders[len(folders)-1]
		name, rerr := filepath.Rel(root, path)
		if rerr != nil {
			return g.instructions, g.newest, rerr
		}
		raw, when, rerr := files.ReadIn(root, name, g.left)
		if leadsOut(root, path, rerr) {
			rerr = weir.Fault(weir.Forbidden, "instructions_outside", "%s is a link that leads out of the repository.", line(path, 1000))
		}
		err = g.add(path, raw, when, rerr)
	}
	return g.instructions, g.newest, err
}

// leadsOut reports whether a file was refused because a link leads out of root.
func leadsOut(root, path string, err error) bool {
	if err == nil || files.Missing(err) {
		return false
	}
	real, rerr := filepath.EvalSymlinks(path)
	if rerr != nil {
		return false
	}
	name, rerr := filepath.Rel(root, real)
	return rerr != nil || !filepath.IsLocal(name)
}

// gathering is instructions while they are read.
type gathering struct {
	instructions
	newest time.Time
	left   int64
}

func (g *gathering) add(path string, raw []byte, when time.Time, err error) error {
	switch {
	case files.Missing(err):
		return nil
	case errors.Is(err, files.ErrTooLong):
		return weir.Fault(weir.TooLarge, "instructions_too_long", "The instructions up to %s are over 48 KiB together.", line(path, 1000))
	case err != nil:
		return err
	}
	g.left -= int64(len(raw))
	text := strings.TrimSpace(strings.ToValidUTF8(string(raw), "\ufffd"))
	if text == "" {
		return nil
	}
	if when.After(g.newest) {
		g.newest = when
	}
	g.Files = append(g.Files, instruction{Path: line(path, 1000), Text: text})
	return nil
}

// upwards are the folders from a workspace up to the root of its repository.
func upwards(workspace string) ([]string, error) {
	if workspace == "" {
		return nil, nil
	}
	if !filepath.IsAbs(workspace) {
		return nil, errRelative()
	}
	folder, err := filepath.EvalSymlinks(workspace)
	if files.Missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	repo, err := git.Find(folder)
	if err != nil {
		return nil, err
	}
	folders := []string{folder}
	for repo != nil && folder != repo.Root {
		folder = filepath.Dir(folder)
		folders = append(folders, folder)
	}
	return folders, nil
}

func (i instructions) say() string {
	var b strings.Builder
	if len(i.Files) > 1 {
		b.WriteString(" Where they disagree, those of the folder nearest to the workspace count.")
	}
	for _, f := range i.Files {
		fmt.Fprintf(&b, "\n\nFrom %s:\n\n%s", f.Path, f.Text)
	}
	return b.String()
}
