package api

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"net/http"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/auth/awsproof"
	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/internal/source"
	"github.com/ocpctl/ocpctl/profiles"
)

const audience = "https://ocpctl.example.com"

var build = aws.Caller{AccessKey: "AKIADEMO0000BUILD001", SecretKey: "build-secret", ARN: "arn:aws:sts::123456789012:assumed-role/ci/build-41"}

// clouded is a fixture that takes AWS identities, and a function that signs with a key there.
func clouded(t *testing.T, change func(*Config)) (h *fixture, sign func(access, secret string) v1.AWSProof) {
	cloud, err := aws.Start(t.Context(), aws.Config{AccessKey: "AKIADEMO0000EXAMPLE1", SecretKey: "demo-secret-access-key", Callers: []aws.Caller{build}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cloud.Stop()) })
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	sessions := auth.NewSessions(auth.SessionConfig{Key: key, Audience: audience})
	h = fixtureWith(t, embedded(t), func(c *Config) {
		c.Auth = auth.New(auth.Config{Sessions: sessions, Identities: func() []profiles.Identity {
			return []profiles.Identity{{Source: profiles.SourceAWS, Match: map[string][]string{"arn": {"arn:aws:iam::123456789012:role/ci"}}, Role: "requester", Teams: []string{"platform"}}}
		}})
		c.AWS, err = auth.NewExchange(auth.AWSConfig{
			Audience: audience, Accounts: []string{"123456789012"}, Endpoints: []string{cloud.URL()}, Sessions: sessions, Verifier: c.Auth, Spend: c.Store.People.SpendSignature,
		})
		require.NoError(t, err)
		if change != nil {
			change(c)
		}
	})
	return h, func(access, secret string) v1.AWSProof {
		proof, err := awsproof.Sign(t.Context(), sdk.Config{
			Region: "us-east-1", BaseEndpoint: sdk.String(cloud.URL()), Credentials: credentials.NewStaticCredentialsProvider(access, secret, ""),
		}, audience)
		require.NoError(t, err)
		return v1.AWSProof{URL: proof.URL, Headers: proof.Headers}
	}
}

func TestASignedAWSIdentityIsExchangedForAToken(t *testing.T) {
	h, sign := clouded(t, nil)
	body := sign(build.AccessKey, build.SecretKey)
	var got v1.SessionToken
	h.does(http.MethodPost, "/api/v1/auth/aws", "", body, http.StatusOK, &got)
	require.Equal(t, []v1.Seat{{Role: "requester", Team: "platform"}}, got.Me.Seats)
	require.WithinDuration(t, now().Add(15*time.Minute), got.ExpiresAt, time.Minute)
	var me v1.Me
	h.does(http.MethodGet, "/api/v1/me", got.Token, nil, http.StatusOK, &me)
	require.Equal(t, got.Me.ID, me.ID)

	p := h.refused(http.MethodPost, "/api/v1/auth/aws", "", body, http.StatusUnauthorized)
	require.Contains(t, p.Detail, "already used")
	require.NotContains(t, p.Detail, body.URL)
	p = h.refused(http.MethodPost, "/api/v1/auth/aws", "", map[string]any{"url": body.URL}, http.StatusUnprocessableEntity)
	require.Equal(t, "headers", p.Errors[0].Field)
	h.refused(http.MethodPost, "/api/v1/auth/aws", "", v1.AWSProof{URL: "ftp://x", Headers: body.Headers}, http.StatusUnauthorized)
	h.refused(http.MethodPost, "/api/v1/auth/aws", "", v1.AWSProof{URL: "https://%zz", Headers: body.Headers}, http.StatusUnprocessableEntity)
}

func TestGarbageAtTheAWSSignInHoldsUpNobodyElse(t *testing.T) {
	const path = "/api/v1/auth/aws"
	h, sign := clouded(t, func(c *Config) {
		var err error
		c.Proxies, err = source.Parse([]string{"127.0.0.0/8", "::1"})
		require.NoError(t, err)
		c.Pace = NewPace(Rate{PerSecond: 0.001, Burst: 3}, c.Now)
	})
	from := func(address string, body any) (int, string, string) {
		answer, raw := h.ask(http.MethodPost, path, "", body, source.ForwardedFor, address)
		return answer.StatusCode, answer.Header.Get("Retry-After"), string(raw)
	}
	for _, address := range []string{"203.0.113.1", "203.0.113.2", "2001:db8:1:2::1"} {
		for n := range 25 {
			from(address, sign(fmt.Sprintf("AKIANOBODY%06d", n), "guessed"))
			from(address, v1.AWSProof{URL: "x"})
		}
	}
	status, after, said := from("2001:db8:1:2::ffff", sign("AKIANOBODY000099", "guessed"))
	require.Equal(t, http.StatusTooManyRequests, status, "an address of the same network")
	require.Equal(t, "1", after)
	require.Contains(t, said, "Too many sign-ins failed from your address")
	for range 3 {
		status, _, said = from("198.51.100.7", sign(build.AccessKey, build.SecretKey))
		require.Equal(t, http.StatusOK, status, said)
	}
	status, _, said = from("198.51.100.8", sign(build.AccessKey, build.SecretKey))
	require.Equal(t, http.StatusTooManyRequests, status, "who signs in counts as a principal like any other: %s", said)
}
