package attempts

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// CheckRecordable returns an error for an identity that this attempt cannot have.
func (f Fenced) CheckRecordable(id IdentityRow) error {
	switch {
	case f.Kind != lifecycle.Create:
		return fmt.Errorf("%w: only a create records an identity", db.ErrConflict)
	case !f.Claimed:
		return fmt.Errorf("nobody claimed the attempt: %w", db.ErrFenced)
	case id.InfraID == "" && id.CCOName == "":
		return fmt.Errorf("%w: a record needs an infraID or a ccoctl name", db.ErrConflict)
	}
	for i, have := range f.Identity.Fields() {
		if said := id.Fields()[i]; *have.Value != "" && *said.Value != "" && *have.Value != *said.Value {
			return &Contradiction{Field: have.name, Have: *have.Value, Said: *said.Value}
		}
	}
	return nil
}

// Contradiction is a field in which a runner's report differs from what is stored. It is an ErrConflict.
type Contradiction struct{ Field, Have, Said string }

// Error implements error.
func (e *Contradiction) Error() string {
	return fmt.Sprintf("%s is %.80q, and what is known is %.80q", e.Field, e.Said, e.Have)
}

// Unwrap makes it an ErrConflict.
func (e *Contradiction) Unwrap() error { return db.ErrConflict }

// CheckPlace refuses an account or a region that is not the cluster's: no teardown would look for what is made there.
func CheckPlace(ctx context.Context, c *db.Tx, f Fenced, account, region string) error {
	have, err := AccountOf(ctx, c, f)
	if err != nil {
		return err
	}
	var where string
	err = c.QueryRow(ctx, `SELECT region FROM clusters WHERE id = $1`, f.ID).Scan(&where)
	switch {
	case err != nil:
		return fmt.Errorf("read where %s may be: %w", f.ID, err)
	case have != "" && account != "" && account != have:
		return &Contradiction{Field: "account", Have: have, Said: account}
	case region != "" && region != where:
		return &Contradiction{Field: "region", Have: where, Said: region}
	}
	return nil
}

// AccountOf returns the cluster's cloud account: the configured one, else the first recorded. Empty: there is neither.
func AccountOf(ctx context.Context, c *db.Tx, f Fenced) (account string, err error) {
	err = c.QueryRow(ctx, `
		SELECT coalesce(nullif(c.spec ->> 'account', ''),
			(SELECT a.account FROM attempts a WHERE a.cluster_id = c.id AND a.account IS NOT NULL ORDER BY a.number LIMIT 1), '')
		FROM clusters c WHERE c.id = $1`, f.ID).Scan(&account)
	if err != nil {
		return "", fmt.Errorf("read the account of %s: %w", f.ID, err)
	}
	return account, nil
}

type identityField struct {
	name  string // as in the API contract
	Value *string
}

func (i *IdentityRow) Fields() []identityField {
	return []identityField{
		{"infraId", &i.InfraID}, {"clusterUuid", &i.ClusterUUID}, {"ccoName", &i.CCOName}, {"account", &i.Account}, {"region", &i.Region},
		{"releaseDigest", &i.ReleaseDigest}, {"metadata", &i.Metadata}, {"installerSha256", &i.InstallerSHA256},
		{"resourceGroupId", &i.ResourceGroupID},
	}
}

// Fenced is a runner's attempt, read after its token was checked, with its cluster locked.
type Fenced struct {
	usage.Held
	AttemptID string
	Number    int
	Kind      lifecycle.Kind
	Pod       string
	Claimed   bool
	stopAsked bool
	stopWhy   string
	Phase     lifecycle.Phase
	Percent   int
	Step      string
	Recorded  bool
	Identity  IdentityRow
	Closed    bool
	result    ResultRow // of a closed attempt
}

// LockAttempt locks the attempt's cluster and reads the attempt. ErrFenced: the token is not this attempt's.
func LockAttempt(ctx context.Context, c *db.Tx, attempt, token string) (Fenced, error) {
	var b db.Batch
	locked := queueAttempt(c, &b, attempt)
	if err := c.Send(ctx, &b); err != nil {
		return Fenced{}, err
	}
	return locked.check(c, token)
}

// lockedAttempt is an attempt whose cluster a batch locks. Whoever calls check sent the batch.
type lockedAttempt struct {
	fenced Fenced
	token  string
	now    time.Time
}

