package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// ClusterIDPrefix begins the id of every cluster; no name can hold its underscore.
const ClusterIDPrefix = "clu_"

// seen is the cluster that ref means, by its id or its name (see named), if the principal may see it. What may not be seen is
// told in the same words as what does not exist.
func (d *Service) Seen(ctx context.Context, p policy.Principal, ref string) (store.Row, error) {
	row, access, err := d.look(ctx, p, ref)
	if err != nil {
		return store.Row{}, err
	}
	if access == "" {
		return store.Row{}, unseen(p, ref)
	}
	return row, nil
}

// allowed is the same for what the principal may not only see but do.
func (d *Service) Allowed(ctx context.Context, p policy.Principal, ref string, act policy.Act) (store.Row, error) {
	row, access, err := d.look(ctx, p, ref)
	switch {
	case err != nil:
		return store.Row{}, err
	case access == "":
		return store.Row{}, unseen(p, ref)
	case opens(act) && !MayOpen(p, row):
		return store.Row{}, Fail(Denied, "The credentials of %s give access to the control plane's own cloud keys, so only platform admins of every team may use them. "+
			"Ask one of them, or create a cluster of another profile.", row.Name)
	case p.May(act, row.Team), forUsers(act) && access == store.AccessUse:
		return row, nil
	case forUsers(act) && !p.May(policy.ActSee, row.Team):
		return store.Row{}, Fail(Denied, "%s is shared with you to see it, not to use it. Ask someone of team %s to share it with you for use.", row.Name, row.Team)
	}
	return store.Row{}, denied(p, act, row)
}

// minted is how a cluster's own credentials were made where the runner's keys lie in it; see profiles.Profile.AdminOnly.
const minted = "Mint"

// MayOpen says whether a cluster may be opened by somebody at all, whoever's it is and whoever shares it: one that holds the
// control plane's own keys is for those who may have these.
func MayOpen(p policy.Principal, row store.Row) bool {
	return mayOpen(p, row.Spec.CredentialsMode)
}

func mayOpen(p policy.Principal, credentialsMode string) bool {
	return credentialsMode != minted || p.MayHoldKeys()
}

// opens says whether an act makes somebody admin of the cluster. A log bundle counts: it holds the cluster's secrets.
func opens(act policy.Act) bool { return forUsers(act) || act == policy.ActBreakGlass }

// forUsers says whether a share to use the cluster is enough for an act.
func forUsers(act policy.Act) bool { return act == policy.ActKubeconfig || act == policy.ActLogBundle }

// look finds a cluster and what the principal may of it: see, use, or nothing. Being of its team is more than either.
func (d *Service) look(ctx context.Context, p policy.Principal, ref string) (store.Row, store.Access, error) {
	if !strings.HasPrefix(ref, ClusterIDPrefix) {
		return d.named(ctx, p, ref)
	}
	row, err := d.store.Cluster(ctx, ref)
	if errors.Is(err, store.ErrNotFound) {
		return store.Row{}, "", nil
	}
	if err != nil {
		return store.Row{}, "", fmt.Errorf("read cluster: %w", err)
	}
	access, err := d.access(ctx, p, row)
	return row, access, err
}

// named finds the cluster with a name among those the principal may see: the live one, or else the newest that is gone, so that
// people can still read what became of it. Two live clusters with one name, on two base domains, are told apart by their ids alone.
func (d *Service) named(ctx context.Context, p policy.Principal, name string) (store.Row, store.Access, error) {
	f := sight(p)
	f.Named, f.Live = name, true
	rows, _, err := d.store.List(ctx, f)
	switch {
	case err != nil:
		return store.Row{}, "", fmt.Errorf("look for %s: %w", name, err)
	case len(rows) == 0:
		f.Live, f.Limit = false, 1
		if rows, _, err = d.store.List(ctx, f); err != nil {
			return store.Row{}, "", fmt.Errorf("look for %s among those that are gone: %w", name, err)
		}
		if len(rows) == 0 {
			return store.Row{}, "", nil
		}
	case len(rows) > 1:
		var each []string
		for _, r := range rows {
			each = append(each, fmt.Sprintf("%s on %s", r.ID, r.BaseDomain))
		}
		return store.Row{}, "", Fail(Conflict, "%d clusters are called %s: %s. Name the one you mean by its id.", len(rows), name, strings.Join(each, ", "))
	}
	access, err := d.access(ctx, p, rows[0])
	return rows[0], access, err
}

