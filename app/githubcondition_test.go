package app_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/inbox"
)

// upToDate is the condition that a cluster's page shows of GitHub, if any.
func upToDate(h *servicetest.Fixture) []clusters.Condition {
	h.Helper()
	admin := policy.Principal{ID: "saml:ada", Seats: []policy.Seat{{Team: "*", Role: policy.PlatformAdmin}}}
	got, err := h.Service.Get(h.Context(), admin, h.Only().ID, 0)
	require.NoError(h, err)
	var out []clusters.Condition
	for _, c := range got.Conditions {
		if c.Type == app.GitHubUpToDate {
			out = append(out, c)
		}
	}
	return out
}

func TestAClustersPageSaysWhatWaitsForGitHubAndSinceWhen(t *testing.T) {
	h := servicetest.New(t)
	h.Labeled("will", servicetest.Label)
	require.Empty(t, upToDate(h), "its first comment is on its way, and GitHub answers")

	require.NoError(t, h.Store.Outbox.GitHubAnswers(t.Context(), 5001, false))
	_, err := h.Store.Inbox.SaveDelivery(t.Context(), inbox.Delivery{Source: "github", ID: "d9", Event: "issue_comment", Topic: servicetest.Repo + "#41", Body: []byte(`{}`)})
	require.NoError(t, err)
	require.Len(t, h.Query(`UPDATE deliveries SET received_at = received_at - interval '1 minute' RETURNING delivery_id`), 1)
	away := upToDate(h)
	require.Len(t, away, 1)
	require.Equal(t, "False", away[0].Status)
	require.Equal(t, "Unavailable", away[0].Reason)
	require.Regexp(t, `^GitHub has not answered since \d{4}-.* UTC; it is tried at least every 20 seconds\. On acme/shop#41, its check, its comment.* `+
		`may show an older state than this page\. Events of acme/shop#41 that wait for GitHub: 1, the oldest since .* UTC\.`, away[0].Message)
	require.WithinDuration(t, time.Now().Add(-time.Minute), away[0].At, 30*time.Second)

	require.NoError(t, h.Store.Outbox.GitHubAnswers(t.Context(), 5001, true))
	require.Empty(t, upToDate(h))
	require.NoError(t, h.Store.Outbox.HoldPace(t.Context(), 5001, 20*time.Minute))
	held := upToDate(h)
	require.Len(t, held, 1)
	require.Equal(t, "RateLimited", held[0].Reason)
	require.Contains(t, held[0].Message, "is used up, or nearly, until "+time.Now().UTC().Add(20*time.Minute).Format("2006-01-02 15"))
}
