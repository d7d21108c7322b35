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

// runCreate runs the phases of a create. Before the first acknowledged record nothing exists outside; after it, any exit except success
// needs a teardown, which is another attempt's work.
func (a *attempt) runCreate(ctx context.Context) (*contract.Outputs, error) {
	for _, p := range []phase{
		{"preflight", 1, "checking the account, its limits, the DNS zone and the name", a.runPreflight},
		{"claiming", 3, "preparing the cluster's cloud credentials", a.claimNames},
	} {
		if err := a.beginPhase(ctx, p); err != nil {
			return nil, err
		}
	}
	if err := a.renderAndRecord(ctx); err != nil {
		return nil, err
	}
	if err := a.beginPhase(ctx, phase{"installing", 11, "starting the installer", a.installCluster}); err != nil {
		return nil, err
	}
	var outputs *contract.Outputs
	err := a.beginPhase(ctx, phase{"configuring", 96, "storing addresses and credentials", func(ctx context.Context) (err error) {
		if outputs, err = a.configureCluster(ctx); err != nil {
			return err
		}
		a.tagResources(ctx)
		if err := a.giveAccess(ctx); err != nil {
			return err
		}
		return a.installAddons(ctx)
	}})
	return outputs, err
}

// renderAndRecord renders the install directory and records it while it is fresh: its certificates begin to age at once.
func (a *attempt) renderAndRecord(ctx context.Context) error {
	for range renderTries {
		if err := a.beginPhase(ctx, phase{"rendering", 4, "writing the install directory", a.renderConfig}); err != nil {
			return err
		}
		err := a.beginPhase(ctx, phase{"recording", 8, "storing the cluster's identity", a.recordIdentity})
		if err == nil { // from now on the signer's key is stored in the cluster
			return os.RemoveAll(a.ccoDir(""))
		}
		if !errors.Is(err, errStale) {
			return err
		}
		a.noteLine("the install directory of %s is too old and is rendered again", a.identity.InfraID)
	}
	return failure{
		Reason: "ArtifactsTooSlow", Whose: contract.WhoseOurs, Retryable: true,
		Message: "the install directory became too old before it could be stored, so nothing was installed",
		Next:    "try again later; if it happens again, ask an administrator to check the artifact bucket",
	}
}
