// Package web holds the page that a person uses: its TypeScript in src, the
// build of it in build, and the built files in dist, which are committed so
// that building the server needs nothing but Go.
//
// Promises. The files are complete (the page loads nothing from elsewhere),
// their names are stable, and the same sources always build to the same bytes.
// They need no inline script and no inline style, so the server may forbid
// both. Everything else that the page keeps (order of the timeline, drafts that
// survive a reload, nothing repeated or lost while streaming) is said where it
// is done, in src.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Files returns the built page: index.html at the root, and all that it names.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic("web: " + err.Error()) // only for an invalid path, and this one is constant
	}
	return files
}
