package aws_test

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
)

const (
	vpcs      = "L-F678F1CE"
	addresses = "L-0263D0A3"
	vcpus     = "L-1216C47A"
	natsAZ    = "L-FE5A380F"
)

func (c *cloud) applied(t *testing.T, service, code string) float64 {
	t.Helper()
	out, err := c.quotas.GetServiceQuota(t.Context(), &servicequotas.GetServiceQuotaInput{ServiceCode: &service, QuotaCode: &code})
	require.NoError(t, err)
	require.Equal(t, code, *out.Quota.QuotaCode)
	return *out.Quota.Value
}

func TestQuotasAreGenerousUntilALimitIsSet(t *testing.T) {
	c := start(t, aws.Config{Limits: map[string]int{addresses: 7}})
	require.InDelta(t, 1000, c.applied(t, "vpc", vpcs), 0)
	require.InDelta(t, 7, c.applied(t, "ec2", addresses), 0)
	byDefault, err := c.quotas.GetAWSDefaultServiceQuota(t.Context(), &servicequotas.GetAWSDefaultServiceQuotaInput{ServiceCode: sdk.String("vpc"), QuotaCode: sdk.String(vpcs)})
	require.NoError(t, err)
	require.InDelta(t, 5, *byDefault.Quota.Value, 0)
	require.Equal(t, "VPCs per Region", *byDefault.Quota.QuotaName)

	answer, err := http.Post(c.URL()+"/_standin/limit", "application/json", bytes.NewReader([]byte(`{"code":"L-F678F1CE","value":3}`)))
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.InDelta(t, 3, c.applied(t, "vpc", vpcs), 0)
	require.NoError(t, c.SetLimit(vpcs, -1))
	require.InDelta(t, 1000, c.applied(t, "vpc", vpcs), 0)
	require.ErrorContains(t, c.SetLimit("L-UNKNOWN", 1), "L-UNKNOWN")

	_, err = c.quotas.GetServiceQuota(t.Context(), &servicequotas.GetServiceQuotaInput{ServiceCode: sdk.String("vpc"), QuotaCode: sdk.String(addresses)})
	refused(t, err, "NoSuchResourceException")
	_, err = c.quotas.ListServiceQuotas(t.Context(), &servicequotas.ListServiceQuotasInput{ServiceCode: sdk.String("braket")})
	refused(t, err, "NoSuchResourceException")
	_, err = clients(t, c.Server, "us-west-2", key, secret).quotas.ListServiceQuotas(t.Context(), &servicequotas.ListServiceQuotasInput{ServiceCode: sdk.String("iam")})
	refused(t, err, "NoSuchResourceException")
}

func TestQuotasAreListedInPages(t *testing.T) {
	c := start(t, aws.Config{Limits: aws.RealLimits()})
	codes, pages := map[string]float64{}, 0
	for p := servicequotas.NewListServiceQuotasPaginator(c.quotas, &servicequotas.ListServiceQuotasInput{ServiceCode: sdk.String("vpc"), MaxResults: sdk.Int32(2)}); p.HasMorePages(); pages++ {
		page, err := p.NextPage(t.Context())
		require.NoError(t, err)
		for _, q := range page.Quotas {
			codes[*q.QuotaCode] = *q.Value
		}
	}
	require.Equal(t, map[string]float64{vpcs: 5, "L-A4707A72": 5, natsAZ: 5, "L-1B52E74A": 20, "L-E79EC296": 2500}, codes)
	require.Equal(t, 3, pages)
	out, err := c.quotas.ListAWSDefaultServiceQuotas(t.Context(), &servicequotas.ListAWSDefaultServiceQuotasInput{ServiceCode: sdk.String("elasticloadbalancing")})
	require.NoError(t, err)
	require.Len(t, out.Quotas, 2)
}

