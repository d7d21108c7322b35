package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/oklog/ulid/v2"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/pools"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Recovery is the actor of what a recovery writes.
const Recovery = "recovery"

// RecoveredCluster is what a restored database lacks of one cluster.
type RecoveredCluster struct {
	ID       string
	New      *clusters.Row      // the row to adopt; nil: the cluster is known
	Attempts []RecoveredAttempt // by rising number: those that are unknown, and open ones of which more is known now
	Absent   string             // why the cluster is no longer wanted; empty: what is desired does not change
	Wait     time.Duration      // before a teardown of a cluster whose runner may be alive
	Why      string             // for people and the audit trail
	Found    []string           // where it was found
	Claimed  *pools.Claimed     // who claimed it from its pool; nil: nobody, as far as is known
	Orphan   string             // id of the approved orphan that the cluster removes from now on; empty: none
}

// RecoveredAttempt is one attempt as the bucket and the cloud show it.
type RecoveredAttempt struct {
	ID        string // empty: unknown
	Number    int
	Kind      lifecycle.Kind
	OpenedAt  time.Time
	Identity  attempts.IdentityRow // empty: it recorded nothing
	Artifacts []attempts.ArtifactRow
	Outputs   *clusters.Outputs // of a create that succeeded
	Replaced  *clusters.Outputs // the credentials that an attempt to prepare it stored; nil: it stored none

	By, Reason, Message string // who found it, a code and the words for its end; empty: as after a restored backup
}

// Recover writes what was found of a cluster in one transaction, with an audit line: the row if it is unknown, and its attempts, closed,
// so that their numbers are never used again and their names are counted. Whether the cluster is ready, torn down or tried again is
// lifecycle.Decide's answer to that. Nothing is written if nothing is new; wrote reports that. ErrNameTaken, ErrConflict: it contradicts a
// living cluster.
func (s *Store) Recover(ctx context.Context, r RecoveredCluster) (wrote bool, err error) {
	err = s.Write(ctx, func(c *db.Tx) error {
		wrote, err = s.recoverIn(ctx, c, r)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("recover %s: %w", r.ID, db.Plain(err))
	}
	return wrote, nil
}

func (s *Store) recoverIn(ctx context.Context, c *db.Tx, r RecoveredCluster) (wrote bool, err error) {
	if r.New != nil {
		if err := adopt(ctx, c, *r.New); err != nil {
			return false, err
		}
		wrote = true
	}
	cur, err := clusters.Lock(ctx, c, r.ID)
	if err != nil {
		return false, err
	}
	if !cur.ReleasedAt.IsZero() {
		return false, fmt.Errorf("%w: cluster %s is destroyed", db.ErrConflict, r.ID)
	}
	newest, added := 0, false
	for _, a := range r.Attempts {
		kept, err := recoverAttempt(ctx, c, r.ID, a)
		if err != nil {
			return false, fmt.Errorf("attempt %d: %w", a.Number, err)
		}
		if !kept.changed {
			continue
		}
		wrote, newest = true, max(newest, a.Number)
		added = added || kept.added
		if kept.succeeded {
			if err := s.decideRecovered(ctx, c, cur); err != nil {
				return false, err
			}
		}
	}
	if wrote && r.Claimed != nil && cur.Pooled && cur.Desired == lifecycle.Present {
		if err := pools.RestoreClaim(ctx, c, cur, *r.Claimed); err != nil {
			return false, err
		}
		var b db.Batch
		var row clusters.Row
		row.ID, row.Source, row.PR = r.ID, r.Claimed.Source, r.Claimed.PR
		queueShows(c, &b, row)
		if err := c.Send(ctx, &b); err != nil {
			return false, err
		}
	}
	gone := r.Absent != "" && cur.Desired == lifecycle.Present
	if !wrote && !gone {
		return false, nil
	}
	if err := afterRecovery(ctx, c, cur, r, newest, added); err != nil {
		return false, err
	}
	if r.Orphan != "" {
		if err := adoptOrphan(ctx, c, r.Orphan, r.ID); err != nil {
			return false, err
		}
	}
	return true, c.RecordLine(Recovery, "recovered", Recovery, r.ID, clusters.Action{Move: db.Move{Why: r.Why, Attempt: newest}, After: r.Found})
}

// adopt inserts the row of an unknown cluster, with its job and what shows it.
func adopt(ctx context.Context, c *db.Tx, row clusters.Row) error {
	var b db.Batch
	row.WakeAt, row.Desired = c.Now, lifecycle.Present
	var known bool
	if err := c.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM jobs WHERE id = $1)`, row.JobID).Scan(&known); err != nil {
		return fmt.Errorf("look for the job of %s: %w", row.ID, err)
	}
	if row.JobID == "" || known {
		row.JobID = db.NewID("job")
	}
	if role := row.Spec.CloudRole; role != nil { // the account's owner wrote it down
		_, err := c.Exec(ctx, `INSERT INTO external_ids (platform, account, id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, row.Platform, row.Spec.Account, role.ExternalID)
		if err != nil {
			return fmt.Errorf("keep the external id of account %s: %w", row.Spec.Account, err)
		}
	}
	queueCluster(c, &b, row, Judgement{}, "")
	return c.Send(ctx, &b)
}

