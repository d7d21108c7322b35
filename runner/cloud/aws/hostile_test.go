package aws_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/installer/release"
)

func TestAHostileClusterReachesNothingOfAnother(t *testing.T) {
	n := newNeighbourhood(t)
	before, err := json.Marshal(n.AWS.Resources(n.theirs.infraID))
	require.NoError(t, err)
	for who, as := range n.everyone(n.ours) {
		for what, act := range n.acts(n.theirs) {
			refusedAs(t, act(as), who+": "+what)
		}
	}
	after, err := json.Marshal(n.AWS.Resources(n.theirs.infraID))
	require.NoError(t, err)
	require.JSONEq(t, string(before), string(after))
}

// refusedAs checks that a call was refused for want of a permission, and not because something does not exist.
func refusedAs(t *testing.T, err error, what string) {
	t.Helper()
	require.Error(t, err, what)
	require.Regexp(t, "AccessDenied|UnauthorizedOperation", err.Error(), what)
}

func TestAClustersOwnOperatorsWork(t *testing.T) {
	n := newNeighbourhood(t)
	acts := n.acts(n.ours)
	as := map[string]awssdk.Config{"node": n.with(n.AWS.InstanceCredentials(n.ours.master))}
	for _, request := range release.AWSRequests() {
		as[request.Name] = n.operator(n.ours, request)
	}
	for _, c := range [][2]string{
		{"openshift-ingress", "write api"}, {"openshift-ingress", "write apps"}, {"openshift-ingress", "write private"},
		{"openshift-image-registry", "make registry"}, {"openshift-image-registry", "tag registry"}, {"openshift-image-registry", "push image"},
		{"aws-ebs-csi-driver-operator", "snapshot"}, {"aws-ebs-csi-driver-operator", "detach"}, {"aws-ebs-csi-driver-operator", "attach"}, {"aws-ebs-csi-driver-operator", "tag"},
		{"openshift-machine-api-aws", "tag"}, {"openshift-machine-api-aws", "pass role"}, {"node", "tag balancer"}, {"openshift-machine-api-aws", "terminate"},
	} {
		require.NoError(t, acts[c[1]](as[c[0]]), "%s: %s", c[0], c[1])
	}
	machines, err := ec2.NewFromConfig(as["node"]).DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{})
	require.NoError(t, err)
	require.NotEmpty(t, machines.Reservations)
	created, err := ec2.NewFromConfig(as["aws-ebs-csi-driver-operator"]).CreateVolume(t.Context(), &ec2.CreateVolumeInput{AvailabilityZone: awssdk.String("us-east-2a"), Size: awssdk.Int32(1),
		TagSpecifications: []ec2types.TagSpecification{{ResourceType: "volume", Tags: []ec2types.Tag{{Key: awssdk.String("ClusterId"), Value: &n.ours.target.Cluster}}}}})
	require.NoError(t, err)
	_, err = ec2.NewFromConfig(as["aws-ebs-csi-driver-operator"]).DeleteVolume(t.Context(), &ec2.DeleteVolumeInput{VolumeId: created.VolumeId})
	require.NoError(t, err)
}

func TestARoleWithoutItsClustersTagMayDoNothing(t *testing.T) {
	n := newNeighbourhood(t)
	as := n.anyRole(n.ours, false)
	for _, to := range []*livingCluster{n.ours, n.theirs} {
		for what, act := range n.acts(to) {
			refusedAs(t, act(as), to.infraID+": "+what)
		}
	}
}

func TestAClustersRolesChangeNeitherTheirTagsNorTheirLimits(t *testing.T) {
	n := newNeighbourhood(t)
	role := n.roles(n.ours)[0]
	trust := awssdk.String("{}")
	for who, as := range n.everyone(n.ours) {
		api := iam.NewFromConfig(as)
		_, err := api.TagRole(t.Context(), &iam.TagRoleInput{RoleName: &role, Tags: []iamtypes.Tag{{Key: awssdk.String("ClusterId"), Value: &n.theirs.target.Cluster}}})
		refusedAs(t, err, who)
		_, err = api.UntagRole(t.Context(), &iam.UntagRoleInput{RoleName: &role, TagKeys: []string{"ClusterId"}})
		refusedAs(t, err, who)
		_, err = api.DeleteRolePermissionsBoundary(t.Context(), &iam.DeleteRolePermissionsBoundaryInput{RoleName: &role})
		refusedAs(t, err, who)
		_, err = api.UpdateAssumeRolePolicy(t.Context(), &iam.UpdateAssumeRolePolicyInput{RoleName: &role, PolicyDocument: trust})
		refusedAs(t, err, who)
		_, err = api.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: awssdk.String("x-openshift-x"), AssumeRolePolicyDocument: trust})
		refusedAs(t, err, who)
		_, err = sts.NewFromConfig(as).AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: awssdk.String("arn:aws:iam::" + account + ":role/ocpctl-runner-create"), RoleSessionName: awssdk.String("x1")})
		refusedAs(t, err, who)
	}
}

