// Package migrations holds the numbered SQL that makes the tables: clusters and what belongs to them.
//
// A migration that was released is never edited; the next one expands, and one after that takes away. The tables
// state the invariants again that lifecycle and store keep, so that no bug and no hand can break them unseen.
// They hold no secret, only references to secrets. River's own tables are made by rivermigrate.
package migrations

import "embed"

// FS holds the files in goose's format.
//
//go:embed *.sql
var FS embed.FS
