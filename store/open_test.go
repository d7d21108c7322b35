package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/store/costs"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// A process that hangs in the middle of a change, or a host that is lost, must not hold up others for long.
func TestPostgreSQLEndsTheSessionsOfWhoHangsOrIsLost(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	for setting, want := range map[string]string{
		"idle_in_transaction_session_timeout": "1min",
		"tcp_keepalives_idle":                 "5", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "3", "tcp_user_timeout": "10000",
	} {
		var got string
		require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT current_setting($1)`, setting).Scan(&got))
		require.Equal(t, want, got, setting)
	}
}

func TestTheDaysOfABillAreThoseOfUTC(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t)
	o := db.Options{Limits: storetest.Limits, Lease: time.Minute}
	_, err := storetest.OpenAt(t, url, o).Pool().Exec(t.Context(), `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = %L', current_database(), 'Europe/Berlin'); END $$`)
	require.NoError(t, err)
	s := storetest.OpenAt(t, url, o)
	month := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	var billed []costs.Billed
	for i := range 3 {
		billed = append(billed, costs.Billed{Day: month.AddDate(0, 0, i), Nanos: 1})
	}
	require.NoError(t, s.Costs.SaveBilled(t.Context(), costs.Delivery{Export: "s3://bills/ocpctl/daily", Period: month, ID: "x"}, 3, billed))
	bill, err := s.Costs.Bill(t.Context(), costs.Filter{From: month, To: month.AddDate(0, 0, 2)})
	require.NoError(t, err)
	require.Equal(t, costs.Bill{Untagged: 2, Since: month, Through: month.AddDate(0, 0, 2)}, bill)
}
