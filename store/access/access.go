package access

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// Role is what a reader may do in a cluster.
type Role string

// The roles, the least powerful first. They are the cluster roles of the same names; admin is cluster-admin.
const (
	RoleView  Role = "view"
	RoleEdit  Role = "edit"
	RoleAdmin Role = "admin"
)

// Kind is what an access is.
type Kind string

// The kinds of access.
const (
	Kubeconfig Kind = "kubeconfig" // a service account's token, in a kubeconfig
	Console    Kind = "console"    // an account of the cluster's own OAuth, with a password
)

// OwnRight is the right of somebody whose role in the cluster's team is enough. The right of a share is its kind, a colon and whom it is
// with.
const OwnRight = "role"

// Ask is what an access is made for.
type Ask struct {
	Kind               Kind
	OpenID             bool   // of the console: its reader signs in through ocpctl, and it has no password
	Reader, ReaderName string // principal id, and name to show
	Role               Role
	Right              string // OwnRight, or the share by which the reader has it
	OfRun
	Lifetime time.Duration
}

// OfRun is the job of a pipeline's run whose token asks; the zero value: none's.
type OfRun struct {
	RunID      string
	RunAttempt int
	RunJob     string // check_run_id; empty: the token named none
}

// Row is one credential to a cluster, made for one reader.
type Row struct {
	Ask
	ID, Cluster string
	Number      int        // of the request
	Account     string     // name in the cluster, of the service account or of the user
	State       string     // see the states
	AskedAt     time.Time  //
	MintedAt    *time.Time // nil: not yet
	ExpiresAt   *time.Time // of the token or account; nil: not made yet
	Ref         string     // of the kubeconfig or password in the bucket; empty: not made yet, or there is none
	Trouble     string     // why the newest try to make or remove it failed; empty: it did not
	RevokedAt   *time.Time
	RevokedBy   string
	RevokeWhy   string
	RemovedAt   *time.Time // from the cluster; nil: it may still be there
}

// The states of an access.
const (
	Asked   = "asked"   // a runner makes it
	Ready   = "ready"   // it can be used
	Failed  = "failed"  // given up: it could not be made
	Expired = "expired" // its time is over
	Revoked = "revoked"
)

// Columns select a Row from access a and clusters c, at the time @now.
const Columns = `a.id, a.cluster_id AS cluster, a.number, a.kind, a.openid, a.reader, a.reader_name, a.role, a.by_right AS "right",
	coalesce(a.run_id, '') AS run_id, coalesce(a.run_attempt, 0) AS run_attempt, a.run_job, a.lifetime, a.account,
	CASE WHEN a.revoked_at < coalesce(a.expires_at, 'infinity') THEN 'revoked' WHEN a.expires_at <= @now THEN 'expired' WHEN a.minted_at IS NOT NULL THEN 'ready'
		WHEN a.number <= ` + clusters.AccessDone + ` THEN 'failed' ELSE 'asked' END AS state,
	a.asked_at, a.minted_at, a.expires_at, a.ref, a.trouble, a.revoked_at, a.revoked_by, a.revoke_why, a.removed_at`

// Tail is how much longer than its lifetime a token may be valid that was made by a runner whose report did not arrive: such a runner
// may act until its lease has ended.
const Tail = time.Hour

// Taken holds for an access a that must be removed from its cluster: it was revoked, or its time is over (see Expire), and its
// account may be there. This holds until a runner has removed it: how long its token is valid is the cluster's word alone.
const Taken = `a.revoked_at IS NOT NULL AND a.attempt IS NOT NULL AND a.removed_at IS NULL`

