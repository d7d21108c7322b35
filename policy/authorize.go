package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Access is what a share lets somebody do with a cluster.
type Access string

// The kinds of access. No share gives the empty one.
const (
	AccessSee Access = "see"
	AccessUse Access = "use" // see it, and get a kubeconfig of the share's role; with the role admin also its log bundle
)

// Target is what permission to act on a cluster depends on.
type Target struct {
	Name, Team string
	Own        bool   // the principal requested it, by whichever of their identities
	HoldsKeys  bool   // whoever is admin of the cluster can read the control plane's own cloud keys in it
	Access     Access // of the principal, by a share
	OfRun      bool   // the principal is a pipeline, and the cluster is its own; see Principal.Owns
	Pool       string // in which it waits to be claimed; empty: it does not

	Role  ClusterRole // of a share to use it
	Asked ClusterRole // the role that a kubeconfig should have; empty: the most that the principal may have
}

// Authorize judges an act on a cluster that exists; target is nil where no cluster is known yet, and GitHub's permission alone is
// asked. On a pull request GitHub's permission comes first. It is enough to extend, destroy or retry a cluster of the repository's own
// team; everything else takes a role in the cluster's team, or a share. Drafts, forks, disabled profiles and full quotas do not
// count: a cluster that exists must be able to end.
func Authorize(r Request, act Act, target *Target) Verdict {
	var checks []Check
	if r.onGitHub() {
		checks = append(checks, checkPermission(r, phrases[act].ofOne))
	}
	if target != nil {
		if target.Pool != "" && !slices.Contains(pooledActs, act) {
			checks = append(checks, Check{
				Name: "pool", Result: Fail, Asked: string(act), Message: fmt.Sprintf("%s waits in the pool %s. Nobody uses or changes it before it is claimed.", target.Name, target.Pool),
				Next: "Request a cluster of its profile: it is taken from the pool.",
			})
		}
		if OpensCluster(act) && target.HoldsKeys {
			checks = append(checks, checkKeys(r.Principal, *target))
		}
		checks = append(checks, checkRole(r, act, *target))
	}
	return Verdict{Allowed: len(leavesOf(checks, Fail)) == 0, Checks: checks}
}

// onGitHub reports whether the request comes from GitHub, where the permission on the repository counts.
func (r Request) onGitHub() bool {
	return r.Source == SourceLabel || r.Source == SourceComment || r.Source == SourceEnvironment || r.Source == SourceMergeQueue
}

// OpensCluster says whether an act makes somebody admin of the cluster. A log bundle counts: it holds the cluster's secrets.
func OpensCluster(act Act) bool {
	return act == ActKubeconfig || act == ActLogBundle || act == ActBreakGlass
}

// byShare says whether a share to use the cluster is enough for an act.
func byShare(act Act) bool {
	return act == ActKubeconfig || act == ActLogBundle || act == ActUse || act == ActTests
}

// byRepository says whether a permission on the repository is enough for an act on a cluster of the repository's team.
func byRepository(act Act) bool { return act == ActExtend || act == ActDestroy || act == ActRetry }

func checkKeys(p Principal, t Target) Check {
	check := Check{Name: "keys", Result: Pass, Asked: string(p.Role()), Accept: "platform_admin of every team"}
	check.Message = fmt.Sprintf("%s is a platform admin of every team.", p.Name)
	if !p.MayHoldKeys() {
		check.Result = Fail
		check.Message = fmt.Sprintf("The credentials of %s give access to the control plane's own cloud keys, so only platform admins of every team may use them.", t.Name)
		check.Next = "Ask one of them, or create a cluster of another profile."
	}
	return check
}

