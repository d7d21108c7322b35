package hypershift

import (
	"context"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes/api"
	hub "github.com/ocpctl/ocpctl/runner/cloud/kubernetes/kinds"
	"github.com/ocpctl/ocpctl/runner/provision/objects"
)

// End implements runner.Hosted. Node pools go with their hosted cluster; those that have none are deleted by themselves.
func (p *Provisioner) End(ctx context.Context, t cloud.Target) (left []string, err error) {
	for _, id := range t.Identities {
		for _, resource := range []string{clusters, pools} {
			if id.InfraID == "" || resource == pools && len(left) > 0 {
				continue
			}
			more, err := p.endAll(ctx, id.InfraID, resource, t)
			if left = append(left, more...); err != nil {
				return left, err
			}
		}
	}
	return left, nil
}

// endAll deletes the objects of a kind in a namespace that have the cluster's label, and says what is still there.
func (p *Provisioner) endAll(ctx context.Context, namespace, resource string, t cloud.Target) (left []string, err error) {
	path := objects.PathIn(namespace, version, resource)
	all, err := api.ListServed[hub.Object](ctx, p.API, path, group)
	if err != nil {
		return nil, objects.Wrap(err, "list "+resource)
	}
	for _, one := range all {
		if one.Metadata.Labels[hub.ClusterLabel] != t.Cluster {
			continue
		}
		what := fmt.Sprintf("%s %s/%s", resource, namespace, one.Metadata.Name)
		if holders := one.Holders(); holders != "" {
			what += ": " + holders
		}
		left = append(left, what)
		if one.Metadata.DeletionTimestamp != nil {
			continue
		}
		err := objects.Enter(ctx, p.Hub, namespace, role)
		if err == nil {
			err = objects.OnceAllowed(ctx, func() error { return p.API.Delete(ctx, path+"/"+one.Metadata.Name, one.Metadata.UID) })
		}
		if err != nil && !api.IsAbsent(err) {
			return left, objects.Wrap(err, "delete "+what)
		}
	}
	return left, nil
}

// Remove implements runner.Cloud. The namespace goes last: its operator can do nothing in one that is being deleted.
func (p *Provisioner) Remove(ctx context.Context, t cloud.Target) ([]string, error) {
	left, err := p.End(ctx, t)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("the namespace stays until the operator has removed %s", strings.Join(left, "; "))
	}
	if err != nil {
		return nil, err
	}
	return p.Hub.Remove(ctx, t)
}

// Verify implements runner.Cloud.
func (p *Provisioner) Verify(ctx context.Context, t cloud.Target) contract.Pass {
	return p.VerifyHosted(ctx, t)
}
