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
// file, or makes them longer than 48 KiB together leaves the fact unavailable.
// Absent where there are none.
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

func readInstructions(ctx context.Context, global, workspace string) (list instructions, at time.Time, err error) {
	paths, err := instructionPaths(global, workspace)
	if err != nil {
		return list, at, err
	}
	left := int64(maxInstructions)
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return list, at, err
		}
		raw, when, err := files.Read(path, left)
		if files.Missing(err) {
			continue
		}
		if err != nil {
			return list, at, err
		}
		text := strings.TrimSpace(strings.ToValidUTF8(string(raw), "\ufffd"))
		if text == "" {
			continue
		}
		left -= int64(len(raw))
		if when.After(at) {
			at = when
		}
		list.Files = append(list.Files, instruction{Path: line(path, 1000), Text: text})
	}
	return list, at, nil
}

// instructionPaths are the places where an AGENTS.md counts, there or not.
func instructionPaths(global, workspace string) ([]string, error) {
	var paths []string
	if global != "" {
		paths = append(paths, global)
	}
	folders, err := upwards(workspace)
	for _, folder := range folders {
		if p := filepath.Join(folder, instructionsName); p != global {
			paths = append(paths, p)
		}
	}
	return paths, err
}

// upwards are the folders from a workspace up to the root of its repository.
func upwards(workspace string) ([]string, error) {
	if workspace == "" {
		return nil, nil
	}
	if !filepath.IsAbs(workspace) {
		return nil, errors.New("the workspace is not an absolute path")
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
