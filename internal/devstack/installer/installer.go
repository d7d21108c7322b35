// Package installer builds and steers stand-ins for three tools of OpenShift 4.20: openshift-install on AWS (package
// script), ccoctl (package ccoctl) and the part of oc that takes a release image apart (package oc). They are programs of
// their own, under cmd/. They take the real ones' commands, flags and environment, write their files with their modes
// (secrets included), print their log lines, leave with their exit codes and keep their traps, and create tagged resources
// in whatever answers AWS_ENDPOINT_URL on this machine. They must never be pointed at a real cloud and refuse to be. Each
// says in `version` that it is a stand-in.
//
// # Where they stand
//
// One binary stands for every version: it takes its version from the folder it was called in, so <dir>/4.20.3/openshift-install
// and <dir>/4.20.1/openshift-install may be links to the same file. What oc extracts from a release is a short script that
// calls the stand-in beside oc as that release's.
//
// # What steers them
//
//   - OCPCTL_STANDIN_PACE: how long one mark of the log lasts, a Go duration, default 400ms (an install then takes six to
//     eight seconds). Tests use 5ms; 0 waits for nothing but the cloud.
//   - OCPCTL_STANDIN_FAULTS: the path of a JSON file of Faults, read anew at every step and after every write to the cloud.
//     A missing file is no fault.
//   - OCPCTL_STANDIN_TRACE: the path of a file to which each command appends what it does; see Faults.
//
// # What they cannot do as the real ones do
//
// The tagging API of the stand-in AWS does not see the S3 server, so destroy reads the buckets' tags itself. wait-for and
// gather ask the cloud for what stands of the cluster, for there is none. ccoctl makes short keys and no private bucket,
// and does not lift a bucket's block on public access. Nobody but the installer checks a role: the operators come up when
// theirs are there.
package installer

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Environment variables the stand-in reads.
const (
	PaceVariable   = "OCPCTL_STANDIN_PACE"
	FaultsVariable = "OCPCTL_STANDIN_FAULTS"
	TraceVariable  = "OCPCTL_STANDIN_TRACE"
)

// Versions are those of the catalogue, the default first.
func Versions() []string { return []string{"4.20.3", "4.20.1"} }

// Programs are the stand-ins' packages, for a build of one's own.
func Programs() []string {
	const folder = "github.com/ocpctl/ocpctl/internal/devstack/installer/cmd/"
	return []string{folder + "openshift-install", folder + "ccoctl", folder + "oc"}
}

// Build compiles the stand-ins to dir and returns dir/openshift-install; ccoctl and oc lie beside it. It needs the go
// command and must be called from within the module.
func Build(ctx context.Context, dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make a place for the stand-in installer: %w", err)
	}
	build := exec.CommandContext(ctx, "go", append([]string{"build", "-o", dir}, Programs()...)...)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the stand-in installer: %w: %s", err, out)
	}
	return filepath.Join(dir, "openshift-install"), nil
}
