package ibmcloud

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/IBM/platform-services-go-sdk/resourcecontrollerv2"
	"github.com/IBM/platform-services-go-sdk/resourcemanagerv2"
)

// The ids of services in the catalog (openshift/installer pkg/asset/installconfig/ibmcloud/client.go).
const (
	storageService = "dff97f5c-bc5e-4455-b470-411c3edbe49c" // Cloud Object Storage
	cisService     = "75874a60-cb12-11e7-948e-37ac098eb1b9" // Internet Services
	dnsService     = "b4ed8a30-936f-11e9-b289-1d079699cbe5" // DNS Services
)

// resource is an instance of a service as the resource controller lists it, which lists objects of the VPC service too.
type resource struct {
	ID      string `json:"id"`
	GUID    string `json:"guid"`
	CRN     string `json:"crn"`
	Name    string `json:"name"`
	Group   string `json:"resource_group_id"`
	Service string `json:"resource_id"`
	State   string `json:"state"`

	Created time.Time `json:"created_at"`
}

// The states of a resource that was deleted: of the first, its content is kept for a week and can be restored.
const (
	reclaimable = "pending_reclamation"
	removed     = "removed"

	reclaiming = "RECLAIMING" // the state of a reclamation that runs
)

// living are the states of a resource that is not deleted: a list that is asked for no state has those that are active or being provisioned.
// What waits for its reclamation has a list of its own.
var living = []*string{nil, new("failed"), new("inactive"), new("pre_provisioning")}

// listResources lists those in one state or, if the filter names none, all that are not deleted.
func (c *Client) listResources(ctx context.Context, what string, filter resourcecontrollerv2.ListResourceInstancesOptions) (all []resource, err error) {
	if filter.State != nil {
		return c.resourcesInState(ctx, what, filter)
	}
	for _, filter.State = range living {
		some, err := c.resourcesInState(ctx, what, filter)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

func (c *Client) resourcesInState(ctx context.Context, what string, filter resourcecontrollerv2.ListResourceInstancesOptions) ([]resource, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return readAll[resource](list{what: what, array: "resources", next: startsAfter, get: func(cursor string) (any, *core.DetailedResponse, error) {
		filter.Start, filter.Limit = optionalCursor(cursor), full
		return c.controller.ListResourceInstancesWithContext(ctx, &filter)
	}})
}

func (c *Client) resourcesIn(ctx context.Context, group string) ([]resource, error) {
	return c.listResources(ctx, "resources of resource group "+group, resourcecontrollerv2.ListResourceInstancesOptions{ResourceGroupID: &group})
}

type reclamation struct {
	ID       string `json:"id"`
	CRN      string `json:"entity_crn"`
	Instance string `json:"resource_instance_id"`
	Group    string `json:"resource_group_id"`
	State    string `json:"state"` // SCHEDULED, RECLAIMING
}

// listReclamations lists the account's; the list has one page.
func (c *Client) listReclamations(ctx context.Context, account string) ([]reclamation, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return readAll[reclamation](list{what: "reclamations", array: "resources", next: onePage, get: func(string) (any, *core.DetailedResponse, error) {
		return c.controller.ListReclamationsWithContext(ctx, &resourcecontrollerv2.ListReclamationsOptions{AccountID: &account})
	}})
}

type group struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	State   string `json:"state"`
	Default bool   `json:"default"`

	Created time.Time `json:"created_at"`
}

// groupsCalled lists the resource groups with exactly this name: none, or one, because names are unique in an account.
func (c *Client) groupsCalled(ctx context.Context, account, name string) ([]group, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	all, err := readAll[group](list{what: "resource groups called " + name, array: "resources", next: onePage, get: func(string) (any, *core.DetailedResponse, error) {
		return c.manager.ListResourceGroupsWithContext(ctx, &resourcemanagerv2.ListResourceGroupsOptions{AccountID: &account, Name: &name})
	}})
	var exact []group
	for _, g := range all {
		if g.Name == name && g.State != "DELETED" {
			exact = append(exact, g)
		}
	}
	return exact, err
}

// findGroups notes which of the cluster's resource groups exist: those that were prepared, and one that the installer made because it was told none.
// Nothing is the cluster's because it is in an older one.
func (c *Client) findGroups(ctx context.Context, account string, o *owner) error {
	for _, name := range slices.Concat(o.ccoNames, o.infraIDs) {
		found, err := c.groupsCalled(ctx, account, name)
		if err != nil {
			return err
		}
		for _, g := range found {
			if g.Default {
				return fmt.Errorf("resource group %s is the account's default one: it cannot be a cluster's", name)
			}
			if !o.isOlder("resource group "+g.Name, g.Created) {
				o.groups[g.ID] = g.Name
			}
		}
	}
	return nil
}

func onePage(any, string, int) (string, error) { return "", nil }