// queueAttempt adds the lock of the attempt's cluster to a batch, and what reads the attempt under it.
func queueAttempt(c *db.Tx, b *db.Batch, attempt string) *lockedAttempt {
	l := &lockedAttempt{fenced: Fenced{AttemptID: attempt}}
	f := &l.fenced
	clusters.QueueLockOf(c, b, attempt, func(held usage.Held, now time.Time) { f.Held, l.now = held, now })
	b.Ask("read the attempt "+attempt, func(rows pgx.Rows) error {
		id := &f.Identity
		_, err := pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (struct{}, error) {
			return struct{}{}, row.Scan(&l.token, &f.Number, &f.Kind, &f.Pod, &f.Claimed, &f.stopAsked, &f.stopWhy, &f.Phase, &f.Percent, &f.Step, &f.Recorded,
				&id.InfraID, &id.ClusterUUID, &id.CCOName, &id.Account, &id.Region, &id.ReleaseDigest, &id.Metadata, &id.InstallerSHA256,
				&id.ResourceGroupID, &f.Closed, &f.result.Outcome, &f.result.Reason, &f.result.Message, &f.result.Whose, &f.result.Next, &f.result.Retryable)
		})
		return err
	}, `
		SELECT token_id, number, kind, coalesce(claimed_by, ''), claimed_at IS NOT NULL, stop_asked, stop_why, phase,
			progress_percent, progress_step, recorded_at IS NOT NULL,
			coalesce(infra_id, ''), coalesce(cluster_uuid, ''), coalesce(cco_name, ''), coalesce(account, ''), coalesce(region, ''),
			coalesce(release_digest, ''), coalesce(metadata, ''), coalesce(installer_sha256, ''),
			coalesce(resource_group_id, ''), closed_at IS NOT NULL, coalesce(outcome, ''), reason, message, whose, next, retryable
		FROM attempts WHERE id = $1`, attempt)
	return l
}

// check refuses a token that is not the attempt's. Now becomes the time under the lock.
func (l *lockedAttempt) check(c *db.Tx, token string) (Fenced, error) {
	c.Now = l.now
	if l.token != token {
		return Fenced{}, fmt.Errorf("attempt %s: %w", l.fenced.AttemptID, db.ErrFenced)
	}
	return l.fenced, nil
}

// Stop returns why this runner has to stop; empty: it may go on.
func (f Fenced) Stop() string {
	switch {
	case f.Closed && f.result.Message != "":
		return fmt.Sprintf("attempt %d is closed: %s", f.Number, f.result.Message)
	case f.Closed:
		return fmt.Sprintf("attempt %d is closed", f.Number)
	case f.stopAsked && f.stopWhy != "":
		return f.stopWhy
	case f.stopAsked:
		return "the control plane asked it to stop"
	}
	return ""
}

// Unwanted returns why nothing new may be created in the cloud: stop's reason, or that the cluster's desired state is absent.
func (f Fenced) Unwanted() string {
	if why := f.Stop(); why != "" {
		return why
	}
	if f.Kind != lifecycle.Destroy && f.Desired == lifecycle.Absent {
		return f.DesiredWhy.String()
	}
	return ""
}

// RenewLease extends the lease, counted from now.
func RenewLease(c *db.Tx, f Fenced) Lease {
	lease := nextLease(c, f)
	lease.renew(c, f)
	return lease
}

func nextLease(c *db.Tx, f Fenced) Lease {
	return Lease{Stop: f.Stop(), Until: LeaseEnd(c), Access: f.accessOwed()}
}

// renew writes the lease at the end of the transaction, unless it stays as it is.
func (l Lease) renew(c *db.Tx, f Fenced) {
	if !l.Until.IsZero() {
		c.DoLast("renew the lease of "+f.AttemptID, `UPDATE attempts SET lease_until = $2 WHERE id = $1`, f.AttemptID, l.Until)
	}
}

// accessOwed returns the number of the newest request for access, for a runner that has the cluster's kubeconfig and waits for something
// else: nobody should wait until it has ended.
func (f Fenced) accessOwed() int {
	beside := f.Kind == lifecycle.Scale || f.Kind == lifecycle.Configure
	w := f.Work[lifecycle.Access]
	if !beside || !w.IsRequested() && w.Failures == 0 {
		return 0
	}
	return w.Wanted
}

func LeaseEnd(c *db.Tx) time.Time { return c.Now.Add(c.DB.Options.Lease) }

// Lease is the answer to each of a runner's calls.
type Lease struct {
	Stop   string    // why to stop; empty: go on
	Until  time.Time // the lease, on the database's clock; zero where it was not renewed
	Closed bool      // the attempt is over: its token is no longer renewed
	Access int       // number of the newest request for access that this runner may meet beside its own work; 0: there is none
}

