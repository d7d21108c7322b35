package store_test

import (
	"database/sql"
	"testing"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/migrations"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// What requests led to is known to the release before, and to the next one again.
func TestTheKeysOfRequestsGoDownAndUp(t *testing.T) {
	t.Parallel()
	url, clock := pgtest.New(t), storetest.NewClock()
	o := db.Options{Limits: storetest.Limits, Lease: time.Minute, Now: clock.Now}
	s := storetest.OpenAt(t, url, o)
	a, b, c := storetest.Granted("shop"), storetest.Granted("cart"), storetest.Granted("none")
	accepted, err := s.Judge(t.Context(), once(storetest.Requests(a), "api:key-1", "a"), storetest.AtMost(2, false, a))
	require.NoError(t, err)
	keyed := storetest.Requests(b)
	keyed.Key = "comment:7"
	commented, err := s.Judge(t.Context(), keyed, storetest.AtMost(2, false, b))
	require.NoError(t, err)
	refused, err := s.Judge(t.Context(), once(storetest.Requests(c), "web:key-2", "b"), storetest.AtMost(2, false, c))
	require.NoError(t, err)
	require.False(t, refused.Allowed)
	s.Close()

	database, err := sql.Open("pgx", url)
	require.NoError(t, err)
	defer database.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, database, migrations.FS)
	require.NoError(t, err)
	_, err = p.DownTo(t.Context(), 70)
	require.NoError(t, err)
	var status int
	var location string
	require.NoError(t, database.QueryRow(`SELECT status, headers ->> 'Location' FROM answers WHERE key = 'key-1'`).Scan(&status, &location))
	require.Equal(t, []any{202, "/api/v1/clusters/" + accepted.Row.ID}, []any{status, location})
	require.NoError(t, database.QueryRow(`SELECT status FROM answers WHERE key = 'web:key-2'`).Scan(&status))
	require.Equal(t, 422, status)
	var cluster string
	require.NoError(t, database.QueryRow(`SELECT cluster_id FROM cluster_requests WHERE idempotency_key = 'comment:7'`).Scan(&cluster))
	require.Equal(t, commented.Row.ID, cluster)

	require.NoError(t, store.Migrate(t.Context(), url))
	s = storetest.OpenAt(t, url, o)
	again, err := s.Judge(t.Context(), once(storetest.Requests(a), "api:key-1", "a"), mustNotJudge(t))
	require.NoError(t, err)
	require.Equal(t, accepted.Row.ID, again.Row.ID)
	again, err = s.Judge(t.Context(), keyed, mustNotJudge(t))
	require.NoError(t, err)
	require.Equal(t, commented.Row.ID, again.Row.ID)
	again, err = s.Judge(t.Context(), once(storetest.Requests(c), "web:key-2", "b"), mustNotJudge(t))
	require.NoError(t, err)
	require.False(t, again.Allowed)
	require.JSONEq(t, string(refused.Verdict), string(again.Verdict))
	_, err = s.Judge(t.Context(), once(storetest.Requests(c), "web:key-2", "c"), mustNotJudge(t))
	require.ErrorIs(t, err, db.ErrKeyReused)
}
