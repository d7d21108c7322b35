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
	ActRetry      Act = "retry"   // start the next teardown earlier, or request it again
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
	ActFindings   Act = "findings"   // what was found
	ActAudit      Act = "audit"      // read and verify the audit trail
	ActDeliveries Act = "deliveries" // inspect received deliveries
	ActReplay     Act = "replay"     // process a delivery again
	ActCatalogue  Act = "catalogue"  // validate and reload policies
	ActCleanup    Act = "cleanup"    // approve the removal of orphans, or exempt them
	ActScan       Act = "scan"       // have cloud accounts looked through
	ActPools      Act = "pools"      // pause, resume, drain and resize pools
	ActBrakes     Act = "brakes"     // keep new clusters from being created, see that, and end it
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
	ActReplay: {PlatformAdmin}, ActCatalogue: {PlatformAdmin}, ActScan: {PlatformAdmin}, ActCleanup: {PlatformAdmin}, ActPools: {PlatformAdmin}, ActBrakes: {PlatformAdmin},
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

// everybodys are the acts that cannot be limited to a team, because deliveries, the catalogue, pools, brakes and cloud accounts concern everybody. They need a
// seat in every team.
var everybodys = []Act{ActDeliveries, ActReplay, ActCatalogue, ActScan, ActCleanup, ActPools, ActBrakes}

// Everybodys reports whether an act concerns everybody, so that a seat in some teams is not enough.
func Everybodys(a Act) bool { return slices.Contains(everybodys, a) }

// RolesFor lists the roles that may perform the act, the most powerful first.
func RolesFor(a Act) []Role { return slices.Clone(acts[a]) }

// ownActs are the acts that a pipeline may perform on clusters of its own.
var ownActs = []Act{ActExtend, ActDestroy, ActScale, ActRefresh, ActSleep, ActRetry, ActKubeconfig, ActUse, ActTests, ActLogBundle}

// peoplesActs are the acts that no pipeline may perform unless its identity gives it all clusters of the team: they give access to
// others or take it from them, outlast the pipeline, or decide what a person has to answer for.
var peoplesActs = []Act{ActHold, ActAbandon, ActShare, ActTransfer, ActBreakGlass, ActApprove, ActCleanup}

// May reports whether the principal may perform the act in the team, on any of its clusters.
func (p Principal) May(a Act, team string) bool {
	return slices.ContainsFunc(p.Seats, func(s Seat) bool { return s.isValidIn(team) && s.allowsAct(a) })
}

// MayOnOwn reports whether the principal may perform the act in the team on a cluster that it owns, see Owns.
func (p Principal) MayOnOwn(a Act, team string) bool {
	return p.May(a, team) || slices.Contains(ownActs, a) && slices.ContainsFunc(p.Seats, func(s Seat) bool { return s.isValidIn(team) && slices.Contains(acts[a], s.Role) })
}

// allowsAct reports whether the seat is enough for the act, whichever cluster it is about.
func (s Seat) allowsAct(a Act) bool {
	return slices.Contains(acts[a], s.Role) && !(s.Own && (slices.Contains(ownActs, a) || slices.Contains(peoplesActs, a)))
}

// TeamsFor returns the teams in which the principal may perform the act; nil: all.
func (p Principal) TeamsFor(a Act) []string {
	held := Principal{}
	for _, s := range p.Seats {
		if s.allowsAct(a) {
			held.Seats = append(held.Seats, s)
		}
	}
	teams, every := held.Teams()
	if every {
		return nil
	}
	return append([]string{}, teams...)
}

// MayAnywhere reports whether the principal may perform the act in any team. That is enough to read what is then limited to its
// teams; an act that concerns everybody needs a seat in every team.
func (p Principal) MayAnywhere(a Act) bool {
	if Everybodys(a) {
		return p.May(a, EveryTeam)
	}
	return slices.ContainsFunc(p.Seats, func(s Seat) bool { return s.allowsAct(a) })
}
