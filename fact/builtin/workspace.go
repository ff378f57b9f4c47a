package builtin

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"weir"
	"weir/fact"
	"weir/fact/builtin/internal/files"
	"weir/fact/builtin/internal/git"
)

type workspace struct {
	Path     string `json:"path"`
	Platform string `json:"platform"`
	Missing  bool   `json:"missing,omitempty"` // there is no such folder
	Branch   string `json:"branch,omitempty"`
	Commit   string `json:"commit,omitempty"`   // when no branch is checked out
	Rebasing bool   `json:"rebasing,omitempty"` // the branch; HEAD goes from commit to commit
	Dirty    string `json:"dirty,omitempty"`    // in a repository: yes, no or unknown
}

// dirtyTime is how long it may take to find out whether anything is changed.
const dirtyTime = time.Second

const workspaceKey = "core/workspace"

// Workspace is the fact core/workspace: the folder the conversation works in,
// its platform, and what is checked out there. Whether tracked files differ is
// "unknown" where it takes more than a second or 20,000 files to tell. Absent
// without a workspace.
func Workspace() fact.Fact {
	return fact.Fact{
		Key:     workspaceKey,
		Breadth: fact.OfWorkspace,
		Observe: func(ctx context.Context, s fact.Subject) fact.Observation {
			if s.Conversation.Workspace == "" {
				return fact.Observation{State: fact.Absent}
			}
			w := workspace{Path: line(s.Conversation.Workspace, 1000), Platform: runtime.GOOS + "/" + runtime.GOARCH}
			at, err := w.look(ctx, s.Conversation.Workspace)
			if err != nil {
				return fact.Failed(err)
			}
			o := fact.Observed(w)
			o.At = at
			return o
		},
		Baseline: func(v json.RawMessage) (string, error) {
			return render(v, func(w workspace) string { return "The workspace is " + w.say() })
		},
		Update: func(_, v json.RawMessage) (string, error) {
			return render(v, func(w workspace) string { return "The workspace is now " + w.say() })
		},
		Removed: func(json.RawMessage) (string, error) { return "There is no workspace any longer.", nil },
		// The time is HEAD's: it dates another checkout of the same place, and
		// neither an edited file nor another place.
		Dates: func(prev, v json.RawMessage) bool {
			var was, is workspace
			if prev == nil || v == nil || json.Unmarshal(prev, &was) != nil || json.Unmarshal(v, &is) != nil {
				return false
			}
			return was.Path == is.Path && (was.Branch != is.Branch || was.Commit != is.Commit || was.Rebasing != is.Rebasing)
		},
	}
}

// look fills in what is found at the path; at is when HEAD was last set.
func (w *workspace) look(ctx context.Context, path string) (at time.Time, err error) {
	if !filepath.IsAbs(path) {
		return at, errRelative()
	}
	info, err := os.Stat(path)
	if files.Missing(err) || err == nil && !info.IsDir() {
		w.Missing = true
		return at, nil
	}
	if err != nil {
		return at, err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return at, err
	}
	repo, err := git.Find(real)
	if repo == nil || err != nil {
		return at, err
	}
	head, err := repo.Head()
	if err != nil {
		return at, err
	}
	w.Branch, w.Commit = line(head.Branch, 250), head.Commit
	if len(w.Commit) > 12 {
		w.Commit = w.Commit[:12]
	}
	if head.Rebase != "" {
		w.Branch, w.Commit, w.Rebasing = line(head.Rebase, 250), "", true
	}
	ctx, cancel := context.WithTimeout(ctx, dirtyTime)
	defer cancel()
	switch dirty, err := repo.Dirty(ctx); {
	case err != nil:
		w.Dirty = "unknown"
	case dirty:
		w.Dirty = "yes"
	default:
		w.Dirty = "no"
	}
	return head.At, nil
}

func errRelative() error {
	return weir.Fault(weir.Invalid, "workspace_relative", "The workspace is not an absolute path.")
}

func (w workspace) say() string {
	var b strings.Builder
	b.WriteString(w.Path + " (" + w.Platform + ").")
	switch {
	case w.Missing:
		b.WriteString(" There is no such folder.")
	case w.Rebasing:
		b.WriteString(" The git branch " + w.Branch + " is being rebased.")
	case w.Branch != "":
		b.WriteString(" The git branch is " + w.Branch + ".")
	case w.Commit != "":
		b.WriteString(" Git has commit " + w.Commit + " checked out, on no branch.")
	default:
		b.WriteString(" It is in no git repository.")
	}
	switch w.Dirty {
	case "yes":
		b.WriteString(" There are changes that are not committed.")
	case "no":
		b.WriteString(" Nothing is changed since the last commit, untracked files aside.")
	case "unknown":
		b.WriteString(" Whether anything is changed since the last commit is not known.")
	}
	return b.String()
}
