package store_test

import (
	"context"
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
	"github.com/ocpctl/ocpctl/store/usage"
)

// asWorkflow is who a workflow of acme/shop is.
const asWorkflow = "oidc:github#repo:acme/shop"

// wantsForRun asks for an admin's kubeconfig with the token of a job.
func wantsForRun(s *store.Store, cluster string, ref runs.Ref, job string) (access.Row, error) {
	w := access.Wanted{Ask: access.Ask{Reader: asWorkflow, ReaderName: "acme/shop", Role: access.RoleAdmin, Right: access.OwnRight, Lifetime: time.Hour}}
	return s.AskAccess(context.Background(), cluster, w, &ref, job, clusters.Origin{Actor: asWorkflow})
}

func TestAccessOfARunEndsWithItsAttemptItsJobOrItsTurn(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	sees := func(run string, seen runs.Seen) error {
		_, err := s.Runs.See(t.Context(), run, seen, clock.now().Add(time.Minute))
		return err
	}
	for name, c := range map[string]struct {
		happens func(row clusters.Row, ref runs.Ref, run string) error
		why     string // empty: the access goes on
	}{
		"GitHub says that the run finished": {func(_ clusters.Row, _ runs.Ref, run string) error { return sees(run, state(1, "failure", 2)) }, "its run finished"},
		"GitHub says that the run goes on":  {func(_ clusters.Row, _ runs.Ref, run string) error { return sees(run, state(1, "", 2)) }, ""},
		"only a webhook says that it ended": {func(_ clusters.Row, _ runs.Ref, run string) error { return sees(run, heard(1, "cancelled")) }, ""},
		"GitHub knows of a newer attempt":   {func(_ clusters.Row, _ runs.Ref, run string) error { return sees(run, state(2, "", 3)) }, "its run finished"},
		"the run was deleted": {func(_ clusters.Row, _ runs.Ref, run string) error {
			_, err := s.Runs.Miss(t.Context(), run, clock.now())
			if err == nil {
				clock.pass(time.Minute)
				_, err = s.Runs.Miss(t.Context(), run, clock.now())
			}
			return err
		}, "its run finished"},
		"a webhook says that it ended, and then it is deleted": {func(_ clusters.Row, _ runs.Ref, run string) error {
			if err := sees(run, heard(1, "cancelled")); err != nil {
				return err
			}
			_, err := s.Runs.Miss(t.Context(), run, clock.now())
			if err == nil {
				clock.pass(time.Minute)
				_, err = s.Runs.Miss(t.Context(), run, clock.now())
			}
			return err
		}, "its run finished"},
		"a token of a newer attempt comes": {func(row clusters.Row, ref runs.Ref, _ string) error {
			ref.Attempt = 2
			_, err := wantsForRun(s, row.ID, ref, "9002")
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
			use, _, err := s.Runs.AskUse(t.Context(), row.ID, ref, "9001", clusters.Origin{Actor: asWorkflow})
			if err == nil {
				_, err = s.Runs.Release(t.Context(), row.ID, use.ID, clusters.Origin{Actor: asWorkflow, Why: "it is done"})
			}
			return err
		}, "its turn on the cluster ended"},
		"its turn lasts too long": {func(row clusters.Row, ref runs.Ref, _ string) error {
			_, _, err := s.Runs.AskUse(t.Context(), row.ID, ref, "9001", clusters.Origin{Actor: asWorkflow})
			if err == nil {
				clock.pass(time.Minute)
				_, err = s.Runs.ExpireUses(t.Context(), time.Minute)
			}
			return err
		}, "its turn on the cluster ended"},
		"another job's turn is released": {func(row clusters.Row, ref runs.Ref, _ string) error {
			use, _, err := s.Runs.AskUse(t.Context(), row.ID, ref, "9002", clusters.Origin{Actor: asWorkflow})
			if err == nil {
				_, err = s.Runs.Release(t.Context(), row.ID, use.ID, clusters.Origin{Actor: asWorkflow, Why: "it is done"})
			}
			return err
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			row := usable(t, s, accept(t, s, granted("c"+strings.ToLower(db.NewID("x")[18:28]))))
			ref := runRef(1)
			ref.Key = row.ID
			a, err := wantsForRun(s, row.ID, ref, "9001")
			require.NoError(t, err)
			person := wantsAccess(t, s, row.ID, wants(access.RoleEdit))
			require.Len(t, changes(t, s, clock, row.ID).Give, 2)
			require.NoError(t, c.happens(row, ref, a.RunID))
			gone := accessOf(t, s, row.ID, a.ID)
			require.Equal(t, c.why, gone.RevokeWhy)
			require.Equal(t, access.Ready, accessOf(t, s, row.ID, person.ID).State, "a person's access does not end with a run")
			if c.why != "" {
				work := changes(t, s, clock, row.ID)
				require.Equal(t, []string{a.ID}, []string{work.Take[0].ID}, "a runner removes it")
			}
		})
	}
}

