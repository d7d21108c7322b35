package auth_test

import (
	"context"
	"crypto/ed25519"
	"net/url"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/auth/awsproof"
	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

const (
	here   = "https://ocpctl.example.com"
	office = "198.51.100.7" // where people sign in from
)

// Whoever has a key in the tests' AWS.
var (
	robot    = aws.Caller{AccessKey: "AKIADEMO0000ROBOT001", SecretKey: "robot-secret", ARN: "arn:aws:iam::123456789012:user/tools/robot"}
	build    = aws.Caller{AccessKey: "AKIADEMO0000BUILD001", SecretKey: "build-secret", ARN: "arn:aws:sts::123456789012:assumed-role/ci/build-41"}
	person   = aws.Caller{AccessKey: "AKIADEMO0000PERSON01", SecretKey: "person-secret", ARN: "arn:aws:sts::210987654321:assumed-role/AWSReservedSSO_Dev_0123456789abcdef/maya@acme.example"}
	stranger = aws.Caller{AccessKey: "AKIADEMO0000STRANGE1", SecretKey: "stranger-secret", ARN: "arn:aws:iam::999900001111:user/stranger"}
	root     = aws.Caller{AccessKey: "AKIADEMO0000ROOT0001", SecretKey: "root-secret", ARN: "arn:aws:iam::123456789012:root"}
)

// service is an exchange on an AWS of its own.
type service struct {
	*testing.T
	*auth.Exchange
	cloud    *aws.Server
	key      ed25519.PrivateKey
	verifier *auth.Verifier
	spent    *spent
}

func newService(t *testing.T, change func(*auth.AWSConfig)) *service {
	d := &service{T: t, spent: &spent{}, key: newKey(t)}
	var err error
	d.cloud, err = aws.Start(t.Context(), aws.Config{
		AccessKey: "AKIADEMO0000EXAMPLE1", SecretKey: "demo-secret-access-key", Members: []string{"210987654321"},
		Callers: []aws.Caller{robot, build, person, stranger, root},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.cloud.Stop()) })
	sessions := auth.NewSessions(auth.SessionConfig{Key: d.key, Audience: here})
	d.verifier = auth.New(auth.Config{Sessions: sessions, Identities: func() []profiles.Identity {
		return []profiles.Identity{
			{Source: profiles.SourceAWS, Match: map[string][]string{"arn": {"arn:aws:iam::123456789012:role/ci"}, "session": {"build-*"}}, Role: "requester", Teams: []string{"platform"}},
			{Source: profiles.SourceAWS, Match: map[string][]string{"organization": {aws.Organization}}, Role: "auditor", Teams: []string{"*"}},
		}
	}})
	cfg := auth.AWSConfig{
		Audience: here, Accounts: []string{"123456789012", "210987654321"}, Endpoints: []string{d.cloud.URL()},
		Sessions: sessions, Verifier: d.verifier, Spend: d.spent.spend,
		Directory: auth.NewAccounts(d.config(aws.Caller{AccessKey: "AKIADEMO0000EXAMPLE1", SecretKey: "demo-secret-access-key"}), 0, nil),
	}
	if change != nil {
		change(&cfg)
	}
	d.Exchange, err = auth.NewExchange(cfg)
	require.NoError(t, err)
	return d
}

// config is what a program finds in its environment.
func (d *service) config(who aws.Caller) sdk.Config {
	return sdk.Config{
		Region: "us-east-1", BaseEndpoint: sdk.String(d.cloud.URL()),
		Credentials: credentials.NewStaticCredentialsProvider(who.AccessKey, who.SecretKey, ""),
	}
}

func (d *service) sign(who aws.Caller) awsproof.Proof {
	d.Helper()
	proof, err := awsproof.Sign(d.Context(), d.config(who), here)
	require.NoError(d, err)
	return proof
}

// refused says that a proof was not accepted, why, and that nothing of it was passed on.
func (d *service) refused(p awsproof.Proof, reason auth.Reason, text string) {
	d.Helper()
	_, err := d.Exchange.Exchange(d.Context(), office, p)
	var said *auth.Error
	require.ErrorAs(d, err, &said)
	require.Equal(d, reason, said.Reason, "%s (%v)", said.Message, said.Cause)
	require.Contains(d, said.Message, text)
	got := said.Message
	if said.Cause != nil {
		got += said.Cause.Error()
	}
	if u, err := url.Parse(p.URL); err == nil && len(u.Query().Get("X-Amz-Signature")) == 64 {
		require.NotContains(d, got, u.Query().Get("X-Amz-Signature"))
	}
	if nonce := p.Headers[awsproof.NonceHeader]; len(nonce) > 8 {
		require.NotContains(d, got, nonce)
	}
}

