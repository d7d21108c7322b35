package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// Known is a pull request of which everything is known.
func Known(number, second int) pullrequests.PullRequest {
	return pullrequests.PullRequest{
		Installation: 5001, Repo: "acme/shop", Number: number, Open: true, Draft: true, Labels: []string{"ocp/aws-minimal-test"}, Author: "maya",
		Association: "MEMBER", Head: "abc123", HeadRef: "feature", Base: "main", RepoID: 900,
		UpdatedAt: time.Date(2026, 11, 20, 12, 0, second, 0, time.UTC),
	}
}

func Seen(t testing.TB, s *store.Store, pr pullrequests.PullRequest) {
	t.Helper()
	fresh, err := s.PullRequests.SeePullRequest(t.Context(), pr, false)
	require.NoError(t, err)
	require.True(t, fresh)
}
