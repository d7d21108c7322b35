package runner

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/installer"
)

func TestARetriedStepSaysWhyUntilItWorks(t *testing.T) {
	r := &reporter{redact: installer.NewRedactor(), kick: make(chan struct{}, 1), retried: map[string]string{}}
	r.updateReport(func(now *contract.Report) { now.Phase, r.step = "recording", "storing the cluster's identity" })
	require.True(t, r.awaitNext(false))
	r.unsent = nil
	r.Retrying("storing the archive", errors.New("PutObject: AccessDenied, RequestID: A1, HostID: B2, no rights"))
	require.True(t, r.awaitNext(false))
	require.Equal(t, "storing the cluster's identity; storing the archive failed, retrying: PutObject: AccessDenied no rights", r.unsent.Step)
	r.unsent = nil
	r.Retrying("storing the archive", errors.New("PutObject: AccessDenied, RequestID: C3, HostID: D4, no rights"))
	require.False(t, r.awaitNext(false), "the same reason again is no news")
	r.Recovered("storing the archive")
	require.True(t, r.awaitNext(false))
	require.Equal(t, "storing the cluster's identity", r.unsent.Step)
}
