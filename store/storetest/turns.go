package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// Queues accepts a request under the quota of so many for the team, one minute after those before.
func Queues(t testing.TB, s *store.Store, clock *Clock, name string, most int) clusters.Row {
	t.Helper()
	clock.Pass(time.Minute)
	a := Granted(name)
	judged, err := s.Judge(t.Context(), Requests(a), AtMost(most, true, a))
	require.NoError(t, err)
	return judged.Row
}
