package aws_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
)

func iamTags() []types.Tag { return []types.Tag{{Key: sdk.String(owned), Value: sdk.String("owned")}} }

func TestRolesGoAfterWhatHangsOnThem(t *testing.T) {
	c := start(t, aws.Config{})
	ctx := t.Context()
	role, profile := sdk.String(infra+"-master-role"), sdk.String(infra+"-master-profile")
	trust := `{"Version":"2012-10-17","Statement":[]}`
	_, err := c.iam.CreateRole(ctx, &iam.CreateRoleInput{RoleName: role, AssumeRolePolicyDocument: &trust, Tags: iamTags()})
	require.NoError(t, err)
	_, err = c.iam.CreateRole(ctx, &iam.CreateRoleInput{RoleName: role, AssumeRolePolicyDocument: &trust})
	refused(t, err, "EntityAlreadyExists")
	_, err = c.iam.PutRolePolicy(ctx, &iam.PutRolePolicyInput{RoleName: role, PolicyName: sdk.String("p"), PolicyDocument: &trust})
	require.NoError(t, err)
	_, err = c.iam.CreateInstanceProfile(ctx, &iam.CreateInstanceProfileInput{InstanceProfileName: profile, Tags: iamTags()})
	require.NoError(t, err)
	_, err = c.iam.AddRoleToInstanceProfile(ctx, &iam.AddRoleToInstanceProfileInput{InstanceProfileName: profile, RoleName: role})
	require.NoError(t, err)

	got, err := c.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: role})
	require.NoError(t, err)
	require.Equal(t, "arn:aws:iam::123456789012:role/"+*role, *got.Role.Arn)
	require.Equal(t, owned, *got.Role.Tags[0].Key)
	seen, err := c.iam.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: profile})
	require.NoError(t, err)
	require.Equal(t, *role, *seen.InstanceProfile.Roles[0].RoleName)
	policies, err := c.iam.ListRolePolicies(ctx, &iam.ListRolePoliciesInput{RoleName: role})
	require.NoError(t, err)
	require.Equal(t, []string{"p"}, policies.PolicyNames)

	_, err = c.iam.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: role})
	refused(t, err, "DeleteConflict")
	_, err = c.iam.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: profile})
	refused(t, err, "DeleteConflict")
	_, err = c.iam.RemoveRoleFromInstanceProfile(ctx, &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: profile, RoleName: role})
	require.NoError(t, err)
	_, err = c.iam.DeleteInstanceProfile(ctx, &iam.DeleteInstanceProfileInput{InstanceProfileName: profile})
	require.NoError(t, err)
	_, err = c.iam.DeleteRolePolicy(ctx, &iam.DeleteRolePolicyInput{RoleName: role, PolicyName: sdk.String("p")})
	require.NoError(t, err)
	_, err = c.iam.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: role})
	require.NoError(t, err)
	_, err = c.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: role})
	var missing *types.NoSuchEntityException
	require.ErrorAs(t, err, &missing)
	require.Empty(t, c.Resources(""))
}

func TestListsOfIdentitiesPageAndHoldNoTags(t *testing.T) {
	c := start(t, aws.Config{})
	ctx := t.Context()
	for i := range 7 {
		_, err := c.iam.CreateRole(ctx, &iam.CreateRoleInput{RoleName: sdk.String(fmt.Sprintf("role-%d", i)), AssumeRolePolicyDocument: sdk.String("{}"), Tags: iamTags()})
		require.NoError(t, err)
	}
	names, pages := []string{}, 0
	for p := iam.NewListRolesPaginator(c.iam, &iam.ListRolesInput{MaxItems: sdk.Int32(3)}); p.HasMorePages(); pages++ {
		page, err := p.NextPage(ctx)
		require.NoError(t, err)
		for _, r := range page.Roles {
			names = append(names, *r.RoleName)
			require.Empty(t, r.Tags)
		}
	}
	require.Equal(t, 3, pages)
	require.Len(t, names, 8, "and the role for load balancers that every account has")
	_, err := c.iam.TagRole(ctx, &iam.TagRoleInput{RoleName: sdk.String("role-1"), Tags: []types.Tag{{Key: sdk.String("a"), Value: sdk.String("b")}}})
	require.NoError(t, err)
	one, err := c.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: sdk.String("role-1")})
	require.NoError(t, err)
	require.Len(t, one.Role.Tags, 2)
}