// checkRole asks for the principal's role in the cluster's team, its share, or the repository's own team.
func checkRole(r Request, act Act, t Target) Check {
	p, repository := r.Principal, r.Ownership.Team
	check := Check{Name: "role", Result: Pass, Asked: string(act), Accept: RoleText(act) + " in team " + t.Team}
	beyond, instead := beyondShare(act, t)
	own := r.onGitHub() && byRepository(act)
	switch {
	case p.May(act, t.Team), t.OfRun && p.MayOnOwn(act, t.Team):
		check.Message = fmt.Sprintf("%s has the role %s in team %s.", p.Name, p.roleIn(t.Team), t.Team)
	case byShare(act) && t.Access == AccessUse && beyond != "":
		check.Result, check.Message, check.Next = Fail, beyond, instead
	case byShare(act) && t.Access == AccessUse, act == ActSee && t.Access != "":
		check.Message = fmt.Sprintf("%s is shared with %s.", t.Name, p.Name)
	case !p.May(act, t.Team) && p.OfPipeline() && p.HasAnywhere(acts[act]...):
		check.Result, check.Message, check.Next = Fail, whyNotForRun(act, t), "Ask a person of team "+t.Team+" to do it."
		if slices.Contains(ownActs, act) {
			check.Next = fmt.Sprintf("Ask someone of team %s to share it for use with %s, or a platform admin to set clusters: team in the identity of this pipeline.", t.Team, p.ID)
		}
	case own && t.Own:
		check.Message = fmt.Sprintf("%s requested %s.", p.Name, t.Name)
	case own && repository != "" && repository == t.Team:
		check.Message = fmt.Sprintf("%s belongs to team %s, as the repository does.", t.Name, t.Team)
	case own && repository == "" && act == ActDestroy: // what is there must be able to end
		check.Message = fmt.Sprintf("This repository is no longer configured, so permission on it is enough to destroy %s.", t.Name)
	case own && repository == "":
		check.Result = Fail
		check.Message = fmt.Sprintf("%s belongs to team %s, and this repository is no longer configured: to %s you need a role in that team.", t.Name, t.Team, act.Phrase())
		check.Next = "Ask someone there, or a platform admin."
	case own:
		check.Result = Fail
		check.Message = fmt.Sprintf("%s belongs to team %s, and this repository to team %s: to %s you need a role in the cluster's team.", t.Name, t.Team, repository, act.Phrase())
		check.Next = "Ask someone there, or a platform admin."
	case byShare(act) && !p.May(ActSee, t.Team):
		check.Result = Fail
		check.Message = fmt.Sprintf("%s is shared with you to see it, not to use it.", t.Name)
		check.Next = fmt.Sprintf("Ask someone of team %s to share it with you for use.", t.Team)
	default:
		check.Result = Fail
		check.Message = fmt.Sprintf("%s belongs to team %s. To %s you need the role %s there. %s.",
			t.Name, t.Team, act.Phrase(), RoleText(act), p.OwnRole(t.Team))
		check.Next = "Ask " + whoHolds(act, t.Team) + "."
	}
	return check
}

// whyNotForRun says why a pipeline may not do something to a cluster.
func whyNotForRun(act Act, t Target) string {
	if slices.Contains(ownActs, act) {
		return fmt.Sprintf("%s belongs neither to this run nor to its pull request, so this pipeline's token may not %s.", t.Name, act.Phrase())
	}
	return fmt.Sprintf("%s belongs to team %s. Only a person may %s; a pipeline's token may not.", t.Name, t.Team, act.Phrase())
}

// whoHolds names people to ask for an act.
func whoHolds(act Act, team string) string {
	if slices.Contains(acts[act], Requester) {
		return "someone of team " + team + ", or a platform admin"
	}
	return "a platform admin"
}

// roleIn is the role of the principal in a team, the one that may most; empty: none.
func (p Principal) roleIn(team string) Role {
	for _, role := range Roles {
		if slices.ContainsFunc(p.Seats, func(s Seat) bool { return s.isValidIn(team) && s.Role == role }) {
			return role
		}
	}
	return ""
}

// OwnRole says in a sentence which role the principal has in a team.
func (p Principal) OwnRole(team string) string {
	if role := p.roleIn(team); role != "" {
		return "You are " + role.WithArticle()
	}
	return "You have no role there"
}

// Text is the role as people write it.
func (r Role) Text() string { return strings.ReplaceAll(string(r), "_", " ") }

// WithArticle is the role as people write it, with its article: "a requester", "an auditor".
func (r Role) WithArticle() string {
	if r == Auditor {
		return "an " + r.Text()
	}
	return "a " + r.Text()
}

// RoleText are the roles that may do an act, as people write them: "platform admin or requester".
func RoleText(act Act) string {
	names := make([]string, 0, len(acts[act]))
	for _, role := range acts[act] {
		names = append(names, role.Text())
	}
	return strings.Join(names, " or ")
}

// phrase is an act in a sentence, as a verb with its object.
type phrase struct {
	ofIt  string // the cluster was named before
	ofOne string // it was not
}

var phrases = map[Act]phrase{
	ActSee:        {"see it", "see clusters here"},
	ActOutputs:    {"see its addresses", "see a cluster's addresses"},
	ActCreate:     {"create it", "create a cluster"},
	ActExtend:     {"extend it", "extend a cluster"},
	ActHold:       {"hold it", "hold a cluster"},
	ActDestroy:    {"destroy it", "destroy a cluster"},
	ActScale:      {"scale its workers", "scale a cluster"},
	ActRefresh:    {"refresh its add-ons", "refresh a cluster"},
	ActSleep:      {"put it to sleep or wake it", "put a cluster to sleep or wake it"},
	ActRetry:      {"retry it", "retry a cluster"},
	ActAbandon:    {"abandon its teardown", "abandon a cluster's teardown"},
	ActShare:      {"share it", "share a cluster"},
	ActTransfer:   {"transfer it to another team", "transfer a cluster"},
	ActKubeconfig: {"fetch its kubeconfig", "fetch a cluster's kubeconfig"},
	ActUse:        {"take a turn on it", "take a turn on a cluster"},
	ActTests:      {"report tests on it", "report tests on a cluster"},
	ActLogBundle:  {"download its log bundle", "download a cluster's log bundle"},
	ActBreakGlass: {"ask for the installer's credentials", "ask for the installer's credentials to a cluster"},
	ActApprove:    {"approve or refuse it", "approve or refuse a cluster"},
}

// Phrase is the act on a cluster that the sentence named before.
func (a Act) Phrase() string { return phrases[a].ofIt }
