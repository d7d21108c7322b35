package github

import (
	"testing"

	gh "github.com/google/go-github/v66/github"
	"github.com/stretchr/testify/require"
)

func TestAFolderIsTheYAMLFilesBelowIt(t *testing.T) {
	entry := func(path, kind, mode string, size int) *gh.TreeEntry {
		return &gh.TreeEntry{Path: new(path), Type: new(kind), Mode: new(mode), Size: new(size), SHA: new("sha of " + path)}
	}
	tree := &gh.Tree{Entries: []*gh.TreeEntry{
		entry("catalogue", "tree", "040000", 0), entry("catalogue/teams/shop.yaml", "blob", "100644", 10), entry("catalogue/teams/late.yml", "blob", "100644", 10),
		entry("catalogue/README.md", "blob", "100644", 10), entry("other/teams/x.yaml", "blob", "100644", 10),
	}}
	blobs, err := listBlobs(tree, "catalogue")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"teams/shop.yaml": "sha of catalogue/teams/shop.yaml", "teams/late.yml": "sha of catalogue/teams/late.yml"}, blobs)
	whole, err := listBlobs(tree, "")
	require.NoError(t, err)
	require.Len(t, whole, 3)

	for name, wrong := range map[string]*gh.Tree{
		"truncated": {Truncated: new(true)},
		"link":      {Entries: []*gh.TreeEntry{entry("catalogue/teams/a.yaml", "blob", "120000", 10)}},
		"large":     {Entries: []*gh.TreeEntry{entry("catalogue/teams/a.yaml", "blob", "100644", maxFolderBytes+1)}},
	} {
		_, err := listBlobs(wrong, "catalogue")
		require.ErrorIs(t, err, ErrNotFile, name)
	}
}
