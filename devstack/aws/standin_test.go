package aws_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
)

func (c *cloud) arns(t *testing.T, perPage int32) (found []string, pages int) {
	t.Helper()
	in := &tagging.GetResourcesInput{ResourcesPerPage: sdk.Int32(perPage), TagFilters: []types.TagFilter{{Key: sdk.String(owned), Values: []string{"owned"}}}}
	for p := tagging.NewGetResourcesPaginator(c.tagging, in); p.HasMorePages(); pages++ {
		page, err := p.NextPage(t.Context())
		require.NoError(t, err)
		for _, m := range page.ResourceTagMappingList {
			found = append(found, *m.ResourceARN)
		}
	}
	return found, pages
}

func TestTheTaggingIndexIsRegionalPartialAndRemembersTheDead(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	c := start(t, aws.Config{Settle: time.Minute, Now: func() time.Time { return now }})
	west := clients(t, c.Server, "us-west-2", key, secret)
	ctx := t.Context()
	sub := c.subnet(t, c.vpc(t), "10.0.0.0/20", "us-east-1a")
	ids := c.run(t, sub, infra+"-master", 3)
	for _, name := range []string{infra + "-a-profile", infra + "-b-profile"} {
		_, err := c.iam.CreateInstanceProfile(ctx, &iam.CreateInstanceProfileInput{InstanceProfileName: &name, Tags: iamTags()})
		require.NoError(t, err)
	}
	roles := []string{"r1", "r2", "r3", "r4", "r5", "r6"}
	for _, name := range roles {
		_, err := c.iam.CreateRole(ctx, &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: sdk.String("{}"), Tags: iamTags()})
		require.NoError(t, err)
	}
	west.vpc(t)

	found, pages := c.arns(t, 4)
	require.Greater(t, pages, 2)
	require.Contains(t, found, "arn:aws:ec2:us-east-1:123456789012:instance/"+ids[0])
	byType := map[string]int{}
	for _, r := range c.All() {
		for _, arn := range found {
			if r.ARN() == arn {
				byType[r.Type]++
			}
		}
	}
	require.Equal(t, 3, byType["instance"])
	require.Equal(t, 3, byType["volume"])
	require.Zero(t, byType["instance-profile"], "profiles are not indexed")
	require.Positive(t, byType["role"])
	require.Less(t, byType["role"], len(roles), "roles are indexed in part only")

	onlyWest, _ := west.arns(t, 50)
	require.Len(t, onlyWest, 1, "one region, and nothing of the global services")

	_, err := c.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: ids})
	require.NoError(t, err)
	now = now.Add(2 * time.Minute)
	found, _ = c.arns(t, 50)
	require.Contains(t, found, "arn:aws:ec2:us-east-1:123456789012:instance/"+ids[0], "previously tagged things are told of for a while")
	now = now.Add(2 * time.Hour)
	found, _ = c.arns(t, 50)
	require.NotContains(t, found, "arn:aws:ec2:us-east-1:123456789012:instance/"+ids[0])
}

func TestCallsAreRefusedOnDemand(t *testing.T) {
	c := start(t, aws.Config{})
	ask := func() error {
		_, err := c.ec2.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
		return err
	}
	c.Refuse("DescribeVpcs", 1, "")
	refused(t, ask(), "UnauthorizedOperation")
	require.NoError(t, ask())
	c.Refuse("ec2:DescribeVpcs", -1, "RequestLimitExceeded")
	require.Equal(t, map[string]string{"ec2:DescribeVpcs": "RequestLimitExceeded"}, c.Faults())
	for range 3 {
		refused(t, ask(), "RequestLimitExceeded")
	}
	c.Lift("ec2:DescribeVpcs")
	require.NoError(t, ask())

	c.Delay("DescribeVpcs", time.Minute)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := c.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	c.Delay("DescribeVpcs", 0)
	require.NoError(t, ask())
}

func TestAnotherAccountSeesNothingOfTheFirst(t *testing.T) {
	c := start(t, aws.Config{})
	ctx := t.Context()
	vpc := c.vpc(t)
	require.NoError(t, c.SetAccount("999999999999"))
	who, err := c.sts.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	require.NoError(t, err)
	require.Equal(t, "999999999999", *who.Account)
	vpcs, err := c.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{})
	require.NoError(t, err)
	require.Empty(t, vpcs.Vpcs)
	zones, err := c.route53.ListHostedZones(ctx, &route53.ListHostedZonesInput{})
	require.NoError(t, err)
	require.Empty(t, zones.HostedZones)
	found, _ := c.arns(t, 50)
	require.Empty(t, found)
	_, err = c.ec2.DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: &vpc})
	refused(t, err, "InvalidVpcID.NotFound")
	require.NotEmpty(t, c.Resources(infra), "the stand-in's own count knows all accounts")

	require.NoError(t, c.SetAccount("123456789012"))
	vpcs, err = c.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{})
	require.NoError(t, err)
	require.Len(t, vpcs.Vpcs, 1)
}

