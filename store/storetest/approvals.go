package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/people"
)

// OriginBy is the origin of what somebody does on the pages.
func OriginBy(actor, why string) clusters.Origin {
	return clusters.Origin{Actor: actor, Source: "web", Why: why}
}

// Awaits is a cluster of a pull request that waits for so many votes, and what waits.
func Awaits(t testing.TB, s *store.Store, needs int, change ...func(*store.ApprovalAsk)) (clusters.Row, clusters.Approval) {
	t.Helper()
	a := FromPR(Granted("shop"), 41)
	a.Approval = &store.ApprovalAsk{
		Why: []string{"it costs more than $50 a day"}, Needs: needs, By: "platform_admin", For: 4 * time.Hour, Asked: strings.Repeat("a", 64), Head: a.Row.PR.Head,
	}
	for _, one := range change {
		one(a.Approval)
	}
	row := Accept(t, s, a)
	require.Equal(t, lifecycle.AwaitingApproval, row.Phase)
	return row, Pending(t, s, row.ID)
}

func Pending(t testing.TB, s *store.Store, cluster string) clusters.Approval {
	t.Helper()
	page, _, err := s.Approvals(t.Context(), store.ApprovalFilter{State: clusters.ApprovalPending, Cluster: cluster})
	require.NoError(t, err)
	require.Len(t, page, 1)
	return page[0]
}

// Link makes an account a principal's.
func Link(t testing.TB, s *store.Store, account, principal string) {
	t.Helper()
	handle, _, err := s.People.NewLink(t.Context(), people.Link{Kind: people.LinkOfAccount, Account: account}, time.Hour, OriginBy(account, ""))
	require.NoError(t, err)
	used, err := s.People.UseLink(t.Context(), handle, people.Owner{Principal: principal, Name: principal}, "web")
	require.NoError(t, err)
	require.NoError(t, s.People.CompleteLink(t.Context(), account, used.Code, OriginBy(account, "")))
}
