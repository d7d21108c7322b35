package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A process that hangs in the middle of a change, or a host that is lost, must not hold up others for long.
func TestPostgreSQLEndsTheSessionsOfWhoHangsOrIsLost(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	for setting, want := range map[string]string{
		"idle_in_transaction_session_timeout": "1min",
		"tcp_keepalives_idle":                 "5", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "3", "tcp_user_timeout": "10000",
	} {
		var got string
		require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT current_setting($1)`, setting).Scan(&got))
		require.Equal(t, want, got, setting)
	}
}
