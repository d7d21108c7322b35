package attempts

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// Report stores a runner's progress and renews its lease. A repeated seq only renews; a report that changes nothing enqueues no
// reconcile. A closed attempt's report is answered with stop and not stored.
func (s *Store) Report(ctx context.Context, attemptID, tokenID string, r ReportRow) (Lease, error) {
	var lease Lease
	logged := ""
	var locked *lockedAttempt
	lock := func(c *db.Tx, b *db.Batch) { locked = queueAttempt(c, b, attemptID) }
	err := s.db.WriteAfter(ctx, lock, func(c *db.Tx) error {
		f, err := locked.check(c, tokenID)
		if err != nil {
			return err
		}
		if f.Closed {
			lease = Lease{Stop: f.Stop(), Closed: true}
			return nil
		}
		if !f.Claimed {
			return fmt.Errorf("nobody claimed the attempt: %w", db.ErrFenced)
		}
		fresh, newest, err := keepReport(ctx, c, f, r)
		if err != nil {
			return err
		}
		if lease = nextLease(c, f); r.Late {
			lease = Lease{Stop: lease.Stop}
		}
		if !fresh {
			lease.renew(c, f)
			return nil
		}
		if r.Log != "" {
			logged = f.ID
		}
		return keepFacts(ctx, c, f, r, newest, lease)
	})
	if err != nil {
		return Lease{}, fmt.Errorf("report %d of attempt %s: %w", r.Seq, attemptID, err)
	}
	if logged != "" {
		s.db.LogNotifier.Logs(logged)
	}
	return lease, nil
}

// keepReport inserts the report. fresh: this seq is new; newest: no higher seq was reported.
func keepReport(ctx context.Context, c *db.Tx, f Fenced, r ReportRow) (fresh, newest bool, err error) {
	args := pgx.NamedArgs{
		"attempt": f.AttemptID, "seq": r.Seq, "phase": r.Phase, "percent": r.Percent, "step": r.Step, "log": r.Log, "lines": countLines(r.Log), "now": c.Now,
	}
	err = c.QueryRow(ctx, `
		WITH kept AS (
			INSERT INTO reports (attempt_id, seq, phase, percent, step, received_at)
			VALUES (@attempt, @seq, @phase, @percent, @step, @now) ON CONFLICT (attempt_id, seq) DO NOTHING RETURNING attempt_id, seq, received_at),
		logged AS (INSERT INTO log_chunks (attempt_id, seq, body, received_at, lines) SELECT attempt_id, seq, @log, received_at, @lines FROM kept WHERE @log <> '')
		SELECT EXISTS (SELECT FROM kept), coalesce(max(seq), 0) < @seq FROM reports WHERE attempt_id = @attempt`, args).Scan(&fresh, &newest)
	if err != nil {
		return false, false, fmt.Errorf("keep the report: %w", err)
	}
	return fresh, fresh && newest, nil
}

// keepFacts writes what a fresh report says, with the lease, and enqueues a reconcile if it says something new.
func keepFacts(ctx context.Context, c *db.Tx, f Fenced, r ReportRow, newest bool, lease Lease) error {
	if r.Phase == "" || !newest { // a late report must not turn the phase back
		r.Phase, r.Percent, r.Step = f.Phase, f.Percent, f.Step
	}
	r.Percent = min(max(r.Percent, 0), 100)
	news := r.Phase != f.Phase || r.Percent != f.Percent || r.Step != f.Step || r.ToolExit != nil || r.Pass != nil || len(r.Access) > 0
	args := pgx.NamedArgs{
		"id": f.AttemptID, "phase": r.Phase, "percent": r.Percent, "step": r.Step, "account": r.Account,
		"exited": r.ToolExit != nil, "code": nil, "now": c.Now, "lease": db.Null(lease.Until),
	}
	if r.ToolExit != nil {
		args["code"] = r.ToolExit.Code
	}
	// The exit and the passes after it get the database's time; the runner's clock decides nothing. Most reports repeat the one before.
	if news || r.Account != "" {
		c.DoLast("keep the progress of "+f.AttemptID, `
		UPDATE attempts SET lease_until = coalesce(@lease, lease_until), phase = @phase, progress_percent = @percent, progress_step = @step,
			seen_account = CASE WHEN @account = '' THEN seen_account ELSE @account END,
			tool_exited_at = CASE WHEN @exited THEN @now ELSE tool_exited_at END,
			tool_exit_code = CASE WHEN @exited THEN @code ELSE tool_exit_code END
		WHERE id = @id`, args)
	} else {
		lease.renew(c, f)
	}
	if err := KeepArtifacts(ctx, c, f, r.Artifacts); err != nil {
		return err
	}
	if err := keepAddons(ctx, c, f, r.Addons); err != nil {
		return err
	}
	if err := keepAccess(ctx, c, f, r.Access); err != nil {
		return err
	}
	if r.Replaced != nil {
		if f.Kind != lifecycle.Prepare {
			return fmt.Errorf("%w: only what prepares a cluster for its claimant replaces the credentials of its install", db.ErrConflict)
		}
		if err := KeepReplaced(ctx, c, f.ID, *r.Replaced); err != nil {
			return err
		}
	}
	if r.Pass != nil {
		if err := keepPass(ctx, c, f, *r.Pass); err != nil {
			return err
		}
	}
	if !news {
		return nil
	}
	return clusters.RequestReconcile(ctx, c, f.ID)
}