func TestARunThatIsOverGetsNoAccess(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := usable(t, s, accept(t, s, granted("shop")))
	a, err := wantsForRun(s, row.ID, runRef(1), "9001")
	require.NoError(t, err)
	again, err := wantsForRun(s, row.ID, runRef(1), "9001")
	require.NoError(t, err)
	require.Equal(t, a.ID, again.ID)
	other, err := wantsForRun(s, row.ID, runRef(1), "9002")
	require.NoError(t, err)
	require.NotEqual(t, a.ID, other.ID, "each job has its own")
	_, err = s.Runs.See(t.Context(), a.RunID, state(1, "success", 2), clock.now())
	require.NoError(t, err)
	require.NotNil(t, accessOf(t, s, row.ID, a.ID).RemovedAt, "no runner was told to make it")
	_, err = wantsForRun(s, row.ID, runRef(1), "9001")
	require.ErrorIs(t, err, runs.ErrOver)
	fresh, err := wantsForRun(s, row.ID, runRef(2), "9003")
	require.NoError(t, err)
	require.Equal(t, access.OfRun{RunID: a.RunID, RunAttempt: 2, RunJob: "9003"}, fresh.OfRun)
	_, err = wantsForRun(s, row.ID, runRef(1), "9001")
	require.ErrorIs(t, err, runs.ErrReplaced)
	refuses(t, s, "was made for something else", `UPDATE access SET run_job = '' WHERE id = $1`, fresh.ID)
}

func TestTheAccessThatComesWithANewClusterIsTheRuns(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	g := granted("shop")
	g.Access = &access.Ask{Reader: asWorkflow, ReaderName: "acme/shop", Role: access.RoleAdmin, Right: access.OwnRight, Lifetime: time.Hour}
	ask := requests(g)
	bound := inSlot(1, "")
	ask.Run = &bound
	judged, err := s.Judge(t.Context(), ask, func(usage.Usage) (store.Judgement, error) { return g, nil })
	require.NoError(t, err)
	list, err := s.Access.List(t.Context(), judged.Row.ID, time.Hour)
	require.NoError(t, err)
	require.Equal(t, access.OfRun{RunID: judged.Row.Run.ID, RunAttempt: 1, RunJob: "9001"}, list[0].OfRun)
	row := usable(t, s, judged.Row)
	a, err := wantsForRun(s, row.ID, runRef(1), "9001")
	require.NoError(t, err)
	require.Equal(t, list[0].ID, a.ID, "the job that asked for the cluster gets it")
	_, err = s.Runs.See(t.Context(), a.RunID, state(1, "failure", 2), clock.now())
	require.NoError(t, err)
	kept, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Present, kept.Desired, "people look at it for a while")
	require.Equal(t, access.Revoked, accessOf(t, s, row.ID, a.ID).State)
}

func TestARunWithAccessAloneIsLookedAt(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := usable(t, s, accept(t, s, granted("shop")))
	a, err := wantsForRun(s, row.ID, runRef(1), "9001")
	require.NoError(t, err)
	changes(t, s, clock, row.ID)
	looks := func() int {
		t.Helper()
		list, err := s.Runs.ToLook(t.Context(), clock.now(), 10)
		require.NoError(t, err)
		return len(list)
	}
	clock.pass(2 * time.Minute)
	require.Equal(t, 1, looks())
	clock.pass(time.Hour)
	require.Zero(t, looks(), "its token expired by itself")
	_, err = s.Prune(t.Context(), -24*time.Hour)
	require.NoError(t, err)
	require.Equal(t, a.RunID, accessOf(t, s, row.ID, a.ID).RunID, "who had access stays known")
}
