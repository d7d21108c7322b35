package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// Gone is a released cluster with one recorded name. It was created, torn down and counted.
func Gone(t *testing.T, s *store.Store, clock *Clock, name string) clusters.Row {
	t.Helper()
	row, open := Claimed(t, s, name)
	_, err := s.Record(t.Context(), open.Attempt, open.Token, Identity(name+"-abcde"), Bundles(name+"-abcde"))
	require.NoError(t, err)
	_, err = s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya"})
	require.NoError(t, err)
	_, err = s.Pool().Exec(t.Context(), `UPDATE attempts SET closed_at = $2, outcome = 'stopped' WHERE id = $1`, open.Attempt, clock.Now())
	require.NoError(t, err)
	Step(t, s, row.ID)
	clock.Pass(time.Minute)
	return Counted(t, s, clock, row.ID)
}

// Counted opens the teardown that is due, has it prove zero, and returns the released cluster.
func Counted(t *testing.T, s *store.Store, clock *Clock, id string) clusters.Row {
	t.Helper()
	if open, err := s.Attempts.OpenAttempt(t.Context(), id); err != nil || open.Attempt == "" {
		require.Equal(t, lifecycle.Destroy, Step(t, s, id).Open)
	}
	open, err := s.Attempts.OpenAttempt(t.Context(), id)
	require.NoError(t, err)
	_, facts, err := s.Load(t.Context(), id)
	require.NoError(t, err)
	for number := 1; number <= 2; number++ {
		clock.Pass(time.Minute)
		_, err = s.Pool().Exec(t.Context(), `
			INSERT INTO verifications (attempt_id, number, received_at, account, identities, control, queries, leftovers, blockers, clean)
			VALUES ($1, $2, $3, '123456789012', $4, 'sts', '[]', '[]', '[]', true)`, open.Attempt, number, clock.Now(), facts.Identities)
		require.NoError(t, err)
	}
	_, err = s.Pool().Exec(t.Context(), `
		UPDATE attempts SET claimed_by = 'pod-2', claimed_at = opened_at, lease_until = $2, tool_exited_at = opened_at, closed_at = $2, outcome = 'succeeded' WHERE id = $1`,
		open.Attempt, clock.Now())
	require.NoError(t, err)
	require.Equal(t, lifecycle.Released, Step(t, s, id).Next.Phase)
	row, err := s.Cluster(t.Context(), id)
	require.NoError(t, err)
	return row
}

// Orphan stores what a scan found of a cluster, in a state.
func Orphan(t *testing.T, s *store.Store, clock *Clock, cluster, identity string, state lifecycle.OrphanState) (id string) {
	t.Helper()
	id = db.NewID("orp")
	_, err := s.Pool().Exec(t.Context(), `
		INSERT INTO orphans (id, platform, account, installation, cluster_tag, identity, place, cluster_id, class, why, regions, managed_by, owner, team, name,
			resources, evidence, first_seen_at, last_seen_at, sights, state, state_at, state_why, reported_at, cleanup_cluster)
		VALUES ($1, 'aws', '123456789012', '', $2, $3, '', $2, 'released', 'its cluster was destroyed', '{us-east-1}', true, 'maya', 'acme/platform', 'shop',
			1, '{arn:aws:ec2:us-east-1:123456789012:vpc/vpc-1}', $4, $4, 2, $5, $4, 'as the test says', $4, CASE WHEN $5 = 'approved' THEN $2 END)`,
		id, cluster, identity, clock.Now(), state)
	require.NoError(t, err)
	return id
}
