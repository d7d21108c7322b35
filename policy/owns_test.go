package policy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/profiles"
)

// ofJob is the principal of a job of a pull request, by an identity that may name the clusters it acts on.
func ofJob(clusters profiles.Clusters, role Role, event string) Principal {
	c := Claims{
		Source: profiles.SourceOIDC, Issuer: "https://token.actions.githubusercontent.com", Platform: profiles.IssuerGitHub,
		Values: map[string][]string{"repository": {"acme/shop"}, "event_name": {event}},
	}
	id := profiles.Identity{Source: profiles.SourceOIDC, Issuer: c.Issuer, Match: map[string][]string{"repository": {"acme/shop"}}, Role: string(role), Teams: []string{"shop"}, Clusters: clusters}
	return Principal{ID: "oidc:job", Name: "job", Seats: SeatsOf([]profiles.Identity{id}, c), Proof: &c}
}

// The whole table of what a pipeline's token may do to a cluster, written down a second time.
func TestAPipelinesTokenActsOnClustersOfItsOwn(t *testing.T) {
	looks := []Act{ActSee, ActOutputs, ActCreate}
	own := []Act{ActExtend, ActDestroy, ActScale, ActRefresh, ActSleep, ActRetry, ActKubeconfig, ActUse, ActTests, ActLogBundle}
	never := []Act{ActHold, ActShare, ActTransfer, ActBreakGlass, ActAbandon, ActApprove}
	foreign := Target{Name: "smoke", Team: "shop"}
	ours := foreign
	ours.OfRun = true
	for _, role := range []Role{Requester, PlatformAdmin} {
		limited, whole := ofJob("", role, "pull_request"), ofJob(profiles.ClustersTeam, role, "pull_request")
		allowed := func(p Principal, act Act, t Target) bool {
			return Authorize(Request{Principal: p, Source: SourceAPI}, act, &t).Allowed
		}
		for _, act := range looks {
			require.True(t, allowed(limited, act, foreign), act)
		}
		for _, act := range own {
			require.False(t, allowed(limited, act, foreign), act)
			require.True(t, allowed(limited, act, ours), act)
			require.True(t, allowed(whole, act, foreign), "%s: the identity says so", act)
		}
		for _, act := range never {
			require.False(t, allowed(limited, act, foreign), act)
			require.False(t, allowed(limited, act, ours), "%s: not even of its own", act)
			require.Equal(t, whole.May(act, "shop"), allowed(whole, act, foreign), act)
		}
		require.False(t, limited.Has("shop", role), "it votes on nothing and holds no keys")
		require.Empty(t, limited.TeamsFor(ActKubeconfig), "a share with its team is not one with it")
		require.False(t, limited.MayAnywhere(ActTransfer))
	}
	refused := Authorize(Request{Principal: ofJob("", Requester, "pull_request"), Source: SourceAPI}, ActDestroy, &foreign).Refusals()[0]
	require.Equal(t, "smoke belongs neither to this run nor to its pull request, so this pipeline's token may not destroy it.", refused.Message)
	require.Contains(t, refused.Next, "set clusters: team")
	shared := foreign
	shared.Access, shared.Role = AccessUse, ClusterEdit
	require.True(t, Authorize(Request{Principal: ofJob("", Requester, "push"), Source: SourceAPI}, ActUse, &shared).Allowed, "somebody shared it with this pipeline")
}

func TestWhichClustersAreAPipelinesOwn(t *testing.T) {
	for name, c := range map[string]struct {
		event string
		ties  Ties
		owns  bool
	}{
		"of its run":                        {"push", Ties{Run: true}, true},
		"of its pull request":               {"pull_request", Ties{PullRequest: true}, true},
		"a signal started it":               {"deployment_status", Ties{Signal: true}, true},
		"a dispatch started it":             {"repository_dispatch", Ties{Signal: true}, true},
		"a signal started another run":      {"pull_request", Ties{Signal: true}, false},
		"asked for by its branch":           {"schedule", Ties{Requester: true}, true},
		"asked for by another pull request": {"pull_request", Ties{Requester: true}, false},
		"somebody's":                        {"push", Ties{}, false},
	} {
		require.Equal(t, c.owns, ofJob("", Requester, c.event).Owns(c.ties), name)
	}
	require.False(t, As("saml:maya", "maya", Requester).Owns(Ties{Run: true}), "a person has no run")
}
