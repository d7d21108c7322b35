// Package installer builds and steers a stand-in for openshift-install: a separate program, cmd/openshift-install, that
// behaves like openshift-install 4.20 on AWS without installing anything. It reads and consumes install-config.yaml,
// writes the real one's files with their modes (secrets included), prints its log lines, leaves with its exit codes, keeps
// its traps, and creates tagged resources in whatever answers AWS_ENDPOINT_URL on this machine. It must never be pointed
// at a real cloud and refuses to be. `openshift-install version` says that it is a stand-in.
//
// # Where it stands
//
// One binary stands for every version: it takes its version from the folder it was called in, so <dir>/4.20.3/openshift-install
// and <dir>/4.20.1/openshift-install may be links to the same file.
//
// # What steers it
//
//   - OCPCTL_STANDIN_PACE: how long one mark of its log lasts, a Go duration, default 400ms (an install then takes six to
//     eight seconds). Tests use 5ms.
//   - OCPCTL_STANDIN_FAULTS: the path of a JSON file of Faults, read anew at every step and after every write to the cloud.
//     A missing file is no fault.
//   - OCPCTL_STANDIN_TRACE: the path of a file to which each command appends what it does; see Faults.
//
// # What it cannot do as the real one does
//
// The tagging API of the stand-in AWS does not see the S3 server, so destroy reads the buckets' tags itself. Ingress is a
// network load balancer (lbType: NLB); there is no classic one.
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
	const folder = "github.com/ocpctl/ocpctl/internal/house/installer/cmd/"
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