// IdentityRow is what was recorded before anything was created under it. Each field is written once.
type IdentityRow struct {
	InfraID, ClusterUUID, CCOName  string
	Account, Region, ReleaseDigest string
	Metadata                       string // metadata.json, which holds no secret
	InstallerSHA256                string
	ResourceGroupID                string // of the group called CCOName; empty: the platform has none, or its id was never learnt
}

// ArtifactRow is one immutable archive in the bucket.
type ArtifactRow struct {
	Type        string // INSTALL_DIR_SNAPSHOT, LOG, AUTH_BUNDLE or METADATA
	Key         string
	ManifestKey string
	SHA256      string // lowercase hex
	Size        int64
	InfraID     string
	TakenAt     time.Time
}

// ResultRow ends an attempt.
type ResultRow struct {
	Outcome   lifecycle.Outcome
	Reason    string // one word
	Message   string // for people
	Line      string // of the log, by which the failure was recognized
	Whose     string // whose problem it is
	Zone      string // of a create: the zone that had no capacity; empty: that was not it, or it is not known
	Next      string // what to do about it
	Retryable bool
	Outputs   *clusters.Outputs // of a succeeded create
	Workers   *int              // of a scale, how many were counted
	Addons    *int              // of a create or configure, how many add-ons are there
	Asleep    *bool             // of a sleep or wake, whether the cluster was seen asleep, or awake; nil: neither
	Links     *[]lifecycle.Link // of an inform, what is to be shown; nil: nobody looked
	LastUse   time.Time         // of an observe, the newest hour in which a person sent requests; zero: none did
}

// LeaveCapacityQueue refuses an attempt that was told to wait for capacity. An attempt that never asked, after an earlier one that
// waited, goes on without a reservation, and its cluster leaves the queue.
func LeaveCapacityQueue(ctx context.Context, c *db.Tx, f Fenced) error {
	before, err := clusters.ReadReservation(ctx, c, pgx.NamedArgs{"cluster": f.ID})
	switch {
	case err != nil:
		return fmt.Errorf("read the line of %s: %w", f.ID, err)
	case before.State == "":
		return clusters.NeverAsked(ctx, c, f.ID)
	case before.State != clusters.Waiting:
		return nil
	case before.Attempt == f.AttemptID:
		return fmt.Errorf("%w: the attempt was told to wait for capacity", db.ErrConflict)
	}
	if _, err := c.Exec(ctx, `DELETE FROM reservations WHERE cluster_id = $1`, f.ID); err != nil {
		return fmt.Errorf("leave the line: %w", err)
	}
	clusters.AdvanceCapacityQueue(c, before.Account, before.Region)
	return nil
}

func KeepArtifacts(ctx context.Context, c *db.Tx, f Fenced, artifacts []ArtifactRow) error {
	for _, a := range artifacts {
		tag, err := c.Exec(ctx, `
			INSERT INTO artifacts (cluster_id, attempt_id, artifact_type, s3_key, manifest_key, checksum, size, infra_id, taken_at, created_at)
			VALUES (@cluster, @attempt, @type, @key, @manifest, @sum, @size, @infra_id, @taken, @now)
			ON CONFLICT (s3_key) DO NOTHING`,
			pgx.NamedArgs{
				"cluster": f.ID, "attempt": f.AttemptID, "type": a.Type, "key": a.Key, "manifest": a.ManifestKey, "sum": a.SHA256,
				"size": a.Size, "infra_id": a.InfraID, "taken": a.TakenAt, "now": c.Now,
			})
		if err != nil {
			return fmt.Errorf("keep artifact %s: %w", a.Key, err)
		}
		if tag.RowsAffected() == 1 {
			continue
		}
		var known string // reported before: an archive is written once
		if err := c.QueryRow(ctx, `SELECT checksum FROM artifacts WHERE s3_key = $1`, a.Key).Scan(&known); err != nil {
			return fmt.Errorf("read artifact %s: %w", a.Key, err)
		}
		if known != a.SHA256 {
			return &Contradiction{Field: "sha256 of " + a.Key, Have: known, Said: a.SHA256}
		}
	}
	return nil
}

func (f Fenced) Repeats(r ResultRow) bool {
	r.Outputs, r.Workers, r.Addons, r.Asleep, r.Links, r.LastUse, r.Line = nil, nil, nil, nil, nil, time.Time{}, ""
	return f.result == r
}
