package ibmcloud

import (
	"context"
	"errors"
	"fmt"
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
	// attachAtOnce is how many resources one call may tag.
	attachAtOnce = 100
)

// Tag attaches the cluster's tags to every resource in its resource groups and to ccoctl's service IDs, as tagkey.IBM writes them, and returns to
// how many. A resource that has them all stays as it is. API keys and policies of service IDs have no tags; they go with their service ID.
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
	lacking := slices.DeleteFunc(crns, func(crn string) bool {
		return !slices.ContainsFunc(wanted, func(tag string) bool { return !slices.Contains(has[crn], tag) })
	})
	tagged, errs := 0, []error(nil)
	for some := range slices.Chunk(lacking, attachAtOnce) {
		n, err := c.attachTags(ctx, some, wanted)
		tagged, errs = tagged+n, append(errs, err)
	}
	return tagged, errors.Join(errs...)
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

// attachTags gives tags to resources and returns to how many. The service answers with success although it refused some of them.
func (c *Client) attachTags(ctx context.Context, crns, tags []string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	options := &globaltaggingv1.AttachTagOptions{TagNames: tags, TagType: core.StringPtr(globaltaggingv1.AttachTagOptionsTagTypeUserConst)}
	for _, crn := range crns {
		options.Resources = append(options.Resources, globaltaggingv1.Resource{ResourceID: &crn})
	}
	answer, err := resultOrRefusal(c.tagging.AttachTagWithContext(ctx, options))
	if err != nil {
		return 0, fmt.Errorf("attach tags to %d resources: %w", len(crns), err)
	}
	attached := map[string]bool{}
	for _, r := range answer.Results {
		attached[zeroOrValue(r.ResourceID)] = r.IsError != nil && !*r.IsError
	}
	var refused []string
	for _, crn := range crns {
		if !attached[crn] {
			refused = append(refused, crn)
		}
	}
	if len(refused) > 0 {
		err = fmt.Errorf("IBM Cloud did not attach the tags to %s", strings.Join(refused, ", "))
	}
	return len(crns) - len(refused), err
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
