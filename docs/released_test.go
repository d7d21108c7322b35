package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// released reports whether there is a release: the changes list one. The recipe for a release begins with that.
func released(t *testing.T) bool {
	t.Helper()
	changes, err := os.ReadFile("../CHANGELOG.md")
	require.NoError(t, err)
	return strings.Count("\n"+string(changes), "\n## ") > 1 // besides what is not released
}

// unreleased matches names of what only a release makes: tags of the actions, and images in a public registry.
var unreleased = regexp.MustCompile(`ocpctl/ocpctl/[a-z./-]+@v\d|\b(?:ghcr\.io|quay\.io|docker\.io)/ocpctl|releases/(?:tag|download)/v\d|\bocpctl(?:-[a-z]+)?:v\d`)

func TestNoTextNamesWhatIsNotReleased(t *testing.T) {
	if released(t) {
		return
	}
	texts := 0
	for _, folder := range []string{"../README.md", "../CONTRIBUTING.md", "../SECURITY.md", ".", "../workflows", "../.github", "../deploy", "../devstack/github/shop"} {
		require.NoError(t, filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
			if err != nil || info.IsDir() || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".png") {
				return err
			}
			raw, err := os.ReadFile(path)
			require.NoError(t, err)
			texts++
			require.Empty(t, unreleased.FindString(string(raw)), "%s names a release, and there is none yet: name a commit, @main, or an image that readers build", path)
			return nil
		}))
	}
	require.Greater(t, texts, 100)
	for text, names := range map[string]bool{
		"uses: ocpctl/ocpctl/workflows/create-cluster@v1": true, "image: ghcr.io/ocpctl/ocpctl-cli:main": true, "registry.example.com/ocpctl-server:v1.2.3": true,
		"uses: ocpctl/ocpctl/workflows/create-cluster@main": false, "uses: actions/checkout@v5": false, "registry.example.com/ocpctl/ocpctl-cli:main": false,
	} {
		require.Equal(t, names, unreleased.MatchString(text), text)
	}
}

// Its licence is the text that the Apache Software Foundation publishes, and every document that names one names it.
func TestTheRepositoryHasItsLicence(t *testing.T) {
	licence, err := os.ReadFile("../LICENSE")
	require.NoError(t, err)
	require.Contains(t, string(licence), "Apache License\n                           Version 2.0, January 2004\n")
	require.Contains(t, string(licence), "END OF TERMS AND CONDITIONS")
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	require.Contains(t, string(readme), "[Apache License, Version 2.0](LICENSE)")
}
