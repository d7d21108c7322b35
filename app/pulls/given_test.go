package pulls_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// Whoever may write to a repository decides about its team's clusters, and about no other team's.
func TestAClusterThatWasGivenAwayIsNotTheRepositorysAnyMore(t *testing.T) {
	h := newFixture(t)
	h.Labeled("maya", label)
	row := h.Only()
	both := policy.Principal{ID: "saml:both", Name: "both", Seats: []policy.Seat{{Role: policy.Requester, Team: "platform"}, {Role: policy.Requester, Team: "security"}}}
	_, err := h.Service.Transfer(t.Context(), both, row.ID, "security", "both", app.Origin{Source: policy.SourceAPI})
	require.NoError(t, err)
	for id, command := range []string{"/ocp destroy", "/ocp extend 1h"} {
		h.Comment(int64(id+1), "will", command)
		require.Contains(t, h.Replies()[id], "belongs to team security, and this repository to team platform")
	}
	require.Equal(t, lifecycle.Present, h.Only().Desired)
	require.Equal(t, row.Ends.TTL, h.Only().Ends.TTL)
	h.Comment(3, "maya", "/ocp destroy") // who asked for it may still end it
	require.Equal(t, lifecycle.Absent, h.Only().Desired)
}