// access is what the principal may of a cluster: use it, see it, or nothing. Who is of its team has seats to ask for the rest.
// A share with a team is for those who could use the team's own clusters.
func (d *Service) access(ctx context.Context, p policy.Principal, row store.Row) (store.Access, error) {
	if p.May(policy.ActKubeconfig, row.Team) {
		return store.AccessUse, nil
	}
	users, _ := p.Teams(policy.RolesFor(policy.ActKubeconfig)...)
	access, err := d.store.SharedWith(ctx, row.ID, p.ID, users)
	if err != nil || access != "" {
		return access, err
	}
	if p.May(policy.ActSee, row.Team) {
		return store.AccessSee, nil
	}
	viewers, _ := p.Teams(policy.RolesFor(policy.ActSee)...)
	if access, err = d.store.SharedWith(ctx, row.ID, p.ID, viewers); access == store.AccessUse {
		access = store.AccessSee // of a team in which one may only look
	}
	return access, err
}

// sight cuts a list to what the principal may see: its teams' clusters, and those shared with it.
func sight(p policy.Principal) store.Filter {
	teams, every := p.Teams(policy.RolesFor(policy.ActSee)...)
	if every {
		return store.Filter{}
	}
	return store.Filter{Principal: p.ID, Teams: append([]string{}, teams...)}
}

// unseen is what is told of a cluster that is not there, or not for this principal.
func unseen(p policy.Principal, ref string) error {
	if len(p.Seats) == 0 {
		return seatless()
	}
	return Fail(NotFound, "There is no cluster %s that you may see. The list of clusters shows yours.", ref)
}

func seatless() error {
	return Fail(Denied, "You are signed in but have no role: no identity of the catalogue matches your account. "+
		"Ask a platform admin for a role in your team.")
}

// doing is what an act is called in a sentence.
var ActWords = map[policy.Act]string{
	policy.ActExtend: "extend it", policy.ActHold: "hold it", policy.ActDestroy: "take it down", policy.ActScale: "scale its workers",
	policy.ActRefresh: "refresh its add-ons",
	policy.ActRetry:   "retry its teardown", policy.ActAbandon: "abandon its teardown", policy.ActShare: "share it",
	policy.ActTransfer: "transfer it to another team", policy.ActKubeconfig: "fetch its kubeconfig", policy.ActLogBundle: "download its log bundle",
	policy.ActBreakGlass: "ask for its kubeadmin password",
}

// denied says to somebody who sees a cluster why that is all, and whom to ask.
func denied(p policy.Principal, act policy.Act, row store.Row) error {
	ask := "someone of team " + row.Team + ", or a platform admin"
	if !slices.Contains(policy.RolesFor(act), policy.Requester) {
		ask = "a platform admin"
	}
	return Fail(Denied, "%s belongs to team %s. To %s you need the role %s there; %s. Ask %s.",
		row.Name, row.Team, ActWords[act], RoleWords(policy.RolesFor(act)), OwnRole(p, row.Team), ask)
}

// yours says which role the principal has in the team.
func OwnRole(p policy.Principal, team string) string {
	for _, role := range policy.Roles {
		if p.Has(team, role) {
			return "yours is " + plainly(role)
		}
	}
	return "you have none"
}

func RoleWords(all []policy.Role) string {
	words := make([]string, 0, len(all))
	for _, r := range all {
		words = append(words, plainly(r))
	}
	return strings.Join(words, " or ")
}

func plainly(r policy.Role) string { return strings.ReplaceAll(string(r), "_", " ") }

// MayForEverybody refuses what concerns the whole installation.
func MayForEverybody(p policy.Principal, act policy.Act, what string) error {
	if p.MayAnywhere(act) {
		return nil
	}
	if len(p.Seats) == 0 {
		return seatless()
	}
	if p.HasAnywhere(policy.RolesFor(act)...) {
		return Fail(Denied, "To %s you need the role %s in every team, because it concerns all of them; you have it in some. Ask a platform admin of every team.",
			what, RoleWords(policy.RolesFor(act)))
	}
	return Fail(Denied, "To %s you need the role %s; yours is %s. Ask a platform admin.", what, RoleWords(policy.RolesFor(act)), plainly(p.Role()))
}
