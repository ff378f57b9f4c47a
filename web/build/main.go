// Command build makes web/dist from web/src with esbuild, which is a Go
// library here, so that only fetching the npm packages needs npm. The same
// sources and packages always give the same bytes: continuous integration
// builds again and compares.
//
// Run it from the root of the repository: go run ./web/build
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	dir := flag.String("dir", "web", "directory that holds src and node_modules")
	plain := flag.Bool("plain", false, "keep names and white space, for reading the output in a debugger")
	check := flag.Bool("check", false, "write nothing; fail if dist is not what the sources build to")
	flag.Parse()
	if err := build(*dir, *plain, *check); err != nil {
		fmt.Fprintln(os.Stderr, "web/build:", err)
		os.Exit(1)
	}
}

func build(dir string, plain, check bool) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "preact")); err != nil {
		return errors.New("the npm packages are not there: run `npm ci` in web first")
	}
	result := api.Build(options(dir, plain))
	if len(result.Errors) > 0 {
		for _, line := range api.FormatMessages(result.Errors, api.FormatMessagesOptions{Kind: api.ErrorMessage}) {
			fmt.Fprint(os.Stderr, line)
		}
		return errors.New("the sources do not build")
	}
	files := map[string][]byte{}
	for _, f := range result.OutputFiles {
		files[filepath.Base(f.Path)] = f.Contents
	}
	licences, err := licences(dir, result.Metafile)
	if err != nil {
		return err
	}
	files["licenses.txt"] = licences
	if err := static(dir, files); err != nil {
		return err
	}
	if check {
		return compare(filepath.Join(dir, "dist"), files)
	}
	return write(filepath.Join(dir, "dist"), files)
}

func options(dir string, plain bool) api.BuildOptions {
	src := filepath.Join(dir, "src")
	return api.BuildOptions{
		EntryPointsAdvanced: []api.EntryPoint{
			{InputPath: filepath.Join(src, "main.tsx"), OutputPath: "app"},
			{InputPath: filepath.Join(src, "boot.ts"), OutputPath: "boot"},
			{InputPath: filepath.Join(src, "styles", "index.css"), OutputPath: "style"},
		},
		AbsWorkingDir:   dir,
		Outdir:          filepath.Join(dir, "dist"),
		Bundle:          true,
		Write:           false,
		Metafile:        true,
		Format:          api.FormatESModule,
		Platform:        api.PlatformBrowser,
		Charset:         api.CharsetUTF8,
		LegalComments:   api.LegalCommentsNone, // licenses.txt holds them in full
		JSX:             api.JSXAutomatic,
		JSXImportSource: "preact",
		// CodeMirror adds its styles by a <style> element, which a strict
		// content security policy forbids; ours adopts a constructed sheet.
		Alias:  map[string]string{"style-mod": filepath.Join(src, "ui", "stylemod.js")},
		Define: map[string]string{"process.env.NODE_ENV": `"production"`},
		Engines: []api.Engine{
			{Name: api.EngineChrome, Version: "123"},
			{Name: api.EngineFirefox, Version: "120"},
			{Name: api.EngineSafari, Version: "17.5"},
		},
		MinifyWhitespace:  !plain,
		MinifyIdentifiers: !plain,
		MinifySyntax:      !plain,
		LogLevel:          api.LogLevelSilent,
	}
}

// static adds the files of src/static as they are.
func static(dir string, files map[string][]byte) error {
	root := filepath.Join(dir, "src", "static")
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
}

// licences collects the licence of every package that ended up in the output.
func licences(dir, metafile string) ([]byte, error) {
	var meta struct {
		Inputs map[string]struct{} `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return nil, fmt.Errorf("read the list of inputs: %w", err)
	}
	var packages []string
	for path := range meta.Inputs {
		_, rest, ok := strings.Cut(filepath.ToSlash(path), "node_modules/")
		if !ok {
			continue
		}
		parts := strings.SplitN(rest, "/", 3)
		name := parts[0]
		if strings.HasPrefix(name, "@") && len(parts) > 1 {
			name += "/" + parts[1]
		}
		packages = append(packages, name)
	}
	slices.Sort(packages)
	out := []byte("The page of Weir contains these packages, under their licences.\n")
	for _, name := range slices.Compact(packages) {
		text, err := licence(filepath.Join(dir, "node_modules", filepath.FromSlash(name)))
		if err != nil {
			return nil, fmt.Errorf("licence of %s: %w", name, err)
		}
		out = fmt.Appendf(out, "\n%s\n%s\n\n%s\n", name, strings.Repeat("-", len(name)), strings.TrimSpace(text))
	}
	return out, nil
}

func licence(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if name := strings.ToLower(e.Name()); strings.HasPrefix(name, "license") || strings.HasPrefix(name, "licence") {
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			return string(text), err
		}
	}
	return "", errors.New("no licence file")
}

// compare fails unless dir holds exactly files.
func compare(dir string, files map[string][]byte) error {
	have, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range have {
		if _, built := files[e.Name()]; !built {
			return fmt.Errorf("%s is in dist, and nothing builds it", e.Name())
		}
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Equal(got, want) {
			return fmt.Errorf("%s is not what the sources build to: run `make web` and commit dist", name)
		}
	}
	return nil
}

// write makes dir hold exactly files.
func write(dir string, files map[string][]byte) error {
	old, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range old {
		if _, keep := files[e.Name()]; !keep {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.SortFunc(names, cmp.Compare[string])
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), files[name], 0o644); err != nil {
			return err
		}
		fmt.Printf("%8d  %s\n", len(files[name]), name)
	}
	return nil
}
