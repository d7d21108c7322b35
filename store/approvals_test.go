package store_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
	"github.com/ocpctl/ocpctl/store/pullrequests"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestAnApprovalLetsAClusterBegin(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, waits := storetest.Awaits(t, s, 1)
	require.Empty(t, storetest.Step(t, s, row.ID).Open)
	storetest.Lose(t, s)
	done, err := s.Vote(t.Context(), waits.ID, true, storetest.OriginBy("saml:admin", "fine"))
	require.NoError(t, err)
	require.Equal(t, []any{clusters.ApprovalApproved, "fine"}, []any{done.State, done.DecidedWhy})
	require.Equal(t, []clusters.ApprovalVote{{Principal: "saml:admin", Approves: true, Reason: "fine", Source: "web", At: clock.Now()}}, done.Votes)
	row, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []any{false, time.Time{}}, []any{row.NeedsApproval, row.ApproveBy})
	require.Len(t, storetest.RiverJobs(t, s, "reconcile"), 1, "a look is taken")
	line, meta := storetest.Said(t, s, "approval_approved")
	require.Equal(t, []any{"saml:admin", "web", row.ID, "fine", waits.ID}, []any{line.Actor, line.Source, line.Cluster, meta["why"], meta["approval"]})
	require.Equal(t, lifecycle.Create, storetest.Step(t, s, row.ID).Open)
	_, err = s.Vote(t.Context(), waits.ID, false, storetest.OriginBy("saml:other", "too late"))
	require.ErrorIs(t, err, db.ErrConflict)
	_, err = s.Vote(t.Context(), "apr_none", true, storetest.OriginBy("saml:other", ""))
	require.ErrorIs(t, err, db.ErrNotFound)
}

func TestARefusalEndsTheCluster(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, waits := storetest.Awaits(t, s, 2)
	_, err := s.Vote(t.Context(), waits.ID, true, storetest.OriginBy("saml:one", ""))
	require.NoError(t, err)
	done, err := s.Vote(t.Context(), waits.ID, false, storetest.OriginBy("saml:admin", "too dear"))
	require.NoError(t, err)
	require.Equal(t, clusters.ApprovalRefused, done.State)
	row, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []any{lifecycle.Absent, "refused by saml:admin: too dear"}, []any{row.Desired, row.DesiredWhy.String()})
	require.Equal(t, lifecycle.Released, storetest.Settled(t, s, row.ID).Phase)
}

// One who signs in by SAML and takes on a role of the same Identity Center has two ids and is one person.
func TestAPersonIsOneByWhicheverId(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	const role = "aws:arn:aws:iam::123456789012:role/AWSReservedSSO_Admin_0123456789abcdef/"
	_, waits := storetest.Awaits(t, s, 2)
	_, err := s.Vote(t.Context(), waits.ID, true, storetest.OriginBy("saml:Will@acme.example", ""))
	require.NoError(t, err)
	_, err = s.Vote(t.Context(), waits.ID, true, storetest.OriginBy(role+"will@acme.example", ""))
	require.ErrorIs(t, err, db.ErrConflict)
	_, err = s.Vote(t.Context(), waits.ID, true, storetest.OriginBy(role+"ada@acme.example", ""))
	require.NoError(t, err)

	ready := storetest.Accept(t, s, storetest.Granted("other"))
	_, err = s.Pool().Exec(t.Context(), `INSERT INTO cluster_outputs VALUES ($1, '', '', '', 's3:x', '')`, ready.ID)
	require.NoError(t, err)
	asked, err := s.AskBreakGlass(t.Context(), ready.ID, clusters.ApproveKubeadmin, time.Hour, storetest.OriginBy("saml:maya@acme.example", "x"))
	require.NoError(t, err)
	_, err = s.Vote(t.Context(), asked.ID, true, storetest.OriginBy(role+"maya@acme.example", ""))
	require.ErrorIs(t, err, store.ErrOwnApproval)
	_, _, err = s.People.NewLink(t.Context(), people.Link{Kind: people.LinkKubeadmin, Principal: role + "maya@acme.example", Cluster: ready.ID}, time.Minute, storetest.OriginBy("x", ""))
	require.Error(t, err, "and what one id was granted the other does not have")
}

