package policy

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The whole table, written down a second time: a change of it is a decision, and is made in both places.
func TestEveryActHasItsRoles(t *testing.T) {
	all := []Role{PlatformAdmin, Requester, Auditor}
	lookers, doers, admins := []Role{PlatformAdmin, Auditor}, []Role{PlatformAdmin, Requester}, []Role{PlatformAdmin}
	want := map[Act][]Role{
		ActSee: all, ActOutputs: all, ActProfiles: all, ActQuotas: all, ActReports: all,
		ActCreate: doers, ActExtend: doers, ActHold: doers, ActDestroy: doers, ActScale: doers, ActRefresh: doers, ActSleep: doers, ActRetry: doers, ActShare: doers, ActTransfer: doers,
		ActKubeconfig: doers, ActUse: doers, ActTests: doers, ActLogBundle: doers, ActBreakGlass: doers,
		ActAbandon: admins, ActApprove: admins, ActReplay: admins, ActCatalogue: admins, ActCleanup: admins, ActScan: admins, ActPools: admins, ActBrakes: admins,
		ActFindings: lookers, ActAudit: lookers, ActDeliveries: lookers,
	}
	require.Len(t, Acts(), len(want))
	for _, act := range Acts() {
		require.ElementsMatch(t, want[act], RolesFor(act), act)
		for _, role := range Roles {
			one, other := As("x", "x", role, "shop"), As("x", "x", role)
			has := slices.Contains(want[act], role)
			require.Equal(t, has, one.May(act, "shop"), "%s of shop, %s", role, act)
			require.False(t, one.May(act, "billing"), "%s of shop, %s in billing", role, act)
			require.False(t, one.May(act, EveryTeam), "%s of shop, %s everywhere", role, act)
			require.Equal(t, has, other.May(act, "billing"), "%s of every team, %s", role, act)
			require.Equal(t, has && !Everybodys(act), one.MayAnywhere(act), "%s of shop, %s of something", role, act)
			require.Equal(t, has, other.MayAnywhere(act), "%s of every team, %s of something", role, act)
		}
	}
	require.False(t, Principal{}.MayAnywhere(ActSee))
}

func TestTheControlPlanesKeysAreForAdminsOfEveryTeam(t *testing.T) {
	r := validRequest()
	r.Source, r.Permission, r.Profile = SourceAPI, "", "aws-minimal-mint"
	r.Principal = Principal{ID: "x", Name: "maya", Seats: []Seat{{Role: PlatformAdmin, Team: "sandbox"}, {Role: Requester, Team: r.Ownership.Team}}}
	v := Evaluate(r, Usage{}, terms(t), Settings{})
	require.False(t, v.Allowed, "an admin of one team is a stranger to all others' clusters")
	require.Equal(t, "admin-only", v.Refusals()[0].Name)
	r.Principal.Seats[0].Team = EveryTeam
	require.True(t, Evaluate(r, Usage{}, terms(t), Settings{}).Allowed)
}
