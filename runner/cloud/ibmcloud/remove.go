package ibmcloud

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/IBM/platform-services-go-sdk/globaltaggingv1"
	"github.com/IBM/platform-services-go-sdk/resourcecontrollerv2"
	"github.com/IBM/platform-services-go-sdk/resourcemanagerv2"

	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// Remove deletes what the installer's destroy and ccoctl leave behind, in the order that frees the resource group: DNS records and permitted
// networks, everything of the VPC service, authorizations of the cluster's storage, service IDs with their policies, storage with its
// reclamations, tags of the cluster's own name, and last the resource group. Call it after destroy exited.
//
// It deletes only for recorded identities and only what is proven to be this cluster's; a resource with another cluster's tag, or that is older than the
// cluster, is left alone and reported in the error. The result lists what was deleted, even if something else failed.
func (c *Client) Remove(ctx context.Context, t cloud.Target) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, removalTimeout) // a response that never comes must not block the attempt for ever
	defer cancel()
	s, err := c.newRemoval(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("remove: %w", err)
	}
	s.findStorage(ctx)
	found := s.lookAtRegions(ctx, s.regions)
	if len(s.owner.infraIDs) > 0 { // before an infraID existed, nothing was in DNS
		s.removeDNS(ctx, t, found)
	}
	s.removeObjects(ctx, found) // machines first: what their operators use must outlive them
	s.removeIAM(ctx)
	s.removeStorages(ctx)
	s.removeRest(ctx)
	if t.Everywhere {
		s.removeEverywhere(ctx)
	}
	s.removeTags(ctx, t)
	s.removeGroups(ctx)
	for _, id := range slices.Sorted(maps.Keys(s.owner.older)) {
		s.Keep(cloud.KeptAnothers, id, "%s was %s", id, s.owner.older[id])
	}
	return s.Deleted, errors.Join(s.Errs...)
}

// newRemoval returns a removal that knows the account and the cluster's resource groups.
func (c *Client) newRemoval(ctx context.Context, t cloud.Target) (*removal, error) {
	account, err := c.requireAccount(ctx, t)
	if err != nil {
		return nil, err
	}
	s := &removal{Client: c, Removal: cloud.Removal{IsAbsent: isAbsent}, owner: ownerOf(t), account: account, hosts: map[string]bool{}, own: map[string]bool{}, regions: t.Regions()}
	return s, c.findGroups(ctx, account, s.owner)
}

type removal struct {
	*Client
	cloud.Removal
	owner   *owner
	account string

	storage   []resource      // the cluster's instances of Cloud Object Storage, deleted ones too
	regions   []string        // the cluster's
	own       map[string]bool // hosts of the cluster's load balancers
	hosts     map[string]bool // of load balancers in its regions that are not the cluster's
	hostsSeen bool            // every list of load balancers was answered
}

// isMine reports that nobody else has a mark on a resource. One whose tags cannot be read stays.
func (s *removal) isMine(ctx context.Context, id, what, crn string) bool {
	if crn == "" {
		s.Keep(cloud.KeptUntagged, id, "%s has no CRN, so nobody knows who else has a mark on it", what)
		return false
	}
	tags, err := s.tagsOn(ctx, crn)
	if err != nil {
		s.AddError("read the tags of "+what, err)
		return isAbsent(err)
	}
	mark, err := s.foreignMark(ctx, s.owner, tags)
	if err != nil {
		s.AddError("find out whose "+what+" is", err)
		return false
	}
	if mark != "" {
		s.Keep(cloud.KeptAnothers, id, "%s has the tag %s of another cluster", what, mark)
		return false
	}
	return true
}

// removeRest deletes what is left in the cluster's resource groups and has no list of its own: other services' instances, and objects of the VPC
// service that only the resource controller still knows, as it does with images for a while (openshift/installer pull 6845).
func (s *removal) removeRest(ctx context.Context) {
	for id, name := range s.owner.groups {
		left, err := s.resourcesIn(ctx, id)
		s.AddError("look for what is left in resource group "+name, err)
		for _, r := range left {
			if r.State != reclaimable && r.State != removed && r.Group == id {
				s.removeInstance(ctx, r)
			}
		}
	}
	s.reclaimStorage(ctx)
}

// removeInstance deletes an instance of a service with its resource keys.
func (s *removal) removeInstance(ctx context.Context, r resource) {
	what := "resource " + r.CRN + " (" + r.Name + ")"
	if s.owner.isOlder(r.CRN, r.Created) || !s.isMine(ctx, r.CRN, what, r.CRN) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	recursive := true
	s.NoteDeletion(r.CRN, what, explainRefusal(s.controller.DeleteResourceInstanceWithContext(ctx, &resourcecontrollerv2.DeleteResourceInstanceOptions{ID: &r.ID, Recursive: &recursive})))
}

// removeTags deletes the tags that bear the cluster's own name from the account's list, which keeps them after their last resource is gone. IBM Cloud
// refuses that for a tag that is still attached.
func (s *removal) removeTags(ctx context.Context, t cloud.Target) {
	var names []string
	for _, infraID := range s.owner.infraIDs {
		names = append(names, infraID, diskTag+infraID+":"+tagkey.Owned, registryTag+infraID+":"+tagkey.Owned)
	}
	if t.Cluster != "" { // ccoctl's service IDs get the tags before there is an infraID
		names = append(names, s.owner.cluster)
	}
	for _, key := range []string{tagkey.ClusterName, tagkey.RequestID, tagkey.TTLExpiry} { // no other cluster has these values, but a person may use them
		for _, tags := range []map[string]string{t.Tags, t.WaitedTags} { // of one that was claimed right before its end, those from before stay in the list
			if value := tags[key]; value != "" {
				names = append(names, tagkey.IBM(key, value))
			}
		}
	}
	all, err := s.userTags(ctx, "account's tags", nil)
	s.AddError("remove", err)
	for _, name := range names {
		if slices.Contains(all, name) {
			err := s.deleteTag(ctx, name)
			if errors.Is(err, errAttached) && name != s.owner.cluster && !slices.ContainsFunc(s.owner.infraIDs, func(id string) bool { return strings.Contains(name, id) }) {
				continue
			}
			s.NoteDeletion(name, "tag "+name, err)
		}
	}
}

var errAttached = errors.New("IBM Cloud refused it: it is still attached")

func (c *Client) deleteTag(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	kind := globaltaggingv1.DeleteTagOptionsTagTypeUserConst
	answer, err := resultOrRefusal(c.tagging.DeleteTagWithContext(ctx, &globaltaggingv1.DeleteTagOptions{TagName: &name, TagType: &kind}))
	if err != nil {
		return err
	}
	for _, r := range answer.Results {
		if r.IsError == nil || *r.IsError {
			return errAttached
		}
	}
	return nil
}

// removeGroups deletes the cluster's resource groups. IBM Cloud answers 500 as long as one is not empty.
func (s *removal) removeGroups(ctx context.Context) {
	for _, id := range slices.Sorted(maps.Keys(s.owner.groups)) {
		what := "resource group " + s.owner.groups[id]
		callCtx, cancel := context.WithTimeout(ctx, callTimeout)
		err := explainRefusal(s.manager.DeleteResourceGroupWithContext(callCtx, &resourcemanagerv2.DeleteResourceGroupOptions{ID: &id}))
		cancel()
		if statusOf(err) >= 500 {
			err = fmt.Errorf("it is probably not empty yet: %w", err)
		}
		s.NoteDeletion(id, what, err)
	}
}
