package aws_test

import (
	"net/http"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
)

// asks is one call to every service.
func (c *cloud) asks(t *testing.T) map[string]func() error {
	ctx := t.Context()
	return map[string]func() error{
		"sts": func() error {
			_, err := c.sts.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
			return err
		},
		"ec2": func() error {
			_, err := c.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{})
			return err
		},
		"elb": func() error {
			_, err := c.elb.DescribeLoadBalancers(ctx, &elb.DescribeLoadBalancersInput{})
			return err
		},
		"iam": func() error {
			_, err := c.iam.ListRoles(ctx, &iam.ListRolesInput{})
			return err
		},
		"route53": func() error {
			_, err := c.route53.ListHostedZones(ctx, &route53.ListHostedZonesInput{})
			return err
		},
		"tagging": func() error {
			_, err := c.tagging.GetResources(ctx, &tagging.GetResourcesInput{})
			return err
		},
		"servicequotas": func() error {
			_, err := c.quotas.ListServiceQuotas(ctx, &servicequotas.ListServiceQuotasInput{ServiceCode: sdk.String("vpc")})
			return err
		},
	}
}

func TestRefusalsAreWordedAsEachServiceDoes(t *testing.T) {
	c := start(t, aws.Config{})
	type want struct {
		code   string
		status int
	}
	cases := map[string]map[string]want{
		aws.Expired: {"sts": {"ExpiredToken", 403}, "ec2": {"RequestExpired", 400}, "elb": {"ExpiredToken", 403}, "iam": {"ExpiredToken", 403},
			"route53": {"ExpiredToken", 403}, "tagging": {"ExpiredTokenException", 400}, "servicequotas": {"ExpiredTokenException", 400}},
		aws.DeniedBySCP: {"sts": {"AccessDenied", 403}, "ec2": {"UnauthorizedOperation", 403}, "elb": {"AccessDenied", 403}, "iam": {"AccessDenied", 403},
			"route53": {"AccessDenied", 403}, "tagging": {"AccessDeniedException", 400}, "servicequotas": {"AccessDeniedException", 400}},
	}
	for fault, services := range cases {
		c.Refuse("*", -1, fault)
		for service, ask := range c.asks(t) {
			t.Run(fault+" by "+service, func(t *testing.T) {
				err := ask()
				refused(t, err, services[service].code)
				var answer *awshttp.ResponseError
				require.ErrorAs(t, err, &answer)
				require.Equal(t, services[service].status, answer.HTTPStatusCode())
				if fault == aws.DeniedBySCP {
					require.ErrorContains(t, err, "user/demo-admin is not authorized to perform: ")
					require.ErrorContains(t, err, "with an explicit deny in a service control policy")
				}
			})
		}
	}
	c.Lift("*")
	for service, ask := range c.asks(t) {
		require.NoError(t, ask(), service)
	}
}

func TestTheSDKOutlastsThrottlingOfEveryService(t *testing.T) {
	c := start(t, aws.Config{})
	patient := clients(t, c.Server, "us-east-1", key, secret, func() sdk.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = 4, time.Millisecond })
	})
	names := map[string]string{"sts": "sts:GetCallerIdentity", "ec2": "ec2:DescribeVpcs", "elb": "elasticloadbalancing:DescribeLoadBalancers", "iam": "iam:ListRoles",
		"route53": "route53:ListHostedZones", "tagging": "tagging:GetResources", "servicequotas": "servicequotas:ListServiceQuotas"}
	for service, ask := range patient.asks(t) {
		t.Run(service, func(t *testing.T) {
			c.Throttle(names[service], 3, 0)
			require.NoError(t, ask())
			require.Equal(t, aws.Count{Calls: 4, Throttled: 3}, c.Calls()[names[service]])
			c.Throttle(names[service], 4, 0)
			require.Error(t, ask(), "four attempts are not enough")
			c.Throttle(names[service], 0, 0)
		})
	}
}

func TestEveryThirdCallIsThrottled(t *testing.T) {
	c := start(t, aws.Config{})
	c.Throttle("*", 0, 3)
	ask := c.asks(t)["ec2"]
	for range 3 {
		require.NoError(t, ask())
		require.NoError(t, ask())
		err := ask()
		refused(t, err, "RequestLimitExceeded")
		var answer *awshttp.ResponseError
		require.ErrorAs(t, err, &answer)
		require.Equal(t, http.StatusServiceUnavailable, answer.HTTPStatusCode())
	}
	require.Equal(t, map[string]string{"*": "throttled: the first 0, then every 3"}, c.Faults())
}

func TestReadsLagBehindWrites(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	c := start(t, aws.Config{Now: func() time.Time { return now }})
	ctx := t.Context()
	c.SetLag(aws.Lag{Create: time.Minute, Delete: time.Hour})
	vpc := c.vpc(t)
	arn := "arn:aws:ec2:us-east-1:123456789012:vpc/" + vpc
	listed := func() int {
		out, err := c.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{Filters: byTag()})
		require.NoError(t, err)
		return len(out.Vpcs)
	}
	sub := c.subnet(t, vpc, "10.0.0.0/20", "us-east-1a")
	require.Zero(t, listed(), "a write sees it, a list does not")
	_, err := c.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: []string{sub}})
	refused(t, err, "InvalidSubnetID.NotFound")
	found, _ := c.arns(t, 50)
	require.Empty(t, found)
	require.NotEmpty(t, c.base(t), "the furniture is always seen")
	require.Len(t, c.Resources(infra), 4, "the own count is never late")

	now = now.Add(time.Minute)
	require.Equal(t, 1, listed())
	found, _ = c.arns(t, 50)
	require.Contains(t, found, arn)
	_, err = c.ec2.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: &sub})
	require.NoError(t, err)
	_, err = c.ec2.DeleteVpc(ctx, &ec2.DeleteVpcInput{VpcId: &vpc})
	require.NoError(t, err)
	require.Zero(t, listed())
	found, _ = c.arns(t, 50)
	require.Contains(t, found, arn, "the tagging API goes on telling of it")
	require.Empty(t, c.Resources(""))
	now = now.Add(2 * time.Hour)
	found, _ = c.arns(t, 50)
	require.Empty(t, found)
}

