package runner

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/installer"
)

// bundles are the patterns of log archives in the install directory after a failure: the installer's, packLog's and mustGather's.
var bundles = []string{packedLog + "*.tar.gz", mustGathered + "*.tar.gz", "log-bundle-*.tar.gz", "capi-artifacts-bundle-*.tar.gz", "serial-log-bundle-*.tar.gz", "cluster-log-bundle-*.tar.gz"}

// gatherLogs keeps the installer's log bundles of a failed install, and fetches one if machines failed and there is none. For a
// cluster that came up too late it collects the cluster's state. Errors here do not matter: the attempt has already failed.
func (a *attempt) gatherLogs(ctx context.Context, exit installer.Exit) {
	found := a.findBundles()
	if machinesFailed(exit, a.heard) && !slices.ContainsFunc(found, isBootstrapBundle) {
		a.gatherBootstrap(ctx)
	}
	if isLate(exit) && !exit.Stopped {
		a.mustGather(ctx)
	}
	a.keepBundles(ctx)
}

// keepBundles stores the bundles from the install directory, with the installer's own log.
func (a *attempt) keepBundles(ctx context.Context) {
	a.packLog()
	found := a.findBundles()
	at := a.cfg.Now()
	for _, path := range found {
		var saved artifacts.Snapshot
		key := artifacts.LogBundleKey(a.spec.Cluster, a.spec.Number, at, filepath.Base(path))
		err := a.keepTrying(ctx, a.cfg.Timings.LastSave, key, func(ctx context.Context) (err error) {
			saved, err = a.store.Keep(ctx, artifacts.Log, key, path)
			return err
		})
		if err != nil {
			a.noteLine("%s could not be stored: %v", filepath.Base(path), err)
			continue
		}
		saved.InfraID = a.identity.InfraID
		a.noteLine("%s was stored, encrypted, with this cluster's state", filepath.Base(path))
		a.say.Fact(contract.Report{Snapshots: []contract.Snapshot{toContract(saved)}})
	}
}

// machinesFailed reports whether machines caused the failure, so that their journals are useful.
func machinesFailed(exit installer.Exit, said []string) bool {
	if exit.Stopped {
		return false // we stopped it, so there is nothing to find out
	}
	return exit.Code == 5 || exit.Code == 4 && slices.ContainsFunc(said, func(line string) bool {
		return strings.Contains(line, "failed to provision control-plane machines")
	})
}

// gatherBootstrap fetches the machines' journals through the bootstrap machine, within a time limit of its own. The installer looks into
// them and prints why the bootstrap machine got no further, which explains the failure.
func (a *attempt) gatherBootstrap(ctx context.Context) {
	a.say.Step(0, "fetching the machines' logs")
	args := []string{"gather", "bootstrap", "--dir", a.dir, "--log-level=info"}
	if key := a.sshKeyFile(ctx); key != "" {
		args = append(args, "--key", key)
	}
	var said []string
	exit, err := a.tool.Run(ctx, installer.Command{Args: args, Deadline: a.cfg.Timings.Gather, OnLine: func(line string) {
		said = append(said, line)
		a.addLine(line)
	}})
	switch {
	case ctx.Err() != nil:
	case err != nil:
		a.noteLine("the machines' logs could not be fetched: %v", err)
	case exit.Code != 0:
		a.noteLine("the machines' logs could not be fetched: openshift-install gather bootstrap ended with exit code %d", exit.Code)
	default:
		a.heard = append(a.heard, said...)
	}
}

// findBundles lists the bundles in the install directory.
func (a *attempt) findBundles() []string {
	var found []string
	for _, pattern := range bundles {
		names, _ := filepath.Glob(filepath.Join(a.dir, pattern)) // the patterns are valid
		found = append(found, names...)
	}
	return found
}

func isBootstrapBundle(path string) bool {
	return strings.HasPrefix(filepath.Base(path), "log-bundle-")
}