// keptAttempt says what became of one recovered attempt.
type keptAttempt struct{ changed, added, succeeded bool }

func recoverAttempt(ctx context.Context, c *db.Tx, cluster string, a RecoveredAttempt) (kept keptAttempt, err error) {
	var id string
	var open, recorded bool
	err = c.QueryRow(ctx, `SELECT id, closed_at IS NULL, infra_id IS NOT NULL FROM attempts WHERE cluster_id = $1 AND number = $2`, cluster, a.Number).
		Scan(&id, &open, &recorded)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return addAttempt(ctx, c, cluster, a)
	case err != nil:
		return kept, err
	case !open:
		return kept, nil // what it recorded was stored before it was closed
	}
	if err := keepRecovered(ctx, c, cluster, id, a); err != nil { // an infraID is recorded after its archive
		return kept, err
	}
	if !recorded && a.Identity != (attempts.IdentityRow{}) {
		if err := identify(ctx, c, id, a.Identity); err != nil {
			return kept, err
		}
		kept.changed = true
	}
	if a.Outputs == nil {
		return kept, nil
	}
	return keptAttempt{changed: true, succeeded: true}, closeRecovered(ctx, c, cluster, id, lifecycle.Succeeded, "it succeeded after the backup")
}

// addAttempt inserts an attempt that is over. Attempts of lower numbers were closed before it was opened, so one that is still open is
// closed first.
func addAttempt(ctx context.Context, c *db.Tx, cluster string, a RecoveredAttempt) (kept keptAttempt, err error) {
	var stale *string
	err = c.QueryRow(ctx, `SELECT max(id) FROM attempts WHERE cluster_id = $1 AND closed_at IS NULL AND number < $2`, cluster, a.Number).Scan(&stale)
	if err != nil {
		return kept, err
	}
	if stale != nil {
		if err := closeRecovered(ctx, c, cluster, *stale, lifecycle.Lost, "later attempts began after the backup, so this one had ended"); err != nil {
			return kept, err
		}
	}
	id, err := insertRecovered(ctx, c, cluster, a)
	if err != nil {
		return kept, err
	}
	return keptAttempt{changed: true, added: true, succeeded: a.Outputs != nil}, keepRecovered(ctx, c, cluster, id, a)
}

// recoveredPhase is the phase in which an attempt is shown of which no report is known.
var recoveredPhase = map[lifecycle.Kind]lifecycle.Phase{
	lifecycle.Create: lifecycle.Preflight, lifecycle.Destroy: lifecycle.DestroyingRuns, lifecycle.Scale: lifecycle.Scaling, lifecycle.Configure: lifecycle.Configuring, lifecycle.Access: lifecycle.Accessing,
	lifecycle.Sleep: lifecycle.GoingToSleep, lifecycle.Wake: lifecycle.Waking, lifecycle.Observe: lifecycle.Observing, lifecycle.Tag: lifecycle.Tagging, lifecycle.Inform: lifecycle.Informing,
	lifecycle.Prepare: lifecycle.Preparing,
}

