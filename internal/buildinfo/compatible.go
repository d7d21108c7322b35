package buildinfo

import "golang.org/x/mod/semver"

// The oldest releases that this one works with. Raise one when a release changes what the other side relies on.
const (
	OldestClient = "v1.0.0" // of ocpctl and its actions, for a server of this build
	OldestServer = "v1.0.0" // for an ocpctl of this build
)

// Older reports whether a version is a release from before another. Of a build that is no release, nothing is known: it is never older.
func Older(version, than string) bool {
	return IsRelease(version) && semver.Compare(version, than) < 0
}

// IsRelease reports whether a version is that of a release, not of a commit in between or of a build without a repository.
func IsRelease(version string) bool {
	return semver.IsValid(version) && semver.Prerelease(version) == "" && semver.Build(version) == "" && semver.Canonical(version) == version
}
