package aws_test

import (
	"maps"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// installed makes a cluster whose own tag is on everything.
func installed(t *testing.T, name string) *scene {
	t.Helper()
	s := newScene(t, name, "us-east-2")
	s.render(t)
	s.Must(t, s.dir, "create cluster")
	return s
}

func TestAClusterOfItsOwnIsNotContested(t *testing.T) {
	s := installed(t, "alone")
	found, err := s.client.Contested(t.Context(), s.target)
	require.NoError(t, err)
	require.Empty(t, found)
}

func TestWhatCarriesTwoClustersMarksIsContested(t *testing.T) {
	s := installed(t, "shop")
	id := s.target.Identities[0]
	ours := map[string]string{"kubernetes.io/cluster/" + id.InfraID: "owned", "ClusterId": s.target.Cluster}
	with := func(more map[string]string) map[string]string {
		out := map[string]string{}
		for _, tags := range []map[string]string{ours, more} {
			maps.Copy(out, tags)
		}
		return out
	}
	for name, c := range map[string]struct {
		tags map[string]string
		mark string
	}{
		"another's infraID":             {with(map[string]string{"kubernetes.io/cluster/bank-11111": "owned"}), "kubernetes.io/cluster/bank-11111=owned"},
		"another's, shared":             {with(map[string]string{"kubernetes.io/cluster/bank-11111": "shared"}), "kubernetes.io/cluster/bank-11111=shared"},
		"another's provider tag":        {with(map[string]string{"sigs.k8s.io/cluster-api-provider-aws/cluster/bank-11111": "owned"}), "sigs.k8s.io/cluster-api-provider-aws/cluster/bank-11111=owned"},
		"another's id of ours":          {with(map[string]string{"ClusterId": "clu_bank"}), "ClusterId=clu_bank"},
		"another's installer id":        {with(map[string]string{"openshiftClusterID": "0000-victim"}), "openshiftClusterID=0000-victim"},
		"another's ccoctl name":         {with(map[string]string{"openshift.io/cloud-credential-operator/bank-x": "owned"}), "openshift.io/cloud-credential-operator/bank-x=owned"},
		"another control plane's":       {with(map[string]string{"InstallationId": "other"}), "InstallationId=other"},
		"another's, with our installer": {map[string]string{"openshiftClusterID": id.ClusterUUID, "kubernetes.io/cluster/bank-11111": "owned"}, "kubernetes.io/cluster/bank-11111=owned"},
	} {
		t.Run(name, func(t *testing.T) {
			target := s.target
			target.Installation = "test"
			volume := standin.Resource{Service: "ec2", Type: "volume", Region: "us-east-2", Tags: c.tags}
			planted := s.plant(t, volume)
			arn := planted.ARN()
			found, err := s.client.Contested(t.Context(), target)
			require.NoError(t, err)
			require.Contains(t, found, cloud.Contested{ID: arn, Mark: c.mark})
		})
	}
}

func TestAClusterThatTheControlPlaneNeverTaggedIsSomebodyElses(t *testing.T) {
	s := installed(t, "foreign")
	s.target.Cluster = "clu_hostile" // which recorded the other's infraID as its own
	found, err := s.client.Contested(t.Context(), s.target)
	require.NoError(t, err)
	require.NotEmpty(t, found)

	stranger := newScene(t, "stranger", "us-east-2")
	stranger.render(t)
	planted := stranger.plant(t, standin.Resource{Service: "ec2", Type: "vpc", Region: "us-east-2", Tags: map[string]string{
		"kubernetes.io/cluster/" + stranger.target.Identities[0].InfraID: "owned",
	}})
	found, err = stranger.client.Contested(t.Context(), stranger.target)
	require.NoError(t, err)
	require.Equal(t, []cloud.Contested{{ID: planted.ARN(), Mark: "no tag ClusterId=clu_stranger"}}, found)
}

// Our public records were deleted by a teardown that something else blocked, and another installation took the name. The private zone is still ours.
func TestPublicRecordsThatLeadToSomebodyElsesLoadBalancerAreContested(t *testing.T) {
	s := installed(t, "shop")
	api, public := s.dns(t)
	records, err := api.ListResourceRecordSets(t.Context(), &route53.ListResourceRecordSetsInput{HostedZoneId: &public})
	require.NoError(t, err)
	for _, r := range records.ResourceRecordSets {
		if *r.Name == "api.shop.labs.example.com." {
			_, err := api.ChangeResourceRecordSets(t.Context(), &route53.ChangeResourceRecordSetsInput{HostedZoneId: &public, ChangeBatch: &r53types.ChangeBatch{
				Changes: []r53types.Change{{Action: "DELETE", ResourceRecordSet: &r}},
			}})
			require.NoError(t, err)
		}
	}
	found, err := s.client.Contested(t.Context(), s.target)
	require.NoError(t, err)
	require.Empty(t, found)
	s.alias(t, "api.shop.labs.example.com", "shop-zzzzz-ext-0123.elb.us-east-2.amazonaws.com.")
	s.alias(t, "api.my-shop.labs.example.com", "my-shop-zzzzz-ext-0123.elb.us-east-2.amazonaws.com.")
	found, err = s.client.Contested(t.Context(), s.target)
	require.NoError(t, err)
	require.Equal(t, []cloud.Contested{{ID: "record api.shop.labs.example.com in zone " + public, Mark: "it leads to shop-zzzzz-ext-0123.elb.us-east-2.amazonaws.com"}}, found)

	for _, call := range []string{"route53:ListHostedZonesByName", "route53:ListResourceRecordSets", "route53:ListTagsForResource"} {
		s.AWS.Refuse(call, 1, "AccessDenied")
		_, err := s.client.Contested(t.Context(), s.target)
		require.ErrorContains(t, err, "AccessDenied", call)
	}
}

func TestRolesAndUsersAreLookedAtOneByOne(t *testing.T) {
	s := installed(t, "roles")
	id := s.target.Identities[0]
	api := iam.NewFromConfig(s.config(t))
	_, err := api.CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: awssdk.String("bank-11111-worker-role"), AssumeRolePolicyDocument: awssdk.String("{}"), Tags: []iamtypes.Tag{
			{Key: awssdk.String("kubernetes.io/cluster/bank-11111"), Value: awssdk.String("owned")},
			{Key: awssdk.String("openshiftClusterID"), Value: awssdk.String(id.ClusterUUID)},
		},
	})
	require.NoError(t, err)
	found, err := s.client.Contested(t.Context(), s.target)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Contains(t, found[0].ID, "role/bank-11111-worker-role")
	require.Equal(t, "kubernetes.io/cluster/bank-11111=owned", found[0].Mark)
}

func TestASearchThatWasRefusedSaysNothing(t *testing.T) {
	s := installed(t, "refused")
	for _, call := range []string{"tagging:GetResources", "iam:ListRoles", "iam:ListUsers"} {
		s.AWS.Refuse(call, 1, "AccessDenied")
		_, err := s.client.Contested(t.Context(), s.target)
		require.ErrorContains(t, err, "AccessDenied", call)
	}
}

func TestWhatCannotBeAskedForItsAgeStopsTheTeardown(t *testing.T) {
	s := installed(t, "ageless")
	s.target.Accepted = time.Now()
	for _, call := range []string{"ec2:DescribeInstances", "ec2:DescribeVolumes", "ec2:DescribeSnapshots", "ec2:DescribeImages", "ec2:DescribeNatGateways", "ec2:DescribeVpcEndpoints", "elasticloadbalancing:DescribeLoadBalancers"} {
		s.AWS.Refuse(call, 1, "AccessDenied")
		_, err := s.client.Contested(t.Context(), s.target)
		require.ErrorContains(t, err, "AccessDenied", call)
		s.AWS.Lift(call)
	}
}
