package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/runs"
	"github.com/ocpctl/ocpctl/store/usage"
)

const WaitedFor = "ocp/aws-minimal-test"

// WaitedBy is a cluster for which jobs of run 7001 wait.
func WaitedBy(t testing.TB, s *store.Store, name string) clusters.Row {
	t.Helper()
	ask, in := Requests(Granted(name)), Reusing(InSlot(1, runs.EnvironmentPrefix+"aws-minimal-test"))
	ask.Run, ask.Wait = &in, &runs.WaitAsk{Ref: RunRef(1), Environment: WaitedFor, Event: "9"}
	judged, err := s.Judge(t.Context(), ask, func(usage.Usage) (store.Judgement, error) { return Granted(name), nil })
	require.NoError(t, err)
	return Read(t, s, judged.Row.ID)
}
