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
		case d.IsDir(), !d.Type().IsRegular(), !slices.Contains(kinds, filepath.Ext(path)):
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

// mostWords is how many words a newcomer learns.
const mostWords = 40

// TestEachWordOfTheGlossaryHasOneLine holds the glossary in docs/architecture.md: words in order, each once, with one line for each.
func TestEachWordOfTheGlossaryHasOneLine(t *testing.T) {
	raw, err := os.ReadFile("docs/architecture.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(raw), "\n## Words\n")
	require.True(t, found)
	section, _, _ := strings.Cut(rest, "\n## ")
	var words []string
	for _, line := range strings.Split(section, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || strings.TrimSpace(cells[1]) == "word" || strings.HasPrefix(cells[1], "---") {
			continue
		}
		word := strings.TrimSpace(cells[1])
		require.Regexp(t, `^[a-z]+( [a-z]+)?$`, word, "one word, or a term of two")
		require.NotEmpty(t, strings.TrimSpace(cells[2]), "%s means nothing", word)
		words = append(words, word)
	}
	require.NotEmpty(t, words)
	require.LessOrEqual(t, len(words), mostWords)
	require.True(t, slices.IsSorted(words), "sort the words")
	require.Len(t, slices.Compact(slices.Clone(words)), len(words), "a word has one meaning")
	for word := range banned {
		require.NotContains(t, words, word)
	}
}
