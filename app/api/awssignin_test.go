package api

import (
	"crypto/ed25519"
	"crypto/rand"
	"net/http"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/auth/awsproof"
	"github.com/ocpctl/ocpctl/internal/house/aws"
	"github.com/ocpctl/ocpctl/profiles"
)

func TestASignedAWSIdentityIsExchangedForAToken(t *testing.T) {
	const here = "https://ocpctl.example.com"
	build := aws.Caller{AccessKey: "AKIADEMO0000BUILD001", SecretKey: "build-secret", ARN: "arn:aws:sts::123456789012:assumed-role/ci/build-41"}
	cloud, err := aws.Start(t.Context(), aws.Config{AccessKey: "AKIADEMO0000EXAMPLE1", SecretKey: "demo-secret-access-key", Callers: []aws.Caller{build}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cloud.Stop()) })
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	sessions := auth.NewSessions(auth.SessionConfig{Key: key, Audience: here})
	h := houseWith(t, embedded(t), func(c *Config) {
		c.Auth = auth.New(auth.Config{Sessions: sessions, Identities: func() []profiles.Identity {
			return []profiles.Identity{{Source: profiles.SourceAWS, Match: map[string][]string{"arn": {"arn:aws:iam::123456789012:role/ci"}}, Role: "requester", Teams: []string{"platform"}}}
		}})
		c.AWS, err = auth.NewExchange(auth.AWSConfig{
			Audience: here, Accounts: []string{"123456789012"}, Endpoints: []string{cloud.URL()}, Sessions: sessions, Verifier: c.Auth, Spend: c.Store.SpendSignature,
		})
		require.NoError(t, err)
	})
	proof, err := awsproof.Sign(t.Context(), sdk.Config{
		Region: "us-east-1", BaseEndpoint: sdk.String(cloud.URL()), Credentials: credentials.NewStaticCredentialsProvider(build.AccessKey, build.SecretKey, ""),
	}, here)
	require.NoError(t, err)
	body := AWSProof{URL: proof.URL, Headers: proof.Headers}
	var got SessionToken
	h.does(http.MethodPost, "/api/v1/auth/aws", "", body, http.StatusOK, &got)
	require.Equal(t, []Seat{{Role: "requester", Team: "platform"}}, got.Me.Seats)
	require.WithinDuration(t, now().Add(15*time.Minute), got.ExpiresAt, time.Minute)
	var me Me
	h.does(http.MethodGet, "/api/v1/me", got.Token, nil, http.StatusOK, &me)
	require.Equal(t, got.Me.ID, me.ID)

	p := h.refused(http.MethodPost, "/api/v1/auth/aws", "", body, http.StatusUnauthorized)
	require.Contains(t, p.Detail, "used before")
	require.NotContains(t, p.Detail, proof.URL)
	p = h.refused(http.MethodPost, "/api/v1/auth/aws", "", map[string]any{"url": proof.URL}, http.StatusUnprocessableEntity)
	require.Equal(t, "headers", p.Errors[0].Field)
	h.refused(http.MethodPost, "/api/v1/auth/aws", "", AWSProof{URL: "ftp://x", Headers: proof.Headers}, http.StatusUnauthorized)
	h.refused(http.MethodPost, "/api/v1/auth/aws", "", AWSProof{URL: "https://%zz", Headers: proof.Headers}, http.StatusUnprocessableEntity)
}
