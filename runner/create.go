package runner

import (
	"context"
	"errors"
	"os"

	"github.com/ocpctl/ocpctl/internal/contract"
)

// errStale means that what was rendered has grown too old to be installed from.
var errStale = errors.New("the install directory has grown too old before its record was acknowledged")

// renderTries bounds how often a stale directory is rendered again: whatever is slow then will be slow again.
const renderTries = 3

// create works through the phases of a create. Up to the first acknowledged record nothing exists outside; from then on
// the only way out but success leads through a teardown, which is another attempt's work.
func (a *attempt) create(ctx context.Context) (*contract.Outputs, error) {
	for _, p := range []phase{
		{"preflight", 1, "looking at the account, its limits, the zone and the name", a.preflight},
		{"claiming", 3, "making what lives outside the installer", a.claiming},
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
		return a.furnish(ctx)
	}})
	return outputs, err
}

// renderAndRecord renders and has it recorded while it is fresh: certificates in the directory begin to age at once.
func (a *attempt) renderAndRecord(ctx context.Context) error {
	for range renderTries {
		if err := a.begin(ctx, phase{"rendering", 4, "writing the install directory", a.rendering}); err != nil {
			return err
		}
		err := a.begin(ctx, phase{"recording", 8, "keeping the cluster's identity safe", a.recording})
		if err == nil { // the signer's key lives in the cluster from now on
			return os.RemoveAll(a.ccoDir(""))
		}
		if !errors.Is(err, errStale) {
			return err
		}
		a.note("the install directory of %s has grown too old and is rendered again", a.identity.InfraID)
	}
	return failure{
		Reason: "ArtifactsTooSlow", Whose: contract.WhoseOurs, Retryable: true,
		Message: "the install directory grew too old before it could be stored, so nothing was installed",
		Next:    "try again later; if it stays so, an administrator looks at the artifact bucket",
	}
}
