package runs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/runs"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

func TestAccessOfARunEndsWithItsAttemptItsJobOrItsTurn(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	sees := func(run string, seen runs.Seen) error {
		_, err := s.Runs.See(t.Context(), run, seen, clock.Now().Add(time.Minute))
		return err
	}
	for name, c := range map[string]struct {
		happens func(row clusters.Row, ref runs.Ref, run string) error
		why     string // empty: the access goes on
	}{
		"GitHub says that the run finished": {func(_ clusters.Row, _ runs.Ref, run string) error { return sees(run, storetest.State(1, "failure", 2)) }, "its run finished"},
		"GitHub says that the run goes on":  {func(_ clusters.Row, _ runs.Ref, run string) error { return sees(run, storetest.State(1, "", 2)) }, ""},
		"only a webhook says that it ended": {func(_ clusters.Row, _ runs.Ref, run string) error { return sees(run, heard(1, "cancelled")) }, ""},
		"GitHub knows of a newer attempt":   {func(_ clusters.Row, _ runs.Ref, run string) error { return sees(run, storetest.State(2, "", 3)) }, "its run finished"},
		"the run was deleted": {func(_ clusters.Row, _ runs.Ref, run string) error {
			_, err := s.Runs.Miss(t.Context(), run, clock.Now())
			if err == nil {
				clock.Pass(time.Minute)
				_, err = s.Runs.Miss(t.Context(), run, clock.Now())
			}
			return err
		}, "its run finished"},
		"a webhook says that it ended, and then it is deleted": {func(_ clusters.Row, _ runs.Ref, run string) error {
			if err := sees(run, heard(1, "cancelled")); err != nil {
				return err
			}
			_, err := s.Runs.Miss(t.Context(), run, clock.Now())
			if err == nil {
				clock.Pass(time.Minute)
				_, err = s.Runs.Miss(t.Context(), run, clock.Now())
			}
			return err
		}, "its run finished"},
		"a token of a newer attempt comes": {func(row clusters.Row, ref runs.Ref, _ string) error {
			ref.Attempt = 2
			_, err := storetest.WantsForRun(s, row.ID, ref, "9002")
			return err
		}, "its run finished"},
		"its job finished": {func(_ clusters.Row, _ runs.Ref, run string) error {
			return s.Runs.SeeJob(t.Context(), run, "9001", lifecycle.Finish{Conclusion: "success", At: time.Unix(0, 0)}, true)
		}, "its job finished"},
		"only a webhook says that its job finished": {func(_ clusters.Row, _ runs.Ref, run string) error {
			return s.Runs.SeeJob(t.Context(), run, "9001", lifecycle.Finish{Conclusion: "success", At: time.Unix(0, 0)}, false)
		}, ""},
		"another job finished": {func(_ clusters.Row, _ runs.Ref, run string) error {
			return s.Runs.SeeJob(t.Context(), run, "9009", lifecycle.Finish{Conclusion: "success", At: time.Unix(0, 0)}, true)
		}, ""},
		"its turn is released": {func(row clusters.Row, ref runs.Ref, _ string) error {
			use, _, err := s.Runs.AskUse(t.Context(), row.ID, ref, "9001", clusters.Origin{Actor: storetest.AsWorkflow})
			if err == nil {
				_, err = s.Runs.Release(t.Context(), row.ID, use.ID, clusters.Origin{Actor: storetest.AsWorkflow, Why: "it is done"})
			}
			return err
		}, "its turn on the cluster ended"},
		"its turn lasts too long": {func(row clusters.Row, ref runs.Ref, _ string) error {
			_, _, err := s.Runs.AskUse(t.Context(), row.ID, ref, "9001", clusters.Origin{Actor: storetest.AsWorkflow})
			if err == nil {
				clock.Pass(time.Minute)
				_, err = s.Runs.ExpireUses(t.Context(), time.Minute)
			}
			return err
		}, "its turn on the cluster ended"},
		"another job's turn is released": {func(row clusters.Row, ref runs.Ref, _ string) error {
			use, _, err := s.Runs.AskUse(t.Context(), row.ID, ref, "9002", clusters.Origin{Actor: storetest.AsWorkflow})
			if err == nil {
				_, err = s.Runs.Release(t.Context(), row.ID, use.ID, clusters.Origin{Actor: storetest.AsWorkflow, Why: "it is done"})
			}
			return err
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			row := storetest.Usable(t, s, storetest.Accept(t, s, storetest.Granted("c"+strings.ToLower(db.NewID("x")[18:28]))))
			ref := storetest.RunRef(1)
			ref.Key = row.ID
			a, err := storetest.WantsForRun(s, row.ID, ref, "9001")
			require.NoError(t, err)
			person := storetest.WantsAccess(t, s, row.ID, storetest.Wants(access.RoleEdit))
			require.Len(t, storetest.Changes(t, s, clock, row.ID).Give, 2)
			require.NoError(t, c.happens(row, ref, a.RunID))
			gone := storetest.AccessOf(t, s, row.ID, a.ID)
			require.Equal(t, c.why, gone.RevokeWhy)
			require.Equal(t, access.Ready, storetest.AccessOf(t, s, row.ID, person.ID).State, "a person's access does not end with a run")
			if c.why != "" {
				work := storetest.Changes(t, s, clock, row.ID)
				require.Equal(t, []string{a.ID}, []string{work.Take[0].ID}, "a runner removes it")
			}
		})
	}
}

