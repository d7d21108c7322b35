package count

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/IBM/platform-services-go-sdk/resourcecontrollerv2"
	"github.com/IBM/platform-services-go-sdk/resourcemanagerv2"
)

// The services whose instances are looked for, as Resource Controller calls them.
const (
	serviceCIS = "75874a60-cb12-11e7-948e-37ac098eb1b9"
	serviceDNS = "b4ed8a30-936f-11e9-b289-1d079699cbe5"
)

const (
	kindGroup       = "resource-group"
	kindInstance    = "service-instance"
	kindReclamation = "reclamation"
)

// groupsOf lists the account's resource groups. The call has no pages.
func (c *Client) groupsOf(ctx context.Context, account string) ([]thing, error) {
	api, err := c.groups()
	if err != nil {
		return nil, err
	}
	list, response, err := api.ListResourceGroupsWithContext(ctx, &resourcemanagerv2.ListResourceGroupsOptions{AccountID: &account})
	switch {
	case err != nil:
		return nil, explained(response, err)
	case list == nil || list.Resources == nil:
		return nil, errNoList
	}
	var all []thing
	for _, g := range list.Resources {
		if text(g.State) == "DELETED" {
			continue
		}
		all = append(all, thing{
			kind: kindGroup, id: text(g.ID), name: text(g.Name),
			free: fmt.Sprintf("an administrator of the account: ibmcloud resource group-delete %s (after everything in it is gone, reclamations too)", text(g.Name)),
		})
	}
	return all, nil
}

// groupLeft queries the cluster's resource groups.
func (c *Client) groupLeft(account string, id identity) question {
	names := id.groupNames()
	return question{
		service: "resource-manager", call: "ListResourceGroups", region: global, asked: "name=" + strings.Join(names, ","),
		ask: func(ctx context.Context) ([]thing, error) {
			all, err := c.groupsOf(ctx, account)
			return slices.DeleteFunc(all, func(t thing) bool { return !slices.Contains(names, t.name) }), err
		},
	}
}

// instancesIn queries everything that Resource Controller knows in a resource group, resources of VPCs among it.
func (c *Client) instancesIn(group string) question {
	return c.instances("resource_group_id="+group, &resourcecontrollerv2.ListResourceInstancesOptions{ResourceGroupID: &group})
}

// instancesNamed queries the instances with one name in the whole account.
func (c *Client) instancesNamed(name string) question {
	return c.instances("name="+name, &resourcecontrollerv2.ListResourceInstancesOptions{Name: &name})
}

func (c *Client) instances(asked string, options *resourcecontrollerv2.ListResourceInstancesOptions) question {
	return question{
		service: "resource-controller", call: "ListResourceInstances", region: global, asked: asked,
		ask: func(ctx context.Context) ([]thing, error) {
			api, err := c.resources()
			if err != nil {
				return nil, err
			}
			options := *options
			options.Limit = hundred()
			p, err := api.NewResourceInstancesPager(&options)
			all, err := collect(ctx, p, err, instanceThing)
			return slices.DeleteFunc(all, func(t thing) bool { return t.kind == "" }), err
		},
	}
}

// instanceThing has no kind if the instance is gone for good: IBM lists it for a while.
func instanceThing(r resourcecontrollerv2.ResourceInstance) thing {
	t := thing{kind: kindInstance, id: texts(r.CRN, r.ID), name: text(r.Name), crn: texts(r.CRN, r.ID), group: text(r.ResourceGroupID)}
	if text(r.State) == resourcecontrollerv2.ListResourceInstancesOptionsStateRemovedConst {
		return thing{}
	}
	t.free = fmt.Sprintf("an administrator of the account: ibmcloud resource service-instance-delete %s --recursive", t.id)
	if of, ok := parseCRN(t.crn); ok && of.service == "is" {
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
	if code := statusOf(response, err); code == http.StatusNotFound || code == http.StatusGone {
		return thing{}, nil
	}
	if err != nil {
		return thing{}, explained(response, err)
	}
	if found == nil || found.ID == nil && found.CRN == nil {
		return thing{}, errNoList
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
				return nil, explained(response, err)
			case list == nil || list.Resources == nil:
				return nil, errNoList
			}
			var out []thing
			for _, r := range list.Resources {
				instance, err := c.getInstance(ctx, texts(r.EntityCRN, r.ResourceInstanceID, r.EntityID))
				ours := id.inGroup(thing{group: text(r.ResourceGroupID)})
				code := statusOf(nil, err)
				if err != nil && !ours && code != http.StatusForbidden && code != http.StatusUnauthorized {
					return nil, fmt.Errorf("look up the instance of reclamation %s: %w", text(r.ID), err)
				}
				if ours || slices.Contains(names, instance.name) {
					out = append(out, thing{
						kind: kindReclamation, id: text(r.ID), name: instance.name, crn: texts(r.EntityCRN, r.ResourceInstanceID),
						free: fmt.Sprintf("an administrator of the account: ibmcloud resource reclamation-delete %s", text(r.ID)),
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
			p, err := api.NewResourceKeysPager(&resourcecontrollerv2.ListResourceKeysOptions{Name: &name, Limit: hundred()})
			all, err := collect(ctx, p, err, func(k resourcecontrollerv2.ResourceKey) thing {
				if text(k.State) == "removed" {
					return thing{}
				}
				return thing{
					kind: "resource-key", id: texts(k.CRN, k.ID), name: text(k.Name), crn: text(k.SourceCRN),
					free: fmt.Sprintf("an administrator of the account: ibmcloud resource service-key-delete %s", texts(k.GUID, k.CRN, k.ID)),
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

// crn is the parts of a cloud resource name that tell what and where a resource is:
// crn:v1:bluemix:public:<service>:<region>:a/<account>:<instance>:<kind>:<id>
type crn struct{ service, region, instance, kind, id string }

func parseCRN(s string) (crn, bool) {
	parts := strings.SplitN(s, ":", 10)
	if len(parts) != 10 || parts[0] != "crn" {
		return crn{}, false
	}
	return crn{service: parts[4], region: parts[5], instance: parts[7], kind: parts[8], id: parts[9]}, true
}
