package store_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/migrations"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/outbox"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// ofBefore adds a cluster as the release before the entry points knew it.
const ofBefore = `
	INSERT INTO clusters (id, name, platform, version, profile, region, base_domain, owner, team, cost_center, environment, requested_by, door,
		ttl, hourly_cents, request_tags, effective_tags, spec, status, phase, why, wish, wish_why, teardown, needs_approval, max_tries, wake_at,
		end_ttl, end_max, created_at, updated_at, destroyed_at)
	VALUES ('clu_' || $1, $1, 'aws', '4.20.1', 'aws-minimal-test', 'us-east-1', 'labs.example.com', 'maya', 'acme/platform', 'cc-1', 'test',
		'github:maya', 'api', '4 hours', 70, '{}', '{}', '{}', $2, $3, 'so it is', CASE WHEN $4 THEN 'present' ELSE 'absent' END,
		CASE WHEN $4 THEN '' ELSE 'done' END, CASE WHEN $4 THEN '' ELSE 'DESTROY' END, $3 = 'awaiting_approval', 2,
		CASE WHEN $2 <> 'DESTROYED' THEN $5::timestamptz END, $5::timestamptz + interval '4 hours', $5::timestamptz + interval '8 hours', $5, $5,
		CASE WHEN $2 = 'DESTROYED' THEN $5::timestamptz END)`

// A database of the release before, with a cluster in every state, goes up and works; with what only the new release knows
// under way it goes down, and up again. Whatever state a cluster was in, the controller goes on with it.
func TestEveryStateGoesUpAndDown(t *testing.T) {
	t.Parallel()
	url, clock := pgtest.Empty(t), storetest.NewClock()
	database, err := sql.Open("pgx", url)
	require.NoError(t, err)
	defer database.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, database, migrations.FS)
	require.NoError(t, err)
	_, err = p.UpTo(t.Context(), 7)
	require.NoError(t, err)
	seeded := 0
	for status, phases := range lifecycle.Phases {
		for _, phase := range phases {
			for _, present := range []bool{true, false} {
				if present && (status == lifecycle.Destroyed || status == lifecycle.Destroying) {
					continue
				}
				if slices.Contains([]lifecycle.Phase{"going_to_sleep", "asleep", "waking"}, phase) {
					continue // the release before has none
				}
				seeded++
				name := fmt.Sprintf("c%d", seeded)
				_, err := database.Exec(ofBefore, name, status, phase, present, clock.Now())
				require.NoError(t, err, "%s/%s", status, phase)
				_, err = database.Exec(`INSERT INTO jobs (id, cluster_id, job_type, status, created_at) VALUES ('job_' || $1, 'clu_' || $1, $2, 'PENDING', $3)`,
					name, map[bool]lifecycle.JobType{true: lifecycle.JobCreate, false: lifecycle.JobDestroy}[present], clock.Now())
				require.NoError(t, err)
			}
		}
	}

	decides := func(s *store.Store) {
		t.Helper()
		rows, _, err := s.List(t.Context(), store.Filter{Live: true, Limit: 500})
		require.NoError(t, err)
		require.Greater(t, len(rows), 15)
		for _, row := range rows {
			c, f, err := s.Load(t.Context(), row.ID)
			require.NoError(t, err, row.Phase)
			require.NoError(t, s.Apply(t.Context(), lifecycle.Decide(c, f, storetest.Limits), c.Version), row.Phase)
			_, err = s.Extend(t.Context(), row.ID, time.Second, storetest.Maya(""))
			if row.Desired == lifecycle.Present {
				require.NoError(t, err, row.Phase)
			}
		}
	}
	up := func() *store.Store {
		t.Helper()
		require.NoError(t, store.Migrate(t.Context(), url))
		return storetest.OpenAt(t, url, db.Options{Limits: storetest.Limits, Lease: 15 * time.Minute, Now: clock.Now})
	}
	s := up()
	decides(s)
	row := scalable(t, s)
	_, err = s.Scale(t.Context(), row.ID, 4, storetest.Maya(""))
	require.NoError(t, err)
	require.Equal(t, lifecycle.Scale, storetest.Step(t, s, row.ID).Open)
	s.Close()

	_, err = p.DownTo(t.Context(), 7)
	require.NoError(t, err)
	var left int
	require.NoError(t, database.QueryRow(`SELECT count(*) FROM attempts WHERE kind = 'scale' AND closed_at IS NULL`).Scan(&left))
	require.Zero(t, left, "the release before knows no scaling that it could end")
	require.NoError(t, database.QueryRow(`SELECT count(*) FROM jobs WHERE job_type = 'SCALE_WORKERS' AND ended_at IS NULL`).Scan(&left))
	require.Zero(t, left, "and a running job would keep a teardown's from running")

	s = up()
	decides(s)
	row, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Ready, row.Status)
	_, err = s.Destroy(t.Context(), row.ID, storetest.Maya("done"))
	require.NoError(t, err)
	require.Equal(t, lifecycle.Destroy, storetest.Step(t, s, row.ID).Open)
}