func TestPlantedAndPinnedThingsStayUntilTheyAreFreed(t *testing.T) {
	c := start(t, aws.Config{})
	ctx := t.Context()
	vpc := c.vpc(t)
	planted, err := c.Plant(aws.Resource{Service: "ec2", Type: "volume", Name: "pvc-1", Tags: map[string]string{owned: "owned"}})
	require.NoError(t, err)
	_, err = c.Plant(aws.Resource{Type: "volume"})
	require.Error(t, err)
	volumes, err := c.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{Filters: byTag()})
	require.NoError(t, err)
	require.Equal(t, planted.ID, *volumes.Volumes[0].VolumeId)

	require.NoError(t, c.Pin(planted.ID))
	require.NoError(t, c.Pin(infra+"-vpc"))
	_, err = c.ec2.DeleteVolume(ctx, &ec2.DeleteVolumeInput{VolumeId: &planted.ID})
	refused(t, err, "VolumeInUse")
	_, err = c.ec2.DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: &vpc})
	refused(t, err, "DependencyViolation")
	require.NoError(t, c.Unpin(planted.ID))
	_, err = c.ec2.DeleteVolume(ctx, &ec2.DeleteVolumeInput{VolumeId: &planted.ID})
	require.NoError(t, err)
	c.subnet(t, vpc, "10.0.0.0/20", "us-east-1a")
	require.NoError(t, c.Free(vpc))
	require.Empty(t, c.Resources(""), "freed with everything in it")
}

func TestATaggedResourceOfAnyServiceIsToldOfByItsARN(t *testing.T) {
	c := start(t, aws.Config{})
	arn := "arn:aws:rds:us-east-1:123456789012:db:" + infra + "-db"
	planted, err := c.Plant(aws.Resource{ID: arn, Tags: map[string]string{owned: "owned"}})
	require.NoError(t, err)
	require.Equal(t, "rds db us-east-1", planted.Service+" "+planted.Type+" "+planted.Region)
	_, err = c.Plant(aws.Resource{ID: "arn:aws:rds:us-west-2:123456789012:db:other", Tags: map[string]string{owned: "owned"}})
	require.NoError(t, err)
	found, _ := c.arns(t, 50)
	require.Equal(t, []string{arn}, found)
	byType, err := c.tagging.GetResources(t.Context(), &tagging.GetResourcesInput{ResourceTypeFilters: []string{"rds:db"}})
	require.NoError(t, err)
	require.Len(t, byType.ResourceTagMappingList, 1)
	byType, err = c.tagging.GetResources(t.Context(), &tagging.GetResourcesInput{ResourceTypeFilters: []string{"rds:cluster", "ec2"}})
	require.NoError(t, err)
	require.Empty(t, byType.ResourceTagMappingList)
	require.NoError(t, c.Free(arn))
	found, _ = c.arns(t, 50)
	require.Empty(t, found)
}

func TestAKilledStandInLosesNothingItAnswered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "aws", "state.json")
	cfg := aws.Config{StatePath: path, AccessKey: key, SecretKey: secret}
	c := start(t, cfg)
	vpc := c.vpc(t)
	zone := c.base(t)
	require.NoError(t, c.Pin(vpc))

	// A second one starts from the file while the first never stopped, as after SIGKILL.
	again := start(t, cfg)
	out, err := again.ec2.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{VpcIds: []string{vpc}})
	require.NoError(t, err)
	require.Len(t, out.Vpcs, 1)
	require.Equal(t, *zone, *again.base(t))
	require.Empty(t, again.Resources("labs.example.com"))
	_, err = again.ec2.DeleteVpc(t.Context(), &ec2.DeleteVpcInput{VpcId: &vpc})
	refused(t, err, "DependencyViolation")
	require.NoError(t, again.Stop())
	third := start(t, cfg)
	require.Equal(t, len(again.All()), len(third.All()))
}

