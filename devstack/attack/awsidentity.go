package attack

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/ocpctl/ocpctl/app/auth/awsproof"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// outsidersOfAWS have keys in the stand-in AWS, but no role in ocpctl.
var outsidersOfAWS = []aws.Caller{
	{AccessKey: "AKIADEMO0000OUTSIDE1", SecretKey: "demo-outsider-secret", ARN: "arn:aws:iam::999900001111:user/ocpctl-cli"},
	{AccessKey: "AKIADEMO0000OUTSIDE2", SecretKey: "demo-outsider-secret", ARN: "arn:aws:sts::999900001111:assumed-role/AWSReservedSSO_Admin_1/will@acme.example"},
	{AccessKey: "AKIADEMO0000INSIDER1", SecretKey: "demo-outsider-secret", ARN: "arn:aws:iam::" + devstack.Account + ":user/somebody"},
	{AccessKey: "AKIADEMO0000INSIDER2", SecretKey: "demo-outsider-secret", ARN: "arn:aws:sts::" + devstack.Account + ":assumed-role/somebody/ocpctl-cli"},
}

func awsAttacks() []attack {
	return []attack{
		{name: "identity/aws-account", who: "another AWS account", tried: "sign in with a user and a role that are called like ours", short: true, play: anotherAccount},
		{name: "identity/aws-steering", who: "whoever can sign for AWS", tried: "proofs that lead the server elsewhere, ask for something else, or were used", short: true, play: steeredProofs},
	}
}

func anotherAccount(ctx context.Context, t *target) (result, error) {
	tried := 0
	for _, who := range outsidersOfAWS {
		got := must.Get(t.signIn(ctx, plain, who.AccessKey, who.SecretKey))
		tried++
		token := tokenIn(got.body)
		if strings.Contains(who.ARN, devstack.Account) { // of the allowed account: it signs in, without a role
			must.FailIf(got.status != http.StatusOK, "%s was answered %d: %.200s", who.ARN, got.status, got.body)
			seen, err := t.bearing(token).ask(ctx, http.MethodGet, "/api/v1/clusters", nil)
			throughIf(err != nil || seen.status != http.StatusForbidden, "%s sees clusters: %d %v", who.ARN, seen.status, err)
			continue
		}
		throughIf(got.status < 300 || token != "", "%s was signed in", who.ARN)
	}
	return held("%d identities: those of another account are not signed in, those of ours without a role see nothing", tried)
}

// steeredProofs checks whether the server ever calls a host of somebody else's.
func steeredProofs(ctx context.Context, t *target) (result, error) {
	var asked atomic.Int64
	trap := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = fmt.Fprintf(w, "<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>%s</Arn><UserId>u</UserId><Account>%s</Account></GetCallerIdentityResult></GetCallerIdentityResponse>",
			devstack.CLIUser, devstack.Account)
	}))
	defer trap.Close()
	good := must.Get(t.proof(ctx, devstack.CLIKey, devstack.CLISecret))
	tried := 0
	for what, proof := range steered(good, trap.URL) {
		got := must.Get(t.exchange(ctx, plain, proof))
		if tried++; got.status < 300 {
			return through("a proof with %s was answered %d", what, got.status)
		}
	}
	n := asked.Load()
	throughIf(n > 0, "the server asked another host %d times", n)
	if got, err := t.exchange(ctx, plain, good); err != nil || got.status != http.StatusOK {
		return result{}, fmt.Errorf("the true proof was answered %d: %w", got.status, err)
	}
	got, err := t.exchange(ctx, plain, good)
	throughIf(err != nil || got.status < 300, "a proof signs in twice (%v)", err)
	return held("%d steered proofs refused, no other host asked, a used proof refused", tried)
}

// steered returns proofs that are each changed in one place.
func steered(good awsproof.Proof, trap string) map[string]awsproof.Proof {
	bent := func(change func(u *url.URL, q url.Values)) awsproof.Proof {
		u, err := url.Parse(good.URL)
		if err != nil {
			return awsproof.Proof{}
		}
		q := u.Query()
		change(u, q)
		u.RawQuery = q.Encode()
		return awsproof.Proof{URL: u.String(), Headers: good.Headers}
	}
	host := func(to string) awsproof.Proof {
		return bent(func(u *url.URL, _ url.Values) { u.Scheme, u.Host, _ = strings.Cut(to, "://") })
	}
	set := func(name, value string) awsproof.Proof {
		return bent(func(_ *url.URL, q url.Values) { q.Set(name, value) })
	}
	header := func(name, value string) awsproof.Proof {
		headers := map[string]string{name: value}
		for k, v := range good.Headers {
			if !strings.EqualFold(k, name) {
				headers[k] = v
			}
		}
		return awsproof.Proof{URL: good.URL, Headers: headers}
	}
	return map[string]awsproof.Proof{
		"another host": host(trap), "a host that looks alike": host("https://sts.amazonaws.com.evil.example"), "a bucket called sts": host("https://sts.s3.amazonaws.com"),
		"a user in front": bent(func(u *url.URL, _ url.Values) {
			at, _ := url.Parse(trap)
			u.User, u.Host = url.User("sts.amazonaws.com"), at.Host
		}),
		"a path": bent(func(u *url.URL, _ url.Values) { u.Path = "/redirect" }), "a file": host("file://sts.amazonaws.com"),
		"another action": set("Action", "GetSessionToken"), "one parameter twice": {URL: good.URL + "&Action=GetSessionToken", Headers: good.Headers},
		"another service": set("X-Amz-Credential", "AKIA/20250301/us-east-1/iam/aws4_request"), "no signature": set("X-Amz-Signature", ""),
		"for days": set("X-Amz-Expires", "86400"), "from yesterday": set("X-Amz-Date", "20200101T000000Z"), "another audience": header(awsproof.AudienceHeader, "https://other.example"),
		"a header more": header("X-Forwarded-Host", "evil.example"), "another nonce": header(awsproof.NonceHeader, strings.Repeat("f", 32)),
	}
}