// A database of the release before the front entry point, with live rows, goes up and works; with what only the new release knows
// under way it goes down, and the release before finds its rules kept; and up again.
func TestTheFrontDoorGoesUpAndDown(t *testing.T) {
	t.Parallel()
	url, clock := pgtest.Empty(t), storetest.NewClock()
	database, err := sql.Open("pgx", url)
	require.NoError(t, err)
	defer database.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, database, migrations.FS)
	require.NoError(t, err)
	_, err = p.UpTo(t.Context(), 9)
	require.NoError(t, err)
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := database.Exec(sql, args...)
		require.NoError(t, err)
	}
	exec(ofBefore, "shop", "READY", "ready", true, clock.Now())
	exec(`UPDATE clusters SET installation = 5001, repo = 'acme/shop', pr_number = 41, pr_head = 'abc123', door = 'pr_label', end_pr_closed = $1`, clock.Now().Add(time.Hour))
	exec(`INSERT INTO jobs (id, cluster_id, job_type, status, created_at, ended_at) VALUES ('job_1', 'clu_shop', 'CREATE', 'SUCCEEDED', $1, $1)`, clock.Now())
	const place = `INSERT INTO subscribers (id, cluster_id, kind, installation, repo, number, head, external_id, wanted_version, shown_version, nudge_at)
		VALUES ('sub_' || $1, 'clu_shop', $1, 5001, 'acme/shop', 41, $2, 7, 1, 1, now())`
	exec(place, "github_comment", "abc123")
	exec(place, "github_check", "abc123")
	exec(`INSERT INTO pull_requests (repo, number, installation, open, fork, labels, author, head, base, updated_at, seen_at)
		VALUES ('acme/shop', 41, 5001, false, false, '{ocp/aws-minimal-test}', 'maya', 'abc123', 'main', $1, $1)`, clock.Now())
	exec(`INSERT INTO replies (id, cause, installation, repo, number, body, created_at, nudge_at) VALUES ('rep_1', 'comment:1', 5001, 'acme/shop', 41, 'hello', $1, $1)`, clock.Now())
	exec(`INSERT INTO replies (id, cause, workspace, channel, person, body, created_at, nudge_at) VALUES ('rep_2', 'slack:1', 'T1', 'C1', 'U1', 'hello', $1, $1)`, clock.Now())

	names, heads := []string{"acme/shop", "acme/store"}, []string{"abc123", "def456", "fed789"}
	works := func(round int) {
		t.Helper()
		require.NoError(t, store.Migrate(t.Context(), url))
		s := storetest.OpenAt(t, url, db.Options{Limits: storetest.Limits, Lease: 15 * time.Minute, Now: clock.Now})
		defer s.Close()
		from, to := names[round], names[1-round]
		row, err := s.Cluster(t.Context(), "clu_shop")
		require.NoError(t, err)
		require.Equal(t, "the pull request was closed", row.Ends.Reason().String())
		storetest.Step(t, s, row.ID)
		pr := storetest.Known(41, 1+round)
		pr.Repo = from
		pr.Open = false
		storetest.Seen(t, s, pr)
		require.Equal(t, 1, storetest.Renamed(t, s, from, to, 900))
		require.NoError(t, s.Outbox.FollowHead(t.Context(), to, 41, heads[round+1]))
		places := storetest.PlacesOf(t, s, row.ID)
		require.True(t, places["github_check "+heads[round]].Left)
		require.Contains(t, places, "github_check "+heads[round+1])
		require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM replies WHERE workspace = 'T1' AND repo IS NULL`))
		require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM replies WHERE id = 'rep_1' AND repo = $1`, to))
		at := clock.Now().Add(2 * time.Hour)
		require.NoError(t, s.SetEnd(t.Context(), row.ID, clusters.EndPRClosed, &at, lifecycle.Noted("the pull request became a draft"), "github:maya"))
		fx := storetest.Eyes("react:1")
		fx.Repo = to
		require.NoError(t, s.Outbox.SaveEffect(t.Context(), fx))
		wait, err := s.Outbox.TakePace(t.Context(), 5001, outbox.Pace{Every: time.Second})
		require.NoError(t, err)
		require.Zero(t, wait)
		next := storetest.FromPR(storetest.Granted(fmt.Sprintf("next%d", round)), 50+round)
		subs, err := s.Outbox.Subscribers(t.Context(), storetest.Accept(t, s, next).ID)
		require.NoError(t, err)
		require.Len(t, subs, 4)
		clock.Pass(time.Minute)
		prs, err := s.PullRequests.PullsToLook(t.Context(), clock.Now(), 10)
		require.NoError(t, err)
		require.Len(t, prs, 2+round)
	}
	works(0)
	_, err = p.DownTo(t.Context(), 9)
	require.NoError(t, err)
	var kinds string
	require.NoError(t, database.QueryRow(`SELECT string_agg(kind || ' ' || head, ',' ORDER BY kind, head) FROM subscribers WHERE cluster_id = 'clu_shop'`).Scan(&kinds))
	require.Equal(t, "github_check def456,github_comment abc123", kinds, "one check, the one that is not left")
	_, err = database.Exec(`INSERT INTO subscribers SELECT * FROM (SELECT 'sub_x' AS id, cluster_id, kind, installation, repo, number, 'x' AS head, 0 AS external_id,
		1 AS wanted_version, 0 AS shown_version, '' AS shown_body, nudge_at FROM subscribers WHERE kind = 'github_check') again`)
	require.ErrorContains(t, err, "duplicate key", "as the release before has it")
	works(1)
}

