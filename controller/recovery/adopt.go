package recovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/internal/cloudtags"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
)

// Adoption is one cluster that a scan found under this installation's tags and that the database does not know.
type Adoption struct {
	Orphan    string // id; its removal was approved
	Cluster   string // id, by its tags
	Platform  string
	Account   string // in which it was seen
	Resources []Tagged
	Beside    []Tagged // of other orphans that have the cluster's tag: ccoctl's roles tell its name
	Names     []string // of the resources; on IBM Cloud they tell the cluster's infraID, and no tag does
	Why       string   // for people and the audit trail
}

// Tagged is a resource with the region in which it was seen.
type Tagged struct {
	cloudtags.Resource
	Region string
}

// ErrUnfit says that a cluster cannot be adopted as it is, and that a person has to look.
var ErrUnfit = errors.New("it cannot be adopted")

// Adopt gives the cluster a row from what the bucket and its tags tell, not wanted any more, so that it is torn down and counted like every
// other. It deletes nothing. ErrUnfit: it is not certainly this installation's, or too little is known of it. db.ErrNameTaken: a living
// cluster has its name. db.ErrConflict: the orphan or the cluster changed meanwhile.
func (c Config) Adopt(ctx context.Context, a Adoption) error {
	for _, resource := range slices.Concat(a.Resources, a.Beside) {
		switch tags := resource.Tags; {
		case tags[tagkey.Installation] != "" && tags[tagkey.Installation] != c.Installation:
			return fmt.Errorf("%w: %s belongs to the installation %.80q", ErrUnfit, resource.ARN, tags[tagkey.Installation])
		case tags[tagkey.ClusterID] != "" && tags[tagkey.ClusterID] != a.Cluster:
			return fmt.Errorf("%w: %s is tagged with the cluster %.80q", ErrUnfit, resource.ARN, tags[tagkey.ClusterID])
		}
	}
	r := &run{Config: c, seen: map[string]*cluster{}}
	of := r.clusterOf(a.Cluster)
	of.names = a.Names
	traces, err := c.Bucket.TracesOf(ctx, a.Cluster)
	if err != nil {
		return err
	}
	for _, t := range traces {
		of.addTrace(t)
	}
	for _, resource := range a.Resources {
		if resource.Tags[tagkey.ClusterID] == a.Cluster {
			of.addResource(a.Platform, resource.Region, resource.Resource)
		}
	}
	for _, resource := range slices.Concat(a.Resources, a.Beside) { // as the plan of the removal tells them
		of.marks = append(of.marks, resource.Tags)
		if resource.Region != "global" {
			of.region = cmp.Or(of.region, resource.Region)
		}
	}
	if err := r.readDocuments(ctx, of); err != nil && of.unread {
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
	if p.write.Absent == "" {
		return fmt.Errorf("%w: its objects in the bucket tell of a ready cluster that was not torn down; recover the database (docs/backup.md)", ErrUnfit)
	}
	if err := p.setAccount(a.Account); err != nil {
		return err
	}
	p.write.Absent, p.write.Why, p.write.Orphan, p.write.New.PR = a.Why, a.Why, a.Orphan, nil
	for i := range p.write.Attempts { // no database was restored
		if one := &p.write.Attempts[i]; one.Outputs == nil {
			one.By, one.Reason, one.Message = store.Cleanup, store.ReasonFound, store.FoundInCloud
		}
	}
	p.write.New.Why.Words = "adopted: a scan found it in the cloud, and no row knew it"
	wrote, err := c.Store.Recover(ctx, p.write)
	if err == nil && !wrote {
		return fmt.Errorf("%w: nothing of it was new", db.ErrConflict)
	}
	return err
}

// setAccount writes the account to the row and to every name, so that each teardown compares it with its own. ErrUnfit: a record tells another one.
func (p *plan) setAccount(account string) error {
	of := []*string{&p.write.New.Spec.Account}
	for i := range p.write.Attempts {
		if identity := &p.write.Attempts[i].Identity; identity.InfraID != "" || identity.CCOName != "" {
			of = append(of, &identity.Account)
		}
	}
	for _, recorded := range of {
		if *recorded = cmp.Or(*recorded, account); *recorded != account {
			return fmt.Errorf("%w: it was seen in the account %.80q, but its record tells of %.80q", ErrUnfit, account, *recorded)
		}
	}
	return nil
}
