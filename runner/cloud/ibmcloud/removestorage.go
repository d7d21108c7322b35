package ibmcloud

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/IBM/platform-services-go-sdk/resourcecontrollerv2"

	"github.com/ocpctl/ocpctl/runner/cloud"
)

// storageNames are what the installer and the image registry call their instances of Cloud Object Storage.
func (o *owner) storageNames() (names []string) {
	for _, infraID := range o.infraIDs {
		names = append(names, infraID+"-cos", infraID+"-image-registry")
	}
	return names
}

// isStorage reports that an instance of Cloud Object Storage is the cluster's.
func (o *owner) isStorage(r resource) bool {
	named := o.groups[r.Group] != "" || slices.Contains(o.storageNames(), r.Name)
	return r.Service == storageService && named && (r.State == removed || !o.isOlder(r.CRN, r.Created))
}

// findStorage lists the cluster's storage, and its reclamations. It must come before anything of it is deleted: the instance's GUID is the
// only way to its authorizations, and nobody tells it later.
func (s *removal) findStorage(ctx context.Context) {
	add := func(r resource) {
		if s.owner.isStorage(r) && !slices.ContainsFunc(s.storage, func(other resource) bool { return other.GUID == r.GUID }) {
			s.storage = append(s.storage, r)
		}
	}
	service := storageService
	for _, name := range s.owner.storageNames() {
		found, err := s.listResources(ctx, "storage called "+name, resourcecontrollerv2.ListResourceInstancesOptions{Name: &name, ResourceID: &service})
		s.AddError("remove", err)
		for _, r := range found {
			add(r)
		}
	}
	for id := range s.owner.groups {
		found, err := s.resourcesIn(ctx, id)
		s.AddError("remove", err)
		for _, r := range found {
			add(r)
		}
	}
	all, err := s.listReclamations(ctx, s.account)
	s.AddError("remove", err)
	for _, each := range all {
		r, err := s.getInstance(ctx, each.CRN)
		if s.owner.groups[each.Group] != "" || !isUnreadable(err) {
			s.AddError("look up what reclamation "+each.ID+" is of", err)
		}
		add(r)
		if s.isReclaimable(each) && each.State != reclaiming {
			s.owner.isOlder(each.CRN, r.Created)
		}
	}
}

// getInstance returns an instance of a service, a deleted one too, by its CRN or GUID.
func (c *Client) getInstance(ctx context.Context, id string) (resource, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	found, err := resultOrRefusal(c.controller.GetResourceInstanceWithContext(ctx, &resourcecontrollerv2.GetResourceInstanceOptions{ID: &id}))
	if err != nil {
		return resource{}, err
	}
	return resource{
		ID: zeroOrValue(found.ID), GUID: zeroOrValue(found.GUID), CRN: zeroOrValue(found.CRN), Name: zeroOrValue(found.Name), Group: zeroOrValue(found.ResourceGroupID),
		Service: zeroOrValue(found.ResourceID), State: zeroOrValue(found.State), Created: time.Time(zeroOrValue(found.CreatedAt)),
	}, nil
}

// removeStorages deletes the cluster's storage with its buckets and resource keys, and what it keeps after that.
func (s *removal) removeStorages(ctx context.Context) {
	for _, r := range s.storage {
		if r.State != reclaimable && r.State != removed {
			s.removeInstance(ctx, r)
		}
	}
	s.resourceKeys(ctx)
	s.reclaimStorage(ctx)
}

// resourceKeys deletes the image registry's keys that outlived their instance.
func (s *removal) resourceKeys(ctx context.Context) {
	for _, infraID := range s.owner.infraIDs {
		name := infraID + "-image-registry"
		keys, err := s.keysCalled(ctx, name)
		s.AddError("remove", err)
		for _, key := range keys {
			if !slices.ContainsFunc(s.storage, func(r resource) bool { return r.CRN == key.Source }) {
				s.Keep(cloud.KeptAnothers, key.ID, "resource key %s (%s) is of %s, which is not this cluster's storage", key.ID, name, key.Source)
				continue
			}
			callCtx, cancel := context.WithTimeout(ctx, callTimeout)
			s.NoteDeletion(key.ID, "resource key "+key.ID+" ("+name+")", explainRefusal(s.controller.DeleteResourceKeyWithContext(callCtx, &resourcecontrollerv2.DeleteResourceKeyOptions{ID: &key.ID})))
			cancel()
		}
	}
}

type resourceKey struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Source string `json:"source_crn"`
	State  string `json:"state"`
}

// keysCalled lists resource keys. The items contain the keys' secrets, of which nothing is kept.
func (c *Client) keysCalled(ctx context.Context, name string) ([]resourceKey, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	all, err := readAll[resourceKey](list{what: "resource keys called " + name, array: "resources", next: startsAfter, get: func(cursor string) (any, *core.DetailedResponse, error) {
		return c.controller.ListResourceKeysWithContext(ctx, &resourcecontrollerv2.ListResourceKeysOptions{Name: &name, Start: optionalCursor(cursor), Limit: full})
	}})
	return slices.DeleteFunc(all, func(k resourceKey) bool { return k.Name != name || k.State == removed }), err
}

// reclaimStorage ends the week in which deleted instances can be restored, for those that were found and those that were deleted just now. Until
// then they count as part of the resource group.
func (s *removal) reclaimStorage(ctx context.Context) {
	all, err := s.listReclamations(ctx, s.account)
	s.AddError("remove", err)
	for _, each := range all {
		if !s.isReclaimable(each) || each.State == reclaiming {
			continue
		}
		if s.owner.older[each.CRN] != "" || !s.isMine(ctx, each.ID, "reclamation "+each.ID, each.CRN) {
			continue
		}
		action := "reclaim"
		callCtx, cancel := context.WithTimeout(ctx, callTimeout)
		_, err := resultOrRefusal(s.controller.RunReclamationActionWithContext(callCtx, &resourcecontrollerv2.RunReclamationActionOptions{ID: &each.ID, ActionName: &action}))
		cancel()
		s.NoteDeletion(each.ID, fmt.Sprintf("reclamation %s of %s", each.ID, each.CRN), err)
	}
	s.reclaimsOver(ctx)
}

// isReclaimable reports that a reclamation is of the cluster's storage, or of something else in its resource groups.
func (s *removal) isReclaimable(r reclamation) bool {
	return s.owner.groups[r.Group] != "" || slices.ContainsFunc(s.storage, func(of resource) bool { return of.CRN == r.CRN || of.GUID == r.Instance })
}

// reclaimsOver waits until nothing of the cluster is left to reclaim.
func (s *removal) reclaimsOver(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.pace.settle)
	defer cancel()
	for looks := s.newLooks(); ; {
		all, err := s.listReclamations(ctx, s.account)
		if err != nil {
			s.AddError("look whether the reclamations are over", err)
			return
		}
		if !slices.ContainsFunc(all, func(r reclamation) bool { return s.isReclaimable(r) && r.State == reclaiming }) || !looks.waitForNext(ctx) {
			return
		}
	}
}