func insertRecovered(ctx context.Context, c *db.Tx, cluster string, a RecoveredAttempt) (id string, err error) {
	outcome, reason, message := lifecycle.Lost, cmp.Or(a.Reason, reasonOfRecovery(lifecycle.Lost)), cmp.Or(a.Message, "it ran after the backup; nothing is known of its end")
	if a.Outputs != nil {
		outcome, reason, message = lifecycle.Succeeded, "", ""
	}
	id = a.ID
	if id == "" {
		id = db.NewID("att")
	}
	i := a.Identity
	_, err = c.Exec(ctx, `
		INSERT INTO attempts (id, cluster_id, job_id, number, kind, token_id, opened_at, launched_at, claimed_by, claimed_at, lease_until, phase,
			recorded_at, infra_id, cluster_uuid, cco_name, account, region, release_digest, metadata, installer_sha256, resource_group_id,
			workers_wanted, closed_at, outcome, reason, message)
		SELECT @id, @cluster, j.id, @number, @kind, @token, @opened, @opened, @by, @opened, @now, @phase,
			CASE WHEN @infra_id <> '' OR @cco_name <> '' THEN @opened::timestamptz END, nullif(@infra_id, ''), nullif(@cluster_uuid, ''), nullif(@cco_name, ''),
			nullif(@account, ''), nullif(@region, ''), nullif(@release_digest, ''), nullif(@metadata, ''), nullif(@installer_sha256, ''), nullif(@resource_group_id, ''),
			CASE WHEN @kind = 'scale' THEN coalesce(c.workers_base, 0) END,
			@now, @outcome, @reason, @message
		FROM clusters c, LATERAL (SELECT id FROM jobs WHERE cluster_id = c.id ORDER BY created_at DESC, id DESC LIMIT 1) j WHERE c.id = @cluster`,
		pgx.NamedArgs{
			"id": id, "cluster": cluster, "number": a.Number, "kind": string(a.Kind), "token": ulid.Make().String(), "opened": a.OpenedAt, "now": c.Now,
			"by": cmp.Or(a.By, Recovery), "phase": recoveredPhase[a.Kind], "infra_id": i.InfraID, "cluster_uuid": i.ClusterUUID, "cco_name": i.CCOName,
			"account": i.Account, "region": i.Region, "release_digest": i.ReleaseDigest, "metadata": i.Metadata, "installer_sha256": i.InstallerSHA256,
			"resource_group_id": i.ResourceGroupID, "outcome": outcome, "reason": reason, "message": message,
		})
	return id, err
}

func reasonOfRecovery(o lifecycle.Outcome) string {
	if o == lifecycle.Succeeded {
		return ""
	}
	return usage.ReasonRestored
}

// identify stores what an open attempt recorded after the backup. Each field is written once.
func identify(ctx context.Context, c *db.Tx, attempt string, i attempts.IdentityRow) error {
	_, err := c.Exec(ctx, `
		UPDATE attempts SET recorded_at = coalesce(recorded_at, @now),
			claimed_by = coalesce(claimed_by, @by), claimed_at = coalesce(claimed_at, @now), lease_until = coalesce(lease_until, @lease),
			infra_id = coalesce(infra_id, nullif(@infra_id, '')), cluster_uuid = coalesce(cluster_uuid, nullif(@cluster_uuid, '')),
			cco_name = coalesce(cco_name, nullif(@cco_name, '')), account = coalesce(account, nullif(@account, '')),
			region = coalesce(region, nullif(@region, '')), release_digest = coalesce(release_digest, nullif(@release_digest, '')),
			metadata = coalesce(metadata, nullif(@metadata, '')), installer_sha256 = coalesce(installer_sha256, nullif(@installer_sha256, '')),
			resource_group_id = coalesce(resource_group_id, nullif(@resource_group_id, ''))
		WHERE id = @id`, pgx.NamedArgs{
		"id": attempt, "now": c.Now, "by": Recovery, "lease": attempts.LeaseEnd(c), "infra_id": i.InfraID, "cluster_uuid": i.ClusterUUID, "cco_name": i.CCOName,
		"account": i.Account, "region": i.Region, "release_digest": i.ReleaseDigest, "metadata": i.Metadata, "installer_sha256": i.InstallerSHA256,
		"resource_group_id": i.ResourceGroupID,
	})
	return err
}

// keepRecovered stores an attempt's archives, its outputs if it was a create that succeeded, and the credentials with which another replaced those: the
// newest that are stored work.
func keepRecovered(ctx context.Context, c *db.Tx, cluster, attempt string, a RecoveredAttempt) error {
	of := attempts.Fenced{Held: usage.Held{Cluster: lifecycle.Cluster{ID: cluster}}, AttemptID: attempt}
	err := attempts.KeepArtifacts(ctx, c, of, a.Artifacts)
	if err == nil && a.Replaced != nil {
		err = attempts.KeepReplaced(ctx, c, cluster, *a.Replaced)
	}
	if err != nil || a.Outputs == nil {
		return err
	}
	_, err = c.Exec(ctx, `
		INSERT INTO cluster_outputs (cluster_id, api_url, console_url, kubeconfig_s3_uri, kubeadmin_secret_ref, metadata_s3_uri)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (cluster_id) DO NOTHING`,
		cluster, a.Outputs.APIURL, a.Outputs.ConsoleURL, a.Outputs.KubeconfigRef, a.Outputs.KubeadminRef, a.Outputs.MetadataRef)
	return err
}

