package aws

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	taggingtypes "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"
	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"
	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// iamLookups limits how many roles and users are read at once: IAM answers a few requests a second for a whole account.
const iamLookups = 4

// Contested lists what the destroyers of this cluster would find and delete although it has another cluster's mark, or is older than the cluster. It searches as
// they do: by each mark alone in the tagging API of every recorded region and of us-east-1, through all roles and users of the
// account, which the tagging API does not list reliably, and by the records of its private zone. An error means that the search was incomplete, so nothing is known.
func (c *Client) Contested(ctx context.Context, t cloud.Target) ([]cloud.Contested, error) {
	ctx, cancel := context.WithTimeout(ctx, removalTimeout)
	defer cancel()
	o := ownerOf(t)
	found := map[string]string{}
	regions := appendNew(t.Regions(), globalRegion)
	for _, region := range regions {
		var arns []string
		for _, mark := range o.tagSearches() {
			mappings, err := c.listTagged(ctx, region, mark.key, mark.value)
			if err != nil {
				return nil, fmt.Errorf("look for resources with %s=%s in %s: %w", mark.key, mark.value, region, err)
			}
			for _, m := range mappings {
				arn := awssdk.ToString(m.ResourceARN)
				o.noteContested(found, arn, mappingTags(m.Tags))
				arns = appendNew(arns, arn)
			}
		}
		if err := c.addOlder(ctx, region, t, arns, found); err != nil {
			return nil, err
		}
	}
	if err := c.findContestedIAM(ctx, t, o, found); err != nil {
		return nil, err
	}
	if err := c.findContestedRecords(ctx, t, o, found); err != nil {
		return nil, err
	}
	out := make([]cloud.Contested, 0, len(found))
	for _, id := range slices.Sorted(maps.Keys(found)) {
		out = append(out, cloud.Contested{ID: id, Mark: found[id]})
	}
	return out, nil
}

type mark struct{ key, value string }

// tagSearches returns the marks, and the installer's clusterID, which its destroyer also searches by.
func (o owner) tagSearches() []mark {
	var all []mark
	for key, value := range o.ownMarks() {
		all = append(all, mark{key, value})
	}
	for _, uuid := range o.uuids {
		all = append(all, mark{tagkey.OpenShiftClusterID, uuid})
	}
	return all
}

// noteContested adds a resource that has one of the owner's marks and another cluster's. VPCs and instances get our own tag when they are
// created, so one with the infraID but without that tag was created for somebody else.
func (o owner) noteContested(found map[string]string, id string, tags map[string]string) {
	if mark := o.foreignMark(tags); mark != "" {
		found[id] = mark
		return
	}
	made := strings.Contains(id, ":vpc/") || strings.Contains(id, ":instance/")
	if made && o.cluster != "" && tags[tagkey.ClusterID] != o.cluster {
		found[id] = "no tag " + tagkey.ClusterID + "=" + o.cluster
	}
}

// findContestedIAM reads every role and user for its tags. It skips those that it may not read: the destroyer, which has the same
// credentials, cannot find them either.
func (c *Client) findContestedIAM(ctx context.Context, t cloud.Target, o owner, found map[string]string) error {
	roles, err := collectPages(ctx, iam.NewListRolesPaginator(c.iam, &iam.ListRolesInput{}), func(page *iam.ListRolesOutput) []iamtypes.Role { return page.Roles })
	if err != nil {
		return fmt.Errorf("list the account's roles: %w", err)
	}
	users, err := collectPages(ctx, iam.NewListUsersPaginator(c.iam, &iam.ListUsersInput{}), func(page *iam.ListUsersOutput) []iamtypes.User { return page.Users })
	if err != nil {
		return fmt.Errorf("list the account's users: %w", err)
	}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(iamLookups)
	look := func(arn *string, made *time.Time, tagsOf func() ([]iamtypes.Tag, error)) {
		group.Go(func() error {
			tags, err := tagsOf()
			if err != nil && (isAbsent(err) || isForbidden(err)) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("read the tags of %s: %w", awssdk.ToString(arn), err)
			}
			mu.Lock()
			defer mu.Unlock()
			if read := iamTags(tags); o.isMarkedOn(read) {
				o.noteContested(found, awssdk.ToString(arn), read)
				if mark := t.AgeMark(awssdk.ToTime(made)); mark != "" {
					found[awssdk.ToString(arn)] = mark
				}
			}
			return nil
		})
	}
	for _, r := range roles {
		look(r.Arn, r.CreateDate, func() ([]iamtypes.Tag, error) {
			out, err := c.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: r.RoleName})
			if err != nil {
				return nil, err
			}
			return out.Role.Tags, nil
		})
	}
	for _, u := range users {
		look(u.Arn, u.CreateDate, func() ([]iamtypes.Tag, error) {
			out, err := c.iam.GetUser(ctx, &iam.GetUserInput{UserName: u.UserName})
			if err != nil {
				return nil, err
			}
			return out.User.Tags, nil
		})
	}
	return group.Wait()
}

// findContestedRecords adds the public records that the installer's destroyer would delete although they lead to somebody else's load balancer. It
// deletes every public record with the type and the name of a record in the cluster's private zone (openshift/installer
// pkg/destroy/aws/aws.go), and another installation may have taken the name since our own public records were deleted.
func (c *Client) findContestedRecords(ctx context.Context, t cloud.Target, o owner, found map[string]string) error {
	twins, err := c.privateRecords(ctx, t.Domain(), o)
	if err != nil || len(twins) == 0 {
		return err
	}
	public, err := c.publicZonesCalled(ctx, t.BaseDomain)
	if err != nil {
		return err
	}
	for _, z := range public {
		records, err := c.recordsIn(ctx, z.id)
		if err != nil {
			return err
		}
		for _, r := range records {
			if host := o.leadsElsewhere(r, t.Domain()); host != "" && twins[kindAndName(r)] {
				found["record "+trimDot(r.Name)+" in zone "+z.id] = "it leads to " + host
			}
		}
	}
	return nil
}

// privateRecords are the records, by type and name, of the private zones that have the cluster's tags.
func (c *Client) privateRecords(ctx context.Context, domain string, o owner) (map[string]bool, error) {
	zones, err := c.zonesCalled(ctx, domain)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, z := range zones {
		tags, err := c.zoneTags(ctx, z.id)
		if err != nil && !isAbsent(err) {
			return nil, fmt.Errorf("read the tags of zone %s: %w", z.id, err)
		}
		if !z.private || o.claimOf(tags) != ours {
			continue
		}
		records, err := c.recordsIn(ctx, z.id)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			found[kindAndName(r)] = true
		}
	}
	return found, nil
}

func kindAndName(r r53types.ResourceRecordSet) string { return string(r.Type) + " " + trimDot(r.Name) }

// listTagged asks the tagging API for everything that has, or once had, a tag.
func (c *Client) listTagged(ctx context.Context, region, key, value string) ([]taggingtypes.ResourceTagMapping, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	p := tagging.NewGetResourcesPaginator(c.taggingIn(region), &tagging.GetResourcesInput{
		TagFilters: []taggingtypes.TagFilter{{Key: &key, Values: []string{value}}},
	})
	return collectPages(ctx, p, func(page *tagging.GetResourcesOutput) []taggingtypes.ResourceTagMapping {
		return page.ResourceTagMappingList
	})
}

func mappingTags(tags []taggingtypes.Tag) map[string]string {
	out := map[string]string{}
	for _, t := range tags {
		out[awssdk.ToString(t.Key)] = awssdk.ToString(t.Value)
	}
	return out
}
