package ibmcloud

import (
	"context"
	"fmt"
	"slices"

	"github.com/IBM/vpc-go-sdk/vpcv1"
)

// regional is what there is of the cluster in one region.
type regional struct {
	region string
	ours   map[string][]object // by the name of the kind
}

// stages are the kinds in the order in which they can be deleted: each stage has to be over before the next one. Security groups and network
// ACLs in the cluster's VPC go with it.
var stages = [][]kind{
	{instances}, {loadBalancers, snapshots, endpointGateways}, {interfaces, volumes}, {subnets}, {publicGateways}, {floatingIPs, securityGroups, images, sshKeys}, {vpcs},
}

// lookAtRegions lists everything of the cluster in its regions. VPCs and subnets come first: what is in them is the cluster's.
func (s *removal) lookAtRegions(ctx context.Context, regions []string) (all []regional) {
	s.hostsSeen = true
	for _, region := range regions {
		r := regional{region, map[string][]object{}}
		for _, k := range slices.Backward(kinds) {
			found, err := s.objectsIn(ctx, region, k)
			s.AddError("remove", err)
			if err != nil && k.name == loadBalancers.name {
				s.hostsSeen = false
			}
			for _, obj := range found {
				switch {
				case s.owner.isOwn(obj):
					s.own[trimDot(obj.Hostname)] = true
					r.ours[k.name] = append(r.ours[k.name], obj)
				case k.name == loadBalancers.name:
					s.hosts[trimDot(obj.Hostname)] = true
				}
			}
			for _, obj := range r.ours[k.name] {
				s.owner.noteObject(obj)
			}
		}
		all = append(all, r)
	}
	return all
}

// removeObjects deletes everything of the cluster in its regions, stage by stage.
func (s *removal) removeObjects(ctx context.Context, found []regional) {
	for _, r := range found {
		api, err := s.vpcIn(ctx, r.region)
		if err != nil {
			s.AddError("remove in "+r.region, err)
			continue
		}
		for _, stage := range stages {
			for _, k := range stage {
				for _, obj := range r.ours[k.name] {
					s.removeObject(ctx, api, obj)
				}
			}
			s.awaitStage(ctx, r, stage)
		}
	}
}

// removeObject deletes one object, unless it goes with another one or is going.
func (s *removal) removeObject(ctx context.Context, api *vpcv1.VpcV1, obj object) {
	switch {
	case obj.isGoing():
		return
	case obj.kind.name == securityGroups.name && s.owner.vpcs[obj.VPC.ID]:
		return
	case obj.kind.name == floatingIPs.name && obj.Target.Type == "public_gateway":
		return // it went with the gateway, or cannot go before it
	}
	if !s.isMine(ctx, obj.ID, obj.String(), obj.CRN) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	s.NoteDeletion(obj.ID, obj.String(), explainRefusal(obj.kind.remove(ctx, api, obj.ID)))
}

// awaitStage waits until the objects of a stage are gone: IBM Cloud deletes after it answered. What it refused to delete is not waited
// for.
func (s *removal) awaitStage(ctx context.Context, r regional, stage []kind) {
	ctx, cancel := context.WithTimeout(ctx, s.pace.settle)
	defer cancel()
	for _, k := range stage {
		looks := s.newLooks()
		for len(r.ours[k.name]) > 0 {
			left, err := s.objectsIn(ctx, r.region, k)
			if err != nil {
				s.AddError("look whether the "+k.name+"s are gone", err)
				break
			}
			waiting := 0
			for _, obj := range left {
				mine := slices.ContainsFunc(r.ours[k.name], func(o object) bool { return o.ID == obj.ID })
				if mine && (obj.isGoing() || slices.Contains(s.Deleted, obj.String())) {
					waiting++
				}
			}
			if waiting == 0 {
				break
			}
			if !looks.waitForNext(ctx) {
				s.Errs = append(s.Errs, fmt.Errorf("%d %ss of %s are still being deleted", waiting, k.name, r.region))
				break
			}
		}
	}
}