func TestIAMReadsLagBehindItsWrites(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	c := start(t, aws.Config{Now: func() time.Time { return now }})
	ctx := t.Context()
	c.SetLag(aws.Lag{IAM: 10 * time.Second})
	role := sdk.String(infra + "-master-role")
	_, err := c.iam.CreateRole(ctx, &iam.CreateRoleInput{RoleName: role, AssumeRolePolicyDocument: sdk.String("{}")})
	require.NoError(t, err)
	get := func() error {
		_, err := c.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: role})
		return err
	}
	refused(t, get(), "NoSuchEntity")
	_, err = c.iam.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: role, PolicyName: sdk.String("p"), PolicyDocument: sdk.String("{}")})
	require.NoError(t, err, "writes see it")
	now = now.Add(11 * time.Second)
	require.NoError(t, get())
	policies := func() []string {
		out, err := c.iam.ListRolePolicies(ctx, &iam.ListRolePoliciesInput{RoleName: role})
		require.NoError(t, err)
		return out.PolicyNames
	}
	_, err = c.iam.DeleteRolePolicy(ctx, &iam.DeleteRolePolicyInput{RoleName: role, PolicyName: sdk.String("p")})
	require.NoError(t, err)
	require.Equal(t, []string{"p"}, policies())
	_, err = c.iam.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: role})
	require.NoError(t, err)
	require.NoError(t, get(), "the dead are still read")
	_, err = c.iam.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: role})
	refused(t, err, "NoSuchEntity")
	now = now.Add(11 * time.Second)
	refused(t, get(), "NoSuchEntity")
}

func TestEveryListCanBeMadeToPage(t *testing.T) {
	c := start(t, aws.Config{})
	ctx := t.Context()
	c.Pages(2)
	vpc := c.vpc(t)
	for _, cidr := range []string{"10.0.0.0/20", "10.0.16.0/20", "10.0.32.0/20", "10.0.48.0/20", "10.0.64.0/20"} {
		c.subnet(t, vpc, cidr, "us-east-1a")
	}
	subnets, pages := 0, 0
	for p := ec2.NewDescribeSubnetsPaginator(c.ec2, &ec2.DescribeSubnetsInput{}); p.HasMorePages(); pages++ {
		page, err := p.NextPage(ctx)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page.Subnets), 2)
		subnets += len(page.Subnets)
	}
	require.Equal(t, [2]int{5, 3}, [2]int{subnets, pages})

	first, err := c.tagging.GetResources(ctx, &tagging.GetResourcesInput{})
	require.NoError(t, err)
	require.Empty(t, first.ResourceTagMappingList, "an empty page before the token ends")
	require.NotEmpty(t, *first.PaginationToken)
	found, _ := c.arns(t, 50)
	require.Len(t, found, 6)

	records := c.records(t, c.base(t))
	require.Len(t, records, 2)
	for i := range 3 {
		_, err := c.ec2.AllocateAddress(ctx, &ec2.AllocateAddressInput{})
		require.NoError(t, err)
		_, err = c.iam.CreateUser(ctx, &iam.CreateUserInput{UserName: sdk.String(string(rune('a' + i)))})
		require.NoError(t, err)
	}
	addresses, err := c.ec2.DescribeAddresses(ctx, &ec2.DescribeAddressesInput{})
	require.NoError(t, err)
	require.Len(t, addresses.Addresses, 3, "this one has no pages")
	users, err := c.iam.ListUsers(ctx, &iam.ListUsersInput{})
	require.NoError(t, err)
	require.True(t, users.IsTruncated)
	quotas, err := c.quotas.ListServiceQuotas(ctx, &servicequotas.ListServiceQuotasInput{ServiceCode: sdk.String("vpc"), MaxResults: sdk.Int32(50)})
	require.NoError(t, err)
	require.Len(t, quotas.Quotas, 2)
}

func TestCallsAreCountedByName(t *testing.T) {
	c := start(t, aws.Config{})
	c.vpc(t)
	_, err := c.ec2.DeleteVpc(t.Context(), &ec2.DeleteVpcInput{VpcId: sdk.String("vpc-0")})
	require.Error(t, err)
	c.Refuse("DescribeVpcs", 1, "")
	require.Error(t, c.asks(t)["ec2"]())
	require.NoError(t, c.asks(t)["ec2"]())
	require.Equal(t, map[string]aws.Count{"ec2:CreateVpc": {Calls: 1, Write: true}, "ec2:DeleteVpc": {Calls: 1, Refused: 1, Write: true}, "ec2:DescribeVpcs": {Calls: 2, Refused: 1}}, c.Calls())
}
