package kinds

import (
	"context"
	"net/http"

	"github.com/IBM/platform-services-go-sdk/resourcecontrollerv2"

	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
)

// InstanceStates are all states of an instance that exists. A list that is asked for no state has those that are active or being provisioned.
var InstanceStates = []*string{
	nil, new(resourcecontrollerv2.ListResourceInstancesOptionsStateFailedConst), new(resourcecontrollerv2.ListResourceInstancesOptionsStateInactiveConst),
	new(resourcecontrollerv2.ListResourceInstancesOptionsStatePreProvisioningConst),
}

// ListInstances gives instances of services in some states to take, page by page, without those that are gone for good: IBM lists them for a
// while.
func (a API) ListInstances(ctx context.Context, service string, options resourcecontrollerv2.ListResourceInstancesOptions, states []*string, take func([]resourcecontrollerv2.ResourceInstance) error) error {
	api, err := a.newController(service)
	if err != nil {
		return err
	}
	options.Limit = answer.Hundred()
	for _, state := range states {
		of := options
		of.State = state
		p, err := api.NewResourceInstancesPager(&of)
		err = answer.Pages(ctx, p, err, func(page []resourcecontrollerv2.ResourceInstance) error {
			var there []resourcecontrollerv2.ResourceInstance
			for _, r := range page {
				if !isRemoved(r) {
					there = append(there, r)
				}
			}
			return take(there)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ListInstancesOf returns the CRNs of the instances of a DNS service.
func (a API) ListInstancesOf(ctx context.Context, s DNS) (crns []string, err error) {
	err = a.ListInstances(ctx, s.Service, resourcecontrollerv2.ListResourceInstancesOptions{ResourceID: &s.ID}, []*string{nil}, func(page []resourcecontrollerv2.ResourceInstance) error {
		for _, r := range page {
			crns = append(crns, answer.Text(r.CRN, r.ID))
		}
		return nil
	})
	return crns, err
}

func isRemoved(r resourcecontrollerv2.ResourceInstance) bool {
	return answer.Text(r.State) == resourcecontrollerv2.ListResourceInstancesOptionsStateRemovedConst
}

// GetInstance returns one instance; nil if there is none or if it is gone for good.
func (a API) GetInstance(ctx context.Context, service, id string) (*resourcecontrollerv2.ResourceInstance, error) {
	api, err := a.newController(service)
	if err != nil {
		return nil, err
	}
	found, response, err := api.GetResourceInstanceWithContext(ctx, &resourcecontrollerv2.GetResourceInstanceOptions{ID: &id})
	switch code := answer.StatusOf(response, err); {
	case code == http.StatusNotFound, code == http.StatusGone:
		return nil, nil
	case err != nil:
		return nil, answer.Explain(response, err)
	case found == nil || found.ID == nil && found.CRN == nil:
		return nil, answer.ErrNoList
	case isRemoved(*found):
		return nil, nil
	}
	return found, nil
}

// ListReclamations returns what was deleted and can still be restored. The call has no pages.
func (a API) ListReclamations(ctx context.Context, account string) ([]resourcecontrollerv2.Reclamation, error) {
	api, err := a.newController(ServiceInstances)
	if err != nil {
		return nil, err
	}
	list, response, err := api.ListReclamationsWithContext(ctx, &resourcecontrollerv2.ListReclamationsOptions{AccountID: &account})
	switch {
	case err != nil:
		return nil, answer.Explain(response, err)
	case list == nil || list.Resources == nil:
		return nil, answer.ErrNoList
	}
	return list.Resources, nil
}

// ListKeys gives resource keys to take, page by page: those of one name, if it is set.
func (a API) ListKeys(ctx context.Context, name *string, take func([]resourcecontrollerv2.ResourceKey) error) error {
	api, err := a.newController(ServiceInstances)
	if err != nil {
		return err
	}
	p, err := api.NewResourceKeysPager(&resourcecontrollerv2.ListResourceKeysOptions{Name: name, Limit: answer.Hundred()})
	return answer.Pages(ctx, p, err, take)
}
