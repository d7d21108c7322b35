package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
)

// traceTry is how long a teardown waits for the bucket before it goes on without its record there.
const traceTry = 5 * time.Second

// newRecord is the attempt as the bucket keeps it.
func (a *attempt) newRecord() contract.AttemptRecord {
	return contract.AttemptRecord{
		Attempt: a.spec.Attempt, Number: a.spec.Number, Kind: a.spec.Kind, Cluster: a.spec.Cluster, Installation: a.spec.Installation,
		Name: a.spec.Name, BaseDomain: a.spec.BaseDomain, Platform: a.spec.Platform, Region: a.spec.Region, Version: a.spec.Version,
		Account: a.account, CredentialsMode: a.spec.CredentialsMode, DestroyDeadline: a.spec.DestroyDeadline,
		Tags: a.spec.Tags, Accepted: a.spec.Accepted,
	}
}

// storeRecord stores in the bucket that this attempt exists: with it, a server whose database was lost finds a cluster of which nothing
// was archived yet, and never uses the attempt's number again.
func (a *attempt) storeRecord(ctx context.Context, patience time.Duration) error {
	raw, err := json.MarshalIndent(a.newRecord(), "", "  ")
	if err != nil {
		return fmt.Errorf("write the attempt's record: %w", err)
	}
	key := artifacts.AttemptKey(a.spec.Cluster, a.spec.Kind, a.spec.Number, a.cfg.Now())
	return a.keepTrying(ctx, patience, "attempt record", func(ctx context.Context) error {
		_, err := a.store.PutOnce(ctx, key, raw)
		return err
	})
}

// requireRecord stores the record, without which nothing is created.
func (a *attempt) requireRecord(ctx context.Context) error {
	err := a.storeRecord(ctx, a.cfg.Timings.Save)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return failure{
			Reason: "ArtifactsUnavailable", Whose: contract.WhoseOurs, Retryable: true,
			Message: fmt.Sprintf("the attempt's record could not be stored in the artifact bucket (%v), so nothing was created", err),
			Next:    "try again later; if it happens again, ask an administrator to check the artifact bucket and the runner's permissions for it",
		}
	}
	return nil
}

// tryRecord stores the record if the bucket answers: a teardown never waits long for it.
func (a *attempt) tryRecord(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, traceTry)
	defer cancel()
	if err := a.storeRecord(ctx, 0); err != nil {
		a.cfg.Log.Warn("attempt record not stored", "err", err.Error())
	}
}

// writeRecord puts the record beside metadata.json, so that an archive can be understood without a database.
func (a *attempt) writeRecord() error {
	record, rendered := a.newRecord(), a.rendered.UTC()
	record.Identity, record.RenderedAt = &a.identity, &rendered
	raw, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return fmt.Errorf("write the record: %w", err)
	}
	return os.WriteFile(filepath.Join(a.dir, artifacts.RecordDir, artifacts.RecordFile), raw, 0o640)
}