func TestTwoAreTwoAndNeitherIsWhoAsked(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	storetest.Link(t, s, "github:maya", "saml:maya@acme.example")
	storetest.Link(t, s, "slack:U1", "saml:one")
	row, waits := storetest.Awaits(t, s, 2)
	for _, self := range []string{"github:maya", "saml:maya@acme.example"} {
		_, err := s.Vote(t.Context(), waits.ID, true, storetest.OriginBy(self, ""))
		require.ErrorIs(t, err, store.ErrOwnApproval, self)
	}
	now, err := s.Vote(t.Context(), waits.ID, true, storetest.OriginBy("saml:one", ""))
	require.NoError(t, err)
	require.Equal(t, clusters.ApprovalPending, now.State)
	for _, again := range []string{"saml:one", "slack:U1"} {
		_, err = s.Vote(t.Context(), waits.ID, true, storetest.OriginBy(again, ""))
		require.ErrorIs(t, err, db.ErrConflict, again)
	}
	row, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.True(t, row.NeedsApproval)
	now, err = s.Vote(t.Context(), waits.ID, true, storetest.OriginBy("saml:two", ""))
	require.NoError(t, err)
	require.Equal(t, clusters.ApprovalApproved, now.State)
	require.Len(t, now.Votes, 2)
}

func TestAVoteBeforeAnAccountWasLinkedIsItsOwners(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	_, waits := storetest.Awaits(t, s, 2)
	_, err := s.Vote(t.Context(), waits.ID, true, storetest.OriginBy("github:paul", ""))
	require.NoError(t, err)
	storetest.Link(t, s, "github:paul", "saml:paul")
	_, err = s.Vote(t.Context(), waits.ID, true, storetest.OriginBy("saml:paul", "and once more"))
	require.ErrorContains(t, err, "saml:paul voted already")
	now, err := s.Approval(t.Context(), waits.ID)
	require.NoError(t, err)
	require.Equal(t, clusters.ApprovalPending, now.State)
}

func TestTheOneWhoAskedVotesOnlyWhereThePolicySaysSo(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	_, waits := storetest.Awaits(t, s, 1)
	_, err := s.Vote(t.Context(), waits.ID, true, storetest.OriginBy("github:maya", ""))
	require.ErrorIs(t, err, store.ErrOwnApproval)
	storetest.Link(t, s, "github:maya", "saml:maya")
	_, err = s.Vote(t.Context(), waits.ID, true, storetest.OriginBy("saml:maya", ""))
	require.ErrorIs(t, err, store.ErrOwnApproval, "by whichever of their accounts")
}

func TestTheOneWhoAskedVotesWhereThePolicySaysSo(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, waits := storetest.Awaits(t, s, 1, func(a *store.ApprovalAsk) { a.Self = true })
	require.True(t, waits.Self)
	moved, err := s.RebindApproval(t.Context(), row.ID, "def456", time.Now())
	require.NoError(t, err)
	require.True(t, moved)
	waits = storetest.Pending(t, s, row.ID)
	require.True(t, waits.Self, "a push changes the commit alone")
	now, err := s.Vote(t.Context(), waits.ID, true, storetest.OriginBy("github:maya", ""))
	require.NoError(t, err)
	require.Equal(t, clusters.ApprovalApproved, now.State)
	require.Equal(t, "approved by "+now.Votes[0].Principal, now.DecidedWhy, "where nobody gave a reason")
}

func TestVotesThatComeTogetherDecideOnce(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, waits := storetest.Awaits(t, s, 2)
	var took atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if _, err := s.Vote(t.Context(), waits.ID, i%4 != 3, storetest.OriginBy(fmt.Sprintf("saml:%d", i), "")); err == nil {
				took.Add(1)
			}
		})
	}
	wg.Wait()
	require.LessOrEqual(t, took.Load(), int32(2))
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action IN ('approval_approved', 'approval_refused')`))
	now, err := s.Approval(t.Context(), waits.ID)
	require.NoError(t, err)
	row, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, now.State == clusters.ApprovalApproved, row.Desired == lifecycle.Present && !row.NeedsApproval)
}

func TestNobodyApprovesTooLate(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, waits := storetest.Awaits(t, s, 1)
	clock.Pass(4 * time.Hour)
	_, err := s.Vote(t.Context(), waits.ID, true, storetest.OriginBy("saml:admin", ""))
	require.ErrorIs(t, err, db.ErrConflict)
	now, err := s.Approval(t.Context(), waits.ID)
	require.NoError(t, err)
	require.Equal(t, clusters.ApprovalExpired, now.State, "whether or not that was written down")
	page, _, err := s.Approvals(t.Context(), store.ApprovalFilter{State: clusters.ApprovalPending})
	require.NoError(t, err)
	require.Empty(t, page)
	open, err := s.OpenVotes(t.Context(), "saml:admin", nil, 100)
	require.NoError(t, err)
	require.Empty(t, open)
	page, _, err = s.Approvals(t.Context(), store.ApprovalFilter{State: clusters.ApprovalExpired})
	require.NoError(t, err)
	require.Len(t, page, 1)
	n, err := s.ExpireApprovals(t.Context())
	require.NoError(t, err)
	require.Zero(t, n, "the controller ends the cluster")
	require.Equal(t, lifecycle.Absent, storetest.Settled(t, s, row.ID).Desired)
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM approvals WHERE state = 'expired'`), "and what it waited for with it")
	storetest.Said(t, s, "approval_expired")
}