// CountWork counts what a cluster's runner has to do about access.
func CountWork(ctx context.Context, from db.Source, cluster lifecycle.Cluster) (lifecycle.AccessWork, error) {
	if cluster.Work[lifecycle.Access].Wanted == 0 || cluster.Phase == lifecycle.Released {
		return lifecycle.AccessWork{}, nil
	}
	work, err := db.One[lifecycle.AccessWork](ctx, from, `
		SELECT count(*) FILTER (WHERE a.revoked_at IS NULL AND a.minted_at IS NULL AND a.number > @done) AS give, count(*) FILTER (WHERE `+Taken+`) AS take
		FROM access a WHERE a.cluster_id = @cluster AND a.removed_at IS NULL`,
		pgx.NamedArgs{"cluster": cluster.ID, "done": cluster.Work[lifecycle.Access].Done})
	if err != nil {
		return work, fmt.Errorf("count the work on access: %w", err)
	}
	return work, nil
}

var insertAccess = db.NewInsert("keep the access", "id text, cluster text, number integer, kind text, reader text, name text, role text, by_right text, "+
	"run text, run_attempt integer, job text, lifetime interval, account text, at timestamptz, openid boolean", `
	INSERT INTO access (id, cluster_id, number, kind, reader, reader_name, role, by_right, run_id, run_attempt, run_job, lifetime, account, asked_at, openid)
	SELECT id, cluster, number, kind, reader, name, role, by_right, nullif(run, ''), nullif(run_attempt, 0), job, lifetime, account, at, openid FROM given`)

// Queue writes the row of an access that a runner is to make, and returns the row with its account's name.
func Queue(c *db.Tx, b *db.Batch, a Row) Row {
	a.Account, a.Kind = accountOf(a.Reader, a.ID), cmp.Or(a.Kind, Kubeconfig)
	b.Insert(insertAccess, a.ID, a.Cluster, a.Number, a.Kind, a.Reader, a.ReaderName, a.Role, a.Right, a.RunID, a.RunAttempt, a.RunJob, a.Lifetime, a.Account, c.Now, a.OpenID)
	return a
}

// accountOf returns the name of a service account: the cluster's own audit shows it, so it begins with its reader.
func accountOf(reader, id string) string {
	const longest, unique = 63, 10
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, reader)
	plain = strings.Trim(plain[:min(len(plain), longest-unique-1)], "-")
	sum := sha256.Sum256([]byte(id))
	return strings.TrimPrefix(plain+"-", "-") + "a" + hex.EncodeToString(sum[:])[:unique-1]
}

// WantRunner asks for a runner that brings a ready cluster's accounts into agreement with its rows. What has to be taken away is not kept
// waiting by earlier failures; a request for more is.
func WantRunner(ctx context.Context, c *db.Tx, cluster string, taking bool) error {
	_, err := c.Exec(ctx, `
		INSERT INTO jobs (id, cluster_id, job_type, status, created_at) VALUES ($1, $2, $3, 'PENDING', $4)
		ON CONFLICT (cluster_id, job_type) WHERE ended_at IS NULL DO NOTHING`, db.NewID("job"), cluster, lifecycle.JobAccess, c.Now)
	if err != nil {
		return fmt.Errorf("add the job: %w", err)
	}
	set := clusters.AskWork
	if !taking {
		set = clusters.AskWorkWithout("{failures}")
	}
	return clusters.SetDesired(ctx, c, cluster, set, pgx.NamedArgs{"kind": lifecycle.Access})
}

// ForgetAccounts prepares for a create: what an earlier one made in its cluster is gone with it.
func ForgetAccounts(ctx context.Context, c *db.Tx, cluster string) error {
	_, err := c.Exec(ctx, `
		UPDATE access SET attempt = NULL, minted_at = NULL, expires_at = NULL, ref = '', removed_at = CASE WHEN revoked_at IS NOT NULL THEN $2::timestamptz END
		WHERE cluster_id = $1 AND removed_at IS NULL`, cluster, c.Now)
	if err != nil {
		return fmt.Errorf("forget the accounts of an earlier create: %w", err)
	}
	return nil
}

