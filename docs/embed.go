// Package docs carries the runbooks inside the program, so that the page a message links to is there when it is needed
// and fits the version that wrote the message. It holds text alone, and nothing secret.
package docs

import (
	"embed"
	"io/fs"
)

//go:embed runbooks/*.md
var files embed.FS

// Runbooks are the pages of docs/runbooks, Markdown, one file each; README.md lists them.
func Runbooks() fs.FS {
	pages, err := fs.Sub(files, "runbooks")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return pages
}
