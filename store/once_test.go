package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestACauseDestroysWhatItMeantAndNothingMadeSince(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	first := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("shop"), 41))
	const cause = "comment:9:0"
	var jobs []string
	by := clusters.Origin{Actor: "github:maya", Why: "enough", Reply: &clusters.ReplyOnce{Cause: cause, Build: func(out clusters.Outcome) clusters.Reply {
		jobs = append(jobs, out.Job)
		return clusters.Reply{Installation: 5001, Repo: "acme/shop", Number: 41, Body: "it goes"}
	}}}
	done, err := s.Outbox.Answered(t.Context(), cause)
	require.NoError(t, err)
	require.False(t, done)
	_, err = s.Destroy(t.Context(), first.ID, by)
	require.NoError(t, err)
	done, err = s.Outbox.Answered(t.Context(), cause)
	require.NoError(t, err)
	require.True(t, done)

	newer := storetest.FromPR(storetest.Granted("shop-2"), 41)
	newer.Row.Generation = 2
	second := storetest.Accept(t, s, newer)
	_, err = s.Destroy(t.Context(), second.ID, by)
	require.NoError(t, err)
	now, err := s.Cluster(t.Context(), second.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Present, now.Desired)
	require.Len(t, jobs, 1)
	require.NotEmpty(t, jobs[0])
	require.Len(t, storetest.RiverJobs(t, s, "reply"), 1)
}