func TestAnApprovalOfAClusterThatGoesIsVoid(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, waits := storetest.Awaits(t, s, 1)
	_, err := s.Destroy(t.Context(), row.ID, storetest.Maya("never mind"))
	require.NoError(t, err)
	_, err = s.Vote(t.Context(), waits.ID, true, storetest.OriginBy("saml:admin", ""))
	require.ErrorContains(t, err, "it is void: the cluster is no longer wanted: never mind")
	now, err := s.Approval(t.Context(), waits.ID)
	require.NoError(t, err)
	require.Equal(t, []any{clusters.ApprovalVoid, "the cluster is no longer wanted: never mind"}, []any{now.State, now.DecidedWhy})
	storetest.Said(t, s, "approval_void")
}

func TestAPushMakesAnApprovalVoid(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, first := storetest.Awaits(t, s, 2)
	_, err := s.Vote(t.Context(), first.ID, true, storetest.OriginBy("saml:one", ""))
	require.NoError(t, err)
	moved, err := s.RebindApproval(t.Context(), row.ID, first.Head, time.Now())
	require.NoError(t, err)
	require.False(t, moved, "it is bound to this head")

	_, err = s.PullRequests.SeePullRequest(t.Context(), pullrequests.PullRequest{Installation: 5001, Repo: "acme/shop", Number: 41, Open: true, Author: "maya", Head: "def456", Base: "main"}, false)
	require.NoError(t, err)
	_, err = s.Vote(t.Context(), first.ID, true, storetest.OriginBy("saml:two", ""))
	require.ErrorIs(t, err, db.ErrStale, "the push is known, though nobody acted on it yet")
	moved, err = s.RebindApproval(t.Context(), row.ID, "def456", time.Now())
	require.NoError(t, err)
	require.True(t, moved)
	was, err := s.Approval(t.Context(), first.ID)
	require.NoError(t, err)
	require.Equal(t, clusters.ApprovalVoid, was.State)
	second := storetest.Pending(t, s, row.ID)
	require.Equal(t, []any{"def456", first.Asked, first.Why, first.ExpiresAt, 2}, []any{second.Head, second.Asked, second.Why, second.ExpiresAt, second.Needs})
	require.Empty(t, second.Votes, "its votes are void with it")
	for _, voter := range []string{"saml:one", "saml:two"} {
		second, err = s.Vote(t.Context(), second.ID, true, storetest.OriginBy(voter, ""))
		require.NoError(t, err)
	}
	require.Equal(t, clusters.ApprovalApproved, second.State)
	moved, err = s.RebindApproval(t.Context(), row.ID, "abc789", time.Now())
	require.NoError(t, err)
	require.False(t, moved, "nothing waits")
}

func TestWhatAnApprovalIsForNeverChanges(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	_, waits := storetest.Awaits(t, s, 1)
	for _, set := range []string{"asked = repeat('b', 64)", "head = 'x'", "needs = 2", "self_approval = true", "by_role = 'requester'", "requested_by = 'x'",
		"expires_at = expires_at + interval '1 hour'", "why = '{x}'", "asked_at = now()"} {
		storetest.Refuses(t, s, "never changes", `UPDATE approvals SET `+set)
	}
	_, err := s.Vote(t.Context(), waits.ID, false, storetest.OriginBy("saml:admin", "no"))
	require.NoError(t, err)
	storetest.Refuses(t, s, "which is final", `UPDATE approvals SET state = 'approved'`)
}

