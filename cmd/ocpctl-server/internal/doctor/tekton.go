package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/internal/tekton"
	"github.com/ocpctl/ocpctl/profiles"
)

// probe is the name of a PipelineRun that does not exist.
const probe = "ocpctl-doctor-probe"

// checkTekton checks that the PipelineRuns of each configured cluster can be read.
func (d *doctor) checkTekton(ctx context.Context, f *findings) {
	c := d.Settings
	for i, issuer := range c.OIDC {
		if issuer.Platform == string(profiles.IssuerKubernetes) && !slices.Contains(c.TektonIssuers(), issuer.Issuer) {
			f.skip(fmt.Sprintf("oidc[%d]", i), "tekton has no entry for %s: clusters of its PipelineRuns end by their time to live alone; docs/tekton.md", issuer.Issuer)
		}
	}
	if len(c.Tekton) == 0 {
		f.skip("entries", "no Kubernetes cluster is configured whose PipelineRuns are watched")
		return
	}
	client, err := c.TektonClient()
	if err != nil {
		f.fail("entries", "Give files with CA certificates (PEM) that this process can read in tekton[].ca_file.", "%s", err)
		return
	}
	for i, cluster := range c.Tekton {
		d.checkTektonCluster(ctx, f, fmt.Sprintf("tekton[%d]", i), cluster, client)
	}
}

// checkTektonCluster checks one cluster: that a PipelineRun can be asked for, in each namespace, and that the token may do no harm.
func (d *doctor) checkTektonCluster(ctx context.Context, f *findings, check string, cluster config.Tekton, client *tekton.Client) {
	const rights = "Apply deploy/tekton/watch.yaml there, and give the token of its service account as "
	_, err := client.PipelineRun(ctx, cluster.Issuer, "default", probe, probe)
	switch {
	case errors.Is(err, tekton.ErrNoTekton):
		f.fail(check, "Install Tekton Pipelines there, or correct "+check+".api_url.", "%s: %s", cluster.APIURL, err)
		return
	case errors.Is(err, tekton.ErrForbidden):
		f.fail(check, rights+check+".token_ref.", "%s: %s", cluster.APIURL, err)
		return
	case !errors.Is(err, tekton.ErrNotFound):
		f.fail(check, "Check "+check+": that this machine reaches the API, trusts its certificate (ca_file) and can read the token (token_ref).", "%s: %v", cluster.APIURL, err)
		return
	}
	everywhere, err := client.Has(ctx, cluster.Issuer, tekton.GetPipelineRuns)
	var secrets bool
	if err == nil {
		secrets, err = client.Has(ctx, cluster.Issuer, tekton.GetSecrets)
	}
	switch {
	case err != nil:
		f.warn(check, "Let its service account create selfsubjectaccessreviews, as the role system:basic-user does.", "PipelineRuns can be read at %s, but it is not known in which namespaces: %v", cluster.APIURL, err)
	case !everywhere:
		f.warn(check, rights+check+".token_ref.", "%s: PipelineRuns can be read in some namespaces only; clusters of the others' PipelineRuns end by their time to live alone", cluster.APIURL)
	case secrets:
		f.warn(check, rights+check+".token_ref: it may get PipelineRuns and nothing else.", "%s: the token can read every Secret, which the server never does", cluster.APIURL)
	default:
		f.ok(check, "PipelineRuns can be read in every namespace at %s", cluster.APIURL)
	}
}
