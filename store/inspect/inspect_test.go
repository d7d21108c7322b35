package inspect_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/store/inspect"
)

func TestAMigratedDatabaseIsUpToDate(t *testing.T) {
	d, err := inspect.Look(t.Context(), pgtest.New(t))
	require.NoError(t, err)
	require.GreaterOrEqual(t, d.Version, 15)
	require.Equal(t, d.NewestSchema, d.Schema)
	require.Equal(t, d.NewestRiver, d.River)
	require.Positive(t, d.Schema)
	require.Positive(t, d.River)
	require.True(t, d.MayCreate)
	require.Empty(t, d.Lacking)
	require.Empty(t, d.TLS)
	require.Greater(t, d.MaxConnections, d.PoolConns)
	require.WithinDuration(t, time.Now(), d.Clock, time.Minute)
}

func TestAnEmptyDatabaseHasNoSchemaAndGetsNone(t *testing.T) {
	url := pgtest.Empty(t)
	for range 2 {
		d, err := inspect.Look(t.Context(), url+"&pool_max_conns=7")
		require.NoError(t, err)
		require.Zero(t, d.Schema)
		require.Zero(t, d.River)
		require.Equal(t, 7, d.PoolConns)
	}
}

func TestTablesThatAUserMayNotWriteAreNamed(t *testing.T) {
	url := pgtest.New(t)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	name := fmt.Sprintf("reader_%d", os.Getpid()) // roles belong to the whole server
	_, err = conn.Exec(t.Context(), `CREATE ROLE `+name+` LOGIN`)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := conn.Exec(context.Background(), `DROP OWNED BY `+name+`; DROP ROLE `+name)
		require.NoError(t, err)
	})
	_, err = conn.Exec(t.Context(), `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO `+name+`; REVOKE INSERT ON clusters FROM `+name)
	require.NoError(t, err)
	d, err := inspect.Look(t.Context(), strings.Replace(url, "postgres@", name+"@", 1))
	require.NoError(t, err)
	require.Equal(t, name, d.User)
	require.Equal(t, []string{"clusters"}, d.Lacking)
	require.False(t, d.MayCreate)
}

func TestADatabaseThatDoesNotAnswerIsAnError(t *testing.T) {
	_, err := inspect.Look(t.Context(), "postgres://nobody@127.0.0.1:1/none")
	require.ErrorContains(t, err, "reach the database")
}
