package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
)

// restoreState prepares the directories from which the installer destroys, one for every identity ever recorded, in the order of the
// identities. The metadata in them is the server's, built from the cluster's row; the archive is compared with it but never trusted
// instead.
func (a *attempt) restoreState(ctx context.Context) ([]string, error) {
	if err := a.compareAccount(ctx); err != nil {
		return nil, err
	}
	if err := a.checkIdentities(); err != nil {
		return nil, err
	}
	if len(a.spec.Identities) == 0 {
		a.noteLine("nothing was ever recorded for this cluster, so there is nothing to destroy; only the count is taken")
		return nil, nil
	}
	var dirs []string
	for i, id := range a.spec.Identities {
		if id.InfraID == "" || a.hub != nil {
			continue // only a name of ccoctl: the installer had not started; or no installer destroys it
		}
		if a.tool == nil {
			if err := a.needTool(ctx); err != nil {
				return nil, err
			}
		}
		dir := filepath.Join(a.cfg.WorkDir, fmt.Sprintf("restored-%d", i+1))
		if err := a.checkArchive(ctx, id, dir); ctx.Err() != nil {
			return nil, context.Cause(ctx)
		} else if err != nil {
			a.noteLine("%s: %v; the teardown uses only the server's record", id.InfraID, err)
		}
		if err := writeMetadata(dir, a.destroyersMetadata(ctx, id)); err != nil {
			return nil, fmt.Errorf("write the metadata of %s: %w", id.InfraID, err)
		}
		dirs = append(dirs, dir)
	}
	return dirs, nil
}

// destroyersMetadata is the server's document, with what only the cloud tells. Without that the destroyer leaves something behind, which is then
// removed by its exact name.
func (a *attempt) destroyersMetadata(ctx context.Context, id contract.Identity) []byte {
	raw := []byte(id.Metadata)
	if len(a.nameScope().Missing(raw)) == 0 {
		return raw
	}
	found, err := a.cloud.Found(ctx, a.cloudTarget())
	if err == nil {
		var whole []byte
		if whole, err = a.nameScope().Complete(raw, namesOf(id), found); err == nil {
			return whole
		}
	}
	a.noteLine("%s: %v; the destroyer works with what the record says, and what is left is removed by name", id.InfraID, err)
	return raw
}

// checkIdentities refuses a teardown by a name that does not derive from this cluster. Whatever the record says, another cluster's
// resources are never searched for.
func (a *attempt) checkIdentities() error {
	for _, id := range a.spec.Identities {
		if err := a.checkIdentity(id); err != nil {
			return failure{
				Reason: "IdentityRefused", Whose: contract.WhoseOurs, Message: fmt.Sprintf("nothing was deleted: the record does not match this cluster: %v", err),
				Next: "ask an administrator to compare the attempts of this cluster with the account's resources, and to remove this cluster's resources manually",
			}
		}
	}
	return nil
}

func (a *attempt) checkIdentity(id contract.Identity) error {
	of := a.nameScope()
	if id.CCOName != "" && !a.nameScope().IsCCOName(id.CCOName) {
		return fmt.Errorf("ccoctl never ran with the name %q for this cluster", id.CCOName)
	}
	if id.Region != "" && id.Region != of.Region {
		return fmt.Errorf("the cluster is in region %q, but the record is for region %q", of.Region, id.Region)
	}
	if id.InfraID == "" {
		return nil
	}
	if !of.IsInfraID(id.InfraID) {
		return fmt.Errorf("%q is not an infraID of this cluster", id.InfraID)
	}
	if err := of.CheckMetadata([]byte(id.Metadata), namesOf(id)); err != nil {
		return fmt.Errorf("metadata of %s: %w", id.InfraID, err)
	}
	return nil
}

func namesOf(id contract.Identity) names.Identity {
	return names.Identity{InfraID: id.InfraID, ClusterUUID: id.ClusterUUID, CCOName: id.CCOName, Account: id.Account}
}

// checkArchive restores the newest archive of this identity with correct checksums, compares its metadata with the server's, and
// deletes it again. Its error says why no archive agrees with the record.
func (a *attempt) checkArchive(ctx context.Context, id contract.Identity, dir string) error {
	beside := dir + "-archive"
	defer os.RemoveAll(beside)
	if err := a.restoreArchive(ctx, id, beside); err != nil {
		return err
	}
	raw, err := os.ReadFile(filepath.Join(beside, "metadata.json"))
	if err == nil {
		err = a.nameScope().CheckMetadata(raw, namesOf(id))
	}
	if err != nil {
		return fmt.Errorf("the archive's metadata.json is not this cluster's: %w", err)
	}
	return nil
}

// restoreArchive unpacks the archive. It retries for a while if S3 does not respond.
func (a *attempt) restoreArchive(ctx context.Context, id contract.Identity, dir string) error {
	var own []artifacts.Snapshot
	for _, s := range a.spec.Snapshots {
		if s.InfraID == id.InfraID && s.Type == string(artifacts.Destroy) {
			own = append(own, fromContract(s))
		}
	}
	if len(own) == 0 {
		return errors.New("no archive was ever recorded")
	}
	var final error // an error that retrying does not change
	err := a.keepTrying(ctx, a.cfg.Timings.Restore, "restore", func(ctx context.Context) error {
		used, skipped, err := a.store.Restore(ctx, own, dir)
		for _, s := range skipped {
			a.noteLine("archive %s is not used: %v", s.Snapshot.Key, s.Err)
		}
		if err == nil {
			a.noteLine("restored %s", used.Key)
			return nil
		}
		if errors.Is(err, artifacts.ErrNoneGood) && slices.ContainsFunc(skipped, artifacts.Skipped.Unanswered) {
			return err
		}
		final = err
		return nil
	})
	return errors.Join(err, final)
}

func writeMetadata(dir string, raw []byte) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "metadata.json"), raw, 0o640)
}
