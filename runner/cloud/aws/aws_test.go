package aws_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/aws/count"
)

func TestMain(m *testing.M) { installertest.Main(m) }

const account = "123456789012"

// kinds are the types of what a pass still counts, each once, sorted.
func kinds(p contract.Pass) []string {
	var out []string
	for _, l := range p.Leftovers {
		out = append(out, l.Type)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestAnEmptyCloudIsCleanAndTheProofSaysWhatWasAsked(t *testing.T) {
	s := newScene(t, "empty", "us-east-2")
	s.target.Identities = []contract.Identity{{InfraID: "empty-x7k2p", CCOName: "empty-cco", Account: account, Region: "us-east-2"}, {InfraID: "empty-b4d9w", Region: "us-west-2"}}
	p := s.client.Verify(t.Context(), s.target)
	require.Empty(t, p.Leftovers)
	require.True(t, p.Clean)
	require.Contains(t, p.Control, "account 123456789012 answers, zone labs.example.com (Z")
	require.Equal(t, []string{"empty-x7k2p", "empty-b4d9w", "empty-cco"}, p.Identities)
	asked := map[string]int{}
	for _, q := range p.Queries {
		require.Empty(t, q.Err, q)
		require.False(t, q.At.IsZero())
		asked[q.Service+":"+q.Call+"@"+q.Region]++
	}
	for _, want := range []string{
		"sts:GetCallerIdentity@us-east-2", "route53:ListHostedZonesByName@us-east-1", "route53:ListResourceRecordSets@us-east-1",
		"tagging:GetResources@us-east-1", "tagging:GetResources@us-east-2", "tagging:GetResources@us-west-2",
		"ec2:DescribeVpcs@us-east-2", "ec2:DescribeVpcs@us-west-2", "ec2:DescribeImages@us-east-2", "ec2:DescribeAddresses@us-east-2",
		"elasticloadbalancing:DescribeLoadBalancers@us-east-2", "elasticloadbalancing:DescribeTargetGroups@us-east-2",
		"ec2:DescribeLaunchTemplates@us-east-2", "ec2:DescribeVpcPeeringConnections@us-east-2", "ec2:DescribePlacementGroups@us-east-2",
		"iam:GetRole@us-east-1", "iam:GetInstanceProfile@us-east-1", "iam:ListUsers@us-east-1", "iam:ListRoles@us-east-1", "iam:ListInstanceProfiles@us-east-1", "iam:ListOpenIDConnectProviders@us-east-1",
		"s3:HeadBucket@us-east-1", "s3:ListBuckets@us-east-1",
	} {
		require.NotZero(t, asked[want], want)
	}
}

func TestALivingClusterIsSeenWholeAndADestroyedOneIsClean(t *testing.T) {
	s := newScene(t, "alive", "us-east-2")
	s.render(t)
	s.Must(t, s.dir, "create cluster")
	p := s.client.Verify(t.Context(), s.target)
	require.False(t, p.Clean)
	require.Equal(t, []string{
		"address", "bucket", "hosted-zone", "instance", "instance-profile", "internet-gateway", "listener", "load-balancer", "nat-gateway", "network-interface",
		"record", "role", "route-table", "security-group", "subnet", "target-group", "user", "volume", "vpc", "vpc-endpoint",
	}, kinds(p))
	for _, l := range p.Leftovers {
		require.NotEmpty(t, l.ID)
		require.NotEmpty(t, l.Advice(), l)
	}

	s.Must(t, s.dir, "destroy cluster")
	require.Empty(t, s.Left(t, "alive"), "counted by the stand-in")
	p = s.client.Verify(t.Context(), s.target)
	require.Empty(t, p.Leftovers, "tombstones are no leftovers")
	require.True(t, p.Clean)
	confirmed := slices.ContainsFunc(p.Queries, func(q contract.Query) bool { return q.Service == "ec2" && strings.HasPrefix(q.Asked, "instance-id=") })
	require.True(t, confirmed, "a tagged ARN was confirmed by a describe")
}

func TestTwoPassesOfTheSameCloudAreTheSame(t *testing.T) {
	s := newScene(t, "same", "us-east-1")
	s.render(t)
	s.Must(t, s.dir, "create cluster")
	counter := count.New(s.config(t))
	counter.Now = func() time.Time { return time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC) }
	require.Equal(t, counter.Verify(t.Context(), s.target), counter.Verify(t.Context(), s.target))
}

// Every leak class of a create that was cut short, or of a cluster's users, is named.
func TestEveryPlantedLeakIsFound(t *testing.T) {
	const infra = "leaky-c9772"
	owned := map[string]string{"kubernetes.io/cluster/" + infra: "owned"}
	for _, c := range []struct {
		name  string
		plant standin.Resource
		want  string
	}{
		{"a tagged address", standin.Resource{Service: "ec2", Type: "elastic-ip", Tags: owned}, "address"},
		{"a volume of a workload", standin.Resource{Service: "ec2", Type: "volume", Tags: owned}, "volume"},
		{"a retained snapshot", standin.Resource{Service: "ec2", Type: "snapshot", Tags: owned}, "snapshot"},
		{"an image copied and never tagged", standin.Resource{Service: "ec2", Type: "image", Name: infra + "-master", Attrs: map[string]string{"name": infra + "-master"}}, "image"},
		{"a VPC with the provider's tag alone", standin.Resource{Service: "ec2", Type: "vpc", Tags: map[string]string{"sigs.k8s.io/cluster-api-provider-aws/cluster/" + infra: "owned"}}, "vpc"},
		{"an instance with our own tag alone", standin.Resource{Service: "ec2", Type: "instance", State: "running", Tags: map[string]string{"ClusterId": "clu_leaky"}}, "instance"},
		{"a group by its name tag alone", standin.Resource{Service: "ec2", Type: "security-group", Tags: map[string]string{"Name": infra + "-node"}}, "security-group"},
		{"a role by name", standin.Resource{Service: "iam", Type: "role", Name: infra + "-master-role"}, "role"},
		{"the bootstrap profile by name", standin.Resource{Service: "iam", Type: "instance-profile", Name: infra + "-bootstrap-profile"}, "instance-profile"},
		{"a minted user", standin.Resource{Service: "iam", Type: "user", Name: infra + "-openshift-ingress-x7k2p", Attrs: map[string]string{"path": "/"}}, "user"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, "leaky", "us-east-1")
			s.target.Identities = []contract.Identity{{InfraID: infra, Account: account, Region: "us-east-1"}}
			_, err := s.AWS.Plant(c.plant)
			require.NoError(t, err)
			p := s.client.Verify(t.Context(), s.target)
			require.False(t, p.Clean)
			require.Contains(t, kinds(p), c.want)
			require.NotContains(t, kinds(p), "refused-query")
		})
	}
}

