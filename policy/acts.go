package policy

import "slices"

// Act is something a principal may want to do. Every entry point asks May first.
type Act string

// The acts on one cluster. Someone who may not see a cluster gets the same answer as if it did not exist.
const (
	ActSee        Act = "see"     // row, jobs, timeline, log, explanation
	ActOutputs    Act = "outputs" // addresses and references
	ActCreate     Act = "create"  // for the team
	ActExtend     Act = "extend"
	ActHold       Act = "hold"
	ActDestroy    Act = "destroy"
	ActScale      Act = "scale"
	ActRefresh    Act = "refresh" // apply its add-ons again
	ActSleep      Act = "sleep"   // put it to sleep, and wake it
	ActRetry      Act = "retry"   // start the next teardown earlier
	ActAbandon    Act = "abandon" // stop waiting for a blocked teardown
	ActShare      Act = "share"
	ActTransfer   Act = "transfer"    // to another team, in which the principal must be allowed to create
	ActKubeconfig Act = "kubeconfig"  // get one, made for oneself
	ActUse        Act = "use"         // take a turn on it, as a pipeline's run
	ActTests      Act = "tests"       // report the results of tests on it, as a pipeline's run
	ActLogBundle  Act = "log-bundle"  // download the installer's logs and archives, which hold secrets
	ActBreakGlass Act = "break-glass" // request the installer's kubeconfig or the kubeadmin password, which needs an approval
	ActApprove    Act = "approve"     // approve or refuse what waits for approval
)

// The acts on the whole installation.
const (
	ActProfiles   Act = "profiles"   // read the catalogue: profiles, teams
	ActQuotas     Act = "quotas"     // read limits and their current use
	ActReports    Act = "reports"    // usage and spend
	ActFindings   Act = "findings"   // what the sweeps found
	ActAudit      Act = "audit"      // read and verify the audit trail
	ActDeliveries Act = "deliveries" // inspect received deliveries
	ActReplay     Act = "replay"     // process a delivery again
	ActCatalogue  Act = "catalogue"  // validate and reload policies
)

// acts lists the roles that may perform each act. Access to a shared cluster is granted separately.
var acts = map[Act][]Role{
	ActSee: Roles, ActOutputs: Roles,
	ActCreate: {Requester, PlatformAdmin}, ActExtend: {Requester, PlatformAdmin}, ActHold: {Requester, PlatformAdmin},
	ActDestroy: {Requester, PlatformAdmin}, ActScale: {Requester, PlatformAdmin}, ActRefresh: {Requester, PlatformAdmin}, ActSleep: {Requester, PlatformAdmin}, ActRetry: {Requester, PlatformAdmin},
	ActShare: {Requester, PlatformAdmin}, ActTransfer: {Requester, PlatformAdmin},
	ActKubeconfig: {Requester, PlatformAdmin}, ActUse: {Requester, PlatformAdmin}, ActTests: {Requester, PlatformAdmin}, ActLogBundle: {Requester, PlatformAdmin}, ActBreakGlass: {Requester, PlatformAdmin},
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

// everybodys are the acts that cannot be limited to a team, because deliveries and the catalogue concern everybody. They need a seat
// in every team.
var everybodys = []Act{ActDeliveries, ActReplay, ActCatalogue}

// Everybodys reports whether an act concerns everybody, so that a seat in some teams is not enough.
func Everybodys(a Act) bool { return slices.Contains(everybodys, a) }

// RolesFor lists the roles that may perform the act, the most powerful first.
func RolesFor(a Act) []Role { return slices.Clone(acts[a]) }

// May reports whether the principal may perform the act in the team.
func (p Principal) May(a Act, team string) bool { return p.Has(team, acts[a]...) }

// MayAnywhere reports whether the principal may perform the act in any team. That is enough to read what is then limited to its
// teams; an act that concerns everybody needs a seat in every team.
func (p Principal) MayAnywhere(a Act) bool {
	if Everybodys(a) {
		return p.May(a, EveryTeam)
	}
	return p.HasAnywhere(acts[a]...)
}
