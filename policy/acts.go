package policy

import "slices"

// Act is something a principal may want to do. Every door asks May before it does it.
type Act string

// The acts on one cluster. Whoever may not see a cluster is told that there is none.
const (
	ActSee        Act = "see"     // row, jobs, timeline, log, explanation
	ActOutputs    Act = "outputs" // addresses and references
	ActCreate     Act = "create"  // for the team
	ActExtend     Act = "extend"
	ActHold       Act = "hold"
	ActDestroy    Act = "destroy"
	ActScale      Act = "scale"
	ActRefresh    Act = "refresh" // bring its add-ons anew
	ActRetry      Act = "retry"   // bring the next teardown forward
	ActAbandon    Act = "abandon" // give up waiting for a blocked teardown
	ActShare      Act = "share"
	ActTransfer   Act = "transfer"    // to another team, in which one must be allowed to create
	ActKubeconfig Act = "kubeconfig"  // hand out
	ActLogBundle  Act = "log-bundle"  // download the installer's logs and archives, which hold secrets
	ActBreakGlass Act = "break-glass" // ask for the kubeadmin password, which needs an approval
	ActApprove    Act = "approve"     // or refuse what waits for approval
)

// The acts on the whole installation.
const (
	ActProfiles   Act = "profiles"   // read the catalogue: profiles, teams
	ActQuotas     Act = "quotas"     // read limits and what is used of them
	ActReports    Act = "reports"    // usage and spend
	ActFindings   Act = "findings"   // what the sweeps saw
	ActAudit      Act = "audit"      // read and verify the audit trail
	ActDeliveries Act = "deliveries" // inspect what came in
	ActReplay     Act = "replay"     // work a delivery again
	ActCatalogue  Act = "catalogue"  // validate and reload policies
)

// acts says which roles may do what. A shared cluster may be seen, and used where the share says so, beside this.
var acts = map[Act][]Role{
	ActSee: Roles, ActOutputs: Roles,
	ActCreate: {Requester, PlatformAdmin}, ActExtend: {Requester, PlatformAdmin}, ActHold: {Requester, PlatformAdmin},
	ActDestroy: {Requester, PlatformAdmin}, ActScale: {Requester, PlatformAdmin}, ActRefresh: {Requester, PlatformAdmin}, ActRetry: {Requester, PlatformAdmin},
	ActShare: {Requester, PlatformAdmin}, ActTransfer: {Requester, PlatformAdmin},
	ActKubeconfig: {Requester, PlatformAdmin}, ActLogBundle: {Requester, PlatformAdmin}, ActBreakGlass: {Requester, PlatformAdmin},
	ActAbandon: {PlatformAdmin}, ActApprove: {PlatformAdmin},

	ActProfiles: Roles, ActQuotas: Roles, ActReports: Roles,
	ActFindings: {PlatformAdmin, Auditor}, ActAudit: {PlatformAdmin, Auditor}, ActDeliveries: {PlatformAdmin, Auditor},
	ActReplay: {PlatformAdmin}, ActCatalogue: {PlatformAdmin},
}

// Acts lists every act, for tables and tests.
func Acts() []Act {
	all := make([]Act, 0, len(acts))
	for a := range acts {
		all = append(all, a)
	}
	slices.Sort(all)
	return all
}

// everybodys are the acts that cannot be cut to a team: what came in, and the catalogue, are everybody's. They take a seat in
// every team.
var everybodys = []Act{ActDeliveries, ActReplay, ActCatalogue}

// Everybodys says whether an act concerns everybody's, so that a seat in some teams is not enough for it.
func Everybodys(a Act) bool { return slices.Contains(everybodys, a) }

// RolesFor lists the roles that may do it, the one that may most first.
func RolesFor(a Act) []Role { return slices.Clone(acts[a]) }

// May says whether the principal may do it in the team.
func (p Principal) May(a Act, team string) bool { return p.Has(team, acts[a]...) }

// MayAnywhere says whether the principal may do it in any team: enough to read what is then cut to its teams. What cannot be
// cut takes a seat in every team.
func (p Principal) MayAnywhere(a Act) bool {
	if Everybodys(a) {
		return p.May(a, EveryTeam)
	}
	return p.HasAnywhere(acts[a]...)
}
