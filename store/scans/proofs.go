package scans

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/oklog/ulid/v2"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/brakes"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// A proof is a run like that of a scan: everything that a runner does with its id works for both.
const proofPrefix = "prf"

// IsProof reports whether an id is that of a proof.
func IsProof(id string) bool { return strings.HasPrefix(id, proofPrefix+"_") }

// rowOf returns the table of a run, and what of it is read as a Scan.
func rowOf(id string) (table, columns string) {
	if IsProof(id) {
		return "proofs", proofRun
	}
	return "scans", scanColumns
}

const proofRun = `id, platform, account, round, asked_by, spec, opened_at, runner, runner_since, token_id, launched_at, launch_trouble,
	claimed_by, claimed_at, lease_until, '{}'::text[] AS regions, '{}'::jsonb AS calls, 0 AS slowed, 0 AS resources, closed_at, outcome, reason, message, next,
	NULL::timestamptz AS judged_at`

// WantedProof is an account that has to be proven, and the version of its document.
type WantedProof struct {
	Wanted
	Version string
}

// Proof is what is known of an account by one version of its document. Each version stands by itself: replicas may have different documents for a
// while, and one that is put back is proven already.
type Proof struct {
	Platform, Account, Version string
	Used                       bool   // clusters were made there before proofs began, and the document has not changed since
	Verdict                    string // of the last proof of this version that found something out, as in contract; empty: none did
	At                         *time.Time
	Reason, Message, Next      string     // of that proof
	Open                       bool       // one is under way
	Ended                      *time.Time // the newest one
	Trouble, TroubleNext       string     // why the newest one found nothing out, and what to do about that
	Again                      bool       // an earlier one of this version ended
	ExternalID                 string     // with which its role is assumed; empty: no proof of a role was begun
}

// Proofs returns what is known of each account and version, by account, the version that a proof was begun for last at the end.
func (s *Store) Proofs(ctx context.Context) ([]Proof, error) {
	list, err := db.All[Proof](ctx, s.db.Pool(), `
		SELECT n.platform, n.account, n.version, n.used, coalesce(v.verdict, '') AS verdict, v.closed_at AS at, coalesce(v.reason, '') AS reason,
			coalesce(v.message, '') AS message, coalesce(v.next, '') AS next, n.closed_at IS NULL AS open, n.closed_at AS ended,
			CASE WHEN n.verdict = '' THEN coalesce(n.launch_trouble ->> 'message', n.message) ELSE '' END AS trouble,
			CASE WHEN n.verdict = '' THEN coalesce(n.launch_trouble ->> 'next', n.next) ELSE '' END AS trouble_next, coalesce(e.id, '') AS external_id,
			EXISTS (SELECT FROM proofs b WHERE (b.platform, b.account, b.version) = (n.platform, n.account, n.version) AND b.closed_at IS NOT NULL) AS again
		FROM (SELECT DISTINCT ON (platform, account, version) platform, account, version, used, round, closed_at, verdict, message, next, launch_trouble
			FROM proofs ORDER BY platform, account, version, round DESC) AS n
		LEFT JOIN LATERAL (SELECT verdict, closed_at, reason, message, next FROM proofs p
			WHERE (p.platform, p.account, p.version) = (n.platform, n.account, n.version) AND p.verdict <> '' ORDER BY p.round DESC LIMIT 1) AS v ON true
		LEFT JOIN external_ids e ON (e.platform, e.account) = (n.platform, n.account)
		ORDER BY n.platform, n.account, n.round`)
	if err != nil {
		return nil, fmt.Errorf("read which accounts are proven: %w", err)
	}
	return list, nil
}

// AskProof opens a proof of an account on somebody's request, unless one is open.
func (s *Store) AskProof(ctx context.Context, w WantedProof, d clusters.Origin) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		id, err := openProof(ctx, c, w, d.Actor)
		if err != nil || id == "" {
			return err
		}
		return clusters.RecordAction(c, d, "asked for a proof", "", clusters.Action{After: map[string]string{"proof": id, "platform": w.Platform, "account": w.Account}})
	})
	if err != nil {
		return fmt.Errorf("open a proof of account %s: %w", w.Account, err)
	}
	return nil
}

