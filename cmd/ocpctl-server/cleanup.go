package main

import (
	"context"

	"github.com/ocpctl/ocpctl/controller"
	"github.com/ocpctl/ocpctl/controller/recovery"
	"github.com/ocpctl/ocpctl/store/cleanup"
)

// wireCleanup says what is removed of what scans find. The catalogue can change while the server runs.
func (in inner) wireCleanup() controller.Cleanup {
	return controller.Cleanup{Planner: cleanup.Config{Account: in.cfg.RunnersIn, BaseDomain: in.baseDomain}, Delete: in.cfg.Scan.Classes(), Adopter: adopter{in}}
}

func (in inner) baseDomain(platform string) string {
	return in.catalogue.Current().OnlyBaseDomain(platform)
}

// adopter gives a row to a cluster that only the cloud knows. It asks no cloud: a scan did.
type adopter struct{ in inner }

func (a adopter) Adopt(ctx context.Context, of recovery.Adoption) error {
	c := a.in.cfg
	return recovery.Config{
		Store: a.in.store, Bucket: a.in.bucket, BucketName: c.Artifacts.Bucket, Installation: c.Installation, BaseDomain: a.in.baseDomain,
		Version: a.in.catalogue.Current().DefaultVersion, Spec: specOf(c), Keep: keepRecovered, Wait: c.Runner.Lease + c.Limits.LeaseGrace, Log: a.in.log,
	}.Adopt(ctx, of)
}
