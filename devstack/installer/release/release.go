// Package release is the content of a stand-in release image: its digest, its operators' credentials requests, and the names of its
// programs. Like the real image it also contains requests for other clouds.
package release

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/installer"
)

const repository = "quay.io/openshift-release-dev/ocp-release"

var isVersion = regexp.MustCompile(`^\d+\.\d+\.\d+([-.][0-9a-z.-]+)?$`)

// VersionVariable tells a program extracted from a release its version.
const VersionVariable = "OCPCTL_STANDIN_VERSION"

// VersionOf returns a program's version: that of the release from which it was extracted, or of its folder, because one binary serves
// all.
func VersionOf(program string) string {
	if version := os.Getenv(VersionVariable); version != "" {
		return version
	}
	folder := filepath.Base(filepath.Dir(program))
	if isVersion.MatchString(folder) {
		return folder
	}
	return installer.Versions()[0]
}

// Image returns a version's release image by digest, as `openshift-install version` prints it.
func Image(version string) string { return repository + "@" + digest(version) }

func digest(version string) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte("ocp-release:"+version+"-x86_64")))
}

// Component returns an image of a release by digest, as `oc adm release info --image-for` prints it.
func Component(version, name string) string {
	return fmt.Sprintf("quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:%x", sha256.Sum256([]byte(name+":"+version)))
}

// Find returns the version of a release image, given by digest or by a version's tag. An unknown one does not exist in the registry;
// one that is not pinned is refused.
func Find(image string) (version string, err error) {
	for _, v := range installer.Versions() {
		if image == Image(v) || image == repository+":"+v+"-x86_64" || image == repository+":"+v+"-x86_64@"+digest(v) {
			return v, nil
		}
	}
	return "", unknown(image)
}

// FindComponent returns the version to which this component image belongs.
func FindComponent(image, name string) (version string, err error) {
	for _, v := range installer.Versions() {
		if image == Component(v, name) {
			return v, nil
		}
	}
	return "", unknown(image)
}

func unknown(image string) error {
	name := image[strings.LastIndex(image, "/")+1:]
	if !strings.ContainsAny(name, ":@") || slices.Contains([]string{":latest", ":"}, name[strings.IndexAny(name, ":@"):]) {
		return fmt.Errorf("unable to read image %s: a stand-in release is pinned by digest or by the tag of a version (%s)", image, strings.Join(installer.Versions(), ", "))
	}
	return fmt.Errorf("image %q not found: manifest unknown: manifest unknown", image)
}
