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
	for word := range strings.FieldsSeq(list) {
		if strings.HasPrefix(word, "./") {
			got[word] = true
		}
	}
	require.Equal(t, want, got)
}

// What CI runs is the README's test command and then the long checks, so that neither turns red without anybody noticing.
func TestCIRunsTheTestsAndTheLongChecks(t *testing.T) {
	script, err := os.ReadFile(".ci/run")
	require.NoError(t, err)
	require.Regexp(t, `(?m)^make test\n(exec )?make long-checks\n\z`, string(script))

	out, err := exec.Command("make", "--no-print-directory", "-n", "long-checks", "DEMO_DIR=demo").CombinedOutput()
	require.NoError(t, err, string(out))
	for _, check := range []string{"-dir demo/checks/attack -attack", "-dir demo/checks/demo-story  -story",
		"-dir demo/checks/chaos-aws -chaos -clouds aws -time 2m", "-dir demo/checks/chaos-ibmcloud -chaos -clouds ibmcloud -time 2m"} {
		require.Contains(t, string(out), check)
	}
}

func TestAReleaseFailsIfTheChecksFail(t *testing.T) {
	repository := t.TempDir()
	write := func(path, text string, mode fs.FileMode) {
		require.NoError(t, os.MkdirAll(filepath.Join(repository, filepath.Dir(path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(repository, path), []byte(text), mode))
	}
	script, err := os.ReadFile("tools/release/release.sh")
	require.NoError(t, err)
	write("tools/release/release.sh", string(script), 0o755)
	write("workflows/version", "v9.9.9\n", 0o644)
	write("workflows/pr-cluster.yml", "uses: ocpctl/ocpctl/workflows/create-cluster@v9.9.9\n", 0o644)
	write(".ci/run", "#!/bin/sh\necho checks ran\nexit 1\n", 0o755)
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "-m", "first"}, {"tag", "v9.9.9"}} {
		git := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		git.Dir = repository
		out, err := git.CombinedOutput()
		require.NoError(t, err, string(out))
	}

	release := exec.Command(filepath.Join(repository, "tools/release/release.sh"), "dist")
	release.Env = append(os.Environ(), "CLI_BASE=none")
	out, err := release.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "checks ran")
	require.Contains(t, string(out), "nothing was built")
	require.NoDirExists(t, filepath.Join(repository, "dist"))
}
