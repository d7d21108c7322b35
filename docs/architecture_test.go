package docs_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every file and folder that the architecture page sends people to is there.
func TestTheArchitecturePageNamesWhatIsThere(t *testing.T) {
	raw, err := os.ReadFile("architecture.md")
	require.NoError(t, err)
	_, page, found := strings.Cut(string(raw), "## To do X, go to Y")
	require.True(t, found)
	named := 0
	for line := range strings.SplitSeq(page, "\n") {
		folder := ""
		for _, quoted := range regexp.MustCompile("`([a-z][a-zA-Z0-9_/.-]*)`").FindAllStringSubmatch(line, -1) {
			name := quoted[1]
			if strings.Contains(name, "/") {
				folder = path.Dir(name)
			} else if !strings.HasSuffix(name, ".go") {
				continue // a command or a setting
			} else {
				name = folder + "/" + name
			}
			if strings.HasPrefix(name, "cmd/ocpctl/internal/command/") {
				name = "cmd/ocpctl/internal/command"
			}
			_, err := os.Stat(filepath.Join("..", name))
			require.NoError(t, err, line)
			named++
		}
	}
	require.Greater(t, named, 20)
}
