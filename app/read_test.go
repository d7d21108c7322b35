package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
)

func TestATimelineTellsEachThingOnce(t *testing.T) {
	t.Parallel()
	events := func() []store.Event {
		return []store.Event{
			{Action: "created"}, {To: "CREATING/cleaning", Why: "attempt 1 did not finish"}, {To: "CREATING/cleaning", Why: "attempt 1 did not finish"},
			{Action: "access.revoked"}, {To: "FAILED/create_failed", Why: "attempt 2 failed: no quota", Brief: "attempt 2 failed"},
			{To: "DESTROYING/restoring", Why: "the install failed: no quota", Brief: "the install failed"}, {To: "CREATING/cleaning", Why: "attempt 1 did not finish"},
		}
	}
	why := func(all []store.Event) (texts []string) {
		for _, e := range all {
			texts = append(texts, e.Action+e.Why)
		}
		return texts
	}
	require.Equal(t, []string{"created", "attempt 1 did not finish", "access.revoked", "attempt 2 failed: no quota", "the install failed", "attempt 1 did not finish"}, why(tellOnce(events(), false)))
	require.Equal(t, "attempt 2 failed", tellOnce(events(), true)[3].Why, "the failure is shown beside the timeline")
}
