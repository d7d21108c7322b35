package people_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/stretchr/testify/require"
)

func TestAnEndedSessionIsRememberedUntilItExpired(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	id := strings.Repeat("a", 32)
	ended, err := s.People.SessionEnded(t.Context(), id)
	require.NoError(t, err)
	require.False(t, ended)
	for range 2 {
		require.NoError(t, s.People.EndSession(t.Context(), id, "saml:maya", clock.Now().Add(time.Hour)), "twice is once")
	}
	require.Error(t, s.People.EndSession(t.Context(), "the token itself", "saml:maya", clock.Now()), "nothing but an id is kept")
	is := func() bool {
		_, err := s.Prune(t.Context(), time.Hour)
		require.NoError(t, err)
		ended, err := s.People.SessionEnded(t.Context(), id)
		require.NoError(t, err)
		return ended
	}
	require.True(t, is())
	clock.Pass(24 * time.Hour)
	require.True(t, is(), "a day longer, for clocks differ")
	clock.Pass(2 * time.Hour)
	require.False(t, is())
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM ended_sessions`))
}
