package inventory

import (
	"context"
	"net/http"

	"github.com/IBM/platform-services-go-sdk/resourcecontrollerv2"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/kinds"
)

// listInstances lists instances of services, what can still be reclaimed of them, and their keys.
func (l *listing) listInstances() {
	l.runList("ListResourceInstances", func(ctx context.Context) error {
		return l.api.ListInstances(ctx, kinds.ServiceInstances, resourcecontrollerv2.ListResourceInstancesOptions{}, kinds.InstanceStates, func(page []resourcecontrollerv2.ResourceInstance) error {
			var found []thing
			for _, r := range page {
				t := instanceThing(r)
				if of, ok := answer.ParseCRN(t.ID); !ok || of.Service != "is" { // those are listed in their regions
					found = append(found, t)
				}
			}
			return l.reportPage(found)
		})
	})
	l.runList("ListReclamations", l.listReclamations)
	l.runList("ListResourceKeys", l.listKeys)
}

func instanceThing(r resourcecontrollerv2.ResourceInstance) thing {
	lives := answer.Text(r.State) != resourcecontrollerv2.ListResourceInstancesOptionsStatePendingReclamationConst
	return thing{group: answer.Text(r.ResourceGroupID), taggable: lives, SeenResource: contract.SeenResource{
		ID: answer.Text(r.CRN, r.ID), Type: "service-instance", Name: answer.Text(r.Name), MadeAt: kinds.MadeAt(r.CreatedAt),
	}}
}

// getInstance gets one instance; nil if it does not exist or is gone for good, and nil without being gone if it may not be read.
func (c *Client) getInstance(ctx context.Context, service, id string) (found *resourcecontrollerv2.ResourceInstance, gone bool, err error) {
	found, err = c.api.GetInstance(ctx, service, id)
	if answer.StatusOf(nil, err) == http.StatusForbidden {
		return nil, false, nil
	}
	return found, err == nil && found == nil, err
}

// listReclamations have the name and the tags of their instance, which no list shows any more.
func (l *listing) listReclamations(ctx context.Context) error {
	list, err := l.api.ListReclamations(ctx, l.account)
	if err != nil {
		return err
	}
	for _, r := range list {
		t := thing{group: answer.Text(r.ResourceGroupID), SeenResource: contract.SeenResource{
			ID: "reclamation/" + answer.Text(r.ID), Type: "reclamation", MadeAt: kinds.MadeAt(r.CreatedAt), Tags: l.index.tags[answer.Text(r.EntityCRN)],
		}}
		instance, _, err := l.getInstance(ctx, kinds.ServiceInstances, answer.Text(r.EntityCRN, r.ResourceInstanceID, r.EntityID))
		if err != nil {
			return err
		}
		if instance != nil {
			t.Name = answer.Text(instance.Name)
		}
		if err := l.reportPage([]thing{t}); err != nil {
			return err
		}
	}
	return nil
}

func (l *listing) listKeys(ctx context.Context) error {
	return l.api.ListKeys(ctx, nil, func(page []resourcecontrollerv2.ResourceKey) error {
		var found []thing
		for _, k := range page {
			found = append(found, thing{in: []string{answer.Text(k.SourceCRN)}, SeenResource: contract.SeenResource{
				ID: answer.Text(k.CRN, k.ID), Type: "resource-key", Name: answer.Text(k.Name), MadeAt: kinds.MadeAt(k.CreatedAt),
			}})
		}
		return l.reportPage(found)
	})
}
