package aws

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"

	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// tagAtOnce is how many resources one call of the tagging API may be about.
const tagAtOnce = 20

// Tag replaces the tags of tagkey.Claimant that have another value, on everything of the cluster that the tagging API lists and on its nodes' roles,
// and returns on how many. The installer and the operators of the cluster set the others as they create (userTags, propagateUserTags), these with
// the values from before somebody claimed the cluster. What has not our own tag stays as it is. So does what is neither a resource of EC2 nor a load
// balancer if the runner may not tag it: its rights cannot be limited to resources of this installation.
func (c *Client) Tag(ctx context.Context, t cloud.Target, tags map[string]string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, removalTimeout)
	defer cancel()
	o := ownerOf(t)
	wanted := map[string]string{}
	for _, key := range tagkey.Claimant {
		if value := tags[key]; value != "" { // AWS's tags of the installer have no empty values
			wanted[key] = value
		}
	}
	tagged, errs := 0, []error(nil)
	for _, region := range appendNew(t.Regions(), globalRegion) {
		n, err := c.tagListed(ctx, o, region, wanted)
		tagged, errs = tagged+n, append(errs, err)
	}
	for _, infraID := range o.infraIDs {
		for _, kind := range nodeKinds {
			n, err := c.tagRole(ctx, o, nodeRole(infraID, kind), wanted)
			tagged, errs = tagged+n, append(errs, err)
		}
	}
	return tagged, errors.Join(errs...)
}

// differs reports that a resource of the owner has another value of a wanted tag.
func (o owner) differs(has, wanted map[string]string) bool {
	if o.cluster == "" || has[tagkey.ClusterID] != o.cluster || o.foreignMark(has) != "" {
		return false
	}
	for key, value := range wanted {
		if has[key] != value {
			return true
		}
	}
	return false
}

// tagListed tags what the tagging API lists in a region. It goes on listing what was deleted an hour ago.
func (c *Client) tagListed(ctx context.Context, o owner, region string, wanted map[string]string) (tagged int, err error) {
	var arns []string
	for _, mark := range o.tagSearches() {
		mappings, err := c.listTagged(ctx, region, mark.key, mark.value)
		if err != nil {
			return 0, fmt.Errorf("look for resources with %s=%s in %s: %w", mark.key, mark.value, region, err)
		}
		for _, m := range mappings {
			if o.differs(mappingTags(m.Tags), wanted) {
				arns = appendNew(arns, awssdk.ToString(m.ResourceARN))
			}
		}
	}
	var refused []string
	for some := range slices.Chunk(arns, tagAtOnce) {
		callCtx, cancel := context.WithTimeout(ctx, callTimeout)
		out, err := c.taggingIn(region).TagResources(callCtx, &tagging.TagResourcesInput{ResourceARNList: some, Tags: wanted})
		cancel()
		if err != nil {
			return tagged, fmt.Errorf("tag %d resources in %s: %w", len(some), region, err)
		}
		tagged += len(some) - len(out.FailedResourcesMap)
		for _, arn := range slices.Sorted(maps.Keys(out.FailedResourcesMap)) {
			failed := out.FailedResourcesMap[arn]
			if code := string(failed.ErrorCode); isAbsentCode(code) || accessDenied(code) && !isLimited(arn) {
				continue
			}
			refused = append(refused, fmt.Sprintf("%s (%s: %s)", arn, failed.ErrorCode, awssdk.ToString(failed.ErrorMessage)))
		}
	}
	if len(refused) > 0 {
		return tagged, fmt.Errorf("AWS did not tag %s", strings.Join(refused, ", "))
	}
	return tagged, nil
}

// isLimited reports a resource of a service whose rights to tag can be limited by the tags of the resource.
func isLimited(arn string) bool {
	service := strings.Split(arn, ":")[min(2, strings.Count(arn, ":"))]
	return service == "ec2" || service == "elasticloadbalancing"
}

func (c *Client) tagRole(ctx context.Context, o owner, name string, wanted map[string]string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	out, err := c.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: &name})
	if err == nil {
		if !o.differs(iamTags(out.Role.Tags), wanted) {
			return 0, nil
		}
		_, err = c.iam.TagRole(ctx, &iam.TagRoleInput{RoleName: &name, Tags: iamTagsOf(wanted)})
	}
	switch {
	case err == nil:
		return 1, nil
	case isAbsent(err), isForbidden(err):
		return 0, nil
	}
	return 0, fmt.Errorf("tag role %s: %w", name, err)
}
