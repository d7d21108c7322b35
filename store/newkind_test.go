package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// A server of this release and one of the next, which knows a kind of work more, share a database. No migration is needed for the kind.
func TestAServerLeavesWorkOfTheNextReleaseToServersThatKnowIt(t *testing.T) {
	t.Parallel()
	url, clock := pgtest.New(t), storetest.NewClock()
	known := storetest.Limits
	known.More = []lifecycle.WorkKind{{Kind: "backup", Job: "BACKUP", Text: "backup", Tries: 3}}
	server := func(l lifecycle.Limits) (*store.Store, func(string) lifecycle.Decision) {
		s := storetest.OpenAt(t, url, db.Options{Limits: l, Lease: 15 * time.Minute, Now: clock.Now})
		return s, func(id string) lifecycle.Decision {
			t.Helper()
			c, f, err := s.Load(t.Context(), id)
			require.NoError(t, err)
			d := lifecycle.Decide(c, f, l)
			require.NoError(t, s.Apply(t.Context(), d, c.Version))
			return d
		}
	}
	older, olderDecides := server(storetest.Limits)
	newer, newerDecides := server(known)
	row := scalableAddons(t, older)
	asks := func() {
		_, err := newer.Pool().Exec(t.Context(), `UPDATE clusters SET work = work || '{"backup": {"wanted": 1, "of_the_future": true}}' WHERE id = $1`, row.ID)
		require.NoError(t, err)
	}
	backup := func() lifecycle.Work { return storetest.Load(t, older, row.ID).Work["backup"] }

	asks()
	require.Empty(t, olderDecides(row.ID).Open)
	d := newerDecides(row.ID)
	require.Equal(t, []any{lifecycle.Kind("backup"), lifecycle.JobType("BACKUP"), 1}, []any{d.Open, d.OpenJob, d.Request})
	require.Equal(t, []lifecycle.Effect{{Kind: lifecycle.Launch, Attempt: 1}}, d.Effects)
	d = olderDecides(row.ID)
	require.Empty(t, d.Effects, "its runners cannot do that")
	require.Nil(t, d.Close)
	require.Len(t, newerDecides(row.ID).Effects, 1)

	// Its runner reports to the older server, which has other work done before a newer one accounts for it.
	open, err := newer.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = older.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	require.Nil(t, olderDecides(row.ID).Close)
	_, err = older.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded})
	require.NoError(t, err)
	_, err = older.WantRefresh(t.Context(), row.ID, "push:abc", storetest.Maya(""))
	require.NoError(t, err)
	require.Equal(t, lifecycle.Configure, olderDecides(row.ID).Open)
	require.Equal(t, lifecycle.Work{Wanted: 1}, backup())
	require.Equal(t, 1, storetest.Count(t, older, `SELECT count(*) FROM clusters WHERE work #> '{backup,of_the_future}' = 'true'`), "what it does not know of it stays too")
	refresh, err := older.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = older.Attempts.Claim(t.Context(), refresh.Attempt, refresh.Token, "pod-2")
	require.NoError(t, err)
	_, err = older.Attempts.Result(t.Context(), refresh.Attempt, refresh.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded, Addons: new(2)})
	require.NoError(t, err)
	require.Empty(t, olderDecides(row.ID).Open)

	newerDecides(row.ID)
	require.Equal(t, lifecycle.Work{Wanted: 1, Done: 1, Seen: 1}, backup())
	require.Equal(t, "SUCCEEDED", storetest.Text(t, older, `SELECT status FROM jobs WHERE cluster_id = $1 AND job_type = 'BACKUP'`, row.ID))

	// The older server ends a cluster that waits for one. Whoever knows the kind cancels it.
	_, err = newer.Pool().Exec(t.Context(), `UPDATE clusters SET work = jsonb_set(work, '{backup,wanted}', '2') WHERE id = $1`, row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Kind("backup"), newerDecides(row.ID).Open)
	_, err = older.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	require.NotNil(t, olderDecides(row.ID).Close, "no runner had begun")
	require.Equal(t, lifecycle.Destroy, olderDecides(row.ID).Open)
	require.True(t, backup().IsRequested())
	newerDecides(row.ID)
	require.False(t, backup().IsRequested())
	require.Equal(t, "FAILED", storetest.Text(t, older, `SELECT status FROM jobs WHERE cluster_id = $1 AND job_type = 'BACKUP' ORDER BY created_at DESC, id DESC LIMIT 1`, row.ID))
}