func TestDNSAndBucketsAreFoundByNameAlone(t *testing.T) {
	s := newScene(t, "named", "us-east-1")
	s.target.Identities = []contract.Identity{{InfraID: "named-c9772", Account: account, Region: "us-east-1"}}
	s.record(t, `\052.apps.named.labs.example.com.`)
	s.record(t, "api.named.labs.example.com.")
	s.record(t, "api.unnamed.labs.example.com.")
	s.zone(t, "named-c9772-x7k2p")
	for _, name := range []string{"openshift-bootstrap-data-named-c9772", "named-c9772-image-registry-us-east-1-abc"} {
		require.NoError(t, s.S3.CreateBucket(t.Context(), name))
	}
	p := s.client.Verify(t.Context(), s.target)
	var ids []string
	for _, l := range p.Leftovers {
		ids = append(ids, l.Type+" "+l.Name)
	}
	require.ElementsMatch(t, []string{
		"hosted-zone named.labs.example.com", `record \052.apps.named.labs.example.com`, "record api.named.labs.example.com",
		"bucket openshift-bootstrap-data-named-c9772", "bucket named-c9772-image-registry-us-east-1-abc",
	}, ids)
	for _, never := range [][]contract.Identity{nil, {{CCOName: "named-abc", Account: account}}} {
		s.target.Identities = never
		p = s.client.Verify(t.Context(), s.target)
		require.True(t, p.Clean, "what was never created was never in DNS: the name is somebody else's")
		require.NotEmpty(t, p.Control)
	}
}

func TestARefusedQueryIsAFindingAndNeverAnEmptyList(t *testing.T) {
	for _, call := range []string{"ec2:DescribeVpcs", "tagging:GetResources", "iam:GetRole", "route53:ListResourceRecordSets", "elasticloadbalancing:DescribeTargetGroups"} {
		t.Run(call, func(t *testing.T) {
			s := newScene(t, "refused", "us-east-1")
			s.target.Identities = []contract.Identity{{InfraID: "refused-c9772", Account: account}}
			s.AWS.Refuse(call, -1, "")
			p := s.client.Verify(t.Context(), s.target)
			require.False(t, p.Clean)
			require.Equal(t, []string{"refused-query"}, kinds(p))
			require.NotEmpty(t, p.Control)
			refused := slices.ContainsFunc(p.Queries, func(q contract.Query) bool {
				return q.Service+":"+q.Call == call && strings.Contains(q.Err, "api error")
			})
			require.True(t, refused)
			s.AWS.Lift(call)
			require.True(t, s.client.Verify(t.Context(), s.target).Clean)
		})
	}
}

