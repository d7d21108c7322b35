package github

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	gh "github.com/google/go-github/v66/github"
)

// ErrNotFile says that the path cannot be read as a file: it is a directory, a submodule, a symbolic link that leaves the repository,
// or more than 64 KiB. Its text says which; a person has to change it.
var ErrNotFile = errors.New("no file that can be read")

const (
	maxFile   = 64 << 10
	maxAnswer = 4 * maxFile // base64, line breaks and other fields
)

// File is a file of a repository at a ref.
type File struct {
	Raw []byte
	SHA string // of the blob
}

// File reads a file of at most 64 KiB at a ref. ErrNotFound: repository and ref exist and the file does not. This takes a second
// query, because GitHub gives the same answer for a repository that is not visible; that is ErrRefused. A file that did not change
// since the last call costs nothing of the primary limit.
func (c *Client) File(ctx context.Context, installation int64, repo, path, ref string) (File, error) {
	doing := fmt.Sprintf("read %s of %s at %q", path, repo, ref)
	owner, name, err := splitRepository(repo)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", doing, err)
	}
	at, err := contentsURL(owner, name, path, ref)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", doing, err)
	}
	ctx = toDecide(ctx)
	var out File
	err = c.retryUnknownCommit(ctx, func() error {
		return c.callAsInstallation(ctx, installation, func(client *gh.Client) error {
			out, err = readFile(ctx, client, at)
			if !hasStatus(err, http.StatusNotFound) {
				return err
			}
			return explainMissingFile(ctx, client, owner, name, ref, err)
		})
	})
	return out, convertError(doing, err)
}

// contentsURL is the URL of a file's content. Its parts are in the path, so each is escaped.
func contentsURL(owner, name, path, ref string) (string, error) {
	if ref == "" {
		return "", errors.New("want a ref")
	}
	escaped, err := escapePath(path)
	return fmt.Sprintf("repos/%s/%s/contents/%s?ref=%s", owner, name, escaped, url.QueryEscape(ref)), err
}

// escapePath makes a file's path safe in a URL.
func escapePath(path string) (string, error) {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if part == "" || part == "." || part == ".." {
			return "", fmt.Errorf("path %q: want one inside the repository, without a slash at its start", path)
		}
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/"), nil
}

func readFile(ctx context.Context, client *gh.Client, at string) (File, error) {
	req, err := client.NewRequest("GET", at, nil)
	if err != nil {
		return File{}, err
	}
	answer, err := client.BareDo(ctx, req)
	if err != nil {
		return File{}, err
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err != nil {
		return File{}, err
	}
	return decodeFile(raw)
}

// decodeFile reads GitHub's response for a path. A link to a file in the repository is returned as that file.
// https://docs.github.com/rest/repos/contents#get-repository-content
func decodeFile(raw []byte) (File, error) {
	if strings.HasPrefix(strings.TrimSpace(string(raw[:min(len(raw), 64)])), "[") {
		return File{}, fmt.Errorf("%w: it is a directory", ErrNotFile)
	}
	if len(raw) > maxAnswer {
		return File{}, tooLarge()
	}
	var got gh.RepositoryContent
	if err := json.Unmarshal(raw, &got); err != nil {
		return File{}, fmt.Errorf("read the answer: %w", err)
	}
	switch {
	case got.GetType() == "submodule" || got.SubmoduleGitURL != nil:
		return File{}, fmt.Errorf("%w: it is a submodule", ErrNotFile)
	case got.GetType() == "symlink":
		return File{}, fmt.Errorf("%w: it is a symbolic link to %q, which is not a file in the repository", ErrNotFile, got.GetTarget())
	case got.GetType() != "file":
		return File{}, fmt.Errorf("%w: it is a %q", ErrNotFile, got.GetType())
	case got.GetSize() > maxFile:
		return File{}, tooLarge()
	case got.GetEncoding() != "base64" && got.GetSize() > 0:
		return File{}, fmt.Errorf("read the answer: encoding %q: want base64", got.GetEncoding())
	}
	text := ""
	if got.Content != nil {
		text = *got.Content
	}
	content, err := base64.StdEncoding.DecodeString(text) // ignores line breaks
	if err != nil {
		return File{}, fmt.Errorf("read the answer: %w", err)
	}
	if len(content) > maxFile {
		return File{}, tooLarge()
	}
	return File{Raw: content, SHA: got.GetSHA()}, nil
}

func tooLarge() error { return fmt.Errorf("%w: it is larger than %d KiB", ErrNotFile, maxFile>>10) }

// explainMissingFile finds out what a 404 for a file means. The file is missing only if the repository is visible and the ref exists.
func explainMissingFile(ctx context.Context, client *gh.Client, owner, name, ref string, err error) error {
	if noCommit(err) {
		return fmt.Errorf("%w: the repository has no %q: %w", ErrRefused, ref, err)
	}
	if _, _, ask := client.Repositories.Get(ctx, owner, name); hasStatus(ask, http.StatusNotFound) {
		return fmt.Errorf("%w: the App cannot see %s/%s; is it installed there?: %w", ErrRefused, owner, name, ask)
	} else if ask != nil {
		return ask
	}
	return err
}

// maxFilePages limits the list of a pull request's files: GitHub lists at most 3,000.
// https://docs.github.com/rest/pulls/pulls#list-pull-requests-files
const maxFilePages = 30

// Removes reports whether a pull request deletes or renames a file.
func (c *Client) Removes(ctx context.Context, installation int64, repo string, number int, path string) (removes bool, err error) {
	return c.anyFile(ctx, installation, repo, number, func(f *gh.CommitFile) bool {
		return f.GetStatus() == "removed" && f.GetFilename() == path || f.GetPreviousFilename() == path
	})
}

// ChangesBelow reports whether a pull request changes a file in a folder, or below it; an empty folder is the whole repository.
func (c *Client) ChangesBelow(ctx context.Context, installation int64, repo string, number int, folder string) (changes bool, err error) {
	return c.anyFile(ctx, installation, repo, number, func(f *gh.CommitFile) bool {
		return isBelow(f.GetFilename(), folder) || isBelow(f.GetPreviousFilename(), folder)
	})
}

func isBelow(path, folder string) bool {
	return path != "" && (folder == "" || strings.HasPrefix(path, folder+"/"))
}

// anyFile reports whether one of a pull request's files is as wanted.
func (c *Client) anyFile(ctx context.Context, installation int64, repo string, number int, isWanted func(*gh.CommitFile) bool) (found bool, err error) {
	doing := fmt.Sprintf("list the files of %s#%d", repo, number)
	owner, name, err := splitRepository(repo)
	if err != nil {
		return false, fmt.Errorf("%s: %w", doing, err)
	}
	err = c.callAsInstallation(ctx, installation, func(client *gh.Client) error {
		opts := &gh.ListOptions{PerPage: pageSize}
		for range maxFilePages {
			files, answer, err := client.PullRequests.ListFiles(ctx, owner, name, number, opts)
			if err != nil {
				return err
			}
			if found = slices.ContainsFunc(files, isWanted); found || answer.NextPage == 0 {
				return nil
			}
			opts.Page = answer.NextPage
		}
		return nil
	})
	return found, convertError(doing, err)
}
