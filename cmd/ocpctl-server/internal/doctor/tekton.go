package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/internal/tekton"
	"github.com/ocpctl/ocpctl/profiles"
)

// probe is the name of a PipelineRun that does not exist.
const probe = "ocpctl-doctor-probe"

// tekton checks that the PipelineRuns of each configured cluster can be read.
func (d *doctor) tekton(ctx context.Context, f *findings) {
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
		check := fmt.Sprintf("tekton[%d]", i)
		_, err := client.PipelineRun(ctx, cluster.Issuer, "default", probe, probe)
		switch {
		case errors.Is(err, tekton.ErrNotFound):
			f.ok(check, "PipelineRuns can be read at %s", cluster.APIURL)
		case errors.Is(err, tekton.ErrNoTekton):
			f.fail(check, "Install Tekton Pipelines there, or correct "+check+".api_url.", "%s: %s", cluster.APIURL, err)
		case errors.Is(err, tekton.ErrForbidden):
			f.fail(check, "Apply deploy/tekton/watch.yaml there, and give the token of its service account as "+check+".token_ref.", "%s: %s", cluster.APIURL, err)
		default:
			f.fail(check, "Check "+check+": that this machine reaches the API, trusts its certificate (ca_file) and can read the token (token_ref).", "%s: %v", cluster.APIURL, err)
		}
	}
}
