package app_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// pushed is a new head on pull request 41.
func (h *fixture) pushed(head string) string {
	h.Helper()
	e := h.Event("synchronize", "maya", true, label)
	e.PR.Head = strings.Repeat(head, 40)
	return h.Sync(e)
}

func TestAPushRefreshesTheAddonsOfAReadyClusterOncePerHead(t *testing.T) {
	h := newFixture(t)
	h.File("synchronize: refresh\naddons: [cert-manager, pr-namespace]\n")
	h.Labeled("will", label)
	require.Equal(t, []string{"cert-manager", "pr-namespace"}, h.Only().Addons)
	require.Contains(t, h.pushed("a"), "Add-ons can be refreshed only while the cluster is READY")
	require.Zero(t, h.Only().AddonsWanted, "its install brings them")
	h.Usable()
	require.Contains(t, h.pushed("b"), "its add-ons are applied again: bbbbbbb was pushed, and the repository's file says refresh (job job_")
	h.pushed("b")
	row := h.Only()
	require.Equal(t, []any{1, 0, lifecycle.Ready, lifecycle.Present}, []any{row.AddonsWanted, row.AddonsDone, row.Status, row.Wish})
	h.pushed("c")
	require.Equal(t, 2, h.Only().AddonsWanted)
	require.Equal(t, []string{"github:maya bbbbbbb was pushed, and the repository's file says refresh"},
		h.Query(`SELECT actor || ' ' || (metadata->>'why') FROM audit_events WHERE action = 'refresh_asked' ORDER BY id LIMIT 1`))

	h.Destroy(row)
	require.NotContains(t, h.pushed("d"), "gets its add-ons")
}

func TestACommentRefreshesOnceHoweverOftenItIsRead(t *testing.T) {
	h := newFixture(t)
	h.File("addons: [pr-namespace]\n")
	h.Labeled("will", label)
	h.Comment(1, "will", "/ocp refresh")
	require.Contains(t, h.Replies()[len(h.Replies())-1], "can be refreshed only while the cluster is READY")
	h.Usable()
	for range 2 {
		h.Comment(2, "will", "/ocp refresh")
	}
	require.Equal(t, 1, h.Only().AddonsWanted)
	require.Contains(t, h.Replies()[len(h.Replies())-1], "are being applied again: pr-namespace (job `job_")
	h.Comment(3, "rita", "/ocp refresh")
	require.Equal(t, 1, h.Only().AddonsWanted, "who may only read may not")
}

func TestWhatAClusterWasAcceptedWithIsWhatItKeeps(t *testing.T) {
	h := newFixture(t)
	h.File("addons: [pr-namespace]\n")
	h.Labeled("will", label)
	kept := func() []string {
		return h.Query(`SELECT name || ' ' || manifests FROM cluster_addons ORDER BY position`)
	}
	before := kept()
	require.Len(t, before, 1)
	require.Contains(t, before[0], `pr-namespace {"apiVersion":"v1","items":[{`)
	h.Catalogue.Addons = nil
	h.File("addons: [cert-manager]\n")
	h.Usable()
	row, _, err := h.Service.Refresh(t.Context(), policy.As("github:maya", "maya", policy.Requester, "platform"), h.Only().ID, app.Deed{Door: policy.DoorAPI})
	require.NoError(t, err)
	require.Equal(t, []string{"pr-namespace"}, row.Addons)
	require.Equal(t, before, kept())
}

func TestAnAddonThatIsNotAllowedRefusesTheWish(t *testing.T) {
	h := newFixture(t)
	h.File("addons: [postgres]\n")
	h.Labeled("will", label)
	require.Empty(t, h.Clusters())
	require.Contains(t, h.Replies()[0], `There is no add-on "postgres", which .github/ocpctl.yaml of acme/shop picks.`)
	require.Contains(t, h.Replies()[0], "cert-manager, pr-namespace")
}

func TestARefreshTakesARoleAndAReadyClusterWithAddons(t *testing.T) {
	h := newFixture(t)
	h.File("addons: [pr-namespace]\n")
	h.Labeled("will", label)
	id := h.Only().ID
	maya, deed := policy.As("github:maya", "maya", policy.Requester, "platform"), app.Deed{Door: policy.DoorAPI}
	_, _, err := h.Service.Refresh(t.Context(), maya, id, deed)
	require.ErrorContains(t, err, "Add-ons can be refreshed only while the cluster is READY")
	h.Usable()
	_, _, err = h.Service.Refresh(t.Context(), policy.As("github:ada", "ada", policy.Auditor, "platform"), id, deed)
	require.Equal(t, app.Denied, app.KindOf(err))
	require.ErrorContains(t, err, "To refresh its add-ons you need the role")
	row, job, err := h.Service.Refresh(t.Context(), maya, id, deed)
	require.NoError(t, err)
	again, same, err := h.Service.Refresh(t.Context(), maya, id, deed)
	require.NoError(t, err)
	require.Equal(t, []any{job, 1, 2}, []any{same, row.AddonsWanted, again.AddonsWanted})

	_, err = h.Store.Pool().Exec(t.Context(), `INSERT INTO conditions VALUES ($1, 'AddonApplied/pr-namespace', 'False', 'NotReady', 'it never came', now())`, id)
	require.NoError(t, err)
	why, err := h.Service.Explain(t.Context(), maya, id)
	require.NoError(t, err)
	require.Contains(t, why.Why, "Its add-ons are being refreshed: pr-namespace.")
	require.Contains(t, why.Why, "Its add-on pr-namespace is missing (NotReady): it never came")
	require.Contains(t, why.Next, "Refresh its add-ons: ocpctl refresh "+row.Name)
}
