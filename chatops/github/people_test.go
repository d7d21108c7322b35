package github

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/github"
)

func TestATeamsMembersAreThoseWhoAccepted(t *testing.T) {
	server, c := start(t)
	for login, want := range map[string]bool{"maya": true, "will": false, "../../app": false, "": false} {
		got, err := c.TeamMember(t.Context(), standin.Installation, standin.Org, standin.Team, login)
		require.NoError(t, err, login)
		require.Equal(t, want, got, login)
	}
	got, err := c.TeamMember(t.Context(), standin.Installation, standin.Org, "nobody-knows-it", "maya")
	require.NoError(t, err)
	require.False(t, got)
	_, err = c.TeamMember(t.Context(), standin.Installation, standin.Org, "a/b", "maya")
	require.ErrorContains(t, err, "want org/team-slug")

	server.FailNext(1, standin.APIFault{Status: 403, Message: "Resource not accessible by integration"})
	_, err = c.TeamMember(t.Context(), standin.Installation, standin.Org, standin.Team, "maya")
	require.ErrorIs(t, err, ErrRefused, "not known is not no")

	a := answering(t, "", routes{"GET /orgs/acme/teams/platform/memberships/maya": saying(200, map[string]string{"state": "pending", "role": "member"})})
	got, err = speaking(t, a.URL, nil).TeamMember(t.Context(), 7, "acme", "platform", "maya")
	require.NoError(t, err)
	require.False(t, got, "invited is not in")
}

func TestTheInstallationOfARepositoryIsAsked(t *testing.T) {
	_, c := start(t)
	got, err := c.InstallationOf(t.Context(), standin.Repo)
	require.NoError(t, err)
	require.Equal(t, int64(standin.Installation), got)
	_, err = c.InstallationOf(t.Context(), "acme/other")
	require.ErrorIs(t, err, ErrNotFound)
	_, err = c.InstallationOf(t.Context(), "acme")
	require.ErrorContains(t, err, "want owner/name")

	a := answering(t, "", routes{"GET /repos/acme/shop/installation": saying(200, map[string]any{"id": 7, "suspended_at": "2026-11-20T12:00:00Z"})})
	_, err = speaking(t, a.URL, nil).InstallationOf(t.Context(), shop)
	require.ErrorIs(t, err, ErrRefused)
	require.ErrorContains(t, err, "suspended")
}

func TestHowARepositoryStandsIsAsked(t *testing.T) {
	server, c := start(t)
	got, err := c.Repository(t.Context(), standin.Installation, standin.Repo)
	require.NoError(t, err)
	require.Equal(t, Repository{ID: standin.RepoID, Name: standin.Repo}, got)
	require.NoError(t, server.Rename("storefront", "maya"))
	require.NoError(t, server.In("acme/storefront").Archive("maya"))
	got, err = c.Repository(t.Context(), standin.Installation, standin.Repo)
	require.NoError(t, err)
	require.Equal(t, Repository{ID: standin.RepoID, Name: "acme/storefront", Archived: true}, got, "GitHub leads to the name it has now")
	require.NoError(t, server.In("acme/storefront").Delete("maya"))
	_, err = c.Repository(t.Context(), standin.Installation, standin.Repo)
	require.ErrorIs(t, err, ErrNotFound)
	_, err = c.Repository(t.Context(), standin.Installation, "acme")
	require.ErrorContains(t, err, "want owner/name")
}

// Only that it is not there means that it is not there.
func TestAnswersThatAreNotKnowledgeAreErrorsOfTheirOwn(t *testing.T) {
	for status, want := range map[int]error{
		http.StatusNotFound: ErrNotFound, http.StatusGone: ErrNotFound, http.StatusForbidden: ErrRefused, http.StatusUnauthorized: ErrRefused,
		http.StatusUnavailableForLegalReasons: ErrRefused, http.StatusBadGateway: nil, http.StatusOK: nil,
	} {
		a := answering(t, "", routes{
			"GET /repos/acme/shop":              saying(status, map[string]any{"message": "x"}),
			"GET /repos/acme/shop/installation": saying(status, map[string]any{"message": "x"}),
		})
		c := speaking(t, a.URL, nil)
		_, err := c.Repository(t.Context(), 7, shop)
		require.Error(t, err, "an answer without a number is none")
		_, other := c.InstallationOf(t.Context(), shop)
		require.Error(t, other)
		for _, is := range []error{ErrNotFound, ErrRefused} {
			require.Equal(t, is == want, errors.Is(err, is), "%d: %v", status, err)
			require.Equal(t, is == want, errors.Is(other, is), "%d: %v", status, other)
		}
	}
}

func TestTheAppKnowsItsLogin(t *testing.T) {
	_, c := start(t)
	got, err := c.OwnLogin(t.Context())
	require.NoError(t, err)
	require.Equal(t, standin.Bot, got)
}

func TestDeliveriesAreListedAndSentAgain(t *testing.T) {
	server, c := start(t)
	began := time.Now().Add(-time.Minute)
	server.SetWebhook("http://127.0.0.1:1/", "s") // nobody listens
	for range 120 {
		_, err := server.Comment(41, "chatter", "will")
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool {
		all, err := c.HookDeliveries(t.Context(), began)
		return err == nil && len(all) == 120
	}, 10*time.Second, 10*time.Millisecond)

	all, err := c.HookDeliveries(t.Context(), began)
	require.NoError(t, err)
	one := all[0]
	require.Equal(t, "issue_comment", one.Event)
	require.Equal(t, "created", one.Action)
	require.Equal(t, int64(standin.Installation), one.Installation)
	require.NotEmpty(t, one.GUID)
	require.False(t, one.Redelivery)
	require.Zero(t, one.StatusCode)
	require.Greater(t, one.ID, all[119].ID, "the newest first")

	require.NoError(t, c.Redeliver(t.Context(), one.ID))
	require.Eventually(t, func() bool {
		all, err := c.HookDeliveries(t.Context(), began)
		return err == nil && len(all) == 121 && all[0].Redelivery && all[0].GUID == one.GUID
	}, 10*time.Second, 10*time.Millisecond)
	require.ErrorIs(t, c.Redeliver(t.Context(), 1), ErrNotFound)

	all, err = c.HookDeliveries(t.Context(), time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Empty(t, all)
}

func TestAnEndlessListOfDeliveriesIsCutAndSaysSo(t *testing.T) {
	a := answering(t, "", routes{"GET /app/hook/deliveries": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", `<http://`+r.Host+`/app/hook/deliveries?per_page=100&cursor=more>; rel="next"`)
		say(w, 200, []any{map[string]any{"id": 1, "delivered_at": time.Now()}})
	}})
	all, err := speaking(t, a.URL, nil).HookDeliveries(t.Context(), time.Now().Add(-time.Hour))
	require.ErrorIs(t, err, ErrCut)
	require.Len(t, all, deliveryPages)
	require.Equal(t, deliveryPages, a.count("GET"))
}
