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
