package script

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"github.com/ocpctl/ocpctl/devstack/installer/act"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// destroyCluster is `destroy cluster`. It uses only metadata.json, deletes what has the identifiers, and does not check the account:
// in the wrong one it finds nothing, exits with 0 and deletes the metadata.
func (r *run) destroyCluster(ctx context.Context) (err error) {
	defer must.Catch(&err)
	m := must.Get(r.readMetadata())
	must.Do(r.Begin(r.command, m.ClusterName))
	d := r.destroyerOf(m)
	err = d.begin(ctx)
	must.EndIf(err != nil, fail(exitGeneric, "%s", err))
	must.Do(r.destroyResources(ctx, d))
	err = r.forget()
	must.EndIf(err != nil, fail(exitGeneric, "Failed to destroy cluster: %s", err))
	r.info("Time elapsed: %s", time.Since(r.started).Round(time.Second))
	r.info("Uninstallation complete!")
	return nil
}

func (r *run) readMetadata() (m metadata, err error) {
	defer must.Catch(&err)
	raw, err := os.ReadFile(r.path("metadata.json"))
	must.EndIf(err != nil, fail(exitGeneric, "Failed while preparing to destroy cluster: %s", err))
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, fail(exitGeneric, "Failed while preparing to destroy cluster: failed to Unmarshal data from %q to types.ClusterMetadata: %s", r.path("metadata.json"), err)
	}
	must.EndIf(r.destroyerOf(m) == nil, fail(exitGeneric, "Failed while preparing to destroy cluster: no destroyers registered for \"\""))
	return m, nil
}

// destroyBootstrap is `destroy bootstrap`. It needs the local control plane's state, which a failure deletes.
func (r *run) destroyBootstrap(ctx context.Context) (err error) {
	defer must.Catch(&err)
	m := must.Get(r.readMetadata())
	must.EndIf(!r.exists(".clusterapi_output", "etcd"),
		fail(exitGeneric, "failed to destroy bootstrap resources: failed to run cluster api system: no local control plane state in %s", r.path(".clusterapi_output")))
	must.Do(r.Begin(r.command, m.ClusterName))
	d := r.destroyerOf(m)
	err = d.begin(ctx)
	must.EndIf(err != nil, fail(exitGeneric, "%s", err))
	if err := d.destroyBootstrap(ctx); err != nil {
		return inCloud(ctx, err, exitGeneric, "error destroying bootstrap resources "+err.Error())
	}
	r.info("Finished destroying bootstrap resources")
	return nil
}

func (r *run) destroyResources(ctx context.Context, d destroyer) (err error) {
	defer must.Catch(&err)
	must.Do(r.Mark(ctx, "start", 0))
	lie := must.Get(r.Leaving())
	err = d.destroy(ctx, lie.Leave)
	must.EndIf(ctx.Err() != nil, act.ErrInterrupted)
	if err == nil && lie.Exit != 0 {
		return failing("", lie)
	}
	return err
}

// forget deletes the files that the state file lists. Without one, a metadata.json made by hand stays.
func (r *run) forget() error {
	if !r.exists(".openshift_install_state.json") {
		return nil
	}
	for _, name := range []string{
		"metadata.json", "auth", "tls", "terraform.tfvars.json", "terraform.platform.auto.tfvars.json", ".openshift_install_state.json",
	} {
		if err := os.RemoveAll(r.path(name)); err != nil {
			return err
		}
	}
	return nil
}