// Tags are read in a second call. In a busy account something of somebody else's is gone by then, and AWS refuses them all.
func TestWhatGoesWhileItIsCountedHidesNothingElse(t *testing.T) {
	const arn = "arn:aws:elasticloadbalancing:us-east-1:" + account + ":"
	for code, left := range map[string]standin.Resource{
		"TargetGroupNotFound":  {Type: "targetgroup", ID: arn + "targetgroup/hidden-c9772-aint/0123", Name: "hidden-c9772-aint"},
		"LoadBalancerNotFound": {Type: "classic", ID: arn + "loadbalancer/a0123", Name: "a0123", Tags: map[string]string{"kubernetes.io/cluster/hidden-c9772": "owned"}},
	} {
		t.Run(left.Type, func(t *testing.T) {
			s := newScene(t, "hidden", "us-east-1")
			s.target.Identities = []contract.Identity{{InfraID: "hidden-c9772", Account: account}}
			left.Service, left.Region = "elasticloadbalancing", "us-east-1"
			s.plant(t, left)
			s.plant(t, standin.Resource{Service: left.Service, Type: left.Type, ID: left.ID + "9", Name: "hidden-c9772-2", Region: left.Region})
			s.AWS.Refuse("elasticloadbalancing:DescribeTags", 1, code)
			s.AWS.Refuse("tagging:GetResources", -1, "")
			p := s.client.Verify(t.Context(), s.target)
			require.True(t, slices.ContainsFunc(p.Leftovers, func(l contract.Leftover) bool { return l.Name == left.Name }), p.Leftovers)
			require.Empty(t, s.AWS.Faults()["elasticloadbalancing:DescribeTags"], "it was refused once")
		})
	}
}

func TestTheControlFailsInAnotherAccountAndWithoutTheZone(t *testing.T) {
	s := newScene(t, "control", "us-east-1")
	s.target.Identities = []contract.Identity{{InfraID: "control-c9772", Account: account}}
	require.NoError(t, s.AWS.SetAccount("999999999999"))
	s.target.Account = ""
	p := s.client.Verify(t.Context(), s.target)
	require.False(t, p.Clean)
	require.Empty(t, p.Control)
	require.Contains(t, kinds(p), "wrong-account")
	require.Len(t, p.Queries, 2, "nothing else is asked there")

	require.NoError(t, s.AWS.SetAccount(account))
	s.target.BaseDomain = "elsewhere.example.com"
	p = s.client.Verify(t.Context(), s.target)
	require.False(t, p.Clean)
	require.Empty(t, p.Control)
	require.Equal(t, []string{"zone-not-visible"}, kinds(p))

	s.target.Identities = nil
	p = s.client.Verify(t.Context(), s.target)
	require.True(t, p.Clean, "without an infraID no zone is needed")

	s.AWS.Refuse("sts:GetCallerIdentity", -1, "AccessDenied")
	p = s.client.Verify(t.Context(), s.target)
	require.False(t, p.Clean)
	require.Empty(t, p.Control)
	require.Contains(t, kinds(p), "refused-query")
}

func TestExpiredCredentialsAreToldFromRefusedOnes(t *testing.T) {
	s := newScene(t, "expired", "us-east-1")
	for code, want := range map[string]error{"ExpiredToken": cloud.ErrCredentialsExpired, "InvalidClientTokenId": cloud.ErrCredentials} {
		s.AWS.Refuse("sts:GetCallerIdentity", 1, code)
		_, err := s.client.Account(t.Context())
		require.ErrorIs(t, err, want, code)
	}
}

func TestWhatAWorkloadMadeInTheVPCIsNamed(t *testing.T) {
	s := newScene(t, "work", "us-east-1")
	s.target.Identities = []contract.Identity{{InfraID: "work-c9772", Account: account, Region: "us-east-1"}}
	api := s.ec2(t)
	vpc, err := api.CreateVpc(t.Context(), &ec2.CreateVpcInput{CidrBlock: awssdk.String("10.0.0.0/16"), TagSpecifications: []ec2types.TagSpecification{{
		ResourceType: "vpc", Tags: []ec2types.Tag{{Key: awssdk.String("kubernetes.io/cluster/work-c9772"), Value: awssdk.String("owned")}},
	}}})
	require.NoError(t, err)
	_, err = api.CreateSecurityGroup(t.Context(), &ec2.CreateSecurityGroupInput{VpcId: vpc.Vpc.VpcId, GroupName: awssdk.String("somebody's"), Description: awssdk.String("x")})
	require.NoError(t, err)
	p := s.client.Verify(t.Context(), s.target)
	require.Equal(t, []string{"security-group", "vpc"}, kinds(p), "the default group and the main route table go with the VPC")
}
