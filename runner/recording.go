package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/status"
)

// recordIdentity stores both archives, proves that they can be read back, and has the server store the identity. It returns nil only after
// an acknowledgement that does not say stop, and only that permits creating anything.
func (a *attempt) recordIdentity(ctx context.Context) error {
	if err := a.checkRecord(); err != nil {
		return err
	}
	saved, err := a.saveState(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return failure{
			Reason: "ArtifactsUnavailable", Whose: contract.WhoseOurs, Retryable: true,
			Message: fmt.Sprintf("the cluster's state could not be stored in the artifact bucket (%v), so nothing was created", err),
			Next:    "try again later; if it happens again, ask an administrator to check the artifact bucket and the runner's permissions for it",
		}
	}
	if a.isStale() {
		return errStale // not sent yet, so the server knows nothing of this identity
	}
	if err := a.awaitAcknowledgement(ctx, contract.Record{Identity: a.identity, Snapshots: saved}); err != nil {
		return err
	}
	if a.isStale() { // it is stored now, so it must not be replaced in this attempt
		return failure{
			Reason: "RecordTooLate", Whose: contract.WhoseOurs, Retryable: true,
			Message: "the server's acknowledgement came too late, so nothing was created", Next: "try again later",
		}
	}
	a.cfg.Log.Info("identity recorded", "infra_id", a.identity.InfraID)
	return nil
}

// checkRecord refuses an incomplete identity: what cannot be found again must not be created.
func (a *attempt) checkRecord() error {
	var missing []string
	for _, each := range []struct{ name, value string }{
		{"infraID", a.identity.InfraID}, {"clusterID", a.identity.ClusterUUID}, {"account", a.identity.Account}, {"region", a.identity.Region},
		{"release digest", a.identity.ReleaseDigest}, {"installer checksum", a.identity.InstallerSHA256},
	} {
		if each.value == "" && (a.hub == nil || each.name != "installer checksum") {
			missing = append(missing, each.name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return failure{
		Reason: "IdentityIncomplete", Whose: contract.WhoseInstaller, Retryable: true,
		Message: "the installer's output contains no " + strings.Join(missing, " and no ") + ", so nothing was installed",
		Next:    "try again later; if it happens again, ask an administrator to replace openshift-install " + a.spec.Version,
	}
}

// awaitAcknowledgement has the server store an identity, and returns nil only after its permission to go on.
func (a *attempt) awaitAcknowledgement(ctx context.Context, record contract.Record) error {
	answer, err := a.api.sendRecord(ctx, record)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, status.ErrRefused):
		return failure{
			Reason: "RecordRefused", Whose: contract.WhoseOurs, Next: "report it: this is a bug in ocpctl",
			Message: "the server refused the record of the cluster's identity, so nothing was created under it: " + err.Error(),
		}
	case err != nil:
		a.api.Stop(err) // fenced, or the lease is over
		return err
	case answer.Stop != "":
		return status.StopAsked{Why: answer.Stop}
	}
	return nil
}

// isStale reports that the install directory is too old to be installed from. What is applied on a hub has no certificates that age.
func (a *attempt) isStale() bool {
	return a.hub == nil && a.spec.SnapshotMaxAge > 0 && a.cfg.Now().Sub(a.rendered) > a.spec.SnapshotMaxAge
}

// saveState archives the install directory twice, with retries: what a teardown needs, and what operating the cluster needs. On a hub, nothing is
// needed for the latter.
func (a *attempt) saveState(ctx context.Context) ([]contract.Snapshot, error) {
	return a.saveWithin(ctx, a.cfg.Timings.Save)
}

// saveWithin makes both archives at once. The reporter renews the lease meanwhile.
func (a *attempt) saveWithin(ctx context.Context, patience time.Duration) ([]contract.Snapshot, error) {
	types := []artifacts.Type{artifacts.Destroy, artifacts.Operate}
	if a.hub != nil {
		types = types[:1]
	}
	saved := make([]contract.Snapshot, len(types))
	group, ctx := errgroup.WithContext(ctx)
	for i, kind := range types {
		group.Go(func() error {
			return a.keepTrying(ctx, patience, string(kind), func(ctx context.Context) error {
				one, err := a.store.Save(ctx, artifacts.Bundle{
					Type: kind, Cluster: a.spec.Cluster, Attempt: a.spec.Number, InfraID: a.identity.InfraID, Dir: a.dir,
				})
				saved[i] = toContract(one)
				return err
			})
		})
	}
	err := group.Wait()
	return saved, err
}

func toContract(s artifacts.Snapshot) contract.Snapshot {
	return contract.Snapshot{
		Type: string(s.Type), Key: s.Key, ManifestKey: s.ManifestKey, SHA256: s.SHA256, Size: s.Size, InfraID: s.InfraID, TakenAt: s.TakenAt,
	}
}

func fromContract(s contract.Snapshot) artifacts.Snapshot {
	return artifacts.Snapshot{
		Type: artifacts.Type(s.Type), Key: s.Key, ManifestKey: s.ManifestKey, SHA256: s.SHA256, Size: s.Size, InfraID: s.InfraID, TakenAt: s.TakenAt,
	}
}
