package count

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/kinds"
)

// Verify counts what is left of a cluster, in one pass. It never fails: what could not be queried is a finding in the pass. The
// caller numbers the pass and decides how many clean ones it needs.
//
// It begins with a positive control: the token is for the recorded account, the cluster's resource group is there or proven to be gone, and
// the base domain's zone is visible, so that a wrong account or credentials without permissions cannot look like an empty cloud. If it
// fails, nothing else is queried. A cluster that never had an infraID was never in DNS, so its zone is not queried.
func (c *Client) Verify(ctx context.Context, t cloud.Target) contract.Pass {
	id := identityOf(t)
	pass := contract.Pass{Identities: id.allNames()}
	v := &verification{pass: &pass, seen: map[string]bool{}}
	zones, ok := c.runControl(ctx, t, &id, v)
	if !ok {
		return pass
	}
	c.lookFor(ctx, t, id, zones, v)
	slices.SortStableFunc(pass.Leftovers, func(a, b contract.Leftover) int { return inOrder(a) - inOrder(b) })
	pass.Clean = len(pass.Leftovers) == 0
	return pass
}

// holdsOthers are the kinds that IBM deletes only once nothing uses them, in the order in which they can be deleted.
var holdsOthers = []string{"security-group", kinds.NounSubnet, "public-gateway", kinds.NounVPC, kindGroup, "user-tag"}

// inOrder sorts what is left by what has to be deleted first: people read the beginning of a list, and that should be what blocks the
// rest.
func inOrder(l contract.Leftover) int { return slices.Index(holdsOthers, l.Type) }

// verification collects answers into a pass.
type verification struct {
	pass  *contract.Pass
	seen  map[string]bool // what is already listed as left
	found []thing
}

func (v *verification) addReplies(answers ...reply) {
	for _, a := range answers {
		v.pass.Queries = append(v.pass.Queries, a.query)
		for _, t := range a.things {
			key := keyOf(t)
			if t.kind == kindRefused {
				key += "/" + a.query.Region + "/" + a.query.Asked
			}
			v.found = append(v.found, t)
			if t.kind == kindHit || v.seen[key] {
				continue
			}
			v.seen[key] = true
			v.pass.Leftovers = append(v.pass.Leftovers, contract.Leftover{Type: t.kind, ID: t.id, Name: t.name, Free: t.free, Command: t.command, Remark: t.remark, Region: placeOf(a.query), Detail: t.detail})
		}
	}
}

// placeOf returns the region of what a query found; empty: it is in none, or that is not known.
func placeOf(q contract.Query) string {
	if q.Region == global {
		return ""
	}
	return q.Region
}

// keyOf is equal for everything that names the same resource: Resource Controller and the index name those of VPCs by their CRN.
func keyOf(t thing) string {
	if of, ok := answer.ParseCRN(t.crn); ok && of.Service == "is" {
		return of.ID
	}
	if t.kind == kindHit {
		return kindInstance + "/" + t.crn
	}
	return t.kind + "/" + t.id
}

// valuesOf returns the values of everything of one kind that was found.
func (v *verification) valuesOf(kind string, value func(thing) string) (values []string) {
	for _, t := range v.found {
		if got := value(t); t.kind == kind && got != "" && !slices.Contains(values, got) {
			values = append(values, got)
		}
	}
	return values
}

// runControl queries the account, its resource groups and the zones, and sets the groups that are the cluster's. ok is false if one of them
// is not as expected.
func (c *Client) runControl(ctx context.Context, t cloud.Target, id *identity, v *verification) (zones []kinds.Zone, ok bool) {
	answers := []reply{c.accountControl(ctx, t, v.pass)}
	said := "no name was ever recorded"
	if answers[0].query.Err == "" {
		answers = append(answers, c.groupControl(ctx, v.pass.Account, id)...)
	}
	if answers[0].query.Err == "" && len(id.infraIDs) > 0 {
		var dns []reply
		zones, dns = c.zoneControl(ctx, t)
		answers = append(answers, dns...)
		var ids []string
		for _, z := range zones {
			if z.Name == kinds.DNSName(&t.BaseDomain) {
				ids = append(ids, z.ID)
			}
		}
		said = fmt.Sprintf("zone %s (%s) is visible", t.BaseDomain, strings.Join(ids, ", "))
	}
	v.addReplies(answers...)
	for _, a := range answers {
		if a.query.Err != "" {
			return nil, false
		}
	}
	v.pass.Control = fmt.Sprintf("account %s answers, %s", v.pass.Account, said)
	return zones, true
}

func (c *Client) accountControl(ctx context.Context, t cloud.Target, pass *contract.Pass) reply {
	a := c.askOne(ctx, question{service: "iam-identity", call: "Token", region: global, asked: "account",
		ask: func(context.Context) (_ []thing, err error) {
			pass.Account, _, err = c.lookUpCaller()
			return nil, err
		}})
	if a.query.Err != "" {
		return a
	}
	a.query.Count = 1
	if want := t.RecordedAccount(pass.Account); want != pass.Account {
		a.query.Err = fmt.Sprintf("the credentials belong to account %s, but the cluster belongs to account %s", pass.Account, want)
		a.things = []thing{{kind: kindAccount, id: pass.Account, free: fmt.Sprintf(
			"an administrator of this installation: give the runner credentials for account %s", want)}}
	}
	return a
}

func (c *Client) zoneControl(ctx context.Context, t cloud.Target) (zones []kinds.Zone, answers []reply) {
	baseDomain := t.BaseDomain
	zones, answers = c.zonesOf(ctx, kinds.DNSName(new(t.Domain())))
	where := map[string]string{contract.PublishExternal: "in Internet Services", contract.PublishInternal: "in DNS Services"}[t.Publish]
	visible := slices.ContainsFunc(zones, func(z kinds.Zone) bool {
		return z.Name == kinds.DNSName(&baseDomain) && (where == "" || z.Private == (t.Publish == contract.PublishInternal))
	})
	refused := slices.ContainsFunc(answers, func(a reply) bool { return a.query.Err != "" })
	if !visible && !refused {
		last := &answers[len(answers)-1]
		last.query.Err = "no zone " + baseDomain + " is visible " + cmp.Or(where, "in Internet Services or in DNS Services")
		last.things = []thing{{kind: kindZone, id: baseDomain, free: "the DNS administrator: give the runner's credentials access to the zone " + baseDomain}}
	}
	return zones, answers
}
