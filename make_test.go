package ocpctl_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var fuzzTarget = regexp.MustCompile(`(?m)^func Fuzz\w+\(`)

func TestMakeFuzzCoversEveryPackageWithAFuzzTarget(t *testing.T) {
	want := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if fuzzTarget.Match(source) {
			want["./"+filepath.Dir(path)] = true
		}
		return err
	})
	require.NoError(t, err)
	require.NotEmpty(t, want)

	out, err := exec.Command("make", "--no-print-directory", "-n", "fuzz").CombinedOutput()
	require.NoError(t, err, string(out))
	list, _, found := strings.Cut(string(out), "; do")
	require.True(t, found, string(out))
	got := map[string]bool{}
	for _, word := range strings.Fields(list) {
		if strings.HasPrefix(word, "./") {
			got[word] = true
		}
	}
	require.Equal(t, want, got)
}
