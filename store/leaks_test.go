package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/usage"
)

// gone is a released cluster with one recorded name. It was created, torn down and counted.
func gone(t *testing.T, s *store.Store, clock *clock, name string) clusters.Row {
	t.Helper()
	row, open := claimed(t, s, name)
	_, err := s.Record(t.Context(), open.Attempt, open.Token, identity(name+"-abcde"), bundles(name+"-abcde"))
	require.NoError(t, err)
	_, err = s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya"})
	require.NoError(t, err)
	_, err = s.Pool().Exec(t.Context(), `UPDATE attempts SET closed_at = $2, outcome = 'stopped' WHERE id = $1`, open.Attempt, clock.now())
	require.NoError(t, err)
	step(t, s, row.ID)
	clock.pass(time.Minute)
	return counted(t, s, clock, row.ID)
}

// counted opens the teardown that is due, has it prove zero, and returns the released cluster.
func counted(t *testing.T, s *store.Store, clock *clock, id string) clusters.Row {
	t.Helper()
	if open, err := s.Attempts.OpenAttempt(t.Context(), id); err != nil || open.Attempt == "" {
		require.Equal(t, lifecycle.Destroy, step(t, s, id).Open)
	}
	open, err := s.Attempts.OpenAttempt(t.Context(), id)
	require.NoError(t, err)
	_, facts, err := s.Load(t.Context(), id)
	require.NoError(t, err)
	for number := 1; number <= 2; number++ {
		clock.pass(time.Minute)
		_, err = s.Pool().Exec(t.Context(), `
			INSERT INTO verifications (attempt_id, number, received_at, account, identities, control, queries, leftovers, words, clean)
			VALUES ($1, $2, $3, '123456789012', $4, 'sts', '[]', '[]', '{}', true)`, open.Attempt, number, clock.now(), facts.Identities)
		require.NoError(t, err)
	}
	_, err = s.Pool().Exec(t.Context(), `
		UPDATE attempts SET claimed_by = 'pod-2', claimed_at = opened_at, lease_until = $2, tool_exited_at = opened_at, closed_at = $2, outcome = 'succeeded' WHERE id = $1`,
		open.Attempt, clock.now())
	require.NoError(t, err)
	require.Equal(t, lifecycle.Released, step(t, s, id).Next.Phase)
	row, err := s.Cluster(t.Context(), id)
	require.NoError(t, err)
	return row
}

// orphan stores what a scan found of a cluster, in a state.
func orphan(t *testing.T, s *store.Store, clock *clock, cluster, identity string, state lifecycle.OrphanState) (id string) {
	t.Helper()
	id = db.NewID("orp")
	_, err := s.Pool().Exec(t.Context(), `
		INSERT INTO orphans (id, platform, account, installation, cluster_tag, identity, place, cluster_id, class, why, regions, managed_by, owner, team, name,
			resources, evidence, first_seen_at, last_seen_at, sights, state, state_at, state_why, reported_at, cleanup_cluster)
		VALUES ($1, 'aws', '123456789012', '', $2, $3, '', $2, 'released', 'its cluster was destroyed', '{us-east-1}', true, 'maya', 'acme/platform', 'shop',
			1, '{arn:aws:ec2:us-east-1:123456789012:vpc/vpc-1}', $4, $4, 2, $5, $4, 'as the test says', $4, CASE WHEN $5 = 'approved' THEN $2 END)`,
		id, cluster, identity, clock.now(), state)
	require.NoError(t, err)
	return id
}

func TestALeakOpensTheTeardownOfAReleasedClusterAgainAndItCountsUntilTheNewProof(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := gone(t, s, clock, "shop")
	_, err := s.Pool().Exec(t.Context(), `UPDATE removals SET done_at = $2 WHERE cluster_id = $1`, row.ID, clock.now())
	require.NoError(t, err)
	clock.pass(time.Hour)
	found := orphan(t, s, clock, row.ID, "shop-abcde", lifecycle.OrphanApproved)

	d := step(t, s, row.ID)
	require.Equal(t, lifecycle.Destroy, d.Open, "a new teardown begins at once")
	row, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Destroying, row.Status)
	require.Contains(t, row.Why, "found again: arn:aws:ec2:us-east-1:123456789012:vpc/vpc-1 was seen after the final count")
	require.True(t, row.ReleasedAt.IsZero())
	require.Equal(t, 1, row.Reopened)
	require.Equal(t, 1, count(t, s, `SELECT count(*) FROM orphans WHERE id = $1 AND state = 'removing'`, found))
	require.Equal(t, 1, count(t, s, `SELECT count(*) FROM jobs WHERE cluster_id = $1 AND job_type = 'JANITOR_DESTROY' AND status = 'RUNNING'`, row.ID))
	usage, err := s.Usage(t.Context(), usage.Scope{Person: "github:maya"})
	require.NoError(t, err)
	require.Equal(t, 1, usage.Person.Live, "it counts again")
	clock.pass(time.Hour)
	row, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	before := row.Meter.Spent(clock.now())
	require.Positive(t, row.Meter.Rate, "and costs again")

	again := counted(t, s, clock, row.ID)
	require.Equal(t, lifecycle.Destroyed, again.Status)
	require.GreaterOrEqual(t, again.Meter.Spent(clock.now()), before)
	due, err := s.Reports.DueRemovals(t.Context(), time.Hour, 10)
	require.NoError(t, err)
	require.NotEmpty(t, due, "what the second teardown stored is removed too")
	require.Equal(t, reports.RemoveAccess, due[0].Kind)
	require.Equal(t, 1, count(t, s, `SELECT count(*) FROM announcements WHERE cause = $1`, row.ID+":destroyed:1"), "its second end is announced too")
	require.False(t, step(t, s, row.ID).Next.WakeAt.After(time.Time{}), "and it is left alone again")
}

