// Package installer is a scripted stand-in for openshift-install. See cmd/openshift-install.
package installer

import "context"

// Build compiles the stand-in into dir/openshift-install and returns its path.
func Build(ctx context.Context, dir string) (string, error) { return "", nil }

// Lay builds the stand-in once and lays it out as <dir>/<version>/openshift-install for every version.
func Lay(ctx context.Context, dir string, versions ...string) error { return nil }
