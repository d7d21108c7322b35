package app_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// usable makes the only cluster one that can be used, without its install.
func (h *fixture) usable() store.Row {
	h.Helper()
	id := h.only().ID
	_, err := h.store.Pool().Exec(h.Context(), `UPDATE jobs SET status = 'SUCCEEDED', started_at = created_at, ended_at = created_at WHERE cluster_id = $1`, id)
	require.NoError(h, err)
	_, err = h.store.Pool().Exec(h.Context(), `UPDATE clusters SET status = 'READY', phase = 'ready', ready_at = created_at WHERE id = $1`, id)
	require.NoError(h, err)
	return h.only()
}

// pushed is a new head on pull request 41.
func (h *fixture) pushed(head string) string {
	h.Helper()
	e := h.event("synchronize", "maya", true, label)
	e.PR.Head = strings.Repeat(head, 40)
	return h.sync(e)
}

func TestAPushRefreshesTheAddonsOfAReadyClusterOncePerHead(t *testing.T) {
	h := newFixture(t)
	h.file("synchronize: refresh\naddons: [cert-manager, pr-namespace]\n")
	h.labeled("will", label)
	require.Equal(t, []string{"cert-manager", "pr-namespace"}, h.only().Addons)
	require.Contains(t, h.pushed("a"), "Add-ons can be refreshed only while the cluster is READY")
	require.Zero(t, h.only().AddonsWanted, "its install brings them")
	h.usable()
	require.Contains(t, h.pushed("b"), "its add-ons are applied again: bbbbbbb was pushed, and the repository's file says refresh (job job_")
	h.pushed("b")
	row := h.only()
	require.Equal(t, []any{1, 0, lifecycle.Ready, lifecycle.Present}, []any{row.AddonsWanted, row.AddonsDone, row.Status, row.Wish})
	h.pushed("c")
	require.Equal(t, 2, h.only().AddonsWanted)
	require.Equal(t, []string{"github:maya bbbbbbb was pushed, and the repository's file says refresh"},
		h.query(`SELECT actor || ' ' || (metadata->>'why') FROM audit_events WHERE action = 'refresh_asked' ORDER BY id LIMIT 1`))

	h.destroyed(row)
	require.NotContains(t, h.pushed("d"), "gets its add-ons")
}

func TestACommentRefreshesOnceHoweverOftenItIsRead(t *testing.T) {
	h := newFixture(t)
	h.file("addons: [pr-namespace]\n")
	h.labeled("will", label)
	h.comment(1, "will", "/ocp refresh")
	require.Contains(t, h.replies()[len(h.replies())-1], "can be refreshed only while the cluster is READY")
	h.usable()
	for range 2 {
		h.comment(2, "will", "/ocp refresh")
	}
	require.Equal(t, 1, h.only().AddonsWanted)
	require.Contains(t, h.replies()[len(h.replies())-1], "are being applied again: pr-namespace (job `job_")
	h.comment(3, "rita", "/ocp refresh")
	require.Equal(t, 1, h.only().AddonsWanted, "who may only read may not")
}

func TestWhatAClusterWasAcceptedWithIsWhatItKeeps(t *testing.T) {
	h := newFixture(t)
	h.file("addons: [pr-namespace]\n")
	h.labeled("will", label)
	kept := func() []string {
		return h.query(`SELECT name || ' ' || manifests FROM cluster_addons ORDER BY position`)
	}
	before := kept()
	require.Len(t, before, 1)
	require.Contains(t, before[0], `pr-namespace {"apiVersion":"v1","items":[{`)
	h.catalogue.Addons = nil
	h.file("addons: [cert-manager]\n")
	h.usable()
	row, _, err := h.service.Refresh(t.Context(), policy.As("github:maya", "maya", policy.Requester, "platform"), h.only().ID, app.Deed{Door: policy.DoorAPI})
	require.NoError(t, err)
	require.Equal(t, []string{"pr-namespace"}, row.Addons)
	require.Equal(t, before, kept())
}

func TestAnAddonThatIsNotAllowedRefusesTheWish(t *testing.T) {
	h := newFixture(t)
	h.file("addons: [postgres]\n")
	h.labeled("will", label)
	require.Empty(t, h.clusters())
	require.Contains(t, h.replies()[0], `There is no add-on "postgres", which .github/ocpctl.yaml of acme/shop picks.`)
	require.Contains(t, h.replies()[0], "cert-manager, pr-namespace")
}

func TestARefreshTakesARoleAndAReadyClusterWithAddons(t *testing.T) {
	h := newFixture(t)
	h.file("addons: [pr-namespace]\n")
	h.labeled("will", label)
	id := h.only().ID
	maya, deed := policy.As("github:maya", "maya", policy.Requester, "platform"), app.Deed{Door: policy.DoorAPI}
	_, _, err := h.service.Refresh(t.Context(), maya, id, deed)
	require.ErrorContains(t, err, "Add-ons can be refreshed only while the cluster is READY")
	h.usable()
	_, _, err = h.service.Refresh(t.Context(), policy.As("github:ada", "ada", policy.Auditor, "platform"), id, deed)
	require.Equal(t, app.Denied, app.KindOf(err))
	require.ErrorContains(t, err, "To refresh its add-ons you need the role")
	row, job, err := h.service.Refresh(t.Context(), maya, id, deed)
	require.NoError(t, err)
	again, same, err := h.service.Refresh(t.Context(), maya, id, deed)
	require.NoError(t, err)
	require.Equal(t, []any{job, 1, 2}, []any{same, row.AddonsWanted, again.AddonsWanted})

	_, err = h.store.Pool().Exec(t.Context(), `INSERT INTO conditions VALUES ($1, 'AddonApplied/pr-namespace', 'False', 'NotReady', 'it never came', now())`, id)
	require.NoError(t, err)
	why, err := h.service.Explain(t.Context(), maya, id)
	require.NoError(t, err)
	require.Contains(t, why.Why, "Its add-ons are being refreshed: pr-namespace.")
	require.Contains(t, why.Why, "Its add-on pr-namespace is missing (NotReady): it never came")
	require.Contains(t, why.Next, "Refresh its add-ons: ocpctl refresh "+row.Name)
}
