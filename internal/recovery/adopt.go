package recovery

import (
	"context"
	"errors"
	"fmt"

	"github.com/ocpctl/ocpctl/internal/cloudtags"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/store"
)

// Adoption is one cluster that a sweep found under this installation's tags and that the database does not know.
type Adoption struct {
	Orphan    string // id; its removal was approved
	Cluster   string // id, by its tags
	Resources []Tagged
	Why       string // for people and the audit trail
}

// Tagged is a resource with the region in which it was seen.
type Tagged struct {
	cloudtags.Resource
	Region string
}

// ErrUnfit says that a cluster cannot be adopted as it is, and that a person has to look.
var ErrUnfit = errors.New("it cannot be adopted")

// Adopt gives the cluster a row from what the bucket and its tags tell, not wanted any more, so that it is torn down and counted like every
// other. It deletes nothing. ErrUnfit: it is not certainly this installation's, or too little is known of it. store.ErrNameTaken: a living
// cluster has its name. store.ErrConflict: the orphan or the cluster changed meanwhile.
func (c Config) Adopt(ctx context.Context, a Adoption) error {
	for _, resource := range a.Resources {
		switch tags := resource.Tags; {
		case tags[tagkey.Installation] != "" && tags[tagkey.Installation] != c.Installation:
			return fmt.Errorf("%w: %s belongs to the installation %.80q", ErrUnfit, resource.ARN, tags[tagkey.Installation])
		case tags[tagkey.ClusterID] != "" && tags[tagkey.ClusterID] != a.Cluster:
			return fmt.Errorf("%w: %s is tagged with the cluster %.80q", ErrUnfit, resource.ARN, tags[tagkey.ClusterID])
		}
	}
	r := &run{Config: c, seen: map[string]*cluster{}}
	of := r.of(a.Cluster)
	traces, err := c.Bucket.TracesOf(ctx, a.Cluster)
	if err != nil {
		return err
	}
	for _, t := range traces {
		of.add(t)
	}
	for _, resource := range a.Resources {
		if resource.Tags[tagkey.ClusterID] == a.Cluster {
			of.addResource(resource.Region, resource.Resource)
		}
	}
	if err := r.read(ctx, of); err != nil && of.unread {
		return err
	}
	now, err := c.Store.Now(ctx)
	if err != nil {
		return err
	}
	r.view.Now = now
	p := r.planUnknown(of)
	if p.person != "" {
		return fmt.Errorf("%w: %s", ErrUnfit, p.person)
	}
	p.write.Absent, p.write.Why, p.write.Orphan, p.write.New.PR = a.Why, a.Why, a.Orphan, nil
	p.write.New.Why = "adopted: a sweep found it in the cloud, and no row knew it"
	wrote, err := c.Store.Recover(ctx, p.write)
	if err == nil && !wrote {
		return fmt.Errorf("%w: nothing of it was new", store.ErrConflict)
	}
	return err
}