// KeepReplaced refers to the kubeconfig and the kubeadmin password that replace those of the install. The runner waits for it before it takes the old
// ones away, so the next attempt gets a kubeconfig that works.
func KeepReplaced(ctx context.Context, c *db.Tx, cluster string, o clusters.Outputs) error {
	_, err := c.Exec(ctx, `UPDATE cluster_outputs SET kubeconfig_s3_uri = $2, kubeadmin_secret_ref = $3 WHERE cluster_id = $1`, cluster, o.KubeconfigRef, o.KubeadminRef)
	if err != nil {
		return fmt.Errorf("keep the replaced credentials: %w", err)
	}
	return nil
}

// keepPass writes one verification pass. It is clean only if all evidence for that is there, whatever the runner says.
func keepPass(ctx context.Context, c *db.Tx, f Fenced, p PassRow) error {
	if f.Kind != lifecycle.Destroy {
		return fmt.Errorf("%w: only a destroy verifies", db.ErrConflict)
	}
	p, err := completePass(p)
	if err != nil {
		return err
	}
	if p.Clean {
		account, err := AccountOf(ctx, c, f)
		if err != nil {
			return err
		}
		if account != "" && p.Account != account {
			p.refuse("it counted in account %s, and the cluster is in %s", p.Account, account)
		}
	}
	_, err = c.Exec(ctx, `
		INSERT INTO verifications (attempt_id, number, received_at, account, identities, control, queries, leftovers, blockers, clean)
		VALUES (@attempt, @number, @now, @account, @identities, @control, @queries, @leftovers, @blockers, @clean)
		ON CONFLICT (attempt_id, number) DO NOTHING`,
		pgx.NamedArgs{
			"attempt": f.AttemptID, "number": p.Number, "now": c.Now, "account": p.Account, "identities": p.Identities, "control": p.Control,
			"queries": p.Queries, "leftovers": p.Leftovers, "blockers": p.Blockers, "clean": p.Clean,
		})
	if err != nil {
		return fmt.Errorf("keep verification pass %d: %w", p.Number, err)
	}
	return nil
}

// completePass fills empty fields and sets Clean to false for a pass that asked nothing, got no answer, or found something.
func completePass(p PassRow) (PassRow, error) {
	var queries []struct{ Call, Err string }
	var left []struct{ Type, ID, Free string }
	for _, list := range []struct {
		raw *json.RawMessage
		to  any
	}{{&p.Queries, &queries}, {&p.Leftovers, &left}} {
		if len(*list.raw) == 0 || string(*list.raw) == "null" {
			*list.raw = json.RawMessage(`[]`)
		}
		if err := json.Unmarshal(*list.raw, list.to); err != nil {
			return p, fmt.Errorf("%w: verification pass %d: %w", db.ErrConflict, p.Number, err)
		}
	}
	if len(p.Blockers) == 0 {
		p.Blockers = []lifecycle.Blocker{}
		for _, l := range left {
			p.Blockers = append(p.Blockers, lifecycle.Blocker{Name: l.Type + " " + l.ID, Free: l.Free})
		}
	}
	for _, q := range queries {
		if q.Err != "" && p.Clean {
			p.refuse("%s was not answered: %s", q.Call, q.Err)
		}
	}
	if p.Control == "" && p.Clean {
		p.refuse("the positive control failed")
	}
	asked := len(queries) > 0 || len(p.Identities) == 0
	p.Clean = p.Clean && asked && len(left) == 0 && len(p.Blockers) == 0
	if p.Identities == nil {
		p.Identities = []string{}
	}
	return p, nil
}

// refuse says why the pass is not clean.
func (p *PassRow) refuse(format string, args ...any) {
	p.Clean, p.Blockers = false, append(p.Blockers, lifecycle.Blocker{Name: fmt.Sprintf(format, args...)})
}