func TestAForgedTagIsRefusedWhenItIsWritten(t *testing.T) {
	n := newNeighbourhood(t)
	payroll, err := n.AWS.Plant(standin.Resource{Service: "ec2", Type: "volume", Region: "us-east-2", Name: "payroll"}) // of somebody else in the account
	require.NoError(t, err)
	for who, as := range n.everyone(n.ours) {
		api := ec2.NewFromConfig(as)
		mark := func(id, key, value string) error {
			_, err := api.CreateTags(t.Context(), &ec2.CreateTagsInput{Resources: []string{id}, Tags: []ec2types.Tag{{Key: &key, Value: &value}}})
			return err
		}
		refusedAs(t, mark(payroll.ID, "kubernetes.io/cluster/"+n.ours.infraID, "owned"), who+" puts its mark on somebody's disk, so that its teardown deletes it")
		refusedAs(t, mark(payroll.ID, "ClusterId", n.ours.target.Cluster), who+" takes somebody's disk")
		refusedAs(t, mark(n.ours.master, "ClusterId", n.theirs.target.Cluster), who+" gives away a machine")
		refusedAs(t, n.runMachine(api, n.ours, n.theirs.target.Cluster), who+" starts a machine for another cluster")
		_, err := api.DeleteTags(t.Context(), &ec2.DeleteTagsInput{Resources: []string{n.ours.master}, Tags: []ec2types.Tag{{Key: awssdk.String("ClusterId")}}})
		refusedAs(t, err, who+" hides a machine")
		_, err = api.DeleteVolume(t.Context(), &ec2.DeleteVolumeInput{VolumeId: &payroll.ID})
		refusedAs(t, err, who+" deletes somebody's disk")
	}
}

func TestATokenOpensOnlyTheRolesOfItsOwnClusterAndSubject(t *testing.T) {
	n := newNeighbourhood(t)
	registry, ingress := release.AWSRequests()[4], release.AWSRequests()[5]
	subject := "system:serviceaccount:" + registry.Namespace + ":" + registry.ServiceAccounts[0]
	role := func(c *livingCluster, r release.Request) string {
		return fmt.Sprintf("arn:aws:iam::%s:role/%.64s", account, c.ccoName+"-"+r.Namespace+"-"+r.Secret)
	}
	assume := func(role, token string) error {
		_, err := sts.NewFromConfig(n.administrator).AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{RoleArn: &role, RoleSessionName: awssdk.String("test"), WebIdentityToken: &token})
		return err
	}
	require.NoError(t, assume(role(n.ours, registry), n.token(n.ours, subject, nil)))
	theirIssuer := map[string]any{"iss": "https://" + n.theirs.ccoName + "-oidc.s3.us-east-2.amazonaws.com"}
	for what, c := range map[string]struct{ role, token, says string }{
		"another cluster's role": {role(n.theirs, registry), n.token(n.ours, subject, nil), "Not authorized"},
		"another operator's":     {role(n.ours, ingress), n.token(n.ours, subject, nil), "Not authorized"},
		"another issuer's name":  {role(n.theirs, registry), n.token(n.ours, subject, theirIssuer), "no valid signature"},
		"no identity provider":   {role(n.ours, registry), n.token(n.ours, subject, map[string]any{"iss": "https://evil.example"}), "No OpenIDConnect provider"},
		"another audience":       {role(n.ours, registry), n.token(n.ours, subject, map[string]any{"aud": []string{"vault"}}), "Incorrect token audience"},
		"an expired token":       {role(n.ours, registry), n.token(n.ours, subject, map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}), "expired"},
		"no token":               {role(n.ours, registry), "x.y.z", "not a valid JWT"},
		"a token that brings tags of its own": {role(n.ours, registry), n.token(n.ours, subject, map[string]any{
			"https://aws.amazon.com/tags": map[string]any{"principal_tags": map[string][]string{"ClusterId": {n.theirs.target.Cluster}}},
		}), "Not authorized"},
	} {
		require.ErrorContains(t, assume(c.role, c.token), c.says, what)
	}
}
