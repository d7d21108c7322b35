package auth_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/auth/awsproof"
	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/policy"
)

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
	d := newService(t, nil)
	good := d.sign(build)
	host := func(to string) awsproof.Proof {
		return bent(good, func(u *url.URL, _ url.Values) { u.Scheme, u.Host, _ = strings.Cut(to, "://") })
	}
	headers := func(change map[string]string) awsproof.Proof {
		out := map[string]string{}
		maps.Copy(out, good.Headers)
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
		text   string
	}{
		"nothing":                        {awsproof.Proof{}, auth.Malformed, "url"},
		"somebody else's host":           {host("https://sts.evil.example"), auth.NotAllowed, "is not AWS STS"},
		"a host that looks alike":        {host("https://sts.amazonaws.com.evil.example"), auth.NotAllowed, "is not AWS STS"},
		"a bucket called sts":            {host("https://sts.s3-us-west-1.amazonaws.com"), auth.NotAllowed, "is not AWS STS"},
		"another service":                {host("https://iam.amazonaws.com"), auth.NotAllowed, "is not AWS STS"},
		"a port":                         {host("https://sts.amazonaws.com:8443"), auth.NotAllowed, "is not AWS STS"},
		"without TLS":                    {host("http://sts.amazonaws.com"), auth.NotAllowed, "does not use https"},
		"a file":                         {host("file://sts.amazonaws.com"), auth.NotAllowed, "does not use https"},
		"a name in front of the host":    {bent(good, func(u *url.URL, _ url.Values) { u.User = url.User("sts.amazonaws.com") }), auth.NotAllowed, "must have only a host"},
		"a path":                         {bent(good, func(u *url.URL, _ url.Values) { u.Path = "/x" }), auth.NotAllowed, "must have only a host"},
		"another action":                 {with(good, "Action", "GetSessionToken"), auth.NotAllowed, "GetCallerIdentity"},
		"another version":                {with(good, "Version", "2010-05-08"), auth.NotAllowed, "GetCallerIdentity"},
		"one parameter more":             {with(good, "DurationSeconds", "900"), auth.NotAllowed, "contains more than the signature"},
		"one parameter twice":            {awsproof.Proof{URL: good.URL + "&Action=GetSessionToken", Headers: good.Headers}, auth.NotAllowed, "contains more than the signature"},
		"a parameter in other letters":   {awsproof.Proof{URL: good.URL + "&action=GetSessionToken", Headers: good.Headers}, auth.NotAllowed, "contains more than the signature"},
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
		"with a header more":             {headers(map[string]string{"Authorization": "Bearer x"}), auth.NotAllowed, "unsigned header"},
		"with a header in two spellings": {headers(map[string]string{"X-Ocpctl-Audience": here}), auth.NotAllowed, "a header twice"},
	} {
		t.Run(name, func(t *testing.T) { (&service{T: t, Exchange: d.Exchange}).refused(c.proof, c.reason, c.text) })
	}
	require.Empty(t, d.cloud.Calls(), "nothing was asked")
	require.Empty(t, d.spent.seen)
}

func TestWhatSTSDoesNotConfirmIsRefused(t *testing.T) {
	d := newService(t, nil)
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
	d := newService(t, nil)
	d.refused(d.sign(stranger), auth.NotAllowed, "Account 999900001111 is not allowed")

	d = newService(t, func(c *auth.AWSConfig) { c.Accounts, c.Organizations = nil, []string{aws.Organization} })
	issued, err := d.Exchange.Exchange(t.Context(), office, d.sign(person))
	require.NoError(t, err)
	require.Equal(t, policy.Auditor, issued.Principal.Role(), "an identity may match the organisation")
	d.refused(d.sign(stranger), auth.NotAllowed, "belongs to no organization")
	_, err = d.Exchange.Exchange(t.Context(), office, d.sign(person))
	require.NoError(t, err)
	require.Equal(t, 2, d.cloud.Calls()["organizations:DescribeAccount"].Calls, "an answer is remembered for an hour, a refusal is not")
	d.cloud.Refuse("organizations:DescribeAccount", -1, "AccessDeniedException")
	_, err = d.Exchange.Exchange(t.Context(), office, d.sign(person))
	require.NoError(t, err)
	d.refused(d.sign(build), auth.Unavailable, "could not be asked")

	d = newService(t, func(c *auth.AWSConfig) { c.Accounts, c.Organizations = []string{"210987654321"}, []string{"o-another"} })
	d.refused(d.sign(build), auth.NotAllowed, "Account 123456789012 is not allowed")
	d.refused(d.sign(person), auth.NotAllowed, "belongs to no organization")
}

func TestWhoAsksNeverFollowsAndNeverReadsWithoutEnd(t *testing.T) {
	var followed atomic.Bool
	var answer atomic.Pointer[http.HandlerFunc]
	mux := http.NewServeMux()
	sts := httptest.NewServer(mux)
	t.Cleanup(sts.Close)
	mux.HandleFunc("/other", func(w http.ResponseWriter, _ *http.Request) { followed.Store(true) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { (*answer.Load())(w, r) })
	d := newService(t, func(c *auth.AWSConfig) { c.Endpoints, c.Timeout = []string{sts.URL}, 200*time.Millisecond })
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
		"not XML": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"Arn": "x"}`)) }, auth.Unavailable},
		"another account": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(strings.Replace(identity, "::123456789012", "::999900001111", 1)))
		}, auth.Unavailable},
		"away":    {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusServiceUnavailable) }, auth.Unavailable},
		"silence": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, auth.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			answer.Store(&c.answer)
			(&service{T: t, Exchange: d.Exchange}).refused(sign(), c.reason, "")
		})
	}
	require.False(t, followed.Load(), "a signed request was carried on")
	good := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(identity)) })
	answer.Store(&good)
	_, err := d.Exchange.Exchange(t.Context(), office, sign())
	require.NoError(t, err)
}

func TestAnExchangeForEverybodyIsRefusedAtTheStart(t *testing.T) {
	_, err := auth.NewExchange(auth.AWSConfig{Audience: here})
	require.ErrorContains(t, err, "everybody with an AWS account")
	_, err = auth.NewExchange(auth.AWSConfig{Audience: here, Organizations: []string{"o-1"}})
	require.ErrorContains(t, err, "directory")
	_, err = auth.NewExchange(auth.AWSConfig{Audience: here, Accounts: []string{"1"}})
	require.ErrorContains(t, err, "required")
}
