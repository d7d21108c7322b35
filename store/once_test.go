package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
)

func TestACauseDestroysWhatItMeantAndNothingMadeSince(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	first := accept(t, s, fromPR(granted("shop"), 41))
	const cause = "comment:9:0"
	var jobs []string
	answer := func(job string) store.Reply {
		jobs = append(jobs, job)
		return store.Reply{Installation: 5001, Repo: "acme/shop", Number: 41, Body: "it goes"}
	}
	done, err := s.Answered(t.Context(), cause)
	require.NoError(t, err)
	require.False(t, done)
	require.NoError(t, s.DestroyOnce(t.Context(), first.ID, store.Deed{Actor: "github:maya", Why: "enough"}, cause, answer))
	done, err = s.Answered(t.Context(), cause)
	require.NoError(t, err)
	require.True(t, done)

	newer := fromPR(granted("shop-2"), 41)
	newer.Row.Generation = 2
	second := accept(t, s, newer)
	require.NoError(t, s.DestroyOnce(t.Context(), second.ID, store.Deed{Actor: "github:maya", Why: "enough"}, cause, answer))
	now, err := s.Cluster(t.Context(), second.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Present, now.Wish)
	require.Len(t, jobs, 1)
	require.NotEmpty(t, jobs[0])
	require.Len(t, riverJobs(t, s, "reply"), 1)
}
