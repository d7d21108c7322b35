package credentials_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
)

func TestAKubeconfigIsALinkForTheOneWhoseAccountItIs(t *testing.T) {
	h := servicetest.New(t)
	h.Open()
	h.Comment(1, "will", "/ocp create aws-standard")
	servicetest.Ready(t, h.Store, h.Shelf, h.Only())
	h.Comment(2, "maya", "/ocp kubeconfig")
	require.Contains(t, h.LastReply(), "/ocp link")
	link, err := h.Service.AccountLink(t.Context(), servicetest.OnGitHub("maya"), "7", clusters.Origin{Actor: servicetest.OnGitHub("maya"), Source: "pr_comment"})
	require.NoError(t, err)
	_, handle, _ := strings.Cut(link.URL.Reveal(), "/links/")
	maya := policy.Principal{ID: "saml:maya@acme.example", Name: "Maya", Seats: []policy.Seat{{Role: policy.Requester, Team: "platform"}}, Proof: &policy.Claims{
		Source: profiles.SourceSAML, Subject: "maya@acme.example", Name: "Maya", Values: map[string][]string{"groups": {"ocpctl-team-platform"}},
	}}
	got, err := h.Service.Redeem(t.Context(), maya, handle, app.Origin{Source: policy.SourceWeb})
	require.NoError(t, err)
	require.NoError(t, h.Service.CompleteLink(t.Context(), servicetest.OnGitHub("maya"), got.Code.Reveal(), clusters.Origin{Actor: servicetest.OnGitHub("maya")}))

	h.Comment(3, "maya", "/ocp kubeconfig")
	said := h.LastReply()
	require.NotContains(t, said, "clusters:", "never the thing itself")
	_, rest, _ := strings.Cut(said, "/links/")
	handle, _, _ = strings.Cut(rest, " ")
	_, err = h.Service.Redeem(t.Context(), maya, handle, app.Origin{Source: policy.SourceWeb})
	require.Equal(t, app.Busy, app.KindOf(err), "a runner makes it, and the link is kept for it")
	servicetest.Mint(t, h.Store, h.Shelf)
	_, err = h.Service.Redeem(t.Context(), policy.As("saml:rob", "Rob", policy.PlatformAdmin), handle, app.Origin{Source: policy.SourceWeb})
	require.Equal(t, app.NotFound, app.KindOf(err), "it is hers, whoever reads it")
	got, err = h.Service.Redeem(t.Context(), maya, handle, app.Origin{Source: policy.SourceWeb})
	require.NoError(t, err)
	require.NotEmpty(t, got.Kubeconfig)
	_, err = h.Service.Redeem(t.Context(), maya, handle, app.Origin{Source: policy.SourceWeb})
	require.Equal(t, app.NotFound, app.KindOf(err), "once")
}