func TestOtherProcessesReachTheFaultsOverHTTP(t *testing.T) {
	c := start(t, aws.Config{})
	ask := c.asks(t)["ec2"]
	post := func(what string, in any) (int, []byte) {
		raw, err := json.Marshal(in)
		require.NoError(t, err)
		answer, err := http.Post(c.URL()+"/_standin/"+what, "application/json", bytes.NewReader(raw))
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode, body
	}
	status, body := post("plant", map[string]any{"resource": aws.Resource{Service: "ec2", Type: "volume", Tags: map[string]string{owned: "owned"}}})
	require.Equal(t, http.StatusOK, status)
	var planted aws.Resource
	require.NoError(t, json.Unmarshal(body, &planted))
	for what, in := range map[string]any{
		"refuse": map[string]any{"call": "DescribeVpcs", "times": -1, "code": "UnauthorizedOperation"}, "delay": map[string]string{"call": "*", "delay": "1ms"},
		"account": map[string]string{"account": "999999999999"}, "pin": map[string]string{"id": planted.ID},
	} {
		status, _ := post(what, in)
		require.Equal(t, http.StatusOK, status, what)
	}
	require.Equal(t, map[string]string{"DescribeVpcs": "UnauthorizedOperation", "*": "1ms", planted.ID: "pinned"}, c.Faults())
	require.Equal(t, "999999999999", c.Account())
	for what, in := range map[string]any{"lift": map[string]string{"call": "DescribeVpcs"}, "unpin": map[string]string{"id": planted.ID}, "delay": map[string]string{"call": "*", "delay": "0s"}} {
		status, _ := post(what, in)
		require.Equal(t, http.StatusOK, status, what)
	}
	require.Empty(t, c.Faults())
	for what, in := range map[string]any{"delay": map[string]string{"delay": "soon"}, "lag": map[string]any{"lag": map[string]string{"iam": "soon"}}, "limit": map[string]any{"code": "L-0"}, "region": map[string]any{"name": "mars-north-1"}, "protect": map[string]any{"id": planted.ID, "code": "prayer"}} {
		status, _ := post(what, in)
		require.Equal(t, http.StatusBadRequest, status, what)
	}

	for what, in := range map[string]any{"throttle": map[string]any{"call": "DescribeVpcs", "first": 1}, "pages": map[string]any{"value": 3},
		"lag": map[string]any{"lag": map[string]string{"create": "1s", "iam": "2s"}}, "limit": map[string]any{"code": vpcs, "value": 5}, "region": map[string]any{"name": "us-west-2", "value": 0}} {
		status, _ := post(what, in)
		require.Equal(t, http.StatusOK, status, what)
	}
	require.Equal(t, map[string]string{"DescribeVpcs": "throttled: the first 1, then every 0", "pages": "3", "lag": "create 1s, delete 0s, iam 2s", vpcs: "limit 5", "us-west-2": "disabled"}, c.Faults())
	_, err := clients(t, c.Server, "us-west-2", key, secret).tagging.GetResources(t.Context(), &tagging.GetResourcesInput{})
	refused(t, err, "OptInRequired")
	refused(t, ask(), "RequestLimitExceeded")
	answer, err := http.Get(c.URL() + "/_standin/calls")
	require.NoError(t, err)
	var counts map[string]aws.Count
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&counts))
	require.NoError(t, answer.Body.Close())
	require.Equal(t, aws.Count{Calls: 1, Throttled: 1}, counts["ec2:DescribeVpcs"])

	count := func() int {
		answer, err := http.Get(c.URL() + "/_standin/resources?match=" + infra)
		require.NoError(t, err)
		var found []aws.Resource
		require.NoError(t, json.NewDecoder(answer.Body).Decode(&found))
		require.NoError(t, answer.Body.Close())
		return len(found)
	}
	require.Equal(t, 1, count())
	status, _ = post("protect", map[string]any{"id": planted.ID, "code": "scp"})
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "scp", c.Faults()[planted.ID])
	status, _ = post("account", map[string]any{"account": planted.Account})
	require.Equal(t, http.StatusOK, status)
	_, err = c.ec2.DeleteVolume(t.Context(), &ec2.DeleteVolumeInput{VolumeId: &planted.ID})
	refused(t, err, "UnauthorizedOperation")
	require.ErrorContains(t, err, "ec2:DeleteVolume on resource: "+planted.ARN()+" with an explicit deny in a service control policy")
	status, _ = post("free", map[string]string{"id": planted.ID})
	require.Equal(t, http.StatusOK, status)
	require.Zero(t, count())
}

func TestANewAccountHasTheRoleForLoadBalancersAndItIsNoLeftover(t *testing.T) {
	c := start(t, aws.Config{})
	name := "AWSServiceRoleForElasticLoadBalancing"
	require.NoError(t, c.Free(name), "furniture stays")
	got, err := c.iam.GetRole(t.Context(), &iam.GetRoleInput{RoleName: &name})
	require.NoError(t, err)
	require.Equal(t, "/aws-service-role/elasticloadbalancing.amazonaws.com/", *got.Role.Path)
	require.Empty(t, c.Resources(""))
}
