package credentials_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/people"
)

func TestAKubeconfigIsALinkForTheOneWhoseAccountItIs(t *testing.T) {
	h := servicetest.New(t)
	h.Open()
	h.Comment(1, "will", "/ocp create aws-standard")
	servicetest.Ready(t, h.Store, h.Shelf, h.Only())
	h.Comment(2, "maya", "/ocp kubeconfig")
	require.Contains(t, h.LastReply(), "sign in to link the GitHub account `maya` to you and get your own kubeconfig of")
	maya := policy.Principal{ID: "saml:maya@acme.example", Name: "Maya", Seats: []policy.Seat{{Role: policy.Requester, Team: "platform"}}, Proof: &policy.Claims{
		Source: profiles.SourceSAML, Subject: "maya@acme.example", Name: "Maya", Values: map[string][]string{"groups": {"ocpctl-team-platform"}},
	}}
	got, err := h.Service.Redeem(t.Context(), maya, handleIn(h.LastReply()), app.Origin{Source: policy.SourceWeb})
	require.NoError(t, err)
	require.Equal(t, people.LinkKubeconfig, got.Asked)
	h.Comment(3, "maya", "/ocp link "+got.Code.Reveal())
	said := h.LastReply()
	require.Contains(t, said, "is now linked to you")
	require.Contains(t, said, "Here is what you asked for, your own kubeconfig")
	handle := handleIn(said)
	_, err = h.Service.Redeem(t.Context(), policy.As("saml:rob", "Rob", policy.PlatformAdmin), handle, app.Origin{Source: policy.SourceWeb})
	require.Equal(t, app.NotFound, app.KindOf(err), "it is hers, whoever reads it")
	nobody := maya
	nobody.Seats = nil
	_, err = h.Service.Redeem(t.Context(), nobody, handle, app.Origin{Source: policy.SourceWeb})
	require.Equal(t, app.Denied, app.KindOf(err), "and gives what she may have when she uses it")

	h.Comment(4, "maya", "/ocp kubeconfig")
	said = h.LastReply()
	require.NotContains(t, said, "clusters:", "never the thing itself")
	handle = handleIn(said)
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

// handleIn is the secret part of the link in an answer.
func handleIn(answer string) string {
	_, rest, _ := strings.Cut(answer, "/links/")
	return regexp.MustCompile(`^[A-Za-z0-9_-]+`).FindString(rest)
}
