package aws_test

import (
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
)

func TestRegionsThatTheAccountHasNotOptedIntoAreListedOnlyOnRequest(t *testing.T) {
	c := start(t, aws.Config{Regions: []string{"us-east-1", "eu-west-1"}, OptedOut: []string{"ap-east-1"}})
	out, err := c.ec2.DescribeRegions(t.Context(), &ec2.DescribeRegionsInput{})
	require.NoError(t, err)
	require.Len(t, out.Regions, 2)
	out, err = c.ec2.DescribeRegions(t.Context(), &ec2.DescribeRegionsInput{AllRegions: sdk.Bool(true)})
	require.NoError(t, err)
	status := map[string]string{}
	for _, r := range out.Regions {
		status[*r.RegionName] = *r.OptInStatus
	}
	require.Equal(t, map[string]string{"us-east-1": "opt-in-not-required", "eu-west-1": "opt-in-not-required", "ap-east-1": "not-opted-in"}, status)
	_, err = clients(t, c.Server, "ap-east-1", key, secret).ec2.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
	refused(t, err, "OptInRequired")
}

func TestARegionCanBeDeniedAlone(t *testing.T) {
	c := start(t, aws.Config{Regions: []string{"us-east-1", "eu-west-1"}})
	c.Refuse("eu-west-1/*", -1, aws.DeniedBySCP)
	other := clients(t, c.Server, "eu-west-1", key, secret)
	_, err := other.ec2.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
	refused(t, err, "UnauthorizedOperation")
	_, err = other.iam.ListRoles(t.Context(), &iam.ListRolesInput{})
	require.NoError(t, err, "IAM is global")
	_, err = c.ec2.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
	require.NoError(t, err)
}

func TestRolesAndUsersAreListedTogetherWithTheirTags(t *testing.T) {
	c := start(t, aws.Config{})
	for _, name := range []string{"a", "b", "c"} {
		_, err := c.iam.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: sdk.String(name), AssumeRolePolicyDocument: sdk.String("{}"),
			Tags: []iamtypes.Tag{{Key: sdk.String(owned), Value: sdk.String("owned")}}})
		require.NoError(t, err)
	}
	_, err := c.iam.CreateUser(t.Context(), &iam.CreateUserInput{UserName: sdk.String("u")})
	require.NoError(t, err)
	c.Pages(2)
	tags, pages := map[string]int{}, 0
	p := iam.NewGetAccountAuthorizationDetailsPaginator(c.iam, &iam.GetAccountAuthorizationDetailsInput{Filter: []iamtypes.EntityType{"Role", "User"}})
	for p.HasMorePages() {
		out, err := p.NextPage(t.Context())
		require.NoError(t, err)
		pages++
		for _, r := range out.RoleDetailList {
			tags[*r.RoleName] = len(r.Tags)
		}
		for _, u := range out.UserDetailList {
			tags[*u.UserName] = len(u.Tags)
		}
	}
	require.Equal(t, 3, pages)
	require.Equal(t, map[string]int{"a": 1, "b": 1, "c": 1, "u": 0, "AWSServiceRoleForElasticLoadBalancing": 0}, tags)
	_, err = c.iam.GetAccountAuthorizationDetails(t.Context(), &iam.GetAccountAuthorizationDetailsInput{})
	refused(t, err, "ValidationError")
}

func TestTheTagsOfSeveralZonesAreListedTogetherOrNotAtAll(t *testing.T) {
	c := start(t, aws.Config{})
	zones, err := c.route53.ListHostedZones(t.Context(), &route53.ListHostedZonesInput{})
	require.NoError(t, err)
	id := (*zones.HostedZones[0].Id)[len("/hostedzone/"):]
	_, err = c.route53.ChangeTagsForResource(t.Context(), &route53.ChangeTagsForResourceInput{
		ResourceType: r53types.TagResourceTypeHostedzone, ResourceId: &id, AddTags: []r53types.Tag{{Key: sdk.String("Name"), Value: sdk.String("base")}},
	})
	require.NoError(t, err)
	out, err := c.route53.ListTagsForResources(t.Context(), &route53.ListTagsForResourcesInput{ResourceType: r53types.TagResourceTypeHostedzone, ResourceIds: []string{id}})
	require.NoError(t, err)
	require.Len(t, out.ResourceTagSets, 1)
	require.Equal(t, "base", *out.ResourceTagSets[0].Tags[0].Value)
	_, err = c.route53.ListTagsForResources(t.Context(), &route53.ListTagsForResourcesInput{ResourceType: r53types.TagResourceTypeHostedzone, ResourceIds: []string{id, "Z0"}})
	refused(t, err, "NoSuchHostedZone")
}

func TestBucketsAreListedInAllRegionsAndTheirTagsInTheirOwn(t *testing.T) {
	c := start(t, aws.Config{Regions: []string{"us-east-1", "eu-west-1"}})
	for _, b := range []aws.Resource{
		{Service: "s3", Type: "bucket", Name: "one", Region: "eu-west-1", Tags: map[string]string{"Team": "platform"}}, {Service: "s3", Type: "bucket", Name: "two"},
	} {
		_, err := c.Plant(b)
		require.NoError(t, err)
	}
	api := func(region string) *s3.Client {
		cfg, err := config.LoadDefaultConfig(t.Context(), config.WithRegion(region), config.WithBaseEndpoint(c.URL()),
			config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(key, secret, "")))
		require.NoError(t, err)
		return s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	}
	c.Pages(1)
	regions := map[string]string{}
	p := s3.NewListBucketsPaginator(api("us-east-1"), &s3.ListBucketsInput{MaxBuckets: sdk.Int32(10)})
	for p.HasMorePages() {
		out, err := p.NextPage(t.Context())
		require.NoError(t, err)
		for _, b := range out.Buckets {
			regions[*b.Name] = *b.BucketRegion
		}
	}
	require.Equal(t, map[string]string{"one": "eu-west-1", "two": "us-east-1"}, regions)
	out, err := api("eu-west-1").GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{Bucket: sdk.String("one")})
	require.NoError(t, err)
	require.Equal(t, "platform", *out.TagSet[0].Value)
	for bucket, code := range map[string]string{"one": "PermanentRedirect", "two": "NoSuchTagSet", "three": "NoSuchBucket"} {
		_, err = api("us-east-1").GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{Bucket: &bucket})
		refused(t, err, code)
	}
}
