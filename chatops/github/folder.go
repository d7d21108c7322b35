package github

import (
	"context"
	"fmt"
	"path"
	"strings"

	gh "github.com/google/go-github/v66/github"
)

// The bounds of a folder that is read.
const (
	maxFolderFiles = 300
	maxFolderBytes = 2 << 20
)

// Folder reads the YAML files in a folder of a repository at a commit, and below it, by their paths in the folder; an empty folder is the
// whole repository. ErrNotFile: there are too many, they are too large, or GitHub does not list them all.
// https://docs.github.com/rest/git/trees#get-a-tree
func (c *Client) Folder(ctx context.Context, installation int64, repo, folder, commit string) (files map[string]string, err error) {
	doing := fmt.Sprintf("read the folder %q of %s at %s", folder, repo, commit)
	owner, name, err := splitRepository(repo)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	err = c.retryUnknownCommit(ctx, func() error {
		return c.callAsInstallation(ctx, installation, func(client *gh.Client) error {
			tree, _, err := client.Git.GetTree(ctx, owner, name, commit, true)
			if err != nil {
				return err
			}
			blobs, err := listBlobs(tree, folder)
			if err != nil {
				return err
			}
			files = map[string]string{}
			for at, sha := range blobs {
				raw, _, err := client.Git.GetBlobRaw(ctx, owner, name, sha)
				if err != nil {
					return err
				}
				files[at] = string(raw)
			}
			return nil
		})
	})
	return files, convertError(doing, err)
}

// listBlobs returns the ids of the YAML files of a folder by their paths in it.
func listBlobs(tree *gh.Tree, folder string) (blobs map[string]string, err error) {
	if tree.GetTruncated() {
		return nil, fmt.Errorf("%w: the repository has too many files for GitHub to list", ErrNotFile)
	}
	blobs, size := map[string]string{}, 0
	for _, entry := range tree.Entries {
		at := entry.GetPath()
		if kind := strings.ToLower(path.Ext(at)); entry.GetType() != "blob" || !isBelow(at, folder) || kind != ".yaml" && kind != ".yml" {
			continue
		}
		if folder != "" {
			at = strings.TrimPrefix(at, folder+"/")
		}
		if entry.GetMode() == "120000" {
			return nil, fmt.Errorf("%w: %s is a symbolic link", ErrNotFile, at)
		}
		blobs[at] = entry.GetSHA()
		if size += entry.GetSize(); len(blobs) > maxFolderFiles || size > maxFolderBytes {
			return nil, fmt.Errorf("%w: more than %d files or %d KiB", ErrNotFile, maxFolderFiles, maxFolderBytes>>10)
		}
	}
	return blobs, nil
}
