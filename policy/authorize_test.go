package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAuthorizeAsksForTheRoleInTheClustersTeam(t *testing.T) {
	shop := Target{Name: "demo", Team: "shop"}
	shared := shop
	shared.Access = AccessUse
	seen := shop
	seen.Access = AccessSee
	keys := shop
	keys.HoldsKeys = true
	for name, c := range map[string]struct {
		by     Principal
		act    Act
		target Target
		failed string // name of the check; empty: allowed
		text   string
	}{
		"of the team":                     {As("saml:will", "will", Requester, "shop"), ActExtend, shop, "", "will has the role requester in team shop."},
		"of another team":                 {As("saml:will", "will", Requester, "billing"), ActExtend, shop, "role", "demo belongs to team shop. To extend it you need the role requester or platform admin there. You have no role there."},
		"who requested it, elsewhere":     {As("saml:maya", "maya", Requester, "billing"), ActExtend, shop, "role", "demo belongs to team shop."},
		"an auditor":                      {As("saml:will", "will", Auditor, "shop"), ActDestroy, shop, "role", "You are an auditor."},
		"an admin's act":                  {As("saml:will", "will", Requester, "shop"), ActAbandon, shop, "role", "you need the role platform admin there. You are a requester."},
		"shared to use":                   {As("saml:will", "will", Requester, "billing"), ActKubeconfig, shared, "", "demo is shared with will."},
		"shared to see":                   {As("saml:will", "will", Requester, "billing"), ActKubeconfig, seen, "role", "demo is shared with you to see it, not to use it."},
		"a share does not let it go":      {As("saml:will", "will", Requester, "billing"), ActDestroy, shared, "role", "demo belongs to team shop."},
		"seen by a share":                 {As("saml:will", "will", Requester, "billing"), ActSee, seen, "", "demo is shared with will."},
		"keys in it":                      {As("saml:will", "will", PlatformAdmin, "shop"), ActKubeconfig, keys, "keys", "only platform admins of every team may use them"},
		"keys in it, for who holds them":  {As("saml:will", "will", PlatformAdmin), ActBreakGlass, keys, "", "will is a platform admin of every team."},
		"keys in it do not keep it alive": {As("saml:will", "will", Requester, "shop"), ActDestroy, keys, "", "will has the role requester"},
	} {
		t.Run(name, func(t *testing.T) {
			v := Authorize(Request{Principal: c.by, Source: SourceAPI}, c.act, &c.target)
			require.Equal(t, c.failed == "", v.Allowed)
			said := v.Checks[0]
			if failed := v.Refusals(); len(failed) > 0 {
				said = failed[0]
				require.NotEmpty(t, said.Next)
			}
			if c.failed != "" {
				require.Equal(t, c.failed, said.Name)
			}
			require.Contains(t, said.Message, c.text)
		})
	}
}

func TestOnAPullRequestThePermissionComesFirstAndIsEnoughForItsOwnClusters(t *testing.T) {
	for name, c := range map[string]struct {
		permission, team string // team is the repository's
		act              Act
		target           Target
		allowed          bool
		text             string
	}{
		"its own team's":                  {"write", "shop", ActExtend, Target{Name: "demo", Team: "shop"}, true, ""},
		"read is not enough":              {"read", "shop", ActExtend, Target{Name: "demo", Team: "shop"}, false, "to extend a cluster, write is needed"},
		"another team's":                  {"write", "shop", ActDestroy, Target{Name: "demo", Team: "billing"}, false, "demo belongs to team billing, and this repository to team shop: to destroy it you need a role in the cluster's team."},
		"another team's, asked for by it": {"write", "shop", ActDestroy, Target{Name: "demo", Team: "billing", Own: true}, true, ""},
		"a repository without a team":     {"write", "", ActDestroy, Target{Name: "demo", Team: "billing"}, true, ""},
		"that only ends":                  {"write", "", ActExtend, Target{Name: "demo", Team: "billing"}, false, "this repository is no longer configured: to extend it you need a role in that team."},
		"a role is needed to scale":       {"write", "shop", ActScale, Target{Name: "demo", Team: "shop"}, false, "To scale its workers you need the role"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Request{Principal: Principal{ID: "github:will", Name: "will"}, Source: SourceComment, Permission: c.permission, Ownership: Ownership{Team: c.team}}
			v := Authorize(r, c.act, &c.target)
			require.Equal(t, c.allowed, v.Allowed)
			if !c.allowed {
				require.Contains(t, v.Refusals()[0].Message, c.text)
			}
		})
	}
}
