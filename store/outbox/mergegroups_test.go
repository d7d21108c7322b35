package outbox_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/outbox"
	"github.com/ocpctl/ocpctl/store/pullrequests"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// gateOn returns the gate on a commit, which was asked for.
func gateOn(t *testing.T, s *store.Store, head string) outbox.Gate {
	t.Helper()
	g := outbox.Gate{Installation: 1, Repo: "acme/shop", Head: head, Profile: "small"}
	require.NoError(t, s.Outbox.AskGate(t.Context(), g, "test"))
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT id FROM gates WHERE head = $1`, head).Scan(&g.ID))
	return g
}

// queuedCommit is the group of a merge queue's commit that has the result of a pull request's head.
func queuedCommit(t *testing.T, s *store.Store, head, of string) {
	t.Helper()
	_, err := s.Outbox.SaveMergeGroup(t.Context(), outbox.MergeGroup{Installation: 1, Repo: "acme/shop", Head: head, Number: 41, PullHead: of, Mode: "reuse"})
	require.NoError(t, err)
}

// A process may die at any point: a gate that counts as shown has asked for those that follow it.
func TestAGateIsNotShownWithoutAskingForThoseThatFollowIt(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	g, follows := gateOn(t, s, "pull"), gateOn(t, s, "queue")
	queuedCommit(t, s, "queue", "pull")
	exec := func(sql string) {
		t.Helper()
		_, err := s.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	exec(`CREATE FUNCTION dies() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the process died'; END $$`)
	exec(`CREATE TRIGGER dies BEFORE INSERT ON effects EXECUTE FUNCTION dies()`)
	require.ErrorContains(t, s.Outbox.SaveGateShown(t.Context(), g, 7, "hash", true, "eff_1"), "the process died")
	exec(`DROP TRIGGER dies ON effects`)
	now, err := s.Outbox.Gate(t.Context(), g.ID)
	require.NoError(t, err)
	require.Empty(t, now.Shown, "it is shown again")
	asked := func() int {
		return storetest.Count(t, s, `SELECT count(*) FROM effects WHERE content = $1 AND cause LIKE '%:eff_1'`, follows.ID)
	}
	require.Zero(t, asked())
	for range 2 {
		require.NoError(t, s.Outbox.SaveGateShown(t.Context(), g, 7, "hash", true, "eff_1"))
		require.Equal(t, 1, asked())
	}
}

func TestGatesAndMergeGroupsArePrunedWhenNothingNeedsThem(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	for head, open := range map[string]bool{"open": true, "closed": false} {
		gateOn(t, s, head)
		_, err := s.PullRequests.SeePullRequest(t.Context(), pullrequests.PullRequest{
			Installation: 1, Repo: "acme/shop", Number: len(head), Head: head, Open: open, UpdatedAt: clock.Now()}, false)
		require.NoError(t, err)
	}
	queuedCommit(t, s, "queue", "open")
	const keep = 30 * 24 * time.Hour
	_, err := s.Prune(t.Context(), keep)
	require.NoError(t, err)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM merge_groups`))
	clock.Pass(keep + time.Hour)
	_, err = s.Prune(t.Context(), keep)
	require.NoError(t, err)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM gates`))
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM gates WHERE head = 'open'`), "it says which check its merge queue's commit needs")
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM merge_groups`), "its end was lost")
}
