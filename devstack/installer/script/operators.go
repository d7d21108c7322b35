package script

import (
	"context"
	"io"
	"time"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/act"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// Cluster is what happens in the cloud in and around a cluster on AWS that the real installer creates from a directory.
type Cluster struct {
	install *install
	on      *awsBuild
}

// OpenCluster takes up the cluster of an install directory, which the real installer has prepared.
func OpenCluster(ctx context.Context, dir string) (_ *Cluster, err error) {
	defer must.Catch(&err)
	r := &run{Act: must.Get(act.New()), command: "operators", dir: dir, version: installer.RealVersion, logger: &logger{stderr: io.Discard, now: time.Now}}
	a := must.Get(r.load())
	i := &install{run: r, assets: a, account: must.Get(a.config.on().open(ctx, r, a))}
	i.build = must.Get(i.newBuild(ctx, i))
	on, ok := i.build.(*awsBuild)
	must.FailIf(!ok, "a cluster that the real installer creates is played on AWS alone")
	return &Cluster{i, on}, nil
}

// Domain is the name below which the cluster's records are.
func (c *Cluster) Domain() string { return c.on.Domain() }

// UserData returns what the bootstrap machine was started with, in base64; empty: it does not run.
func (c *Cluster) UserData(ctx context.Context) (string, error) { return c.on.UserData(ctx) }

// Nodes returns the cluster's machines as Kubernetes knows them: the name of each node with its provider id and its kind.
func (c *Cluster) Nodes(ctx context.Context) (map[string]string, error) { return c.on.Nodes(ctx) }

// Run creates what the cluster's operators create. Those that have no usable credentials are its error.
func (c *Cluster) Run(ctx context.Context) (err error) {
	defer must.Catch(&err)
	must.Do(c.install.checkCredentials(ctx))
	must.Do(c.on.Adopt(ctx))
	return c.on.Operators(ctx)
}