// RecordGone records that the accounts of a cluster are gone, because nothing is left of it.
func RecordGone(ctx context.Context, c *db.Tx, cluster string) error {
	_, err := c.Exec(ctx, `UPDATE access SET removed_at = $2 WHERE cluster_id = $1 AND revoked_at IS NOT NULL AND removed_at IS NULL`, cluster, c.Now)
	if err != nil {
		return fmt.Errorf("record that the accounts of %s are gone: %w", cluster, err)
	}
	return nil
}

// Every selects all of a cluster's accesses.
const Every = "true"

// Revoke revokes a cluster's accesses that a condition on access a selects: they are never handed out again, and a runner removes
// their accounts from the cluster. One that no runner was told to make is gone at once. It returns how many it revoked.
func Revoke(ctx context.Context, c *db.Tx, cluster, which string, args pgx.NamedArgs, d clusters.Origin) (int, error) {
	return endAccess(ctx, c, cluster, `(a.expires_at IS NULL OR a.expires_at > @now) AND (`+which+`)`, args, d)
}

// ExpiredSQL holds for an access a of a cluster c whose time is over at the time @now and whose account may still be there. @tail is
// Tail.
const ExpiredSQL = `a.revoked_at IS NULL AND a.removed_at IS NULL AND a.attempt IS NOT NULL AND (a.minted_at IS NOT NULL OR a.number <= ` + clusters.AccessDone + `)
	AND coalesce(a.expires_at, a.asked_at + a.lifetime + @tail) <= @now`

// Over is the reason why an access ends by itself.
const Over = "its time is over"

// Expire has a runner remove the accounts of a locked cluster whose tokens have expired. It returns how many.
func Expire(ctx context.Context, c *db.Tx, cluster string) (int, error) {
	return endAccess(ctx, c, cluster, `EXISTS (SELECT FROM clusters c WHERE c.id = a.cluster_id AND `+ExpiredSQL+`)`,
		pgx.NamedArgs{"tail": Tail}, clusters.Origin{Actor: db.Lifecycle, Why: Over})
}

func endAccess(ctx context.Context, c *db.Tx, cluster, which string, args pgx.NamedArgs, d clusters.Origin) (int, error) {
	all := pgx.NamedArgs{"cluster": cluster, "now": c.Now, "by": d.Actor, "why": d.Reason()}
	maps.Copy(all, args)
	type revoked struct {
		ID, Reader string
		Kind       Kind
		Role       Role
		ExpiresAt  *time.Time
		Begun      bool
	}
	gone, err := db.All[revoked](ctx, c, `
		UPDATE access a SET revoked_at = @now, revoked_by = @by, revoke_why = @why, removed_at = CASE WHEN a.attempt IS NULL THEN @now::timestamptz END
		WHERE a.cluster_id = @cluster AND a.revoked_at IS NULL AND a.removed_at IS NULL AND `+which+`
		RETURNING a.id, a.reader, a.kind, a.role, a.expires_at, a.attempt IS NOT NULL AS begun`, all)
	if err != nil {
		return 0, fmt.Errorf("revoke access: %w", err)
	}
	begun := false
	for _, a := range gone {
		begun = begun || a.Begun
		after := map[string]any{"access": a.ID, "kind": a.Kind, "reader": a.Reader, "role": a.Role}
		if err := clusters.RecordAction(c, clusters.Origin{Actor: d.Actor, Source: d.Source, Why: d.Reason(), Verdict: d.Verdict}, "access.revoked", cluster, clusters.Action{Before: after}); err != nil {
			return 0, err
		}
	}
	if !begun {
		return len(gone), nil
	}
	var stays bool
	if err := c.QueryRow(ctx, `SELECT desired = 'present' FROM clusters WHERE id = $1`, cluster).Scan(&stays); err != nil {
		return 0, fmt.Errorf("revoke access: %w", err)
	}
	if !stays { // the accounts go with the cluster
		return len(gone), nil
	}
	return len(gone), WantRunner(ctx, c, cluster, true)
}
