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
	if s.JSON {
		_, err = fmt.Fprintf(s.io.Out, "%s\n", compact(report))
		return err
	}
	return reportInWords(s.io.Out, report)
}

// reportInWords prints the members of a report that say something.
func reportInWords(w io.Writer, report json.RawMessage) error {
	dec := json.NewDecoder(strings.NewReader(string(report)))
	var members map[string]any
	dec.UseNumber()
	if err := dec.Decode(&members); err != nil {
		return err
	}
	out, err := json.MarshalIndent(members, "  ", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "  %s\n", out)
	return err
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