func TestARunThatIsOverGetsNoAccess(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Usable(t, s, storetest.Accept(t, s, storetest.Granted("shop")))
	a, err := storetest.WantsForRun(s, row.ID, storetest.RunRef(1), "9001")
	require.NoError(t, err)
	again, err := storetest.WantsForRun(s, row.ID, storetest.RunRef(1), "9001")
	require.NoError(t, err)
	require.Equal(t, a.ID, again.ID)
	other, err := storetest.WantsForRun(s, row.ID, storetest.RunRef(1), "9002")
	require.NoError(t, err)
	require.NotEqual(t, a.ID, other.ID, "each job has its own")
	_, err = s.Runs.See(t.Context(), a.RunID, storetest.State(1, "success", 2), clock.Now())
	require.NoError(t, err)
	require.NotNil(t, storetest.AccessOf(t, s, row.ID, a.ID).RemovedAt, "no runner was told to make it")
	_, err = storetest.WantsForRun(s, row.ID, storetest.RunRef(1), "9001")
	require.ErrorIs(t, err, runs.ErrOver)
	fresh, err := storetest.WantsForRun(s, row.ID, storetest.RunRef(2), "9003")
	require.NoError(t, err)
	require.Equal(t, access.OfRun{RunID: a.RunID, RunAttempt: 2, RunJob: "9003"}, fresh.OfRun)
	_, err = storetest.WantsForRun(s, row.ID, storetest.RunRef(1), "9001")
	require.ErrorIs(t, err, runs.ErrReplaced)
	storetest.Refuses(t, s, "was made for something else", `UPDATE access SET run_job = '' WHERE id = $1`, fresh.ID)
}

func TestTheAccessThatComesWithANewClusterIsTheRuns(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	g := storetest.Granted("shop")
	g.Access = &access.Ask{Reader: storetest.AsWorkflow, ReaderName: "acme/shop", Role: access.RoleAdmin, Right: access.OwnRight, Lifetime: time.Hour}
	ask := storetest.Requests(g)
	bound := storetest.InSlot(1, "")
	ask.Run = &bound
	judged, err := s.Judge(t.Context(), ask, func(usage.Usage) (store.Judgement, error) { return g, nil })
	require.NoError(t, err)
	list, err := s.Access.List(t.Context(), judged.Row.ID, time.Hour)
	require.NoError(t, err)
	require.Equal(t, access.OfRun{RunID: judged.Row.Run.ID, RunAttempt: 1, RunJob: "9001"}, list[0].OfRun)
	row := storetest.Usable(t, s, judged.Row)
	a, err := storetest.WantsForRun(s, row.ID, storetest.RunRef(1), "9001")
	require.NoError(t, err)
	require.Equal(t, list[0].ID, a.ID, "the job that asked for the cluster gets it")
	_, err = s.Runs.See(t.Context(), a.RunID, storetest.State(1, "failure", 2), clock.Now())
	require.NoError(t, err)
	kept, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Present, kept.Desired, "people look at it for a while")
	require.Equal(t, access.Revoked, storetest.AccessOf(t, s, row.ID, a.ID).State)
}

func TestARunWithAccessAloneIsLookedAt(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Usable(t, s, storetest.Accept(t, s, storetest.Granted("shop")))
	a, err := storetest.WantsForRun(s, row.ID, storetest.RunRef(1), "9001")
	require.NoError(t, err)
	storetest.Changes(t, s, clock, row.ID)
	looks := func() int {
		t.Helper()
		list, err := s.Runs.ToLook(t.Context(), clock.Now(), 10)
		require.NoError(t, err)
		return len(list)
	}
	clock.Pass(2 * time.Minute)
	require.Equal(t, 1, looks())
	clock.Pass(time.Hour)
	require.Zero(t, looks(), "its token expired by itself")
	_, err = s.Prune(t.Context(), -24*time.Hour)
	require.NoError(t, err)
	require.Equal(t, a.RunID, storetest.AccessOf(t, s, row.ID, a.ID).RunID, "who had access stays known")
}
