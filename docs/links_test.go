package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	codeBlock = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	pageLink  = regexp.MustCompile(`\]\(([^)\s]+)\)|src="([^"]+)"`)
	heading   = regexp.MustCompile(`(?m)^#+ (.*)$`)
	unspoken  = regexp.MustCompile("[^a-z0-9 _-]+")
)

// Every link from a document to a file of the repository, or to a heading in one, leads somewhere.
func TestTheLinksOfDocumentsLeadSomewhere(t *testing.T) {
	links := 0
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "node_modules" || d.Name() == "testdata") {
			return skipFolder(err)
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		for _, found := range pageLink.FindAllStringSubmatch(codeBlock.ReplaceAllString(readText(t, path), ""), -1) {
			link := found[1] + found[2]
			if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(link, "#")
			target := path
			if file != "" {
				target = filepath.Join(filepath.Dir(path), file)
			}
			_, err := os.Stat(target)
			assert.NoError(t, err, "%s links to %s", path, link)
			if anchor != "" && filepath.Ext(target) == ".md" {
				assert.Contains(t, anchors(readText(t, target)), anchor, "%s links to %s", path, link)
			}
		}
		return nil
	}))
	require.Greater(t, links, 200)
}

// skipFolder leaves out a folder that could be read.
func skipFolder(err error) error {
	if err != nil {
		return err
	}
	return filepath.SkipDir
}

func readText(t *testing.T, path string) string {
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(raw)
}

// anchors are the headings of a page as GitHub names them in links.
func anchors(page string) (names []string) {
	for _, found := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(page, ""), -1) {
		text := unspoken.ReplaceAllString(strings.ToLower(found[1]), "")
		names = append(names, strings.ReplaceAll(text, " ", "-"))
	}
	return names
}
