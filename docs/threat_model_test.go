package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/attack"
)

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// testsOfTheRepository are the names of all tests there are.
func testsOfTheRepository(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != ".." {
			return errSkip(err)
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		raw, err := os.ReadFile(path)
		for _, m := range testFunction.FindAllStringSubmatch(string(raw), -1) {
			found[m[1]] = true
		}
		return err
	}))
	require.Greater(t, len(found), 500)
	return found
}

// errSkip leaves a hidden folder out.
func errSkip(err error) error {
	if err != nil {
		return err
	}
	return fs.SkipDir
}

// shownBy is the last column of the threat model's table of boundaries.
func shownBy(t *testing.T) (names []string) {
	t.Helper()
	raw, err := os.ReadFile("threat-model.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(raw), "\n## Boundaries\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| boundary ") {
			continue
		}
		require.Len(t, cells, 5, line)
		shown := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[4], -1)
		require.NotEmpty(t, shown, "nothing shows what bounds %s", cells[0])
		for _, m := range shown {
			names = append(names, m[1])
		}
	}
	require.Greater(t, len(names), 30)
	return names
}

func TestEveryAttackAndTestThatTheThreatModelNamesIsThere(t *testing.T) {
	tests, attacks := testsOfTheRepository(t), attack.Names()
	var named []string
	for _, name := range shownBy(t) {
		if strings.HasPrefix(name, "Test") {
			require.True(t, tests[name], "there is no test %s", name)
			continue
		}
		prefix, all := strings.CutSuffix(name, "*")
		fits := func(a string) bool { return a == name || all && strings.HasPrefix(a, prefix) }
		require.True(t, slices.ContainsFunc(attacks, fits), "there is no attack %s", name)
		for _, a := range attacks {
			if fits(a) {
				named = append(named, a)
			}
		}
	}
	for _, a := range attacks {
		require.Contains(t, named, a, "no boundary of the threat model names it")
	}
}