// Each limit leaves room for one more; the next is refused in the service's own words.
func TestNothingIsCreatedBeyondItsQuota(t *testing.T) {
	c := start(t, aws.Config{})
	ctx := t.Context()
	vpc := c.vpc(t)
	sub := c.subnet(t, vpc, "10.0.0.0/20", "us-east-1a")
	other := c.subnet(t, vpc, "10.0.16.0/20", "us-east-1b")
	n := 0
	name := func() *string { n++; return sdk.String(fmt.Sprintf("%s-%d", infra, n)) }
	nat := func(in string) error {
		_, err := c.ec2.CreateNatGateway(ctx, &ec2.CreateNatGatewayInput{SubnetId: &in})
		return err
	}
	cases := []struct {
		name, code, refusal string
		limit               int
		create              func() error
	}{
		{"VPCs", vpcs, "VpcLimitExceeded", 2, func() error {
			_, err := c.ec2.CreateVpc(ctx, &ec2.CreateVpcInput{CidrBlock: sdk.String("10.1.0.0/16")})
			return err
		}},
		{"internet gateways", "L-A4707A72", "InternetGatewayLimitExceeded", 1, func() error {
			_, err := c.ec2.CreateInternetGateway(ctx, &ec2.CreateInternetGatewayInput{})
			return err
		}},
		{"addresses", addresses, "AddressLimitExceeded", 1, func() error {
			_, err := c.ec2.AllocateAddress(ctx, &ec2.AllocateAddressInput{})
			return err
		}},
		{"NAT gateways", natsAZ, "NatGatewayLimitExceeded", 1, func() error { return nat(sub) }},
		{"NAT gateways in another zone", natsAZ, "NatGatewayLimitExceeded", 1, func() error { return nat(other) }},
		{"gateway endpoints", "L-1B52E74A", "VpcEndpointLimitExceeded", 1, func() error {
			_, err := c.ec2.CreateVpcEndpoint(ctx, &ec2.CreateVpcEndpointInput{VpcId: &vpc, ServiceName: sdk.String("com.amazonaws.us-east-1.s3")})
			return err
		}},
		{"security groups, the VPCs' own included", "L-E79EC296", "SecurityGroupLimitExceeded", 4, func() error {
			_, err := c.ec2.CreateSecurityGroup(ctx, &ec2.CreateSecurityGroupInput{VpcId: &vpc, GroupName: name(), Description: sdk.String("x")})
			return err
		}},
		{"gp3 storage", "L-7A658B76", "VolumeLimitExceeded", 1, func() error {
			_, err := c.ec2.CreateVolume(ctx, &ec2.CreateVolumeInput{AvailabilityZone: sdk.String("us-east-1a"), Size: sdk.Int32(1024)})
			return err
		}},
		{"network load balancers", "L-69A177A2", "TooManyLoadBalancers", 1, func() error {
			_, err := c.elb.CreateLoadBalancer(ctx, &elb.CreateLoadBalancerInput{Name: name(), Type: "network", Subnets: []string{sub}})
			return err
		}},
		{"hosted zones, the base domain's included", "L-4EA4796A", "TooManyHostedZones", 2, func() error {
			_, err := c.route53.CreateHostedZone(ctx, &route53.CreateHostedZoneInput{Name: sdk.String("x.labs.example.com"), CallerReference: name()})
			return err
		}},
		{"roles, the one for load balancers included", "L-FE177D64", "LimitExceeded", 2, func() error {
			_, err := c.iam.CreateRole(ctx, &iam.CreateRoleInput{RoleName: name(), AssumeRolePolicyDocument: sdk.String("{}")})
			return err
		}},
		{"OIDC providers", "L-858F3967", "LimitExceeded", 1, func() error {
			_, err := c.iam.CreateOpenIDConnectProvider(ctx, &iam.CreateOpenIDConnectProviderInput{Url: sdk.String("https://" + *name() + ".example.com")})
			return err
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			require.NoError(t, c.SetLimit(tc.code, tc.limit))
			require.NoError(t, tc.create())
			refused(t, tc.create(), tc.refusal)
			require.NoError(t, c.SetLimit(tc.code, tc.limit+1))
			require.NoError(t, tc.create())
		})
	}
}

func TestVCPUsCountWhileTheirInstancesRun(t *testing.T) {
	c := start(t, aws.Config{Limits: map[string]int{vcpus: 16}})
	sub := c.subnet(t, c.vpc(t), "10.0.0.0/20", "us-east-1a")
	launch := func(n int32) error {
		_, err := c.ec2.RunInstances(t.Context(), &ec2.RunInstancesInput{SubnetId: &sub, InstanceType: "m6i.xlarge", MinCount: &n, MaxCount: &n})
		return err
	}
	ids := c.run(t, sub, infra+"-master", 3)
	refused(t, launch(2), "VcpuLimitExceeded")
	require.NoError(t, launch(1))
	refused(t, launch(1), "VcpuLimitExceeded")
	_, err := c.ec2.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: ids[:1]})
	require.NoError(t, err)
	require.NoError(t, launch(1), "what shuts down no longer counts")
}

func TestInstanceTypesTellTheirSize(t *testing.T) {
	c := start(t, aws.Config{})
	// As every client but a test's own does: on a machine that is busy the SDK has been seen to close its connection itself.
	c = clients(t, c.Server, "us-east-1", key, secret, func() sdk.Retryer { return retry.NewStandard() })
	out, err := c.ec2.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{InstanceTypes: []ec2types.InstanceType{"m6i.xlarge", "t3.medium", "r5.2xlarge"}})
	require.NoError(t, err)
	got := map[string][2]int64{}
	for _, i := range out.InstanceTypes {
		got[string(i.InstanceType)] = [2]int64{int64(*i.VCpuInfo.DefaultVCpus), *i.MemoryInfo.SizeInMiB}
	}
	require.Equal(t, map[string][2]int64{"m6i.xlarge": {4, 16384}, "t3.medium": {2, 4096}, "r5.2xlarge": {8, 65536}}, got)
	_, err = c.ec2.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{InstanceTypes: []ec2types.InstanceType{"m6i.xlarge", "m6i.huge"}})
	refused(t, err, "InvalidInstanceType")

	all, pages := 0, 0
	for p := ec2.NewDescribeInstanceTypesPaginator(c.ec2, &ec2.DescribeInstanceTypesInput{MaxResults: sdk.Int32(20)}); p.HasMorePages(); pages++ {
		page, err := p.NextPage(t.Context())
		require.NoError(t, err)
		all += len(page.InstanceTypes)
	}
	require.Greater(t, pages, 1)
	require.Equal(t, 9*5+2*4, all)
}
