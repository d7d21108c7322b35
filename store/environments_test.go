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
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// Clusters of the release before have an environment each. That of a living one is remembered until its end, that of a gone one is
// cleared at once.
func TestTheEnvironmentsOfEarlierClustersAreCarriedOver(t *testing.T) {
	t.Parallel()
	url, clock := pgtest.Empty(t), storetest.NewClock()
	database, err := sql.Open("pgx", url)
	require.NoError(t, err)
	defer database.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, database, migrations.FS)
	require.NoError(t, err)
	require.NoError(t, store.Migrate(t.Context(), url))
	s := storetest.OpenAt(t, url, db.Options{Limits: storetest.Limits, Lease: 15 * time.Minute, Now: clock.Now})
	lives, gone, unseen := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("lives"), 41)), storetest.Accept(t, s, storetest.FromPR(storetest.Granted("gone"), 42)), storetest.Accept(t, s, storetest.FromPR(storetest.Granted("unseen"), 43))
	s.Close()
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := database.Exec(sql, args...)
		require.NoError(t, err)
	}
	_, err = p.DownTo(t.Context(), 50)
	require.NoError(t, err)
	exec(`UPDATE subscribers SET external_id = 7 WHERE kind = 'github_deployment' AND cluster_id <> $1`, unseen.ID)
	exec(`UPDATE clusters SET desired = 'absent', desired_why = '{"code":"other","words":"done"}', teardown = 'DESTROY', status = 'DESTROYED', phase = 'released', destroyed_at = now(), wake_at = NULL WHERE id = $1`, gone.ID)
	_, err = p.Up(t.Context())
	require.NoError(t, err)
	var cluster, repo, environment string
	require.NoError(t, database.QueryRow(`SELECT cluster_id, repo, environment FROM own_environments`).Scan(&cluster, &repo, &environment))
	require.Equal(t, []string{lives.ID, "acme/shop", "ocp/lives"}, []string{cluster, repo, environment})
	var kind, content string
	require.NoError(t, database.QueryRow(`SELECT kind, content FROM effects WHERE kind = 'remove_deployments'`).Scan(&kind, &content))
	require.Equal(t, []string{string(clusters.EffectRemoveDeployments), "ocp/gone"}, []string{kind, content})
}
