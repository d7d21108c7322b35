package auth_test

import (
	"context"
	"crypto/ed25519"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/auth/awsproof"
	"github.com/ocpctl/ocpctl/internal/house/aws"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

const here = "https://ocpctl.example.com"

// Whoever has a key in the tests' AWS.
var (
	robot    = aws.Caller{AccessKey: "AKIADEMO0000ROBOT001", SecretKey: "robot-secret", ARN: "arn:aws:iam::123456789012:user/tools/robot"}
	build    = aws.Caller{AccessKey: "AKIADEMO0000BUILD001", SecretKey: "build-secret", ARN: "arn:aws:sts::123456789012:assumed-role/ci/build-41"}
	person   = aws.Caller{AccessKey: "AKIADEMO0000PERSON01", SecretKey: "person-secret", ARN: "arn:aws:sts::210987654321:assumed-role/AWSReservedSSO_Dev_0123456789abcdef/maya@acme.example"}
	stranger = aws.Caller{AccessKey: "AKIADEMO0000STRANGE1", SecretKey: "stranger-secret", ARN: "arn:aws:iam::999900001111:user/stranger"}
	root     = aws.Caller{AccessKey: "AKIADEMO0000ROOT0001", SecretKey: "root-secret", ARN: "arn:aws:iam::123456789012:root"}
)

// desk is an exchange on an AWS of its own.
type desk struct {
	*testing.T
	*auth.Exchange
	cloud    *aws.Server
	key      ed25519.PrivateKey
	verifier *auth.Verifier
	spent    *spent
}

func newDesk(t *testing.T, change func(*auth.AWSConfig)) *desk {
	d := &desk{T: t, spent: &spent{}, key: newKey(t)}
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
func (d *desk) config(who aws.Caller) sdk.Config {
	return sdk.Config{
		Region: "us-east-1", BaseEndpoint: sdk.String(d.cloud.URL()),
		Credentials: credentials.NewStaticCredentialsProvider(who.AccessKey, who.SecretKey, ""),
	}
}

func (d *desk) sign(who aws.Caller) awsproof.Proof {
	d.Helper()
	proof, err := awsproof.Sign(d.Context(), d.config(who), here)
	require.NoError(d, err)
	return proof
}

// refused says that a proof was not accepted, why, and that nothing of it was passed on.
func (d *desk) refused(p awsproof.Proof, reason auth.Reason, words string) {
	d.Helper()
	_, err := d.Exchange.Exchange(d.Context(), p)
	var said *auth.Error
	require.ErrorAs(d, err, &said)
	require.Equal(d, reason, said.Reason, "%s (%v)", said.Message, said.Cause)
	require.Contains(d, said.Message, words)
	told := said.Message
	if said.Cause != nil {
		told += said.Cause.Error()
	}
	if u, err := url.Parse(p.URL); err == nil && len(u.Query().Get("X-Amz-Signature")) == 64 {
		require.NotContains(d, told, u.Query().Get("X-Amz-Signature"))
	}
	if nonce := p.Headers[awsproof.NonceHeader]; len(nonce) > 8 {
		require.NotContains(d, told, nonce)
	}
}

func TestAnAWSIdentityIsExchangedForAShortSession(t *testing.T) {
	d := newDesk(t, nil)
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
		issued, err := d.Exchange.Exchange(t.Context(), d.sign(who))
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
	d := newDesk(t, nil)
	issued, err := d.Exchange.Exchange(t.Context(), d.sign(build))
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
	require.ErrorContains(t, err, "none is configured")
}

func TestAProofCountsOnce(t *testing.T) {
	d := newDesk(t, nil)
	proof := d.sign(build)
	_, err := d.Exchange.Exchange(t.Context(), proof)
	require.NoError(t, err)
	d.refused(proof, auth.Replayed, "Sign a new one")
	_, err = d.Exchange.Exchange(t.Context(), d.sign(build))
	require.NoError(t, err, "two proofs of one second differ")
	d.spent.down = true
	d.refused(d.sign(build), auth.Unavailable, "Try again")
}

// bent is a proof whose url was changed after it was signed.
func bent(p awsproof.Proof, change func(*url.URL, url.Values)) awsproof.Proof {
	u, err := url.Parse(p.URL)
	if err != nil {
		panic(err) // it was signed just now
	}
	q := u.Query()
	change(u, q)
	u.RawQuery = q.Encode()
	return awsproof.Proof{URL: u.String(), Headers: p.Headers}
}

func with(p awsproof.Proof, name, value string) awsproof.Proof {
	return bent(p, func(_ *url.URL, q url.Values) { q.Set(name, value) })
}

func TestAProofThatIsNotOneIsNeverSent(t *testing.T) {
	d := newDesk(t, nil)
	good := d.sign(build)
	host := func(to string) awsproof.Proof {
		return bent(good, func(u *url.URL, _ url.Values) { u.Scheme, u.Host, _ = strings.Cut(to, "://") })
	}
	headers := func(change map[string]string) awsproof.Proof {
		out := map[string]string{}
		for k, v := range good.Headers {
			out[k] = v
		}
		for k, v := range change {
			out[k] = v
			if v == "" {
				delete(out, k)
			}
		}
		return awsproof.Proof{URL: good.URL, Headers: out}
	}
	at := func(date time.Time) string { return date.UTC().Format("20060102T150405Z") }
	for name, c := range map[string]struct {
		proof  awsproof.Proof
		reason auth.Reason
		words  string
	}{
		"nothing":                        {awsproof.Proof{}, auth.Malformed, "url"},
		"somebody else's host":           {host("https://sts.evil.example"), auth.NotAllowed, "no AWS STS"},
		"a host that looks alike":        {host("https://sts.amazonaws.com.evil.example"), auth.NotAllowed, "no AWS STS"},
		"a bucket called sts":            {host("https://sts.s3-us-west-1.amazonaws.com"), auth.NotAllowed, "no AWS STS"},
		"another service":                {host("https://iam.amazonaws.com"), auth.NotAllowed, "no AWS STS"},
		"a port":                         {host("https://sts.amazonaws.com:8443"), auth.NotAllowed, "no AWS STS"},
		"without TLS":                    {host("http://sts.amazonaws.com"), auth.NotAllowed, "without https"},
		"a file":                         {host("file://sts.amazonaws.com"), auth.NotAllowed, "without https"},
		"a name in front of the host":    {bent(good, func(u *url.URL, _ url.Values) { u.User = url.User("sts.amazonaws.com") }), auth.NotAllowed, "more than a host"},
		"a path":                         {bent(good, func(u *url.URL, _ url.Values) { u.Path = "/x" }), auth.NotAllowed, "more than a host"},
		"another action":                 {with(good, "Action", "GetSessionToken"), auth.NotAllowed, "GetCallerIdentity"},
		"another version":                {with(good, "Version", "2010-05-08"), auth.NotAllowed, "GetCallerIdentity"},
		"one parameter more":             {with(good, "DurationSeconds", "900"), auth.NotAllowed, "something else in it"},
		"one parameter twice":            {awsproof.Proof{URL: good.URL + "&Action=GetSessionToken", Headers: good.Headers}, auth.NotAllowed, "something else in it"},
		"a parameter in other letters":   {awsproof.Proof{URL: good.URL + "&action=GetSessionToken", Headers: good.Headers}, auth.NotAllowed, "something else in it"},
		"parameters with semicolons":     {awsproof.Proof{URL: good.URL + ";Action=GetSessionToken", Headers: good.Headers}, auth.Malformed, "query"},
		"signed for another service":     {with(good, "X-Amz-Credential", "AKIA/20250301/us-east-1/iam/aws4_request"), auth.NotAllowed, "for sts"},
		"another algorithm":              {with(good, "X-Amz-Algorithm", "AWS4-ECDSA-P256-SHA256"), auth.NotAllowed, "AWS4-HMAC-SHA256"},
		"no signature":                   {with(good, "X-Amz-Signature", ""), auth.Malformed, "64 hexadecimal"},
		"a signature in capitals":        {bent(good, func(_ *url.URL, q url.Values) { q.Set("X-Amz-Signature", strings.ToUpper(q.Get("X-Amz-Signature"))) }), auth.Malformed, "64 hexadecimal"},
		"for too long":                   {with(good, "X-Amz-Expires", "901"), auth.NotAllowed, "1 to 900"},
		"for no time":                    {with(good, "X-Amz-Expires", "0"), auth.NotAllowed, "1 to 900"},
		"for whatever":                   {with(good, "X-Amz-Expires", "long"), auth.Malformed, "X-Amz-Expires"},
		"from tomorrow":                  {with(good, "X-Amz-Date", at(time.Now().Add(3*time.Minute))), auth.NotYet, "clocks"},
		"over":                           {with(good, "X-Amz-Date", at(time.Now().Add(-2*time.Minute))), auth.Expired, "Sign a new one"},
		"of no day":                      {with(good, "X-Amz-Date", "yesterday"), auth.Malformed, "X-Amz-Date"},
		"without our header signed":      {with(good, "X-Amz-SignedHeaders", "host;x-ocpctl-nonce"), auth.NotAllowed, "must sign"},
		"without the nonce signed":       {with(good, "X-Amz-SignedHeaders", "host;x-ocpctl-audience"), auth.NotAllowed, "must sign"},
		"without the host signed":        {with(good, "X-Amz-SignedHeaders", "x-ocpctl-audience;x-ocpctl-nonce"), auth.NotAllowed, "must sign"},
		"with more signed":               {with(good, "X-Amz-SignedHeaders", "authorization;host;x-ocpctl-audience;x-ocpctl-nonce"), auth.NotAllowed, "must sign"},
		"for another server":             {headers(map[string]string{awsproof.AudienceHeader: "https://other.example"}), auth.WrongAudience, here},
		"for nobody":                     {headers(map[string]string{awsproof.AudienceHeader: ""}), auth.WrongAudience, here},
		"without a nonce":                {headers(map[string]string{awsproof.NonceHeader: ""}), auth.Malformed, "16 to 128"},
		"with a short nonce":             {headers(map[string]string{awsproof.NonceHeader: "short"}), auth.Malformed, "16 to 128"},
		"with a header more":             {headers(map[string]string{"Authorization": "Bearer x"}), auth.NotAllowed, "beside those that are signed"},
		"with a header in two spellings": {headers(map[string]string{"X-Ocpctl-Audience": here}), auth.NotAllowed, "one twice"},
	} {
		t.Run(name, func(t *testing.T) { (&desk{T: t, Exchange: d.Exchange}).refused(c.proof, c.reason, c.words) })
	}
	require.Empty(t, d.cloud.Calls(), "nothing was asked")
	require.Empty(t, d.spent.seen)
}

func TestWhatSTSDoesNotConfirmIsRefused(t *testing.T) {
	d := newDesk(t, nil)
	wrong := build
	wrong.SecretKey = "guessed"
	d.refused(d.sign(wrong), auth.BadSignature, "aws sts get-caller-identity")
	nobody := build
	nobody.AccessKey = "AKIANOBODY"
	d.refused(d.sign(nobody), auth.BadSignature, "aws sts get-caller-identity")
	forOther, err := awsproof.Sign(t.Context(), d.config(build), "https://other.example")
	require.NoError(t, err)
	forOther.Headers[awsproof.AudienceHeader] = here
	d.refused(forOther, auth.BadSignature, "aws sts get-caller-identity")
	other := d.sign(build)
	other.Headers[awsproof.NonceHeader] = strings.Repeat("f", 32)
	d.refused(other, auth.BadSignature, "aws sts get-caller-identity")
	d.refused(with(d.sign(build), "X-Amz-Expires", "900"), auth.BadSignature, "aws sts get-caller-identity")
	d.refused(d.sign(root), auth.NotAllowed, "Use a role or a user")
	require.Empty(t, d.spent.seen)
}

func TestOnlyAllowedAccountsAndOrganisationsSignIn(t *testing.T) {
	d := newDesk(t, nil)
	d.refused(d.sign(stranger), auth.NotAllowed, "Account 999900001111 is not allowed")

	d = newDesk(t, func(c *auth.AWSConfig) { c.Accounts, c.Organizations = nil, []string{aws.Organization} })
	issued, err := d.Exchange.Exchange(t.Context(), d.sign(person))
	require.NoError(t, err)
	require.Equal(t, policy.Auditor, issued.Principal.Role(), "an identity may match the organisation")
	d.refused(d.sign(stranger), auth.NotAllowed, "of no organisation")
	_, err = d.Exchange.Exchange(t.Context(), d.sign(person))
	require.NoError(t, err)
	require.Equal(t, 2, d.cloud.Calls()["organizations:DescribeAccount"].Calls, "an answer is remembered for an hour, a refusal is not")
	d.cloud.Refuse("organizations:DescribeAccount", -1, "AccessDeniedException")
	_, err = d.Exchange.Exchange(t.Context(), d.sign(person))
	require.NoError(t, err)
	d.refused(d.sign(build), auth.Unavailable, "could not be asked")

	d = newDesk(t, func(c *auth.AWSConfig) { c.Accounts, c.Organizations = []string{"210987654321"}, []string{"o-another"} })
	d.refused(d.sign(build), auth.NotAllowed, "Account 123456789012 is not allowed")
	d.refused(d.sign(person), auth.NotAllowed, "of no organisation")
}

func TestWhoAsksNeverFollowsAndNeverReadsWithoutEnd(t *testing.T) {
	var followed atomic.Bool
	var answer atomic.Pointer[http.HandlerFunc]
	mux := http.NewServeMux()
	sts := httptest.NewServer(mux)
	t.Cleanup(sts.Close)
	mux.HandleFunc("/other", func(w http.ResponseWriter, _ *http.Request) { followed.Store(true) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { (*answer.Load())(w, r) })
	d := newDesk(t, func(c *auth.AWSConfig) { c.Endpoints, c.Timeout = []string{sts.URL}, 200*time.Millisecond })
	cfg := d.config(build)
	cfg.BaseEndpoint = sdk.String(sts.URL)
	sign := func() awsproof.Proof {
		proof, err := awsproof.Sign(t.Context(), cfg, here)
		require.NoError(t, err)
		return proof
	}
	const identity = "<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::123456789012:user/x</Arn><UserId>u</UserId><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>"
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		reason auth.Reason
	}{
		"a redirect": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) }, auth.BadSignature},
		"without end": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("<GetCallerIdentityResponse>" + strings.Repeat(" ", 70<<10) + identity))
		}, auth.Unavailable},
		"no XML": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"Arn": "x"}`)) }, auth.Unavailable},
		"another account": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(strings.Replace(identity, "::123456789012", "::999900001111", 1)))
		}, auth.Unavailable},
		"away":    {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusServiceUnavailable) }, auth.Unavailable},
		"silence": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, auth.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			answer.Store(&c.answer)
			(&desk{T: t, Exchange: d.Exchange}).refused(sign(), c.reason, "")
		})
	}
	require.False(t, followed.Load(), "a signed request was carried on")
	good := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(identity)) })
	answer.Store(&good)
	_, err := d.Exchange.Exchange(t.Context(), sign())
	require.NoError(t, err)
}

func TestAnExchangeForEverybodyIsRefusedAtTheStart(t *testing.T) {
	_, err := auth.NewExchange(auth.AWSConfig{Audience: here})
	require.ErrorContains(t, err, "everybody with an AWS account")
	_, err = auth.NewExchange(auth.AWSConfig{Audience: here, Organizations: []string{"o-1"}})
	require.ErrorContains(t, err, "directory")
	_, err = auth.NewExchange(auth.AWSConfig{Audience: here, Accounts: []string{"1"}})
	require.ErrorContains(t, err, "needed")
}

func TestManyAtOnceAreBounded(t *testing.T) {
	d := newDesk(t, func(c *auth.AWSConfig) { c.Timeout = time.Nanosecond })
	said := map[string]bool{}
	for range 200 {
		_, err := d.Exchange.Exchange(t.Context(), d.sign(build))
		require.Error(t, err)
		said[err.Error()] = true
	}
	require.Contains(t, said, "Too many sign in at once. Try again in a few seconds.")
	require.Len(t, said, 2)
}

func TestTheRealSTSsAreKnown(t *testing.T) {
	d := newDesk(t, func(c *auth.AWSConfig) { c.Timeout = time.Nanosecond }) // nothing leaves this machine
	for _, region := range []string{"us-east-1", "eu-central-1", "cn-north-1", "us-gov-west-1", "ap-southeast-2"} {
		proof, err := awsproof.Sign(context.Background(), sdk.Config{Region: region, Credentials: d.config(build).Credentials}, here)
		require.NoError(t, err)
		_, err = d.Exchange.Exchange(t.Context(), proof)
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
	issued, err := exchange.Exchange(b.Context(), proof)
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