func TestWithoutAnApprovedLeakReleasedIsFinal(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := gone(t, s, clock, "shop")
	for _, state := range []lifecycle.OrphanState{lifecycle.OrphanSeen, lifecycle.OrphanReported, lifecycle.OrphanExempt, lifecycle.OrphanKept, lifecycle.OrphanRemoving} {
		clock.pass(time.Minute)
		orphan(t, s, clock, row.ID, "shop-"+string(state), state)
	}
	require.Equal(t, lifecycle.Released, step(t, s, row.ID).Next.Phase)
	refuses(t, s, "only a leak whose removal is allowed", `
		UPDATE clusters SET status = 'DESTROYING', phase = 'restoring', destroyed_at = NULL, wake_at = now(), reopened = 1, reopened_at = now() WHERE id = $1`, row.ID)
}

func TestASightFromBeforeTheReleaseOpensNothing(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := gone(t, s, clock, "shop")
	id := orphan(t, s, clock, row.ID, "shop-abcde", lifecycle.OrphanApproved)
	_, err := s.Pool().Exec(t.Context(), `UPDATE orphans SET last_seen_at = $2 WHERE id = $1`, id, row.ReleasedAt.Add(-time.Second))
	require.NoError(t, err)
	require.Equal(t, lifecycle.Released, step(t, s, row.ID).Next.Phase)
}

func TestATeardownIsNotOpenedAgainWhileALivingClusterHasTheName(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := gone(t, s, clock, "shop")
	newer := accept(t, s, granted("shop"))
	clock.pass(time.Hour)
	found := orphan(t, s, clock, row.ID, "shop-abcde", lifecycle.OrphanApproved)
	_, facts, err := s.Load(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, newer.ID, facts.Leaked.NameOf)
	require.Equal(t, lifecycle.Released, step(t, s, row.ID).Next.Phase)
	require.Equal(t, 1, count(t, s, `SELECT count(*) FROM orphans WHERE id = $1 AND state = 'approved'`, found), "it waits")
}

func TestANameThatIsTakenBetweenTheDecisionAndItsWriteIsRefused(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := gone(t, s, clock, "shop")
	clock.pass(time.Hour)
	orphan(t, s, clock, row.ID, "shop-abcde", lifecycle.OrphanApproved)
	c, facts, err := s.Load(t.Context(), row.ID)
	require.NoError(t, err)
	decision := lifecycle.Decide(c, facts, limits)
	accept(t, s, granted("shop"))
	require.ErrorIs(t, s.Apply(t.Context(), decision, c.Version), db.ErrStale, "it is decided again, and then it waits")
	require.Equal(t, lifecycle.Released, step(t, s, row.ID).Next.Phase)
}

func TestAProofFromBeforeALeakDoesNotReleaseAgain(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := gone(t, s, clock, "shop")
	clock.pass(time.Hour)
	orphan(t, s, clock, row.ID, "shop-abcde", lifecycle.OrphanApproved)
	step(t, s, row.ID)
	_, err := s.Pool().Exec(t.Context(), `UPDATE attempts SET closed_at = $2, outcome = 'cancelled' WHERE cluster_id = $1 AND closed_at IS NULL`, row.ID, clock.now())
	require.NoError(t, err)
	require.NotEqual(t, lifecycle.Released, step(t, s, row.ID).Next.Phase)
	_, err = s.Pool().Exec(t.Context(), `UPDATE attempts SET closed_at = $2, outcome = 'lost' WHERE cluster_id = $1 AND closed_at IS NULL`, row.ID, clock.now())
	require.NoError(t, err)
	refuses(t, s, "has no proof of zero", `UPDATE clusters SET status = 'DESTROYED', phase = 'released', destroyed_at = now() WHERE id = $1`, row.ID)
}

func TestTheCensusFollowsATeardownThatIsOpenedAgain(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := gone(t, s, clock, "shop")
	gone(t, s, clock, "other")
	clock.pass(time.Hour)
	census, err := s.Census(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2, census.Clusters[lifecycle.Destroyed])
	orphan(t, s, clock, row.ID, "shop-abcde", lifecycle.OrphanApproved)
	step(t, s, row.ID)
	census, err = s.Census(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, census.Clusters[lifecycle.Destroyed])
	counted(t, s, clock, row.ID)
	census, err = s.Census(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2, census.Clusters[lifecycle.Destroyed])
}
