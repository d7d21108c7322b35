package count

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/IBM/platform-services-go-sdk/resourcecontrollerv2"

	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/kinds"
)

const (
	kindInstance    = "service-instance"
	kindReclamation = "reclamation"
)

// instancesIn queries everything that Resource Controller knows in a resource group, resources of VPCs among it.
func (c *Client) instancesIn(group string) question {
	return c.askInstances("resource_group_id="+group, resourcecontrollerv2.ListResourceInstancesOptions{ResourceGroupID: &group})
}

// instancesNamed queries the instances with one name in the whole account.
func (c *Client) instancesNamed(name string) question {
	return c.askInstances("name="+name, resourcecontrollerv2.ListResourceInstancesOptions{Name: &name})
}

func (c *Client) askInstances(asked string, options resourcecontrollerv2.ListResourceInstancesOptions) question {
	return question{
		service: "resource-controller", call: "ListResourceInstances", region: global, asked: asked,
		ask: func(ctx context.Context) (all []thing, err error) {
			err = c.api.ListInstances(ctx, kinds.ServiceInstances, options, kinds.InstanceStates, func(page []resourcecontrollerv2.ResourceInstance) error {
				for _, r := range page {
					all = append(all, instanceThing(r))
				}
				return nil
			})
			return all, err
		},
	}
}

func instanceThing(r resourcecontrollerv2.ResourceInstance) thing {
	t := thing{kind: kindInstance, id: answer.Text(r.CRN, r.ID), name: answer.Text(r.Name), crn: answer.Text(r.CRN, r.ID), group: answer.Text(r.ResourceGroupID)}
	t.free, t.command = administrator, fmt.Sprintf("ibmcloud resource service-instance-delete %s --recursive", t.id)
	if of, ok := answer.ParseCRN(t.crn); ok && of.Service == "is" {
		t.remark = "a resource of a VPC: if the VPC does not list it any more, Resource Controller forgets it later"
	}
	return t
}

// getInstance returns one instance, and no kind if there is none or if it is gone for good.
func (c *Client) getInstance(ctx context.Context, id string) (thing, error) {
	found, err := c.api.GetInstance(ctx, kinds.ServiceInstances, id)
	if err != nil || found == nil {
		return thing{}, err
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

// isUnreadable reports that the service will not show one instance to these credentials, which is then not one that we made. An entry of somebody
// else that is no longer valid is answered with 400 or 422.
func isUnreadable(err error) bool {
	return slices.Contains([]int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity}, answer.StatusOf(nil, err))
}

// askReclamations queries what was deleted and can still be restored: it keeps a resource group from being deleted. Those outside the
// cluster's groups are the cluster's if their instance has one of its names. An instance that we may not read is not one that we made.
func (c *Client) askReclamations(account string, id identity, names []string) question {
	return question{
		service: "resource-controller", call: "ListReclamations", region: global, asked: "account_id=" + account + "; resource group, or name=" + strings.Join(names, ","),
		ask: func(ctx context.Context) ([]thing, error) {
			list, err := c.api.ListReclamations(ctx, account)
			if err != nil {
				return nil, err
			}
			var out []thing
			for _, r := range list {
				instance, err := c.getInstance(ctx, answer.Text(r.EntityCRN, r.ResourceInstanceID, r.EntityID))
				ours := id.inGroup(thing{group: answer.Text(r.ResourceGroupID)})
				if err != nil && !ours && !isUnreadable(err) {
					return nil, fmt.Errorf("look up the instance of reclamation %s: %w", answer.Text(r.ID), err)
				}
				if ours || slices.Contains(names, instance.name) {
					out = append(out, thing{
						kind: kindReclamation, id: answer.Text(r.ID), name: instance.name, crn: answer.Text(r.EntityCRN, r.ResourceInstanceID),
						free: administrator, command: "ibmcloud resource reclamation-delete " + answer.Text(r.ID),
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
		ask: func(ctx context.Context) (all []thing, err error) {
			err = c.api.ListKeys(ctx, &name, func(page []resourcecontrollerv2.ResourceKey) error {
				for _, k := range page {
					if answer.Text(k.State) != "removed" {
						all = append(all, thing{
							kind: "resource-key", id: answer.Text(k.CRN, k.ID), name: answer.Text(k.Name), crn: answer.Text(k.SourceCRN),
							free: administrator, command: "ibmcloud resource service-key-delete " + answer.Text(k.GUID, k.CRN, k.ID),
						})
					}
				}
				return nil
			})
			return all, err
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
