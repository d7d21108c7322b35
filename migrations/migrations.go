// Package migrations holds the numbered SQL that makes the tables: clusters and what belongs to them.
//
// The first file makes the whole schema of the first release. A migration that was merged is never edited; the next one expands, and one
// after that takes away. The tables state the invariants again that lifecycle and store keep, so that no fault in the programs and no edit
// by hand breaks them unnoticed. They hold no secret, only references to secrets. River's own tables are made by rivermigrate.
package migrations

import (
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// FS holds the files in goose's format.
//
//go:embed *.sql
var FS embed.FS

// UpgradeFirst says what to do with a database that is older than the first file.
const UpgradeFirst = "build a server from the commit before the one that added migrations/0071_release_0_1_0.sql, and run its migrate first"

// Numbers returns those of the first and the newest file.
func Numbers() (first, newest int, err error) {
	files, err := fs.Glob(FS, "*.sql") // in order
	if err != nil {
		return 0, 0, fmt.Errorf("read the migrations: %w", err)
	}
	for _, file := range files {
		number, _, _ := strings.Cut(file, "_")
		if newest, err = strconv.Atoi(number); err != nil {
			return 0, 0, fmt.Errorf("read the migrations: %s has no number", file)
		}
		if first == 0 {
			first = newest
		}
	}
	return first, newest, nil
}
