package runner

import (
	"context"
	"errors"
	"os"

	"github.com/ocpctl/ocpctl/internal/contract"
)

// errStale means that the install directory has become too old to be installed from.
var errStale = errors.New("the install directory became too old before its record was acknowledged")

// renderTries limits how often a stale directory is rendered again: what was slow will be slow again.
const renderTries = 3

// create runs the phases of a create. Before the first acknowledged record nothing exists outside; after it, any exit except success
// needs a teardown, which is another attempt's work.
func (a *attempt) create(ctx context.Context) (*contract.Outputs, error) {
	for _, p := range []phase{
		{"preflight", 1, "checking the account, its limits, the DNS zone and the name", a.preflight},
		{"claiming", 3, "preparing the cluster's cloud credentials", func(ctx context.Context) error {
			if err := a.requireRecord(ctx); err != nil {
				return err
			}
			return a.claiming(ctx)
		}},
	} {
		if err := a.begin(ctx, p); err != nil {
			return nil, err
		}
	}
	if err := a.renderAndRecord(ctx); err != nil {
		return nil, err
	}
	if err := a.begin(ctx, phase{"installing", 11, "starting the installer", a.installing}); err != nil {
		return nil, err
	}
	var outputs *contract.Outputs
	err := a.begin(ctx, phase{"configuring", 96, "storing addresses and credentials", func(ctx context.Context) (err error) {
		if outputs, err = a.configuring(ctx); err != nil {
			return err
		}
		a.tag(ctx)
		if err := a.giveAccess(ctx); err != nil {
			return err
		}
		return a.furnish(ctx)
	}})
	return outputs, err
}

// renderAndRecord renders the install directory and records it while it is fresh: its certificates begin to age at once.
func (a *attempt) renderAndRecord(ctx context.Context) error {
	for range renderTries {
		if err := a.begin(ctx, phase{"rendering", 4, "writing the install directory", a.rendering}); err != nil {
			return err
		}
		err := a.begin(ctx, phase{"recording", 8, "storing the cluster's identity", a.recording})
		if err == nil { // from now on the signer's key is stored in the cluster
			return os.RemoveAll(a.ccoDir(""))
		}
		if !errors.Is(err, errStale) {
			return err
		}
		a.note("the install directory of %s is too old and is rendered again", a.identity.InfraID)
	}
	return failure{
		Reason: "ArtifactsTooSlow", Whose: contract.WhoseOurs, Retryable: true,
		Message: "the install directory became too old before it could be stored, so nothing was installed",
		Next:    "try again later; if it happens again, ask an administrator to check the artifact bucket",
	}
}