func TestUsersAndProviders(t *testing.T) {
	c := start(t, aws.Config{})
	ctx := t.Context()
	name := sdk.String(infra + "-openshift-image-registry-x")
	_, err := c.iam.CreateUser(ctx, &iam.CreateUserInput{UserName: name, Tags: iamTags()})
	require.NoError(t, err)
	_, err = c.iam.PutUserPolicy(ctx, &iam.PutUserPolicyInput{UserName: name, PolicyName: sdk.String("p"), PolicyDocument: sdk.String("{}")})
	require.NoError(t, err)
	got, err := c.iam.GetUser(ctx, &iam.GetUserInput{UserName: name})
	require.NoError(t, err)
	require.Equal(t, owned, *got.User.Tags[0].Key)
	_, err = c.iam.DeleteUser(ctx, &iam.DeleteUserInput{UserName: name})
	refused(t, err, "DeleteConflict")
	_, err = c.iam.DeleteUserPolicy(ctx, &iam.DeleteUserPolicyInput{UserName: name, PolicyName: sdk.String("p")})
	require.NoError(t, err)
	_, err = c.iam.DeleteUser(ctx, &iam.DeleteUserInput{UserName: name})
	require.NoError(t, err)

	made, err := c.iam.CreateOpenIDConnectProvider(ctx, &iam.CreateOpenIDConnectProviderInput{Url: sdk.String("https://demo-oidc.s3.us-east-1.amazonaws.com"), ClientIDList: []string{"openshift"}, Tags: iamTags()})
	require.NoError(t, err)
	all, err := c.iam.ListOpenIDConnectProviders(ctx, &iam.ListOpenIDConnectProvidersInput{})
	require.NoError(t, err)
	require.Equal(t, *made.OpenIDConnectProviderArn, *all.OpenIDConnectProviderList[0].Arn)
	seen, err := c.iam.GetOpenIDConnectProvider(ctx, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: made.OpenIDConnectProviderArn})
	require.NoError(t, err)
	require.Equal(t, []string{"openshift"}, seen.ClientIDList)
	_, err = c.iam.DeleteOpenIDConnectProvider(ctx, &iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: made.OpenIDConnectProviderArn})
	require.NoError(t, err)
	_, err = c.iam.GetOpenIDConnectProvider(ctx, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: made.OpenIDConnectProviderArn})
	refused(t, err, "NoSuchEntity")
}

func TestWhatCcoctlMakesCanBeReadAndChanged(t *testing.T) {
	c := start(t, aws.Config{})
	ctx := t.Context()
	role, policy := sdk.String("n-openshift-image-registry"), sdk.String("arn:aws:iam::aws:policy/ReadOnlyAccess")
	_, err := c.iam.CreateRole(ctx, &iam.CreateRoleInput{RoleName: role, AssumeRolePolicyDocument: sdk.String("{}"), PermissionsBoundary: policy})
	require.NoError(t, err)
	_, err = c.iam.UpdateAssumeRolePolicy(ctx, &iam.UpdateAssumeRolePolicyInput{RoleName: role, PolicyDocument: sdk.String(`{"Version":"2012-10-17"}`)})
	require.NoError(t, err)
	got, err := c.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: role})
	require.NoError(t, err)
	require.Contains(t, *got.Role.AssumeRolePolicyDocument, "2012-10-17")
	require.Equal(t, *policy, *got.Role.PermissionsBoundary.PermissionsBoundaryArn)

	_, err = c.iam.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: role, PolicyArn: sdk.String("arn:aws:iam::123456789012:policy/nobody")})
	refused(t, err, "NoSuchEntity")
	_, err = c.iam.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: role, PolicyArn: policy})
	require.NoError(t, err)
	attached, err := c.iam.ListAttachedRolePolicies(ctx, &iam.ListAttachedRolePoliciesInput{RoleName: role})
	require.NoError(t, err)
	require.Equal(t, "ReadOnlyAccess", *attached.AttachedPolicies[0].PolicyName)
	_, err = c.iam.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: role})
	refused(t, err, "DeleteConflict")
	_, err = c.iam.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: role, PolicyArn: policy})
	require.NoError(t, err)
	_, err = c.iam.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: role})
	require.NoError(t, err)

	made, err := c.iam.CreateOpenIDConnectProvider(ctx, &iam.CreateOpenIDConnectProviderInput{Url: sdk.String("https://n-oidc.s3.us-east-1.amazonaws.com"), ThumbprintList: []string{"aa"}})
	require.NoError(t, err)
	arn := made.OpenIDConnectProviderArn
	_, err = c.iam.TagOpenIDConnectProvider(ctx, &iam.TagOpenIDConnectProviderInput{OpenIDConnectProviderArn: arn, Tags: iamTags()})
	require.NoError(t, err)
	seen, err := c.iam.GetOpenIDConnectProvider(ctx, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: arn})
	require.NoError(t, err)
	require.Equal(t, []string{"aa"}, seen.ThumbprintList)
	require.Equal(t, iamTags(), seen.Tags)
}

// A key's secret is in the answer that makes it and in the state file, and nowhere else.
func TestNoListingShowsASecretKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	c := start(t, aws.Config{StatePath: path})
	_, err := c.iam.CreateUser(t.Context(), &iam.CreateUserInput{UserName: sdk.String(infra)})
	require.NoError(t, err)
	minted, err := c.iam.CreateAccessKey(t.Context(), &iam.CreateAccessKeyInput{UserName: sdk.String(infra)})
	require.NoError(t, err)
	canary := *minted.AccessKey.SecretAccessKey
	for _, path := range []string{"/_standin/all", "/_standin/resources", "/_standin/resources?match=" + infra, "/_standin/faults"} {
		answer, err := http.Get(c.URL() + path)
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.NotContains(t, string(body), canary, path)
	}
	require.Empty(t, c.Resources(canary), "a listing cannot be searched for it either")
	raw, err := json.Marshal(c.All())
	require.NoError(t, err)
	require.NotContains(t, string(raw), canary)
	state, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(state), canary)
}
