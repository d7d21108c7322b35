package config

import (
	"context"
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/internal/tekton"
	"github.com/ocpctl/ocpctl/profiles"
)

// checkTekton checks the Kubernetes clusters whose PipelineRuns are watched.
func (c Config) checkTekton() []error {
	var bad []error
	wrong := func(format string, args ...any) { bad = append(bad, fmt.Errorf(format, args...)) }
	for i, cluster := range c.Tekton {
		at := slices.IndexFunc(c.OIDC, func(o Issuer) bool { return o.Issuer == cluster.Issuer })
		switch {
		case cluster.Issuer == "":
			wrong("tekton[%d].issuer is empty; give the issuer of the cluster's service accounts, as in oidc", i)
		case at < 0:
			wrong("tekton[%d].issuer is %q, which is not in oidc, so no token from there is accepted; give an issuer of oidc, or add it there", i, maskURL(cluster.Issuer))
		case c.OIDC[at].Platform != "" && c.OIDC[at].Platform != string(profiles.IssuerKubernetes):
			wrong("tekton[%d].issuer is %q, which oidc[%d].platform says is %s; give an issuer of service accounts", i, maskURL(cluster.Issuer), at, c.OIDC[at].Platform)
		}
		if slices.ContainsFunc(c.Tekton[:i], func(t Tekton) bool { return t.Issuer == cluster.Issuer }) {
			wrong("tekton[%d].issuer is given twice; give each cluster once", i)
		}
		if !isURL(cluster.APIURL, "http", "https") {
			wrong("tekton[%d].api_url is %q; give the https:// address of the cluster's API", i, maskURL(cluster.APIURL))
		}
		if !isRef(cluster.TokenRef) {
			wrong("tekton[%d].token_ref is not a reference; give a reference (%s) to a service account's token", i, secret.References)
		}
	}
	return bad
}

// TektonIssuers lists the issuers of the clusters whose PipelineRuns are watched.
func (c Config) TektonIssuers() []string {
	var issuers []string
	for _, cluster := range c.Tekton {
		issuers = append(issuers, cluster.Issuer)
	}
	return issuers
}

// TektonClient returns a client of those clusters, which looks their tokens up when it needs them.
func (c Config) TektonClient() (*tekton.Client, error) {
	var clusters []tekton.Cluster
	for i, t := range c.Tekton {
		clusters = append(clusters, tekton.Cluster{Issuer: t.Issuer, API: t.APIURL, CAFile: t.CAFile, Token: func(ctx context.Context) (secret.Text, error) {
			return c.Secret(ctx, fmt.Sprintf("tekton[%d].token_ref", i), t.TokenRef)
		}})
	}
	client, err := tekton.New(clusters)
	if err != nil {
		return nil, fmt.Errorf("tekton: %w", err)
	}
	return client, nil
}
