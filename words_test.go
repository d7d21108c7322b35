package ocpctl_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// banned are words that had several meanings, and what is said instead.
var banned = map[string]string{
	"swe" + "ep": "looking through an account is a scan, deleting is removing, and pull requests are polled",
}

// TestBannedWords holds that each of our words has one meaning.
func TestBannedWords(t *testing.T) {
	kinds := []string{".go", ".sql", ".yaml", ".yml", ".md", ".html", ".tf", ".json", ".tpl", ".tmpl", ".txt", ".sh"}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir(), !d.Type().IsRegular(), !slices.Contains(kinds, filepath.Ext(path)), isOldMigration(path):
			return nil
		}
		raw, err := os.ReadFile(path)
		for word, instead := range banned {
			if bytes.Contains(bytes.ToLower(raw), []byte(word)) || strings.Contains(strings.ToLower(path), word) {
				t.Errorf("%s has the word %s: %s", path, word, instead)
			}
		}
		return err
	})
	require.NoError(t, err)
}

// isOldMigration: what was released is never edited, and the migration that renames tables has their old names.
func isOldMigration(path string) bool {
	return filepath.Dir(path) == "migrations" && filepath.Base(path) <= "0068_scans.sql"
}
