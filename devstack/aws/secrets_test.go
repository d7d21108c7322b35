package aws_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	sm "github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
)

func (c *cloud) secret(t *testing.T, id string) string {
	t.Helper()
	out, err := c.secrets.GetSecretValue(t.Context(), &sm.GetSecretValueInput{SecretId: &id})
	require.NoError(t, err)
	return *out.SecretString
}

func TestASecretsNewestVersionIsRead(t *testing.T) {
	c := start(t, aws.Config{})
	ctx := t.Context()
	made, err := c.secrets.CreateSecret(ctx, &sm.CreateSecretInput{Name: sdk.String("ocpctl/pull-secret"), SecretString: sdk.String("one"),
		Tags: []types.Tag{{Key: sdk.String(owned), Value: sdk.String("owned")}}})
	require.NoError(t, err)
	_, err = c.secrets.CreateSecret(ctx, &sm.CreateSecretInput{Name: sdk.String("ocpctl/pull-secret"), SecretString: sdk.String("one")})
	refused(t, err, "ResourceExistsException")
	put, err := c.secrets.PutSecretValue(ctx, &sm.PutSecretValueInput{SecretId: made.ARN, SecretString: sdk.String("two")})
	require.NoError(t, err)
	require.NotEqual(t, *made.VersionId, *put.VersionId)
	for _, id := range []string{"ocpctl/pull-secret", *made.ARN, (*made.ARN)[:len(*made.ARN)-7]} {
		require.Equal(t, "two", c.secret(t, id))
	}
	old, err := c.secrets.GetSecretValue(ctx, &sm.GetSecretValueInput{SecretId: made.ARN, VersionStage: sdk.String("AWSPREVIOUS")})
	require.NoError(t, err)
	require.Equal(t, "one", *old.SecretString)
	got, err := c.secrets.DescribeSecret(ctx, &sm.DescribeSecretInput{SecretId: made.ARN})
	require.NoError(t, err)
	require.Equal(t, map[string][]string{*made.VersionId: {"AWSPREVIOUS"}, *put.VersionId: {"AWSCURRENT"}}, got.VersionIdsToStages)

	_, err = c.secrets.PutSecretValue(ctx, &sm.PutSecretValueInput{SecretId: made.ARN, SecretBinary: []byte{0, 1, 2}})
	require.NoError(t, err)
	binary, err := c.secrets.GetSecretValue(ctx, &sm.GetSecretValueInput{SecretId: made.ARN})
	require.NoError(t, err)
	require.Equal(t, []byte{0, 1, 2}, binary.SecretBinary)
	_, err = c.secrets.GetSecretValue(ctx, &sm.GetSecretValueInput{SecretId: sdk.String("nobody")})
	refused(t, err, "ResourceNotFoundException")
	_, err = clients(t, c.Server, "us-west-2", key, secret).secrets.GetSecretValue(ctx, &sm.GetSecretValueInput{SecretId: sdk.String("ocpctl/pull-secret")})
	refused(t, err, "ResourceNotFoundException")
	found, _ := c.arns(t, 50)
	require.Equal(t, []string{*made.ARN}, found)
}

func TestADeletedSecretCanBeRestoredForAWhile(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	c := start(t, aws.Config{Now: func() time.Time { return now }})
	ctx := t.Context()
	for _, name := range []string{"a", "b"} {
		_, err := c.secrets.CreateSecret(ctx, &sm.CreateSecretInput{Name: &name, SecretString: sdk.String("x")})
		require.NoError(t, err)
	}
	_, err := c.secrets.DeleteSecret(ctx, &sm.DeleteSecretInput{SecretId: sdk.String("a"), RecoveryWindowInDays: sdk.Int64(7)})
	require.NoError(t, err)
	_, err = c.secrets.DeleteSecret(ctx, &sm.DeleteSecretInput{SecretId: sdk.String("b"), ForceDeleteWithoutRecovery: sdk.Bool(true)})
	require.NoError(t, err)
	_, err = c.secrets.GetSecretValue(ctx, &sm.GetSecretValueInput{SecretId: sdk.String("a")})
	refused(t, err, "InvalidRequestException")
	names := func(planned bool) []string {
		out, err := c.secrets.ListSecrets(ctx, &sm.ListSecretsInput{IncludePlannedDeletion: &planned, Filters: []types.Filter{{Key: "name", Values: []string{"a", "b"}}}})
		require.NoError(t, err)
		var names []string
		for _, s := range out.SecretList {
			names = append(names, *s.Name)
		}
		return names
	}
	require.Empty(t, names(false))
	require.Equal(t, []string{"a"}, names(true))
	_, err = c.secrets.RestoreSecret(ctx, &sm.RestoreSecretInput{SecretId: sdk.String("a")})
	require.NoError(t, err)
	require.Equal(t, "x", c.secret(t, "a"))
	_, err = c.secrets.DeleteSecret(ctx, &sm.DeleteSecretInput{SecretId: sdk.String("a"), RecoveryWindowInDays: sdk.Int64(7)})
	require.NoError(t, err)
	now = now.Add(8 * 24 * time.Hour)
	require.Empty(t, c.Resources(""))
}

// A value is in the answer of GetSecretValue and in the state file, and nowhere else.
func TestNoListingShowsASecret(t *testing.T) {
	const canary = "canary-7f3a"
	path := filepath.Join(t.TempDir(), "state.json")
	c := start(t, aws.Config{StatePath: path})
	ctx := t.Context()
	require.NoError(t, c.KeepSecret("ocpctl/kept", canary))
	require.NoError(t, c.KeepSecret("ocpctl/kept", canary))
	require.Empty(t, c.Resources(""), "what is kept for the installation is nobody's leftover")
	_, err := c.secrets.CreateSecret(ctx, &sm.CreateSecretInput{Name: sdk.String(infra), SecretString: sdk.String(canary)})
	require.NoError(t, err)
	_, err = c.iam.CreateUser(ctx, &iam.CreateUserInput{UserName: sdk.String(infra)})
	require.NoError(t, err)
	minted, err := c.iam.CreateAccessKey(ctx, &iam.CreateAccessKeyInput{UserName: sdk.String(infra)})
	require.NoError(t, err)
	require.Equal(t, canary, c.secret(t, "ocpctl/kept"))

	for _, path := range []string{"/_standin/all", "/_standin/resources", "/_standin/resources?match=" + infra, "/_standin/faults"} {
		answer, err := http.Get(c.URL() + path)
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.NotContains(t, string(body), canary, path)
		require.NotContains(t, string(body), *minted.AccessKey.SecretAccessKey, path)
	}
	require.Empty(t, c.Resources(canary), "a listing cannot be searched for a value either")
	raw, err := json.Marshal(c.All())
	require.NoError(t, err)
	require.NotContains(t, string(raw), canary)
	state, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(state), canary)
	again := start(t, aws.Config{StatePath: path})
	require.Equal(t, canary, again.secret(t, "ocpctl/kept"))
}
