package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARoleIsWithinThoseThatAllowMore(t *testing.T) {
	for i, role := range ClusterRoles {
		require.True(t, role.Known())
		for j, most := range ClusterRoles {
			require.Equal(t, i <= j, role.Within(most), "%s within %s", role, most)
		}
		require.False(t, role.Within(""))
		require.False(t, role.Within("root"))
	}
	require.False(t, ClusterRole("root").Known())
	require.False(t, ClusterRole("root").Within(ClusterAdmin))
	require.False(t, ClusterRole("").Within(ClusterAdmin))
}

// A share gives kubeconfigs up to its role, and the log bundle, which holds keys of the whole cluster, only as admin.
func TestAShareIsEnoughUpToItsRole(t *testing.T) {
	guest := As("saml:guest", "Guest", Requester, "payments")
	for _, c := range []struct {
		act           Act
		access        Access
		shared, asked ClusterRole
		allowed       bool
	}{
		{ActKubeconfig, AccessUse, ClusterView, "", true},
		{ActKubeconfig, AccessUse, ClusterView, ClusterView, true},
		{ActKubeconfig, AccessUse, ClusterView, ClusterEdit, false},
		{ActKubeconfig, AccessUse, ClusterView, ClusterAdmin, false},
		{ActKubeconfig, AccessUse, ClusterEdit, ClusterView, true},
		{ActKubeconfig, AccessUse, ClusterEdit, ClusterAdmin, false},
		{ActKubeconfig, AccessUse, ClusterAdmin, ClusterAdmin, true},
		{ActKubeconfig, AccessSee, "", ClusterView, false},
		{ActLogBundle, AccessUse, ClusterView, "", false},
		{ActLogBundle, AccessUse, ClusterEdit, "", false},
		{ActLogBundle, AccessUse, ClusterAdmin, "", true},
	} {
		target := Target{Name: "shop", Team: "platform", Access: c.access, Role: c.shared, Asked: c.asked}
		check := checkRole(Request{Principal: guest, Source: SourceAPI}, c.act, target)
		require.Equal(t, c.allowed, check.Result == Pass, "%v: %s", c, check.Message)
		if !c.allowed {
			require.NotEmpty(t, check.Next, "%v", c)
		}
		owner := As("saml:maya", "Maya", Requester, "platform")
		check = checkRole(Request{Principal: owner, Source: SourceAPI}, c.act, target)
		require.Equal(t, Pass, check.Result, "the team itself may all of it")
	}
}
