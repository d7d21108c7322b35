package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/internal/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
)

func (h *fixture) tried(p policy.Principal, name, profile string) app.Preview {
	h.Helper()
	preview, err := h.service.DryRun(h.Context(), p, app.Asked{Door: policy.DoorAPI, Request: app.CreateRequest{
		Name: name, Profile: profile, Owner: "maya", Team: "platform", CostCenter: "sandbox", Environment: "test",
	}})
	require.NoError(h, err)
	return preview
}

// kept counts what asking for a cluster leaves behind.
func (h *fixture) kept() []string {
	h.Helper()
	return h.query(`SELECT count(*)::text FROM clusters UNION ALL SELECT count(*)::text FROM cluster_requests UNION ALL SELECT count(*)::text FROM jobs
		UNION ALL SELECT count(*)::text FROM audit_events UNION ALL SELECT count(*)::text FROM approvals UNION ALL SELECT count(*)::text FROM turns
		UNION ALL SELECT count(*)::text FROM river_job`)
}

func TestADryRunSaysWhatTheRealCallWouldSay(t *testing.T) {
	h := fixtureWith(t, servicetest.Catalogue(t, map[string]string{
		"policies/big.yaml": "name: big\nrules:\n  - {name: one, when: \"request.name.startsWith('big')\", effect: requireApproval, message: Big ones need an approval.}\n",
	}))
	maya := seatedIn("oidc:https://issuer.example.com#maya", "platform")
	require.Zero(t, h.tried(maya, "demo", profile).Place)
	require.False(t, h.tried(maya, "demo", profile).StartsAt.IsZero())

	h.named(maya, "demo")
	before := h.kept()
	taken := h.tried(maya, "demo", profile)
	require.False(t, taken.Allowed)
	require.Contains(t, taken.Words(), "The name demo is taken on labs.example.com.")
	require.Empty(t, taken.Grant.Name, "nothing is granted")

	asks := h.tried(maya, "big-one", profile)
	require.True(t, asks.Allowed)
	require.NotNil(t, asks.Approval)
	require.True(t, asks.StartsAt.IsZero(), "a person decides when")
	require.Equal(t, before, h.kept())

	h.named(maya, "two")
	h.named(maya, "three")
	before = h.kept()
	full := h.tried(maya, "four", "aws-standard")
	require.False(t, full.Allowed)
	require.Contains(t, full.Words(), "3 of the 3 clusters being created")
	waits := h.tried(maya, "four", profile) // its requests wait where a quota is full
	require.True(t, waits.Allowed)
	require.Equal(t, 1, waits.Place)
	require.False(t, waits.StartsAt.IsZero(), "when one of them ends")
	require.Equal(t, before, h.kept())
}

func TestACommentCanBeADryRun(t *testing.T) {
	h := opened(t)
	said := func(id int64, line string) string {
		h.comment(id, "will", line)
		replies := h.replies()
		return replies[len(replies)-1]
	}
	before := h.kept()
	words := said(1, "/ocp create aws-standard --dry-run --ttl 8h")
	require.Contains(t, words, "this was a dry run: nothing was created")
	require.Contains(t, words, "profile `aws-standard`")
	require.Contains(t, words, "for 8h")
	require.Contains(t, said(2, "/ocp create --dry-run --region mars-1"), "mars-1")
	require.Contains(t, said(3, "/ocp create --dry-run=yes"), "`--dry-run` takes no value")
	after := h.kept()
	require.Equal(t, before[:6], after[:6])
	require.Empty(t, h.clusters())

	h.comment(4, "will", "/ocp create --name demo")
	require.Equal(t, "demo", h.only().Name)
	require.Contains(t, said(5, "/ocp create aws-standard --name demo --dry-run"), "The name demo is taken")
	require.Contains(t, said(6, "/ocp create --dry-run"), "there is one already")
	require.Len(t, h.clusters(), 1)
}
