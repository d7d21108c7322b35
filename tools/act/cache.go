package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/nektos/act/pkg/runner"
)

// actions finds the actions of other repositories in folders of this machine; there is no network.
type actions struct {
	folders map[string]string // owner/name → folder
	local   *runner.LocalRepositoryCache
	values  values
}

func newActions(folders map[string]string, v values) *actions {
	return &actions{folders, &runner.LocalRepositoryCache{Parent: nowhere{}, LocalRepositories: map[string]string{}, CacheDirCache: map[string]string{}}, v}
}

// Fetch takes the folder of the action's repository, whatever the version.
func (a *actions) Fetch(ctx context.Context, cacheDir, address, ref, token string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	name := strings.TrimSuffix(strings.TrimPrefix(u.Path, "/"), ".git")
	folder, ok := a.folders[name]
	if !ok {
		return "", fmt.Errorf("the stand-in GitHub has no network and no repository %s; it has %s", name, strings.Join(slices.Sorted(maps.Keys(a.folders)), ", "))
	}
	a.local.LocalRepositories[address+"@"+ref] = folder
	return a.local.Fetch(ctx, cacheDir, address, ref, token)
}

// GetTarArchive packs a part of the repository.
func (a *actions) GetTarArchive(ctx context.Context, cacheDir, sha, prefix string) (io.ReadCloser, error) {
	archive, err := a.local.GetTarArchive(ctx, cacheDir, sha, prefix)
	if err != nil {
		return nil, err
	}
	return a.values.inArchive(archive)
}

// nowhere is where actions that are not in a folder would come from.
type nowhere struct{}

func (nowhere) Fetch(context.Context, string, string, string, string) (string, error) {
	return "", fmt.Errorf("the stand-in GitHub has no network")
}

func (nowhere) GetTarArchive(context.Context, string, string, string) (io.ReadCloser, error) {
	return nil, fmt.Errorf("the stand-in GitHub has no network")
}
