package pulls_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/lifecycle"
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
	require.Zero(t, h.Only().Work[lifecycle.Configure].Wanted, "its install brings them")
	h.Usable()
	require.Contains(t, h.pushed("b"), "its add-ons are applied again: bbbbbbb was pushed, and the repository's file says refresh (job job_")
	h.pushed("b")
	row := h.Only()
	require.Equal(t, []any{1, 0, lifecycle.Ready, lifecycle.Present}, []any{row.Work[lifecycle.Configure].Wanted, row.Work[lifecycle.Configure].Done, row.Status, row.Desired})
	h.pushed("c")
	require.Equal(t, 2, h.Only().Work[lifecycle.Configure].Wanted)
	require.Equal(t, []string{servicetest.OnGitHub("maya") + " bbbbbbb was pushed, and the repository's file says refresh"},
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
	require.Equal(t, 1, h.Only().Work[lifecycle.Configure].Wanted)
	require.Contains(t, h.Replies()[len(h.Replies())-1], "are being applied again: pr-namespace (job `job_")
	h.Comment(3, "rita", "/ocp refresh")
	require.Equal(t, 1, h.Only().Work[lifecycle.Configure].Wanted, "who may only read may not")
}

func TestAnAddonThatIsNotAllowedRefusesTheRequest(t *testing.T) {
	h := newFixture(t)
	h.File("addons: [postgres]\n")
	h.Labeled("will", label)
	require.Empty(t, h.Clusters())
	require.Contains(t, h.Replies()[0], `There is no add-on "postgres", which .github/ocpctl.yaml of acme/shop picks.`)
	require.Contains(t, h.Replies()[0], "cert-manager, pr-namespace")
}
