package count

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// askEverywhere asks the tagging API in every region in which the cluster was not recorded: somebody may have copied a snapshot or an image of
// the cluster there, or made a bucket for it. What the API lists is confirmed like everything else that it lists. A region that the account
// has not enabled is recorded as not asked, because nothing can be in it.
func (c *Client) askEverywhere(ctx context.Context, t cloud.Target, id identity) []answer {
	var all []types.Region
	list := c.askOne(ctx, question{service: "ec2", call: "DescribeRegions", region: c.cfg.Region, asked: "all regions",
		ask: func(ctx context.Context) ([]thing, error) {
			out, err := c.ec2In(c.cfg.Region).DescribeRegions(ctx, &ec2.DescribeRegionsInput{AllRegions: awssdk.Bool(true)}) // this call has no pages
			if err != nil {
				return nil, err
			}
			all = out.Regions
			if len(all) == 0 {
				return nil, errors.New("AWS named no region")
			}
			return nil, nil
		}})
	list.query.Count = len(all)
	slices.SortFunc(all, func(a, b types.Region) int {
		return cmp.Compare(awssdk.ToString(a.RegionName), awssdk.ToString(b.RegionName))
	})
	answers, asked := []answer{list}, regionsOf(t, true)
	var qs []question
	for _, r := range all {
		name := awssdk.ToString(r.RegionName)
		switch {
		case slices.Contains(asked, name):
		case awssdk.ToString(r.OptInStatus) == "not-opted-in":
			answers = append(answers, answer{query: contract.Query{
				Service: "tagging", Call: "GetResources", Region: name, Asked: "tags of the cluster", At: list.query.At, Unasked: contract.RegionNotEnabled,
			}})
		default:
			for _, tag := range id.everywhereTags() {
				q := c.askTagged(name, tag.key, tag.value)
				q.unasked = explainOrganizationDenial
				qs = append(qs, q)
			}
		}
	}
	return append(answers, c.askAll(ctx, qs)...)
}

// everywhereTags are the tags that people's tools copy with a resource: our own, and the installer's.
func (id identity) everywhereTags() (tags []tag) {
	if id.cluster != "" {
		tags = append(tags, tag{clusterTag, id.cluster})
	}
	for _, infraID := range id.infraIDs {
		tags = append(tags, tag{kubernetesTag(infraID), owned})
	}
	return tags
}

// ofOrganization is how AWS words a denial by a service control policy, which has no code of its own
// (docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html).
var ofOrganization = regexp.MustCompile(`explicit deny in a service control policy|no service control policy allows`)

// explainOrganizationDenial says that the account's organization denies the region to everybody in the account; empty: the error is something else.
func explainOrganizationDenial(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) && ofOrganization.MatchString(api.ErrorMessage()) {
		return contract.RegionDenied
	}
	return ""
}
