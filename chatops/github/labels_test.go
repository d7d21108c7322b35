package github

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	standin "github.com/ocpctl/ocpctl/devstack/github"
)

func TestALabelIsPutAndTakenAsOftenAsAsked(t *testing.T) {
	server, c := start(t)
	for range 2 {
		require.NoError(t, c.AddLabel(t.Context(), standin.Installation, standin.Repo, 41, "ocp/aws-standard"))
	}
	pr, _ := server.PullRequest(41)
	require.Equal(t, []string{"ocp/aws-standard"}, pr.Labels)
	for range 2 {
		require.NoError(t, c.RemoveLabel(t.Context(), standin.Installation, standin.Repo, 41, "ocp/aws-standard"))
	}
	pr, _ = server.PullRequest(41)
	require.Empty(t, pr.Labels)

	require.NoError(t, c.RemoveLabel(t.Context(), standin.Installation, standin.Repo, 99, "ocp/aws-standard"), "no pull request has no label")
	require.ErrorIs(t, c.AddLabel(t.Context(), standin.Installation, standin.Repo, 99, "ocp/aws-standard"), ErrNotFound)
}

func TestALabelTravelsEscaped(t *testing.T) {
	a := answering(t, "", routes{"/": saying(200, []any{})})
	c := speaking(t, a.URL, nil)
	require.NoError(t, c.RemoveLabel(t.Context(), 7, shop, 41, "ocp/a b?c#d%2F../.."))
	require.Equal(t, 1, a.count("DELETE /repos/acme/shop/issues/41/labels/ocp%2Fa%20b%3Fc%23d%252F..%2F.."))
}

var ours = []chatops.Label{
	{Name: "ocp/aws-standard", Color: "1d76db", Description: "a cluster"},
	{Name: "ocp/keep", Color: "fbca04", Description: "held"},
	{Name: "ocp-ttl/8", Color: "c5def5", Description: "8 hours"},
}

func TestLabelsAreMadeAndMendedAndOthersAreLeftAlone(t *testing.T) {
	server, c := start(t)
	before := server.Labels()
	made, changed, err := c.EnsureLabels(t.Context(), standin.Installation, standin.Repo, ours)
	require.NoError(t, err)
	require.Equal(t, []string{"ocp/keep", "ocp-ttl/8"}, made)
	require.Equal(t, []string{"ocp/aws-standard"}, changed, "its words were others")

	wrote := len(server.Calls())
	made, changed, err = c.EnsureLabels(t.Context(), standin.Installation, standin.Repo, ours)
	require.NoError(t, err)
	require.Empty(t, made)
	require.Empty(t, changed)
	for _, call := range server.Calls()[wrote:] {
		require.Equal(t, http.MethodGet, call.Method, "what is right is not written")
	}

	have := map[string]standin.Label{}
	for _, l := range server.Labels() {
		have[l.Name] = l
	}
	for _, l := range ours {
		require.Equal(t, l, chatops.Label{Name: have[l.Name].Name, Color: have[l.Name].Color, Description: have[l.Name].Description})
		delete(have, l.Name)
	}
	for _, l := range before {
		if l.Name != "ocp/aws-standard" {
			require.Equal(t, l, have[l.Name])
		}
	}
	require.Len(t, have, len(before)-1)
}

func TestALabelInAnotherCaseIsTheSame(t *testing.T) {
	server, c := start(t)
	shout := []chatops.Label{{Name: "OCP/Keep", Color: "FBCA04", Description: "held"}}
	made, _, err := c.EnsureLabels(t.Context(), standin.Installation, standin.Repo, shout)
	require.NoError(t, err)
	require.Equal(t, []string{"OCP/Keep"}, made)
	made, changed, err := c.EnsureLabels(t.Context(), standin.Installation, standin.Repo, ours[1:2])
	require.NoError(t, err)
	require.Empty(t, made)
	require.Empty(t, changed)
	require.True(t, slices.ContainsFunc(server.Labels(), func(l standin.Label) bool { return l.Name == "OCP/Keep" }))
}

func TestALabelThatSomebodyMadeFirstIsThere(t *testing.T) {
	a := answering(t, "", routes{
		"GET /repos/acme/shop/labels": saying(200, []any{}),
		"POST /repos/acme/shop/labels": saying(422, map[string]any{
			"message": "Validation Failed", "errors": []any{map[string]string{"resource": "Label", "code": "already_exists", "field": "name"}},
		}),
	})
	made, _, err := speaking(t, a.URL, nil).EnsureLabels(t.Context(), 7, shop, ours)
	require.NoError(t, err)
	require.Empty(t, made)
	require.Equal(t, len(ours), a.count("POST /repos"))
}

func TestALabelThatGitHubRefusesIsNamed(t *testing.T) {
	_, c := start(t)
	made, _, err := c.EnsureLabels(t.Context(), standin.Installation, standin.Repo, []chatops.Label{ours[1], {Name: "ocp/odd", Color: "blue"}})
	require.ErrorIs(t, err, ErrRefused)
	require.ErrorContains(t, err, `label "ocp/odd"`)
	require.Equal(t, []string{"ocp/keep"}, made)
}

func TestManyLabelsAreMadeInSeveralGoes(t *testing.T) {
	server, c := start(t)
	at := newClock()
	c.cfg.Pace, c.cfg.Patience, c.cfg.Now = time.Hour, time.Second, at.now
	for range 2 {
		_, _, err := c.EnsureLabels(t.Context(), standin.Installation, standin.Repo, ours)
		require.Equal(t, time.Hour, waitOf(t, err))
		at.at = at.at.Add(time.Hour)
	}
	_, _, err := c.EnsureLabels(t.Context(), standin.Installation, standin.Repo, ours)
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(server.Labels(), func(l standin.Label) bool { return l.Name == "ocp-ttl/8" }))
}
