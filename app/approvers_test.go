package app_test

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

func TestWhoAskedApprovesNothingUnlessThePolicySaysSo(t *testing.T) {
	for _, by := range []string{"requester", "platform_admin"} {
		for _, self := range []bool{false, true} {
			h := servicetest.With(t, servicetest.Careful(t, profiles.ApprovalTerms{Count: 1, By: by, Self: self}))
			h.Labeled("maya", servicetest.Label)
			require.True(t, h.Only().NeedsApproval)
			maya := policy.Principal{ID: servicetest.OnGitHub("maya"), Name: "maya", Seats: []policy.Seat{{Role: policy.PlatformAdmin, Team: policy.EveryTeam}}}
			page, _, err := h.Service.Approvals(t.Context(), maya, store.ApprovalFilter{State: clusters.ApprovalPending})
			require.NoError(t, err)
			require.Equal(t, self, page[0].MayVote, "the pages offer it")
			requireVotes(t, h, maya, self)
			requireVotes(t, h, policy.As("saml:boss", "Boss", policy.PlatformAdmin), true)
			requireVotes(t, h, policy.As("saml:rob", "Rob", policy.Requester, "payments"), false)
			requireVotes(t, h, policy.As("saml:ada", "Ada", policy.Auditor), false)

			h.Comment(1, "maya", "/ocp approve")
			require.Equal(t, !self, h.Only().NeedsApproval)
			if self {
				continue
			}
			require.Contains(t, h.LastReply(), "You requested this yourself, so somebody else has to approve it.")
			h.GitHub.Permissions["paul"] = "write"
			h.Comment(2, "paul", "/ocp approve")
			require.Equal(t, by == "platform_admin", h.Only().NeedsApproval, "the other has to have the role")
		}
	}
}

// requireVotes checks whether the number that every page shows somebody says that an approval waits for them.
func requireVotes(t *testing.T, h *servicetest.Fixture, p policy.Principal, want bool) {
	t.Helper()
	n, err := h.Service.CountVotes(t.Context(), p)
	require.NoError(t, err)
	require.Equal(t, want, n == 1, "%s has %d", p.Name, n)
}

// A password of a cluster that holds the control plane's own keys is an admin's of the whole installation to grant.
func TestATeamsAdminGrantsNoBreakGlassOnAClusterTheyMayNotOpen(t *testing.T) {
	mint, err := fs.ReadFile(profiles.EmbeddedFiles(), "profiles/aws-minimal-mint.yaml")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		profile, more string // more: of the minting profile's file
		mayGrant      bool
	}{
		"minted":                      {"aws-minimal-mint", "", false},
		"minted, and the profile may": {"aws-minimal-mint", "teamBreakGlass: true\n", true},
		"with roles of its own":       {servicetest.Profile, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			h := servicetest.With(t, servicetest.Catalogue(t, map[string]string{"profiles/aws-minimal-mint.yaml": string(mint) + c.more}))
			boss, chief := policy.As("saml:boss", "Boss", policy.PlatformAdmin), policy.As("saml:chief", "Chief", policy.PlatformAdmin)
			lead := policy.As("saml:lead", "Lead", policy.PlatformAdmin, "platform")
			made, err := h.Service.Create(t.Context(), boss, app.CreateRequest{
				Source: policy.SourceAPI, Name: "shop", Profile: c.profile, Team: "platform", CostCenter: "sandbox", Environment: "test",
			})
			require.NoError(t, err)
			row := made.Row
			require.NotEmpty(t, row.ID, made.Verdict.Text())
			servicetest.Ready(t, h.Store, h.Shelf, row)
			asked, err := h.Service.BreakGlass(t.Context(), boss, row.ID, credentials.BreakGlassKubeconfig, app.Origin{Source: policy.SourceAPI, Why: "the oauth pods are down"})
			require.NoError(t, err)

			seen, err := h.Service.Approval(t.Context(), lead, asked.ID)
			require.NoError(t, err)
			require.Equal(t, c.mayGrant, seen.MayVote)
			requireVotes(t, h, lead, c.mayGrant)
			requireVotes(t, h, chief, true)
			requireVotes(t, h, boss, false)
			_, err = h.Service.Vote(t.Context(), lead, asked.ID, true, app.Origin{Source: policy.SourceAPI})
			if c.mayGrant {
				require.NoError(t, err)
				return
			}
			require.Equal(t, app.Denied, app.KindOf(err))
			require.ErrorContains(t, err, "Only a platform admin of every team can approve this")
			require.Contains(t, seen.WhyNot, "Only a platform admin of every team can approve this")
			_, err = h.Service.Vote(t.Context(), boss, asked.ID, true, app.Origin{Source: policy.SourceAPI})
			require.Equal(t, app.Denied, app.KindOf(err), "who asked never")
			_, err = h.Service.Vote(t.Context(), chief, asked.ID, true, app.Origin{Source: policy.SourceAPI})
			require.NoError(t, err)
			requireVotes(t, h, chief, false)
		})
	}
}
