package aws_test

import (
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
)

const (
	onlyEC2 = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["ec2:*","iam:List*"],"Resource":"*"}]}`
	onlyIAM = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"iam:*","Resource":"*"}]}`
)

func TestASessionMayWhatBothItsPoliciesAllow(t *testing.T) {
	s, err := aws.Start(t.Context(), aws.Config{AccessKey: "AKIAADMIN", SecretKey: "secret", Roles: []aws.Role{{Name: "runner", Policy: onlyEC2}},
		Callers: []aws.Caller{{AccessKey: "AKIAIAM", SecretKey: "other", ARN: "arn:aws:iam::123456789012:user/iam", Policy: onlyIAM}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	with := func(key, secret, token string) sdk.Config {
		cfg, err := config.LoadDefaultConfig(t.Context(), config.WithRegion("us-east-1"), config.WithBaseEndpoint(s.URL()),
			config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(key, secret, token)))
		require.NoError(t, err)
		return cfg
	}
	code := func(err error) string {
		var api smithy.APIError
		require.ErrorAs(t, err, &api)
		return api.ErrorCode()
	}
	admin := sts.NewFromConfig(with("AKIAADMIN", "secret", ""))
	role, name := sdk.String("arn:aws:iam::123456789012:role/runner"), sdk.String("att_1")
	out, err := admin.AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: role, RoleSessionName: name,
		Policy: sdk.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["iam:*","ec2:DescribeVpcs"],"Resource":"*"}]}`)})
	require.NoError(t, err)
	require.Equal(t, "arn:aws:sts::123456789012:assumed-role/runner/att_1", *out.AssumedRoleUser.Arn)
	k := out.Credentials
	session := with(*k.AccessKeyId, *k.SecretAccessKey, *k.SessionToken)
	who, err := sts.NewFromConfig(session).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	require.NoError(t, err)
	require.Equal(t, *out.AssumedRoleUser.Arn, *who.Arn)
	_, err = ec2.NewFromConfig(session).DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
	require.NoError(t, err, "both allow it")
	_, err = iam.NewFromConfig(session).ListRoles(t.Context(), &iam.ListRolesInput{})
	require.NoError(t, err)
	_, err = ec2.NewFromConfig(session).DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
	require.Equal(t, "UnauthorizedOperation", code(err), "the session's own policy does not")
	_, err = iam.NewFromConfig(session).CreateUser(t.Context(), &iam.CreateUserInput{UserName: name})
	require.Equal(t, "AccessDenied", code(err), "the role's does not")
	_, err = ec2.NewFromConfig(with(*k.AccessKeyId, *k.SecretAccessKey, "")).DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
	require.Equal(t, "AuthFailure", code(err), "without its token the key is nobody's")

	other := with("AKIAIAM", "other", "")
	_, err = iam.NewFromConfig(other).CreateUser(t.Context(), &iam.CreateUserInput{UserName: name})
	require.NoError(t, err)
	_, err = sts.NewFromConfig(other).AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: role, RoleSessionName: name})
	require.Equal(t, "AccessDenied", code(err))

	for want, in := range map[string]sts.AssumeRoleInput{
		"AccessDenied":            {RoleArn: sdk.String("arn:aws:iam::123456789012:role/none"), RoleSessionName: name},
		"ValidationError":         {RoleArn: role, RoleSessionName: name, DurationSeconds: sdk.Int32(60)},
		"MalformedPolicyDocument": {RoleArn: role, RoleSessionName: name, Policy: sdk.String(`{}`)},
		"PackedPolicyTooLarge":    {RoleArn: role, RoleSessionName: name, Policy: sdk.String(strings.Repeat(" ", 2049))},
	} {
		_, err = admin.AssumeRole(t.Context(), &in)
		require.Equal(t, want, code(err))
	}
}

// As AWS does: the trust policy of a role in another account decides, and a caller that does not name the external id in it is refused.
func TestARoleOfAnotherAccountIsAssumedOnlyWithItsExternalID(t *testing.T) {
	const other = "210987654321"
	trust := func(principal string) string {
		return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"` + principal + `"},"Action":"sts:AssumeRole","Condition":{"StringEquals":{"sts:ExternalId":"the-id"}}}]}`
	}
	s, err := aws.Start(t.Context(), aws.Config{AccessKey: "AKIAADMIN", SecretKey: "secret", Others: []string{other}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	cfg, err := config.LoadDefaultConfig(t.Context(), config.WithRegion("us-east-1"), config.WithBaseEndpoint(s.URL()),
		config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("AKIAADMIN", "secret", "")))
	require.NoError(t, err)
	assume := func(externalID *string) (*sts.AssumeRoleOutput, error) {
		return sts.NewFromConfig(cfg).AssumeRole(t.Context(), &sts.AssumeRoleInput{
			RoleArn: sdk.String("arn:aws:iam::" + other + ":role/team"), RoleSessionName: sdk.String("clu_1"), ExternalId: externalID})
	}
	refused := func(externalID *string) {
		t.Helper()
		_, err := assume(externalID)
		var api smithy.APIError
		require.ErrorAs(t, err, &api)
		require.Equal(t, "AccessDenied", api.ErrorCode())
	}
	refused(sdk.String("the-id")) // there is no such role
	s.AddRole(aws.Role{Account: other, Name: "team", Policy: onlyEC2, Trust: trust("arn:aws:iam::123456789012:root")})
	refused(nil)
	refused(sdk.String("another"))
	out, err := assume(sdk.String("the-id"))
	require.NoError(t, err)
	session := cfg.Copy()
	session.Credentials = credentials.NewStaticCredentialsProvider(*out.Credentials.AccessKeyId, *out.Credentials.SecretAccessKey, *out.Credentials.SessionToken)
	who, err := sts.NewFromConfig(session).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	require.NoError(t, err)
	require.Equal(t, []string{other, "arn:aws:sts::" + other + ":assumed-role/team/clu_1"}, []string{*who.Account, *who.Arn})
	made, err := ec2.NewFromConfig(session).CreateVpc(t.Context(), &ec2.CreateVpcInput{CidrBlock: sdk.String("10.0.0.0/16")})
	require.NoError(t, err)
	require.Equal(t, other, *made.Vpc.OwnerId)
	s.AddRole(aws.Role{Account: other, Name: "team", Policy: onlyEC2, Trust: trust("arn:aws:iam::123456789012:user/somebody")})
	refused(sdk.String("the-id"))
}
