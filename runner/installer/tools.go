package installer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// extractDeadline limits the extraction of one program from a release image: half a gigabyte from a registry.
const extractDeadline = 15 * time.Minute

// DefaultRepository holds OpenShift's releases. A digest identifies the same image in any mirror.
const DefaultRepository = "quay.io/openshift-release-dev/ocp-release"

// The programs of a version.
const (
	installerName = "openshift-install"
	ccoctlName    = "ccoctl"
	ocName        = "oc"
)

// ErrNoTool means that a program is neither in the directory nor available from an image.
var ErrNoTool = errors.New("the program does not exist")

// Tools finds the programs of one version: <Dir>/<Version>/{openshift-install,ccoctl,oc}. What is missing there is extracted from the
// release image with oc.
type Tools struct {
	Dir     string
	Version string
	Image   string // pinned release image to extract from; empty: none
	Into    string // our folder for extracted programs

	Registry func(context.Context) (string, error) // path of a registry config (the pull secret) for oc
	Tool     Tool                                  // everything except Binary
	OnLine   func(line string)                     // called with oc's output
}

// Known lists the versions for which the directory has an openshift-install.
func (t *Tools) Known() []string {
	entries, _ := os.ReadDir(t.Dir) // no directory: no versions
	var known []string
	for _, entry := range entries {
		if isRunnable(filepath.Join(t.Dir, entry.Name(), installerName)) {
			known = append(known, entry.Name())
		}
	}
	slices.Sort(known)
	return known
}

// Check fails with ErrNoTool if openshift-install is neither in the directory nor could be extracted. It runs nothing.
func (t *Tools) Check() error {
	_, err := t.Installed()
	if err == nil || t.Image == "" {
		return err
	}
	_, err = t.findOC()
	return err
}

// Installed returns the directory's openshift-install; ErrNoTool if there is none.
func (t *Tools) Installed() (*Tool, error) {
	path := filepath.Join(t.Dir, t.Version, installerName)
	if !isRunnable(path) {
		return nil, fmt.Errorf("%s of %s: %w", installerName, t.Version, ErrNoTool)
	}
	return t.toolAt(path), nil
}

// Extracted returns the openshift-install from the release image; ErrNoTool without an image or oc.
func (t *Tools) Extracted(ctx context.Context) (*Tool, error) {
	into := filepath.Join(t.Into, installerName+"-of-release")
	path := filepath.Join(into, installerName)
	if isRunnable(path) {
		return t.toolAt(path), nil
	}
	err := t.runOC(ctx, into, nil, "adm", "release", "extract", "--command="+installerName, "--from="+t.Image, "--to="+into)
	if err != nil {
		return nil, err
	}
	return t.extractTool(path)
}

// CCOCtl returns the version's ccoctl, from the directory or from the release image's cloud-credential-operator.
func (t *Tools) CCOCtl(ctx context.Context) (*Tool, error) {
	if path := filepath.Join(t.Dir, t.Version, ccoctlName); isRunnable(path) {
		return t.toolAt(path), nil
	}
	into := filepath.Join(t.Into, ccoctlName+"-of-release")
	path := filepath.Join(into, ccoctlName)
	if isRunnable(path) {
		return t.toolAt(path), nil
	}
	image := ""
	hear := func(line string) {
		if imageLine.MatchString(line) {
			image = line
		}
	}
	if err := t.runOC(ctx, into, hear, "adm", "release", "info", "--image-for=cloud-credential-operator", t.Image); err != nil {
		return nil, err
	}
	if image == "" {
		return nil, fmt.Errorf("oc found no image of the cloud-credential-operator in %s", t.Image)
	}
	if err := t.runOC(ctx, into, nil, "image", "extract", image, "--file=/usr/bin/"+ccoctlName); err != nil {
		return nil, err
	}
	return t.extractTool(path)
}

// CredentialsRequests writes those of the release's credentials requests that oc's arguments select to a folder. Every release has some:
// without any, ccoctl would create no credentials and report success.
func (t *Tools) CredentialsRequests(ctx context.Context, to string, which ...string) error {
	args := append([]string{"adm", "release", "extract", "--credentials-requests"}, which...)
	err := t.runOC(ctx, to, nil, append(args, "--from="+t.Image, "--to="+to)...)
	if err != nil {
		return err
	}
	if found, err := os.ReadDir(to); err != nil || len(found) == 0 {
		return fmt.Errorf("oc found no credentials requests in %s", t.Image)
	}
	return nil
}

// runOC runs oc with the registry config in a folder of its own. Its last output says why it failed.
func (t *Tools) runOC(ctx context.Context, dir string, hear func(string), args ...string) error {
	tool, err := t.findOC()
	if err != nil {
		return err
	}
	if t.Image == "" {
		return fmt.Errorf("no release image of %s is known: %w", t.Version, ErrNoTool)
	}
	registry, err := t.Registry(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create a directory for oc: %w", err)
	}
	last := ""
	exit, err := tool.Run(ctx, Command{
		Args: append(args, "--registry-config="+registry), Dir: dir, Deadline: extractDeadline, OnLine: func(line string) {
			last = line
			if t.OnLine != nil {
				t.OnLine(line)
			}
			if hear != nil {
				hear(line)
			}
		},
	})
	if err == nil && exit.Code != 0 {
		err = fmt.Errorf("oc ended with exit code %d: %s", exit.Code, last)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir)) // an incomplete program must not be used
	}
	return nil
}

// OC returns the version's oc, for queries of a cluster; ErrNoTool if there is none.
func (t *Tools) OC() (*Tool, error) { return t.findOC() }

// findOC looks for the version's own oc first, then for one for all versions, then for the runner's. It gets nothing of the cloud: it asks a
// registry or a cluster, and whoever may change oc's image or a cluster's API must not get at the account.
func (t *Tools) findOC() (*Tool, error) {
	places := []string{filepath.Join(t.Dir, t.Version), t.Dir}
	for _, place := range append(places, filepath.SplitList(valueOf(t.Tool.Env, "PATH"))...) {
		if path := filepath.Join(place, ocName); isRunnable(path) && filepath.IsAbs(path) {
			tool := t.toolAt(path)
			tool.Cloud = nil
			return tool, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", ocName, ErrNoTool)
}

func (t *Tools) extractTool(path string) (*Tool, error) {
	if err := os.Chmod(path, 0o700); err != nil {
		return nil, fmt.Errorf("make the extracted program executable: %w", err)
	}
	return t.toolAt(path), nil
}

func (t *Tools) toolAt(path string) *Tool {
	tool := t.Tool
	tool.Binary = path
	return &tool
}

// isRunnable reports whether a path is an executable, following links.
func isRunnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