// OpenProofs opens a proof of each account whose document has no proof, or whose last one ended that long ago and did not prove it. What is open of
// other versions goes on, and ends by itself.
func (s *Store) OpenProofs(ctx context.Context, accounts []WantedProof, again time.Duration) error {
	known, err := s.Proofs(ctx)
	if err != nil {
		return err
	}
	err = s.db.Write(ctx, func(c *db.Tx) error {
		for _, w := range accounts {
			i := slices.IndexFunc(known, func(p Proof) bool {
				return p.Platform == w.Platform && p.Account == w.Account && p.Version == w.Version
			})
			if i >= 0 {
				p := known[i]
				if p.Open || p.Verdict == contract.ProofProven && p.Trouble == "" || c.Now.Sub(*p.Ended) < again {
					continue
				}
			}
			if _, err := openProof(ctx, c, w, Schedule); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("open proofs of accounts: %w", err)
	}
	return nil
}

// openProof opens a proof, and returns its id; empty: one of this version is open.
func openProof(ctx context.Context, c *db.Tx, w WantedProof, by string) (id string, err error) {
	if err := c.TakeLocks(ctx, []string{"proofs"}); err != nil { // each round has its own number
		return "", err
	}
	if w.Spec.CloudRole != nil {
		role := *w.Spec.CloudRole
		if role.ExternalID, err = externalID(ctx, c, w.Wanted); err != nil {
			return "", err
		}
		w.Spec.CloudRole = &role
	}
	args := pgx.NamedArgs{
		"id": db.NewID(proofPrefix), "platform": w.Platform, "account": w.Account, "by": by, "spec": w.Spec, "now": c.Now, "token": ulid.Make().String(), "version": w.Version,
	}
	tag, err := c.Exec(ctx, `
		INSERT INTO proofs (id, platform, account, round, version, used, asked_by, spec, opened_at, runner_since, token_id)
		SELECT @id, @platform, @account, coalesce(max(round), 0) + 1, @version,
			coalesce(bool_or(used AND version = @version) OR bool_or(used) AND bool_and(version IN ('', @version)), false), @by, @spec, @now, @now, @token
		FROM proofs WHERE platform = @platform AND account = @account
		ON CONFLICT (platform, account, version) WHERE closed_at IS NULL DO NOTHING`, args)
	if err != nil || tag.RowsAffected() == 0 {
		return "", err
	}
	c.Enqueue(queue.RunScansArgs{News: "opened " + args["id"].(string)})
	return args["id"].(string), nil
}

// externalID returns the id with which an account's role is assumed. It is made once for each account, by the database, and stays: the account's owner
// writes it down in the role.
func externalID(ctx context.Context, c *db.Tx, w Wanted) (id string, err error) {
	if _, err = c.Exec(ctx, `INSERT INTO external_ids (platform, account) VALUES ($1, $2) ON CONFLICT DO NOTHING`, w.Platform, w.Account); err != nil {
		return "", err
	}
	return id, c.QueryRow(ctx, `SELECT id FROM external_ids WHERE (platform, account) = ($1, $2)`, w.Platform, w.Account).Scan(&id)
}

// OpenRuns returns the runs of the open proofs, the oldest first.
func (s *Store) OpenRuns(ctx context.Context) ([]Scan, error) {
	list, err := db.All[Scan](ctx, s.db.Pool(), `SELECT `+proofRun+` FROM proofs WHERE closed_at IS NULL ORDER BY opened_at, id`)
	if err != nil {
		return nil, fmt.Errorf("look for open proofs: %w", err)
	}
	return list, nil
}

// endProof keeps what a proof found out. Clusters that waited for it begin, whatever it is: their own preflight looks for the same. Pools may go on
// where an account is proven.
func endProof(ctx context.Context, c *db.Tx, run Scan, r ResultRow) error {
	if r.Outcome == lifecycle.Succeeded && r.Proof == "" { // it did a scan's work
		r.Outcome, r.Reason, r.Message, r.Next = lifecycle.Failure, "RunnerTooOld", "the runner is older than the server and cannot prove accounts", "upgrade ocpctl-runner"
	}
	_, err := c.Exec(ctx, `UPDATE proofs SET closed_at = @now, outcome = @outcome, verdict = @verdict, reason = @reason, message = @message, next = @next WHERE id = @id`,
		pgx.NamedArgs{"id": run.ID, "now": c.Now, "outcome": r.Outcome, "verdict": r.Proof, "reason": r.Reason, "message": r.Message, "next": r.Next})
	if err != nil {
		return fmt.Errorf("keep what proof %s found out: %w", run.ID, err)
	}
	c.Enqueue(queue.PoolsArgs{}, queue.RunScansArgs{News: "ended " + run.ID})
	return brakes.ReconcileWaiting(ctx, c)
}
