package ibmcloud

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/IBM/platform-services-go-sdk/globaltaggingv1"
	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

const (
	// tagLookups limits how many resources' tags are read at once.
	tagLookups = 4
	// attachAtOnce is how many resources one call may be about.
	attachAtOnce = 100
)

// Tag attaches the cluster's tags to every resource in its resource groups and to ccoctl's service IDs, as tagkey.IBM writes them, detaches those of
// tagkey.Claimant with another value, and returns how many resources changed. API keys and policies of service IDs have no tags; they go with their
// service ID.
func (c *Client) Tag(ctx context.Context, t cloud.Target, tags map[string]string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, removalTimeout)
	defer cancel()
	account, err := c.requireAccount(ctx, t)
	if err != nil {
		return 0, err
	}
	o := ownerOf(t)
	if err := c.findGroups(ctx, account, o); err != nil {
		return 0, err
	}
	var wanted []string
	for key, value := range tags {
		wanted = append(wanted, tagkey.IBM(key, value))
	}
	slices.Sort(wanted)
	crns, err := c.crnsIn(ctx, o)
	if err != nil {
		return 0, err
	}
	if len(o.ccoNames) > 0 {
		ids, err := c.serviceIDs(ctx, account)
		if err != nil {
			return 0, err
		}
		for _, id := range ids {
			if o.hasServiceID(id) {
				crns = appendNew(crns, id.CRN)
			}
		}
	}
	has, err := c.tagsOf(ctx, crns)
	if err != nil {
		return 0, err
	}
	changed, stale := map[string]bool{}, map[string][]string{} // by tag
	var lacking []string
	for _, crn := range crns {
		if slices.ContainsFunc(wanted, func(tag string) bool { return !slices.Contains(has[crn], tag) }) {
			lacking = append(lacking, crn)
		}
		for _, tag := range has[crn] {
			if isStale(tag, tags) {
				stale[tag] = append(stale[tag], crn)
			}
		}
	}
	errs := []error{c.changeTags(ctx, attach, lacking, wanted, changed)}
	for _, tag := range slices.Sorted(maps.Keys(stale)) { // after the new ones are there
		errs = append(errs, c.changeTags(ctx, detach, stale[tag], []string{tag}, changed))
		if strings.HasPrefix(tag, tagkey.IBM(tagkey.RequestID, "")) || strings.HasPrefix(tag, tagkey.IBM(tagkey.TTLExpiry, "")) { // no other cluster has it
			if err := c.deleteTag(ctx, tag); !errors.Is(err, errAttached) {
				errs = append(errs, err)
			}
		}
	}
	return len(changed), errors.Join(errs...)
}

// isStale reports a tag of a key in tagkey.Claimant that the cluster's tags have with another value.
func isStale(tag string, tags map[string]string) bool {
	return slices.ContainsFunc(tagkey.Claimant, func(key string) bool {
		value, there := tags[key]
		return there && strings.HasPrefix(tag, tagkey.IBM(key, "")) && tag != tagkey.IBM(key, value)
	})
}

// TagCredentials attaches the target's tags to ccoctl's service IDs, and to what is in the resource group by then. There are no roles.
func (c *Client) TagCredentials(ctx context.Context, t cloud.Target, _ []string) error {
	_, err := c.Tag(ctx, t, t.Tags)
	return err
}

// crnsIn lists everything in the cluster's resource groups that is not deleted, and not older than the cluster.
func (c *Client) crnsIn(ctx context.Context, o *owner) ([]string, error) {
	var crns []string
	for id := range o.groups {
		found, err := c.resourcesIn(ctx, id)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			if r.CRN != "" && r.State != reclaimable && r.State != removed && !o.isOlder(r.CRN, r.Created) {
				crns = append(crns, r.CRN)
			}
		}
	}
	slices.Sort(crns)
	return slices.Compact(crns), nil
}

// What is done with tags.
const (
	attach = "attach the tags to"
	detach = "detach the tags from"
)

// changeTags attaches tags to resources or detaches them, and notes which changed.
func (c *Client) changeTags(ctx context.Context, do string, crns, tags []string, changed map[string]bool) (err error) {
	for some := range slices.Chunk(crns, attachAtOnce) {
		err = errors.Join(err, c.changeSome(ctx, do, some, tags, changed))
	}
	return err
}

// changeSome is one call. The service answers with success although it refused some of the resources.
func (c *Client) changeSome(ctx context.Context, do string, crns, tags []string, changed map[string]bool) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var on []globaltaggingv1.Resource
	for _, crn := range crns {
		on = append(on, globaltaggingv1.Resource{ResourceID: &crn})
	}
	kind := core.StringPtr(globaltaggingv1.AttachTagOptionsTagTypeUserConst)
	var answer *globaltaggingv1.TagResults
	var err error
	if do == detach {
		answer, err = resultOrRefusal(c.tagging.DetachTagWithContext(ctx, &globaltaggingv1.DetachTagOptions{TagNames: tags, TagType: kind, Resources: on}))
	} else {
		answer, err = resultOrRefusal(c.tagging.AttachTagWithContext(ctx, &globaltaggingv1.AttachTagOptions{TagNames: tags, TagType: kind, Resources: on}))
	}
	if err != nil {
		return fmt.Errorf("%s %d resources: %w", do, len(crns), err)
	}
	done := map[string]bool{}
	for _, r := range answer.Results {
		done[zeroOrValue(r.ResourceID)] = r.IsError != nil && !*r.IsError
	}
	var refused []string
	for _, crn := range crns {
		if done[crn] {
			changed[crn] = true
		} else {
			refused = append(refused, crn)
		}
	}
	if len(refused) > 0 {
		return fmt.Errorf("IBM Cloud did not %s %s", do, strings.Join(refused, ", "))
	}
	return nil
}

// tagsOf reads the user tags of resources one by one: the search index that knows all at once is behind.
func (c *Client) tagsOf(ctx context.Context, crns []string) (map[string][]string, error) {
	tags := map[string][]string{}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(tagLookups)
	for _, crn := range crns {
		group.Go(func() error {
			found, err := c.tagsOn(ctx, crn)
			mu.Lock()
			defer mu.Unlock()
			tags[crn] = found
			return err
		})
	}
	return tags, group.Wait()
}

// tagsOn reads the user tags of a resource.
func (c *Client) tagsOn(ctx context.Context, crn string) ([]string, error) {
	return c.userTags(ctx, "tags of "+crn, &crn)
}

// userTags reads the user tags of a resource, or the account's.
func (c *Client) userTags(ctx context.Context, what string, attachedTo *string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	items, err := readAll[named](list{
		what: what, array: "items",
		get: func(cursor string) (any, *core.DetailedResponse, error) {
			return c.tagging.ListTagsWithContext(ctx, &globaltaggingv1.ListTagsOptions{
				AttachedTo: attachedTo, TagType: core.StringPtr(globaltaggingv1.ListTagsOptionsTagTypeUserConst), Offset: new(cursorNumber(cursor, 0)), Limit: tagPage,
			})
		},
		next: func(page any, cursor string, items int) (string, error) {
			return nextCount(cursor, page.(*globaltaggingv1.TagList).TotalCount, items)
		},
	})
	names := make([]string, len(items))
	for i, item := range items {
		names[i] = strings.ToLower(item.Name)
	}
	return names, err
}

var tagPage = core.Int64Ptr(1000) // an account keeps the tags of everything that it ever had
