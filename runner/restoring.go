package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ocpctl/ocpctl/runner/contract"
	"github.com/ocpctl/ocpctl/store/artifacts"
)

// restoring finds, for every identity ever recorded, what the installer destroys it by. The folders it returns are in
// the order of the identities; one that could not be had by any means is left out and counted by verification.
func (a *attempt) restoring(ctx context.Context) ([]string, error) {
	if err := a.compareAccount(ctx); err != nil {
		return nil, err
	}
	if len(a.spec.Identities) == 0 {
		a.note("nothing was ever recorded for this cluster; it is only counted")
		return nil, nil
	}
	var dirs []string
	for i, id := range a.spec.Identities {
		if id.InfraID == "" {
			continue // a name of ccoctl's alone: the installer never got as far
		}
		if a.tool == nil {
			if err := a.needTool(ctx); err != nil {
				return nil, err
			}
		}
		dir := filepath.Join(a.cfg.WorkDir, fmt.Sprintf("restored-%d", i+1))
		err := a.restoreOne(ctx, id, dir)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			a.note("no metadata can be had for %s: %v; it is counted all the same", id.InfraID, err)
			continue
		}
		dirs = append(dirs, dir)
	}
	return dirs, nil
}

// restoreOne tries what is surest first: the newest good archive, the row's own copy, and the cloud's tags.
func (a *attempt) restoreOne(ctx context.Context, id contract.Identity, dir string) error {
	err := a.restoreArchive(ctx, id, dir)
	if err == nil || ctx.Err() != nil {
		return err
	}
	a.note("%s: %v; using the copy kept with the record", id.InfraID, err)
	if err := fits([]byte(id.Metadata), id); err == nil {
		return writeMetadata(dir, []byte(id.Metadata))
	}
	a.note("%s: the record holds no usable metadata; rebuilding it from the cloud's tags", id.InfraID)
	raw, err := a.cloud.Rebuild(ctx, id, a.target())
	if err != nil {
		return fmt.Errorf("rebuild metadata: %w", err)
	}
	if err := fits(raw, id); err != nil {
		return fmt.Errorf("rebuild metadata: %w", err)
	}
	return writeMetadata(dir, raw)
}

// restoreArchive unpacks the newest archive of this identity whose every checksum holds. S3 that does not answer is
// asked again for a while: an archive that is there is better than a copy.
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
	var final error // one that asking again will not change
	err := a.persist(ctx, a.cfg.Timings.Restore, "restore", func(ctx context.Context) error {
		used, skipped, err := a.store.Restore(ctx, own, dir)
		for _, s := range skipped {
			a.note("archive %s is not used: %v", s.Snapshot.Key, s.Err)
		}
		if err == nil {
			a.note("restored %s", used.Key)
			return nil
		}
		if errors.Is(err, artifacts.ErrNoneGood) && slices.ContainsFunc(skipped, artifacts.Skipped.Unanswered) {
			return err
		}
		final = err
		return nil
	})
	if err = errors.Join(err, final); err != nil {
		return err
	}
	raw, err := os.ReadFile(filepath.Join(dir, "metadata.json"))
	if err == nil {
		err = fits(raw, id)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("the archive's metadata is not usable: %w", err), os.RemoveAll(dir))
	}
	return nil
}

// fits refuses metadata of another cluster or region: with it, destroy would remove nothing and say that all is well.
func fits(raw []byte, id contract.Identity) error {
	m, err := parseMetadata(raw)
	if err != nil {
		return err
	}
	if m.InfraID != id.InfraID {
		return fmt.Errorf("metadata.json is of %s, not of %s", m.InfraID, id.InfraID)
	}
	if m.AWS.Region != "" && id.Region != "" && m.AWS.Region != id.Region {
		return fmt.Errorf("metadata.json is of region %s, not of %s", m.AWS.Region, id.Region)
	}
	return nil
}

func writeMetadata(dir string, raw []byte) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "metadata.json"), raw, 0o640)
}
