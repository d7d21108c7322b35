package count

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/IBM/platform-services-go-sdk/resourcecontrollerv2"

	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
)

// The services whose instances are looked for, as Resource Controller calls them.
const (
	serviceCIS = "75874a60-cb12-11e7-948e-37ac098eb1b9"
	serviceDNS = "b4ed8a30-936f-11e9-b289-1d079699cbe5"
)

const (
	kindInstance    = "service-instance"
	kindReclamation = "reclamation"
)

// instancesIn queries everything that Resource Controller knows in a resource group, resources of VPCs among it.
func (c *Client) instancesIn(group string) question {
	return c.instances("resource_group_id="+group, &resourcecontrollerv2.ListResourceInstancesOptions{ResourceGroupID: &group}, states...)
}

// instancesNamed queries the instances with one name in the whole account.
func (c *Client) instancesNamed(name string) question {
	return c.instances("name="+name, &resourcecontrollerv2.ListResourceInstancesOptions{Name: &name}, states...)
}

// states are those of an instance that exists. A list that is asked for no state has those that are active or being provisioned.
var states = []*string{
	nil, new(resourcecontrollerv2.ListResourceInstancesOptionsStateFailedConst), new(resourcecontrollerv2.ListResourceInstancesOptionsStateInactiveConst),
	new(resourcecontrollerv2.ListResourceInstancesOptionsStatePreProvisioningConst),
}

func (c *Client) instances(asked string, options *resourcecontrollerv2.ListResourceInstancesOptions, in ...*string) question {
	return question{
		service: "resource-controller", call: "ListResourceInstances", region: global, asked: asked,
		ask: func(ctx context.Context) ([]thing, error) {
			api, err := c.resources()
			if err != nil {
				return nil, err
			}
			var all []thing
			for _, state := range in {
				options := *options
				options.Limit, options.State = answer.Hundred(), state
				p, err := api.NewResourceInstancesPager(&options)
				some, err := collect(ctx, p, err, instanceThing)
				if err != nil {
					return nil, err
				}
				all = append(all, some...)
			}
			return slices.DeleteFunc(all, func(t thing) bool { return t.kind == "" }), nil
		},
	}
}

// instanceThing has no kind if the instance is gone for good: IBM lists it for a while.
func instanceThing(r resourcecontrollerv2.ResourceInstance) thing {
	t := thing{kind: kindInstance, id: answer.Text(r.CRN, r.ID), name: answer.Text(r.Name), crn: answer.Text(r.CRN, r.ID), group: answer.Text(r.ResourceGroupID)}
	if answer.Text(r.State) == resourcecontrollerv2.ListResourceInstancesOptionsStateRemovedConst {
		return thing{}
	}
	t.free = fmt.Sprintf("an administrator of the account: ibmcloud resource service-instance-delete %s --recursive", t.id)
	if of, ok := answer.ParseCRN(t.crn); ok && of.Service == "is" {
		t.free += " (a resource of a VPC: if the VPC does not list it any more, Resource Controller forgets it later)"
	}
	return t
}

// getInstance returns one instance, and no kind if there is none or if it is gone for good.
func (c *Client) getInstance(ctx context.Context, id string) (thing, error) {
	api, err := c.resources()
	if err != nil {
		return thing{}, err
	}
	found, response, err := api.GetResourceInstanceWithContext(ctx, &resourcecontrollerv2.GetResourceInstanceOptions{ID: &id})
	if code := answer.StatusOf(response, err); code == http.StatusNotFound || code == http.StatusGone {
		return thing{}, nil
	}
	if err != nil {
		return thing{}, answer.Explain(response, err)
	}
	if found == nil || found.ID == nil && found.CRN == nil {
		return thing{}, answer.ErrNoList
	}
	return instanceThing(*found), nil
}

// confirmInstance is the query that proves whether an instance that an index names still exists.
func (c *Client) confirmInstance(crn string) question {
	return question{
		service: "resource-controller", call: "GetResourceInstance", region: global, asked: "id=" + crn,
		ask: func(ctx context.Context) ([]thing, error) {
			found, err := c.getInstance(ctx, crn)
			if err != nil || found.kind == "" {
				return nil, err
			}
			return []thing{found}, nil
		},
	}
}

// reclamations queries what was deleted and can still be restored: it keeps a resource group from being deleted. Those outside the
// cluster's groups are the cluster's if their instance has one of its names. An instance that we may not read is not one that we made.
func (c *Client) reclamations(account string, id identity, names []string) question {
	return question{
		service: "resource-controller", call: "ListReclamations", region: global, asked: "account_id=" + account + "; resource group, or name=" + strings.Join(names, ","),
		ask: func(ctx context.Context) ([]thing, error) {
			api, err := c.resources()
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
			var out []thing
			for _, r := range list.Resources {
				instance, err := c.getInstance(ctx, answer.Text(r.EntityCRN, r.ResourceInstanceID, r.EntityID))
				ours := id.inGroup(thing{group: answer.Text(r.ResourceGroupID)})
				code := answer.StatusOf(nil, err)
				if err != nil && !ours && code != http.StatusForbidden && code != http.StatusUnauthorized {
					return nil, fmt.Errorf("look up the instance of reclamation %s: %w", answer.Text(r.ID), err)
				}
				if ours || slices.Contains(names, instance.name) {
					out = append(out, thing{
						kind: kindReclamation, id: answer.Text(r.ID), name: instance.name, crn: answer.Text(r.EntityCRN, r.ResourceInstanceID),
						free: fmt.Sprintf("an administrator of the account: ibmcloud resource reclamation-delete %s", answer.Text(r.ID)),
					})
				}
			}
			return out, nil
		},
	}
}

// keysNamed queries resource keys by name: the image registry's operator makes one, and IBM makes a service ID for it.
func (c *Client) keysNamed(name string) question {
	return question{
		service: "resource-controller", call: "ListResourceKeys", region: global, asked: "name=" + name,
		ask: func(ctx context.Context) ([]thing, error) {
			api, err := c.resources()
			if err != nil {
				return nil, err
			}
			p, err := api.NewResourceKeysPager(&resourcecontrollerv2.ListResourceKeysOptions{Name: &name, Limit: answer.Hundred()})
			all, err := collect(ctx, p, err, func(k resourcecontrollerv2.ResourceKey) thing {
				if answer.Text(k.State) == "removed" {
					return thing{}
				}
				return thing{
					kind: "resource-key", id: answer.Text(k.CRN, k.ID), name: answer.Text(k.Name), crn: answer.Text(k.SourceCRN),
					free: fmt.Sprintf("an administrator of the account: ibmcloud resource service-key-delete %s", answer.Text(k.GUID, k.CRN, k.ID)),
				}
			})
			return slices.DeleteFunc(all, func(t thing) bool { return t.kind == "" }), err
		},
	}
}

// instanceNames are the names of the service instances that the installer and the image registry's operator make.
func (id identity) instanceNames() (names []string) {
	for _, infraID := range id.infraIDs {
		names = append(names, infraID+"-cos", infraID+"-image-registry")
	}
	return names
}
