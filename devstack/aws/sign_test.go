package aws_test

import (
	"net/http"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/organizations"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
)

func TestWhoAsks(t *testing.T) {
	c := start(t, aws.Config{})

	t.Run("the right secret is the account's administrator", func(t *testing.T) {
		out, err := c.sts.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
		require.NoError(t, err)
		require.Equal(t, "123456789012", *out.Account)
		require.Equal(t, "arn:aws:iam::123456789012:user/demo-admin", *out.Arn)
	})
	t.Run("the SDK's default chain finds it by AWS_ENDPOINT_URL", func(t *testing.T) {
		for name, value := range map[string]string{"AWS_ENDPOINT_URL": c.URL(), "AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_REGION": "us-west-2"} {
			t.Setenv(name, value)
		}
		cfg, err := config.LoadDefaultConfig(t.Context())
		require.NoError(t, err)
		_, err = iam.NewFromConfig(cfg).ListRoles(t.Context(), &iam.ListRolesInput{})
		require.NoError(t, err)
		_, err = route53.NewFromConfig(cfg).ListHostedZones(t.Context(), &route53.ListHostedZonesInput{})
		require.NoError(t, err)
		zones, err := ec2.NewFromConfig(cfg).DescribeAvailabilityZones(t.Context(), &ec2.DescribeAvailabilityZonesInput{})
		require.NoError(t, err)
		require.Len(t, zones.AvailabilityZones, 4)
	})
	t.Run("a wrong secret is refused in every service's own words", func(t *testing.T) {
		wrong := clients(t, c.Server, "us-east-1", key, "guessed")
		_, err := wrong.sts.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
		refused(t, err, "SignatureDoesNotMatch")
		_, err = wrong.iam.ListRoles(t.Context(), &iam.ListRolesInput{})
		refused(t, err, "SignatureDoesNotMatch")
		_, err = wrong.route53.ListHostedZones(t.Context(), &route53.ListHostedZonesInput{})
		refused(t, err, "SignatureDoesNotMatch")
		_, err = wrong.ec2.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
		refused(t, err, "AuthFailure")
		_, err = wrong.tagging.GetResources(t.Context(), &tagging.GetResourcesInput{})
		refused(t, err, "InvalidSignatureException")
	})
	t.Run("an unknown key is refused", func(t *testing.T) {
		unknown := clients(t, c.Server, "us-east-1", "AKIANOBODY", secret)
		_, err := unknown.sts.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
		refused(t, err, "InvalidClientTokenId")
		_, err = unknown.ec2.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
		refused(t, err, "AuthFailure")
	})
	t.Run("a request changed after signing is refused", func(t *testing.T) {
		signed, err := sts.NewPresignClient(c.sts).PresignGetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
		require.NoError(t, err)
		ask := func(url string) int {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
			require.NoError(t, err)
			answer, err := http.DefaultClient.Do(r)
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
			return answer.StatusCode
		}
		require.Equal(t, http.StatusOK, ask(signed.URL))
		require.Equal(t, http.StatusForbidden, ask(strings.Replace(signed.URL, "GetCallerIdentity", "GetSessionToken", 1)))
	})
	t.Run("an unsigned request is refused", func(t *testing.T) {
		answer, err := http.Get(c.URL() + "/?Action=GetCallerIdentity") // a bare request is the point
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusForbidden, answer.StatusCode)
	})
}

func TestAMintedKeyIsItsUserUntilItIsDeleted(t *testing.T) {
	c := start(t, aws.Config{})
	_, err := c.iam.CreateUser(t.Context(), &iam.CreateUserInput{UserName: sdk.String(infra + "-registry")})
	require.NoError(t, err)
	made, err := c.iam.CreateAccessKey(t.Context(), &iam.CreateAccessKeyInput{UserName: sdk.String(infra + "-registry")})
	require.NoError(t, err)
	minted := clients(t, c.Server, "us-east-2", *made.AccessKey.AccessKeyId, *made.AccessKey.SecretAccessKey)
	out, err := minted.sts.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	require.NoError(t, err)
	require.Equal(t, "arn:aws:iam::123456789012:user/"+infra+"-registry", *out.Arn)
	_, err = c.iam.DeleteUser(t.Context(), &iam.DeleteUserInput{UserName: sdk.String(infra + "-registry")})
	refused(t, err, "DeleteConflict")
	_, err = c.iam.DeleteAccessKey(t.Context(), &iam.DeleteAccessKeyInput{UserName: sdk.String(infra + "-registry"), AccessKeyId: made.AccessKey.AccessKeyId})
	require.NoError(t, err)
	_, err = minted.sts.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	refused(t, err, "InvalidClientTokenId")
}

func TestOthersHaveKeysInOtherAccountsAndOrganizationsKnowsItsOwn(t *testing.T) {
	const role = "arn:aws:sts::999900001111:assumed-role/ci/build-41"
	c := start(t, aws.Config{Members: []string{"210987654321"}, Callers: []aws.Caller{{AccessKey: "AKIADEMO0000OTHER001", SecretKey: "other-secret", ARN: role}}})
	out, err := clients(t, c.Server, "us-east-2", "AKIADEMO0000OTHER001", "other-secret").sts.GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	require.NoError(t, err)
	require.Equal(t, role, *out.Arn)
	require.Equal(t, "999900001111", *out.Account)

	ask := organizations.New(organizations.Options{
		BaseEndpoint: sdk.String(c.URL()), Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider(key, secret, ""),
	})
	for _, account := range []string{"123456789012", "210987654321"} {
		found, err := ask.DescribeAccount(t.Context(), &organizations.DescribeAccountInput{AccountId: sdk.String(account)})
		require.NoError(t, err)
		require.Equal(t, "arn:aws:organizations::123456789012:account/"+aws.Organization+"/"+account, *found.Account.Arn)
	}
	_, err = ask.DescribeAccount(t.Context(), &organizations.DescribeAccountInput{AccountId: sdk.String("999900001111")})
	refused(t, err, "AccountNotFoundException")
}

func TestWhatTheStandInDoesNotKnowIsRefused(t *testing.T) {
	c := start(t, aws.Config{})
	t.Run("a call the stand-in does not know is refused as unknown", func(t *testing.T) {
		_, err := c.ec2.DescribeFleets(t.Context(), &ec2.DescribeFleetsInput{})
		refused(t, err, "InvalidAction")
		_, err = c.route53.ListHealthChecks(t.Context(), &route53.ListHealthChecksInput{})
		refused(t, err, "UnknownOperationException")
	})
	t.Run("a region that is not enabled is refused", func(t *testing.T) {
		_, err := clients(t, c.Server, "eu-west-9", key, secret).ec2.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
		refused(t, err, "OptInRequired")
	})
}
