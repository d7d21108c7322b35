package ibmcloud

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/IBM/vpc-go-sdk/vpcv1"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

type place struct {
	Name   string `json:"name"`
	Status string `json:"status"`
}

func (c *Client) checkZones(ctx context.Context, region string, zones []string) ([]cloud.Problem, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	api, err := c.vpcIn(ctx, region)
	if err != nil {
		return nil, err
	}
	all, err := readAll[place](list{what: "zones of " + region, array: "zones", next: onePage, get: func(string) (any, *core.DetailedResponse, error) {
		return api.ListRegionZonesWithContext(ctx, &vpcv1.ListRegionZonesOptions{RegionName: &region})
	}})
	if err != nil {
		return nil, err
	}
	var offered []string
	for _, z := range all {
		if z.Status == vpcv1.ZoneStatusAvailableConst {
			offered = append(offered, z.Name)
		}
	}
	slices.Sort(offered)
	var problems []cloud.Problem
	for _, zone := range zones {
		if !slices.Contains(offered, zone) {
			problems = append(problems, cloud.Problem{
				Code: "ZoneNotOffered", Block: true, Whose: contract.WhoseUser, Message: fmt.Sprintf("zone %s is not available in %s to this account", zone, region),
				Next: "choose among " + strings.Join(offered, ", "),
			})
		}
	}
	return problems, nil
}

// profile is what an instance type has. IBM Cloud calls it an instance profile.
type profile struct {
	Name   string `json:"name"`
	VCPU   amount `json:"vcpu_count"`
	Memory amount `json:"memory"` // GiB
}

type amount struct {
	Value int `json:"value"`
}

// listProfiles lists the instance types of a region. IBM Cloud does not tell in which of its zones.
func (c *Client) listProfiles(ctx context.Context, region string) (map[string]profile, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	api, err := c.vpcIn(ctx, region)
	if err != nil {
		return nil, err
	}
	all, err := readAll[profile](list{what: "instance types of " + region, array: "profiles", next: onePage, get: func(string) (any, *core.DetailedResponse, error) {
		return api.ListInstanceProfilesWithContext(ctx, &vpcv1.ListInstanceProfilesOptions{})
	}})
	byName := map[string]profile{}
	for _, p := range all {
		byName[p.Name] = p
	}
	return byName, err
}

func (c *Client) checkTypes(ctx context.Context, region string, instanceTypes []string) ([]cloud.Problem, error) {
	offered, err := c.listProfiles(ctx, region)
	if err != nil {
		return nil, err
	}
	var problems []cloud.Problem
	for _, name := range instanceTypes {
		if _, there := offered[name]; !there {
			problems = append(problems, cloud.Problem{
				Code: "InstanceTypeNotOffered", Block: true, Whose: contract.WhoseUser, Message: fmt.Sprintf("instance type %s is not offered in %s", name, region),
				Next: "choose another instance type",
			})
		}
	}
	return problems, nil
}
