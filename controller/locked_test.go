package controller_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	hub "github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// A locked conversation takes no comment of an App. The check says so instead, nothing is tried without end, and the next change after it
// is unlocked is commented.
func TestALockedConversationIsToldOnTheCheck(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	number, err := p.hub.Open("Locked", "will")
	require.NoError(t, err)
	p.goOn()
	require.NoError(t, p.hub.Lock(number, true))
	clock := time.Now() // as the stand-in's
	p.clock.Store(&clock)
	require.NoError(t, p.hub.Label(number, "ocp/aws-minimal-test", "will"))
	_, err = p.hub.Comment(number, "/ocp status", "will")
	require.NoError(t, err)
	p.goOn() // an answer waits for an hour, and not for ever
	bots := func() (n int) {
		for _, c := range p.hub.Comments(number) {
			if c.Author == hub.Bot {
				n++
			}
		}
		return n
	}
	require.Zero(t, bots())
	require.Equal(t, []string{"-1"}, p.texts(`SELECT external_id::text FROM replies`))
	rows, _, err := p.store.List(p.ctx, store.Filter{Repo: hub.Repo, Number: number})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	p.becomesReady(rows[0])
	p.goOn()
	told := func() bool {
		return slices.ContainsFunc(p.hub.Checks(number), func(c hub.Check) bool {
			return strings.Contains(c.Summary, "The conversation of this pull request is locked")
		})
	}
	require.True(t, told())

	before := len(p.hub.Calls())
	p.pass(2 * time.Hour)
	p.goOn()
	for _, call := range p.hub.Calls()[before:] {
		require.False(t, call.Method == "POST" && strings.HasSuffix(call.Path, "/comments"), call.Path)
	}
	require.NoError(t, p.hub.Lock(number, false))
	require.NoError(t, p.hub.Close(number, "will"))
	p.goOn()
	require.Equal(t, 1, bots())
	require.False(t, told())
}

func TestTheCheckIsShownAgainWhenTheConversationTurnsOutToBeLocked(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	row := p.labelled(41)
	comment := func() (found outbox.Subscriber) {
		t.Helper()
		all, err := p.store.Outbox.Subscribers(p.ctx, row.ID)
		require.NoError(t, err)
		for _, sub := range all {
			if sub.Kind == clusters.KindComment {
				found = sub
			}
		}
		return found
	}
	for range 2 { // the second time it is no news
		require.NoError(t, p.store.Outbox.CommentIsLocked(p.ctx, comment(), p.cluster(row.ID).Version))
	}
	require.EqualValues(t, row.Version+1, p.cluster(row.ID).Version)
	_, err := p.store.Pool().Exec(p.ctx, `UPDATE subscribers SET muted = true WHERE kind = 'github_comment'`) // the conversation stays locked
	require.NoError(t, err)
	p.goOn()
	require.True(t, slices.ContainsFunc(p.hub.Checks(41), func(c hub.Check) bool {
		return strings.Contains(c.Summary, "The conversation of this pull request is locked")
	}))
}