func closeRecovered(ctx context.Context, c *db.Tx, cluster, attempt string, how lifecycle.Outcome, why string) error {
	_, err := c.Exec(ctx, `UPDATE attempts SET closed_at = $2, outcome = $3, reason = $4, message = $5 WHERE id = $1 AND closed_at IS NULL`,
		attempt, c.Now, how, reasonOfRecovery(how), why)
	if err != nil {
		return fmt.Errorf("close an attempt of %s: %w", cluster, err)
	}
	return nil
}

// decideRecovered applies the lifecycle's decision about a create that succeeded, before what followed it is added.
func (s *Store) decideRecovered(ctx context.Context, c *db.Tx, held usage.Held) error {
	cluster, facts, err := s.loadIn(ctx, c, held.ID)
	if err != nil {
		return err
	}
	held.Cluster = cluster
	return decide(ctx, c, held, lifecycle.Decide(cluster, facts, c.DB.Options.Limits))
}

// afterRecovery accounts for the attempts that were added, and lets the cluster be decided about.
func afterRecovery(ctx context.Context, c *db.Tx, was usage.Held, r RecoveredCluster, newest int, added bool) error {
	args := pgx.NamedArgs{"newest": newest, "now": c.Now, "wait": r.Wait, "absent": lifecycle.Noted(r.Absent), "janitor": lifecycle.JobJanitorDestroy}
	set := `seen = greatest(seen, (SELECT coalesce(max(a.number), 0) FROM attempts a WHERE a.cluster_id = clusters.id AND a.closed_at IS NOT NULL AND a.number <= @newest)),
		work = work || (SELECT coalesce(jsonb_object_agg(k.kind, coalesce(work -> k.kind, '{}') || jsonb_build_object('seen', k.seen)), '{}') FROM (
			SELECT a.kind, max(a.number) AS seen FROM attempts a
			WHERE a.cluster_id = clusters.id AND a.closed_at IS NOT NULL AND a.number <= @newest AND a.kind NOT IN ('create', 'destroy') GROUP BY a.kind) AS k),
		tries = greatest(tries, (SELECT count(*) FROM attempts a WHERE a.cluster_id = clusters.id AND a.kind = 'create'))`
	if added {
		set += `, retry_at = CASE WHEN status = 'READY' AND @absent = '{}'::jsonb THEN retry_at ELSE greatest(retry_at, @now::timestamptz + @wait::interval) END`
	}
	if r.Absent != "" && was.Desired == lifecycle.Present {
		set += `, desired = 'absent', desired_why = @absent, teardown = @janitor`
	}
	if err := clusters.SetDesired(ctx, c, r.ID, set, args); err != nil {
		return err
	}
	if r.Absent == "" && slices.ContainsFunc(r.Attempts, func(a RecoveredAttempt) bool { return a.Kind == lifecycle.Sleep || a.Kind == lifecycle.Wake }) {
		return wakeRecovered(ctx, c, r)
	}
	if r.Absent == "" || was.Desired == lifecycle.Absent {
		return nil
	}
	if _, err := clusters.CloseOver(ctx, c, r.ID); err != nil {
		return err
	}
	return moveJob(ctx, c, r.ID, lifecycle.JobMove{Type: lifecycle.JobJanitorDestroy, To: lifecycle.JobPending})
}

// wakeRecovered has a ready cluster woken of which nobody knows whether it sleeps: it was put to sleep, or woken, after the backup. The
// runner that did it may be alive, so the first try waits.
func wakeRecovered(ctx context.Context, c *db.Tx, r RecoveredCluster) error {
	done, err := c.Exec(ctx, `
		UPDATE clusters SET power = 'changing', sleep_wanted = false, sleep_until = NULL, power_by = '',
			work = work || jsonb_build_object('wake', coalesce(work -> 'wake', '{}') - 'failures' || jsonb_build_object('retry_at', @now::timestamptz + @wait::interval))
		WHERE id = @id AND status = 'READY' AND desired = 'present' AND sleep_mode IS NOT NULL`, pgx.NamedArgs{"id": r.ID, "now": c.Now, "wait": r.Wait})
	if err != nil || done.RowsAffected() == 0 {
		return err
	}
	if err := endJobs(ctx, c, r.ID, "it is to be awake: "+r.Why, lifecycle.JobSleep, lifecycle.JobOffHoursDown, lifecycle.JobOffHoursUp); err != nil {
		return err
	}
	_, err = powerJob(ctx, c, usage.Held{Cluster: lifecycle.Cluster{ID: r.ID}}, lifecycle.JobWake, true)
	return err
}