func TestAnAWSIdentityIsExchangedForAShortSession(t *testing.T) {
	d := newService(t, nil)
	for who, want := range map[aws.Caller]struct {
		id, name string
		values   map[string]string
		role     policy.Role
	}{
		robot: {"aws:arn:aws:iam::123456789012:user/tools/robot", "robot", map[string]string{"arn": robot.ARN, "account": "123456789012"}, ""},
		build: {"aws:arn:aws:iam::123456789012:role/ci", "ci", map[string]string{"arn": "arn:aws:iam::123456789012:role/ci", "session": "build-41"}, policy.Requester},
		person: {"aws:arn:aws:iam::210987654321:role/AWSReservedSSO_Dev_0123456789abcdef/maya@acme.example", "maya@acme.example",
			map[string]string{"arn": "arn:aws:iam::210987654321:role/AWSReservedSSO_Dev_0123456789abcdef", "session": "maya@acme.example", "account": "210987654321"}, ""},
	} {
		issued, err := d.Exchange.Exchange(t.Context(), office, d.sign(who))
		require.NoError(t, err)
		session, err := d.verifier.Verify(t.Context(), issued.Token.Reveal())
		require.NoError(t, err)
		for _, s := range []auth.Session{issued.Session, session} {
			require.Equal(t, want.id, s.Principal.ID)
			require.Equal(t, want.name, s.Principal.Name)
			require.Equal(t, want.role, s.Principal.Role())
			require.Equal(t, profiles.SourceAWS, s.Claims.Source)
			for name, value := range want.values {
				require.Equal(t, []string{value}, s.Claims.Values[name], name)
			}
			require.LessOrEqual(t, time.Until(s.Expires), 15*time.Minute)
			require.Greater(t, time.Until(s.Expires), 14*time.Minute)
		}
	}
}

func TestASessionEndsAndElsewhereItIsNone(t *testing.T) {
	d := newService(t, nil)
	issued, err := d.Exchange.Exchange(t.Context(), office, d.sign(build))
	require.NoError(t, err)
	raw := issued.Token.Reveal()
	for name, c := range map[string]struct {
		config auth.SessionConfig
		reason auth.Reason
	}{
		"after its end":        {auth.SessionConfig{Key: d.key, Audience: here, Now: func() time.Time { return time.Now().Add(16 * time.Minute) }}, auth.Expired},
		"another key":          {auth.SessionConfig{Key: newKey(t), Audience: here}, auth.BadSignature},
		"another installation": {auth.SessionConfig{Key: d.key, Audience: "https://other.example"}, auth.UnknownIssuer},
		"all were ended":       {auth.SessionConfig{Key: d.key, Audience: here, NotBefore: time.Now().Add(time.Minute)}, auth.Revoked},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := auth.New(auth.Config{Sessions: auth.NewSessions(c.config)}).Verify(t.Context(), raw)
			var said *auth.Error
			require.ErrorAs(t, err, &said)
			require.Equal(t, c.reason, said.Reason, said.Message)
			require.NotContains(t, said.Message, raw)
		})
	}
	_, err = auth.New(auth.Config{}).Verify(t.Context(), raw)
	require.ErrorContains(t, err, "no issuer is configured")
}

func TestAProofCountsOnce(t *testing.T) {
	d := newService(t, nil)
	proof := d.sign(build)
	_, err := d.Exchange.Exchange(t.Context(), office, proof)
	require.NoError(t, err)
	d.refused(proof, auth.Replayed, "Sign a new one")
	_, err = d.Exchange.Exchange(t.Context(), office, d.sign(build))
	require.NoError(t, err, "two proofs of one second differ")
	d.spent.down = true
	d.refused(d.sign(build), auth.Unavailable, "Try again")
}

func TestTheRealSTSsAreKnown(t *testing.T) {
	d := newService(t, func(c *auth.AWSConfig) { c.Timeout = time.Nanosecond }) // nothing leaves this machine
	for _, region := range []string{"us-east-1", "eu-central-1", "cn-north-1", "us-gov-west-1", "ap-southeast-2"} {
		proof, err := awsproof.Sign(context.Background(), sdk.Config{Region: region, Credentials: d.config(build).Credentials}, here)
		require.NoError(t, err)
		_, err = d.Exchange.Exchange(t.Context(), office, proof)
		var said *auth.Error
		require.ErrorAs(t, err, &said)
		require.Equal(t, auth.Unavailable, said.Reason, "%s: %s", proof.URL[:40], said.Message)
	}
}

func BenchmarkVerifySession(b *testing.B) {
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(b, err)
	cloud, err := aws.Start(b.Context(), aws.Config{AccessKey: build.AccessKey, SecretKey: build.SecretKey})
	require.NoError(b, err)
	defer func() { require.NoError(b, cloud.Stop()) }()
	sessions := auth.NewSessions(auth.SessionConfig{Key: key, Audience: here})
	verifier := auth.New(auth.Config{Sessions: sessions})
	exchange, err := auth.NewExchange(auth.AWSConfig{
		Audience: here, Accounts: []string{"123456789012"}, Endpoints: []string{cloud.URL()}, Sessions: sessions, Verifier: verifier, Spend: (&spent{}).spend,
	})
	require.NoError(b, err)
	proof, err := awsproof.Sign(b.Context(), sdk.Config{
		Region: "us-east-1", BaseEndpoint: sdk.String(cloud.URL()), Credentials: credentials.NewStaticCredentialsProvider(build.AccessKey, build.SecretKey, ""),
	}, here)
	require.NoError(b, err)
	issued, err := exchange.Exchange(b.Context(), office, proof)
	require.NoError(b, err)
	for b.Loop() {
		_, err := verifier.Verify(b.Context(), issued.Token.Reveal())
		require.NoError(b, err)
	}
}

func TestWithoutCredentialsThereIsNoProof(t *testing.T) {
	_, err := awsproof.Sign(t.Context(), sdk.Config{}, here)
	require.ErrorContains(t, err, "there are no credentials")
}
