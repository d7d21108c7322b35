package servicetest

import (
	"fmt"

	"github.com/stretchr/testify/require"

	wire "github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// tester is a test, or one of many lives of one.
type tester interface {
	require.TestingT
	Helper()
}

// OfJob is the principal of a job of the stand-in GitHub, as the job's token proves it.
func OfJob(t tester, server *github.Server, job int64) policy.Principal {
	t.Helper()
	claims, err := server.Runs().Claims(job)
	require.NoError(t, err)
	proof := policy.Claims{
		Source: profiles.SourceOIDC, Issuer: profiles.JobIssuer(wire.Site(server.URL())), Platform: profiles.IssuerGitHub, Subject: fmt.Sprint(claims["sub"]),
		Values: map[string][]string{},
	}
	for name, value := range claims {
		proof.Values[name] = []string{fmt.Sprint(value)}
	}
	p := policy.As("oidc:"+proof.Issuer+"#"+proof.Subject, "acme/shop", policy.Requester, "platform")
	p.Proof = &proof
	return p
}