func TestApprovalsArePagedAndFiltered(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	var ids []string
	for i := range 3 {
		a := storetest.Granted(fmt.Sprintf("c%d", i))
		a.Row.Team = fmt.Sprintf("team-%d", i)
		a.Approval = &store.ApprovalAsk{Why: []string{"x"}, Needs: 2, By: "requester", For: time.Hour, Asked: strings.Repeat("a", 64)}
		ids = append(ids, storetest.Pending(t, s, storetest.Accept(t, s, a).ID).ID)
	}
	list := func(f store.ApprovalFilter) (got []string, next string) {
		page, next, err := s.Approvals(t.Context(), f)
		require.NoError(t, err)
		for _, a := range page {
			got = append(got, a.ID)
		}
		return got, next
	}
	got, next := list(store.ApprovalFilter{Limit: 2})
	require.Equal(t, []string{ids[2], ids[1]}, got)
	got, next = list(store.ApprovalFilter{Limit: 2, Cursor: next})
	require.Equal(t, []string{ids[0]}, got)
	require.Empty(t, next)
	got, _ = list(store.ApprovalFilter{Teams: []string{"team-1"}})
	require.Equal(t, []string{ids[1]}, got)
	got, _ = list(store.ApprovalFilter{Teams: []string{}, Principal: "github:maya"})
	require.Len(t, got, 3, "one's own are seen")
	got, _ = list(store.ApprovalFilter{Kind: clusters.ApproveKubeadmin})
	require.Empty(t, got)

	open := func(teams ...string) (got []string) {
		page, err := s.OpenVotes(t.Context(), "saml:admin", teams, 100)
		require.NoError(t, err)
		for _, a := range page {
			got = append(got, a.Team+" by "+a.ByRole)
		}
		return got
	}
	require.Equal(t, []string{"team-2 by requester", "team-1 by requester", "team-0 by requester"}, open())
	require.Equal(t, []string{"team-1 by requester"}, open("team-1", "team-9"))
	_, err := s.Vote(t.Context(), ids[1], true, storetest.OriginBy("saml:admin", ""))
	require.NoError(t, err)
	require.Empty(t, open("team-1"), "they have voted")
}

func TestThePasswordIsShownOnceAndByTwo(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	_, err := s.AskBreakGlass(t.Context(), row.ID, clusters.ApproveKubeadmin, time.Hour, storetest.Maya("console is down"))
	require.ErrorIs(t, err, db.ErrConflict, "there is none")
	storetest.Usable(t, s, row)
	link := people.Link{Kind: people.LinkKubeadmin, Principal: storetest.Maya("").Actor, Cluster: row.ID}
	waits, err := s.AskBreakGlass(t.Context(), row.ID, clusters.ApproveKubeadmin, time.Hour, storetest.Maya("console is down"))
	require.NoError(t, err)
	require.Equal(t, []any{clusters.ApproveKubeadmin, clusters.ApprovalPending, 1, "platform_admin", []string{"console is down"}},
		[]any{waits.Kind, waits.State, waits.Needs, waits.ByRole, waits.Why})
	again, err := s.AskBreakGlass(t.Context(), row.ID, clusters.ApproveKubeadmin, time.Hour, storetest.Maya("console is down"))
	require.NoError(t, err)
	require.Equal(t, waits.ID, again.ID)
	_, err = s.AskBreakGlass(t.Context(), row.ID, clusters.ApproveKubeadmin, time.Hour, storetest.OriginBy("saml:will", "me too"))
	require.ErrorIs(t, err, db.ErrConflict)
	_, _, err = s.People.NewLink(t.Context(), link, time.Hour, storetest.Maya(""))
	require.ErrorIs(t, err, db.ErrNotFound, "nobody approved")
	_, err = s.Vote(t.Context(), waits.ID, true, storetest.Maya(""))
	require.ErrorIs(t, err, store.ErrOwnApproval)
	_, err = s.Vote(t.Context(), waits.ID, true, storetest.OriginBy("saml:admin", "go ahead"))
	require.NoError(t, err)

	other := link
	other.Principal = "saml:admin"
	_, _, err = s.People.NewLink(t.Context(), other, time.Hour, storetest.OriginBy("saml:admin", ""))
	require.ErrorIs(t, err, db.ErrNotFound, "it was approved for maya")
	_, _, err = s.People.NewLink(t.Context(), link, time.Hour, storetest.Maya(""))
	require.NoError(t, err)
	used, err := s.Approval(t.Context(), waits.ID)
	require.NoError(t, err)
	require.Equal(t, clusters.ApprovalUsed, used.State)
	_, _, err = s.People.NewLink(t.Context(), link, time.Hour, storetest.Maya(""))
	require.ErrorIs(t, err, db.ErrNotFound, "once")

	waits, err = s.AskBreakGlass(t.Context(), row.ID, clusters.ApproveKubeadmin, time.Hour, storetest.Maya("again"))
	require.NoError(t, err)
	require.NotEqual(t, used.ID, waits.ID)
	clock.Pass(time.Hour)
	fresh, err := s.AskBreakGlass(t.Context(), row.ID, clusters.ApproveKubeadmin, time.Hour, storetest.OriginBy("saml:will", "mine"))
	require.NoError(t, err, "what is over is in nobody's way")
	require.NotEqual(t, waits.ID, fresh.ID)
	_, err = s.Vote(t.Context(), fresh.ID, false, storetest.OriginBy("saml:admin", "no"))
	require.NoError(t, err)
	row, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Present, row.Desired, "the cluster is not meant")
}
