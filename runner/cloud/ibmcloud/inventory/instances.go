package inventory

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/IBM/platform-services-go-sdk/resourcecontrollerv2"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
)

// The services whose instances are looked for, as Resource Controller calls them.
const (
	serviceCIS = "75874a60-cb12-11e7-948e-37ac098eb1b9"
	serviceDNS = "b4ed8a30-936f-11e9-b289-1d079699cbe5"
)

// instanceStates are all states of an instance that is not deleted. A list that is asked for no state has those that are active or being
// provisioned.
var instanceStates = []*string{
	nil, new(resourcecontrollerv2.ListResourceInstancesOptionsStateFailedConst), new(resourcecontrollerv2.ListResourceInstancesOptionsStateInactiveConst),
	new(resourcecontrollerv2.ListResourceInstancesOptionsStatePreProvisioningConst),
}

// listInstances lists instances of services, what can still be reclaimed of them, and their keys.
func (l *listing) listInstances() {
	l.run("ListResourceInstances", func(ctx context.Context) error {
		for _, state := range instanceStates {
			options := &resourcecontrollerv2.ListResourceInstancesOptions{State: state}
			if err := l.eachInstance(ctx, partInstances, options, func(r resourcecontrollerv2.ResourceInstance) error {
				t := instanceThing(r)
				if of, ok := answer.ParseCRN(t.ID); ok && of.Service == "is" { // those are listed in their regions
					return nil
				}
				return l.report([]thing{t})
			}); err != nil {
				return err
			}
		}
		return nil
	})
	l.run("ListReclamations", l.reclamations)
	l.run("ListResourceKeys", l.keys)
}

// eachInstance visits those that are not gone for good.
func (c *Client) eachInstance(ctx context.Context, part string, options *resourcecontrollerv2.ListResourceInstancesOptions, visit func(resourcecontrollerv2.ResourceInstance) error) error {
	api, err := c.controller(part)
	if err != nil {
		return err
	}
	options.Limit = answer.Hundred()
	p, err := api.NewResourceInstancesPager(options)
	return answer.Pages(ctx, p, err, func(page []resourcecontrollerv2.ResourceInstance) error {
		for _, r := range page {
			if answer.Text(r.State) == resourcecontrollerv2.ListResourceInstancesOptionsStateRemovedConst {
				continue
			}
			if err := visit(r); err != nil {
				return err
			}
		}
		return nil
	})
}

func instanceThing(r resourcecontrollerv2.ResourceInstance) thing {
	lives := answer.Text(r.State) != resourcecontrollerv2.ListResourceInstancesOptionsStatePendingReclamationConst
	return thing{group: answer.Text(r.ResourceGroupID), taggable: lives, SeenResource: contract.SeenResource{
		ID: answer.Text(r.CRN, r.ID), Type: "service-instance", Name: answer.Text(r.Name), MadeAt: made(r.CreatedAt),
	}}
}

// instance gets one instance; nil if it does not exist or is gone for good, and nil without being gone if it may not be read.
func (c *Client) instance(ctx context.Context, part, id string) (found *resourcecontrollerv2.ResourceInstance, gone bool, err error) {
	api, err := c.controller(part)
	if err != nil {
		return nil, false, err
	}
	found, response, err := api.GetResourceInstanceWithContext(ctx, &resourcecontrollerv2.GetResourceInstanceOptions{ID: &id})
	switch code := answer.StatusOf(response, err); {
	case code == http.StatusForbidden:
		return nil, false, nil
	case code == http.StatusNotFound, code == http.StatusGone:
		return nil, true, nil
	case err != nil:
		return nil, false, answer.Explain(response, err)
	case found == nil || found.ID == nil && found.CRN == nil:
		return nil, false, answer.ErrNoList
	case answer.Text(found.State) == resourcecontrollerv2.ListResourceInstancesOptionsStateRemovedConst:
		return nil, true, nil
	}
	return found, false, nil
}

// reclamations have the name and the tags of their instance, which no list shows any more. The call has no pages.
func (l *listing) reclamations(ctx context.Context) error {
	api, err := l.controller(partInstances)
	if err != nil {
		return err
	}
	list, response, err := api.ListReclamationsWithContext(ctx, &resourcecontrollerv2.ListReclamationsOptions{AccountID: &l.account})
	switch {
	case err != nil:
		return answer.Explain(response, err)
	case list == nil || list.Resources == nil:
		return answer.ErrNoList
	}
	for _, r := range list.Resources {
		t := thing{group: answer.Text(r.ResourceGroupID), SeenResource: contract.SeenResource{
			ID: "reclamation/" + answer.Text(r.ID), Type: "reclamation", MadeAt: made(r.CreatedAt), Tags: l.index.tags[answer.Text(r.EntityCRN)],
		}}
		instance, _, err := l.instance(ctx, partInstances, answer.Text(r.EntityCRN, r.ResourceInstanceID, r.EntityID))
		if err != nil {
			return err
		}
		if instance != nil {
			t.Name = answer.Text(instance.Name)
		}
		if err := l.report([]thing{t}); err != nil {
			return err
		}
	}
	return nil
}

func (l *listing) keys(ctx context.Context) error {
	api, err := l.controller(partInstances)
	if err != nil {
		return err
	}
	p, err := api.NewResourceKeysPager(&resourcecontrollerv2.ListResourceKeysOptions{Limit: answer.Hundred()})
	return answer.Pages(ctx, p, err, func(page []resourcecontrollerv2.ResourceKey) error {
		var found []thing
		for _, k := range page {
			found = append(found, thing{in: []string{answer.Text(k.SourceCRN)}, SeenResource: contract.SeenResource{
				ID: answer.Text(k.CRN, k.ID), Type: "resource-key", Name: answer.Text(k.Name), MadeAt: made(k.CreatedAt),
			}})
		}
		return l.report(found)
	})
}

// made is a time of creation of the SDKs; zero if IBM told none.
func made[T fmt.Stringer](at *T) time.Time {
	if at == nil {
		return time.Time{}
	}
	return timeOf((*at).String())
}

func timeOf(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}
