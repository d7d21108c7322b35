package count

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/aws/kinds"
)

// Verify counts what is left of a cluster, in one pass. It never fails: what could not be queried is a finding in the pass. The
// caller numbers the pass and decides how many clean ones it needs.
//
// It begins with a positive control: the account is the recorded one and the base domain's public zone is visible, so that a wrong
// account or credentials without permissions cannot look like an empty cloud. If it fails, nothing else is queried. A cluster that
// never had an infraID was never in DNS, so its zone, which may not even exist, is not queried.
func (c *Client) Verify(ctx context.Context, t cloud.Target) contract.Pass {
	pass := contract.Pass{Identities: identityNames(t)}
	public, ok := c.runControl(ctx, t, &pass)
	if !ok {
		return pass
	}
	v := &verification{seen: map[string]bool{}, pass: &pass}
	v.addAnswers(c.askAll(ctx, c.firstQuestions(t, public)))
	if t.Everywhere {
		v.addAnswers(c.askEverywhere(ctx, t, identityOf(t)))
	}
	v.addAnswers(c.askAll(ctx, c.followUps(t, v.found)))
	slices.SortStableFunc(pass.Leftovers, func(a, b contract.Leftover) int { return inOrder(a) - inOrder(b) })
	pass.Clean = len(pass.Leftovers) == 0
	return pass
}

// holdsOthers are the kinds that AWS deletes only once nothing uses them, in the order in which they can be deleted.
var holdsOthers = []string{"security-group", "route-table", "subnet", "internet-gateway", "vpc"}

// inOrder sorts what is left by what has to be deleted first: people read the beginning of a list, and that should be what blocks the
// rest.
func inOrder(l contract.Leftover) int { return slices.Index(holdsOthers, l.Type) }

// verification collects answers into a pass.
type verification struct {
	pass  *contract.Pass
	seen  map[string]bool // kind/id that are already listed as left
	found []located
}

// located is a thing and the region of its query.
type located struct {
	thing
	region string
}

func (v *verification) addAnswers(answers []answer) {
	for _, a := range answers {
		v.pass.Queries = append(v.pass.Queries, a.query)
		for _, t := range a.things {
			v.found = append(v.found, located{t, a.query.Region})
			key := t.kind + "/" + t.ID
			if t.kind == "refused-query" {
				key += "/" + a.query.Region + "/" + a.query.Asked
			}
			if t.kind == kindARN || v.seen[key] {
				continue
			}
			v.seen[key] = true
			v.pass.Leftovers = append(v.pass.Leftovers, contract.Leftover{Type: t.kind, ID: t.ID, Name: t.Name, Free: t.free, Command: t.command, Remark: t.remark, Region: placeOf(t, a.query), Detail: t.Detail})
		}
	}
}

// placeOf returns the region of a thing; empty: it has none.
func placeOf(t thing, q contract.Query) string {
	if t.region == "" && slices.Contains([]string{"ec2", "elasticloadbalancing", "tagging"}, q.Service) {
		return q.Region
	}
	return t.region
}

// runControl queries the account and the public zones. ok is false if either is not as expected.
func (c *Client) runControl(ctx context.Context, t cloud.Target, pass *contract.Pass) (public []zone, ok bool) {
	answers := []answer{c.accountControl(ctx, t, pass)}
	said := "no name was ever recorded"
	if infraIDs, _ := uniqueNames(t); len(infraIDs) > 0 {
		var dns answer
		dns, public = c.zoneControl(ctx, t.BaseDomain)
		answers = append(answers, dns)
		said = fmt.Sprintf("zone %s (%s) is visible", t.BaseDomain, strings.Join(convertEach(public, func(z zone) string { return z.id }), ", "))
	}
	(&verification{pass: pass, seen: map[string]bool{}}).addAnswers(answers)
	for _, a := range answers {
		if a.query.Err != "" {
			return nil, false
		}
	}
	pass.Control = fmt.Sprintf("account %s answers, %s", pass.Account, said)
	return public, true
}

func (c *Client) accountControl(ctx context.Context, t cloud.Target, pass *contract.Pass) answer {
	a := c.askOne(ctx, question{service: "sts", call: "GetCallerIdentity", region: c.cfg.Region, asked: "account",
		ask: func(ctx context.Context) (_ []thing, err error) {
			pass.Account, err = c.lookUpAccount(ctx)
			return nil, err
		}})
	if a.query.Err != "" {
		return a
	}
	a.query.Count = 1
	if want := t.RecordedAccount(pass.Account); want != pass.Account {
		a.query.Err = fmt.Sprintf("the credentials belong to account %s, but the cluster belongs to account %s", pass.Account, want)
		a.things = []thing{{kind: "wrong-account", Resource: kinds.Resource{ID: pass.Account}, free: fmt.Sprintf(
			"an administrator of this installation: give the runner credentials for account %s", want)}}
	}
	return a
}

func (c *Client) zoneControl(ctx context.Context, baseDomain string) (a answer, public []zone) {
	a = c.askOne(ctx, question{service: "route53", call: "ListHostedZonesByName", region: globalRegion, asked: "name=" + baseDomain + ".",
		ask: func(ctx context.Context) (_ []thing, err error) {
			public, err = c.publicZones(ctx, baseDomain)
			return nil, err
		}})
	if len(public) > 0 {
		a.query.Count = len(public)
	} else if a.query.Err == "" {
		a.query.Err = "the public zone of " + baseDomain + " is not visible"
		a.things = []thing{{kind: "zone-not-visible", Resource: kinds.Resource{ID: baseDomain}, free: "the DNS administrator: give the runner's credentials access to the public zone of " + baseDomain}}
	}
	return a, public
}
