package web

import (
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app/createform"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/people"
)

// offers are the actions that a cluster's page offers to the viewer: those that are allowed and make sense now. The service checks
// each again when it is requested.
type offers struct {
	ID, Seen string
	Name     string // of the cluster
	None     string // why nothing is offered

	Extend, Hold, Scale, Link, BreakGlass, Share, Transfer, Retry, Recreate, Abandon, Destroy bool

	Sleep, Wake bool

	Tonight    bool   // it can be kept awake until the next working hours
	AwakeUntil string // until when it is; empty: no longer than its hours

	ExtendLimit          string // how far it can be extended
	Held                 bool
	Workers, Least, Most int
	Shares               []people.Share       // those that the viewer may end
	Teams                []string             // possible new teams, the current one last; empty: any name
	Kubeconfig           bool                 // may be downloaded
	Console              bool                 // may be opened
	Roles                []policy.ClusterRole // that a kubeconfig may have, the most powerful first
	Bundle               bool                 // log bundles may be downloaded, if there is one
}

// offersOf returns what somebody can do with a cluster, in which they may have at most this role; empty: none.
func offersOf(who policy.Principal, row clusters.Row, role policy.ClusterRole, actions []policy.Action, shares []people.Share, c profiles.Catalogue) offers {
	can := map[policy.Verb]bool{}
	for _, verb := range policy.Possible(actions) {
		can[verb] = true
	}
	teams := createform.Teams(who, c)
	o := offers{
		ID: row.ID, Name: row.Name, Seen: markOfState(row, shares), Held: !row.Ends.Hold.IsZero(), Teams: otherTeams(teams, row.Team), Roles: rolesUpTo(role),
		Extend: can[policy.VerbExtend], ExtendLimit: "at most " + duration.Format(row.Ends.Latest().Sub(row.Ends.TTL).Truncate(time.Minute)) + " more",
		Hold: can[policy.VerbHold], Tonight: can[policy.VerbTonight], Sleep: can[policy.VerbSleep], Wake: can[policy.VerbWake],
		Share: can[policy.VerbShare], Transfer: can[policy.VerbTransfer], Retry: can[policy.VerbRetry], Recreate: can[policy.VerbRecreate], Abandon: can[policy.VerbAbandon], Destroy: can[policy.VerbDestroy],
		Kubeconfig: can[policy.VerbKubeconfig] && row.Outputs != nil, Console: can[policy.VerbConsole] && row.Outputs != nil, Bundle: can[policy.VerbBundle],
		BreakGlass: can[policy.VerbBreakGlass] && row.Outputs != nil && row.Outputs.KubeconfigRef != "",
	}
	o.Link = o.Kubeconfig
	if row.AwakeUntil.After(row.UpdatedAt) {
		o.AwakeUntil = row.AwakeUntil.UTC().Format("15:04 MST on Monday, 2 January")
	}
	if o.Scale = can[policy.VerbScale]; o.Scale {
		o.Least, o.Most, o.Workers = *row.WorkersLeast, *row.WorkersMost, firstOf(row.WorkersWanted, row.Workers, row.WorkersBase)
	}
	for _, s := range shares {
		if who.May(policy.ActShare, row.Team) || s.Kind == "principal" && s.Grantee == who.ID {
			o.Shares = append(o.Shares, s)
		}
	}
	o.None = "You may see this cluster. To change it you need a role in team " + row.Team + "; ask a member of the team or a platform admin."
	if !row.ReleasedAt.IsZero() {
		o.None = "Nothing: the cluster is gone."
	}
	return o
}

// otherTeams returns the teams, with one of them moved to the end.
func otherTeams(teams []string, last string) []string {
	at := slices.Index(teams, last)
	if at < 0 {
		return teams
	}
	return append(slices.Delete(slices.Clone(teams), at, at+1), last)
}

// Any reports whether anything is offered.
func (o offers) Any() bool { return o.Kinds() != "" }

// Kinds names what is offered; if it changes, the page has changed.
func (o offers) Kinds() string {
	var kinds []string
	for _, k := range []struct {
		name    string
		offered bool
	}{
		{"extend", o.Extend}, {"hold", o.Hold}, {"scale", o.Scale}, {"sleep", o.Sleep}, {"wake", o.Wake}, {"link", o.Link}, {"glass", o.BreakGlass},
		{"share", o.Share || len(o.Shares) > 0}, {"transfer", o.Transfer}, {"retry", o.Retry}, {"recreate", o.Recreate}, {"abandon", o.Abandon}, {"destroy", o.Destroy},
	} {
		if k.offered {
			kinds = append(kinds, k.name)
		}
	}
	return strings.Join(kinds, "-")
}

// rolesUpTo returns a role and those that allow less, the most powerful first; none for an empty role.
func rolesUpTo(most policy.ClusterRole) (roles []policy.ClusterRole) {
	for _, role := range slices.Backward(policy.ClusterRoles) {
		if most != "" && role.Within(most) {
			roles = append(roles, role)
		}
	}
	return roles
}

// firstOf returns the first number that is known.
func firstOf(numbers ...*int) int {
	for _, n := range numbers {
		if n != nil {
			return *n
		}
	}
	return 0
}
