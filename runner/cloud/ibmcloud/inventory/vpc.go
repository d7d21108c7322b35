package inventory

import (
	"cmp"
	"context"
	"slices"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/kinds"
)

// vpcs are the CRNs of a region's VPCs; true: it is reported.
type vpcs map[string]bool

// vpcsIn lists a region's VPCs once.
func (l *listing) vpcsIn(ctx context.Context, region string) (vpcs, error) {
	l.mu.Lock()
	of := l.vpcs[region]
	if of == nil {
		of = &once[vpcs]{}
		l.vpcs[region] = of
	}
	l.mu.Unlock()
	return of.getOnce(func() (vpcs, error) {
		api, err := l.api.VPC(region)
		if err != nil {
			return nil, err
		}
		kind, _ := kinds.FindVPC(kinds.NounVPC)
		found := vpcs{}
		return found, kind.List(ctx, api, func(page []kinds.Resource) error {
			for _, r := range page {
				t := vpcThing(kind, region, r, nil)
				found[t.ID] = l.judgeThing(&t)
			}
			return nil
		})
	})
}

// vpcThing converts what a region lists. subnets has the CRNs of VPCs by id of the subnet.
func vpcThing(kind kinds.VPC, region string, r kinds.Resource, subnets map[string]string) thing {
	t := thing{taggable: true, group: r.Group, SeenResource: contract.SeenResource{
		ID: cmp.Or(r.CRN, r.ID), Type: kind.Noun, Name: r.Name, Region: region, MadeAt: r.MadeAt, Tags: tagsOf(r.Tags), Detail: r.Detail, Stopped: r.Stopped,
	}}
	if r.VPCCRN != "" {
		t.in = append(t.in, r.VPCCRN)
	}
	for _, s := range r.Subnets {
		t.in = append(t.in, subnets[s])
	}
	t.in = append(t.in, r.In...)
	return t
}

// listVPC lists everything of one region. What others are in comes first.
func (l *listing) listVPC() {
	api, err := l.api.VPC(l.region)
	if err != nil {
		l.runList("VPC", func(context.Context) error { return err })
		return
	}
	subnets := map[string]string{}
	list := func(kind kinds.VPC) {
		l.runList(kind.Call, func(ctx context.Context) error {
			return kind.List(ctx, api, func(page []kinds.Resource) error {
				var all []thing
				for _, r := range page {
					if kind.Noun == kinds.NounSubnet {
						subnets[r.ID] = r.VPCCRN
					}
					all = append(all, vpcThing(kind, l.region, r, subnets))
				}
				return l.reportPage(all)
			})
		})
	}
	for _, kind := range slices.Backward(kinds.AllVPC) {
		if kind.Holds {
			list(kind)
		}
	}
	for _, kind := range kinds.AllVPC {
		if !kind.Holds {
			list(kind)
		}
	}
}
