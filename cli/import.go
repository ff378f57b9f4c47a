package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"weir/client"
)

type importCmd struct {
	Paths    []string `arg:"" placeholder:"PATH" help:"Transcripts, or folders that hold some." type:"existingpath"`
	Format   string   `help:"Format; by default recognised by content (claude-code)."`
	DryRun   bool     `help:"Only report what would come in."`
	Isolated bool     `help:"Put a wall around each."`
	Category string   `help:"Label each."`
}

func (cmd *importCmd) Run(ctx context.Context, s *session) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	files, err := transcripts(cmd.Paths)
	if err != nil {
		return err
	}
	failed := 0
	for i, file := range files {
		if !s.JSON {
			fmt.Fprintf(s.io.Err, "[%d/%d] %s\n", i+1, len(files), file)
		}
		if err := cmd.file(ctx, s, c, file); err != nil {
			failed++
			fmt.Fprintf(s.io.Err, "weir: %s: %v\n", file, err)
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d files did not come in (import_incomplete)", failed, len(files))
	}
	return nil
}

func (cmd *importCmd) file(ctx context.Context, s *session, c *client.Client, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	query := url.Values{"file": {filepath.Base(file)}}
	if cmd.Format != "" {
		query.Set("format", cmd.Format)
	}
	if cmd.DryRun {
		query.Set("dry_run", "true")
	}
	if cmd.Isolated {
		query.Set("level", "isolated")
	}
	if cmd.Category != "" {
		query.Set("category", cmd.Category)
	}
	var report json.RawMessage
	if err := c.Import(ctx, query, f, &report); err != nil {
		return err
	}
	var r importReport
	if err := json.Unmarshal(report, &r); err != nil {
		return err
	}
	if s.JSON {
		fmt.Fprintf(s.io.Out, "%s\n", compact(report))
	} else {
		r.words(s.io.Out)
	}
	return r.refused()
}

// importReport is what the words of a report are made of.
type importReport struct {
	Added, Known  int
	Merged        int
	BrokenLines   int            `json:"broken_lines"`
	Broken        []brokenLine   `json:"broken"`
	Skipped       map[string]int `json:"skipped"`
	Conversations []struct {
		ID, Title, Refused, Detail string
		Added                      int
		Created                    bool
	}
}

// refused is said of a file of which a part was not let in.
func (r *importReport) refused() error {
	for _, c := range r.Conversations {
		if c.Refused != "" {
			return fmt.Errorf("%s: %s (%s)", c.ID, strings.TrimSuffix(c.Detail, "."), c.Refused)
		}
	}
	return nil
}

type brokenLine struct {
	Line   int
	Reason string
}

func (r *importReport) words(w io.Writer) {
	for _, c := range r.Conversations {
		if c.Refused != "" {
			continue
		}
		what := "more of"
		switch {
		case c.Created:
			what = "new"
		case c.Added == 0:
			what = "nothing new in"
		}
		fmt.Fprintf(w, "  %s %s “%s”: %d records\n", what, c.ID, oneLine(c.Title), c.Added)
	}
	for _, b := range r.Broken {
		fmt.Fprintf(w, "  line %d left out: %s\n", b.Line, oneLine(b.Reason))
	}
	if more := r.BrokenLines - len(r.Broken); more > 0 {
		fmt.Fprintf(w, "  and %d more broken lines\n", more)
	}
	left := 0
	for _, n := range r.Skipped {
		left += n
	}
	fmt.Fprintf(w, "  %d records added, %d known already, %d merged into others, %d left out because they are no messages (--json says which)\n",
		r.Added, r.Known, r.Merged, left)
}

// transcripts lists the files to read: those named, and the .jsonl files below
// the folders named.
func transcripts(paths []string) ([]string, error) {
	var files []string
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, p)
			continue
		}
		err = filepath.WalkDir(p, func(name string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && strings.HasSuffix(name, ".jsonl") {
				files = append(files, name)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no .jsonl file in %s (nothing_to_import)", strings.Join(paths, ", "))
	}
	return files, nil
}