// A report of the release before holds what the migration wants, and waits for what the migration holds.
func TestAMigrationGivesWayToWhoIsAtWorkAndIsTriedAgain(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	db, err := sql.Open("pgx", url)
	require.NoError(t, err)
	defer db.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, db, migrations.FS)
	require.NoError(t, err)
	_, err = p.UpTo(t.Context(), 7)
	require.NoError(t, err)
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	for _, sql := range []string{`SET deadlock_timeout = '1h'`, `BEGIN`, `SELECT count(*) FROM attempts`} {
		_, err := conn.ExecContext(t.Context(), sql)
		require.NoError(t, err)
	}
	done := make(chan error, 1)
	go func() { done <- store.Migrate(t.Context(), url) }()
	require.Eventually(t, func() bool {
		var waits bool
		err := db.QueryRow(`SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'attempts'::regclass)`).Scan(&waits)
		return err == nil && waits
	}, storetest.Patience, time.Millisecond)
	_, err = conn.ExecContext(t.Context(), `SELECT count(*) FROM clusters`)
	require.NoError(t, err, "it is not the one that is ended")
	_, err = conn.ExecContext(t.Context(), `COMMIT`)
	require.NoError(t, err)
	require.NoError(t, <-done)
}

func TestJobsThatWaitAreCarriedOverToThePlainQueues(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	_, err := s.Pool().Exec(t.Context(), `
		INSERT INTO river_job (kind, queue, args, state, attempt, max_attempts)
		VALUES ('line', 'heart', '{}', 'available', 0, 5), ('publish', 'words', '{}', 'available', 0, 10)`)
	require.NoError(t, err)
	raw, err := migrations.FS.ReadFile("0022_queue_names.sql")
	require.NoError(t, err)
	up, _, found := strings.Cut(string(raw), "-- +goose Down")
	require.True(t, found)
	_, err = s.Pool().Exec(t.Context(), up)
	require.NoError(t, err)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM river_job WHERE kind = $1 AND queue = $2`, queue.CapacityQueueArgs{}.Kind(), queue.QueueReconcile))
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM river_job WHERE kind = 'publish' AND queue = $1`, queue.QueueMessages))
}
