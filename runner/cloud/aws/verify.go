package aws

import (
	"context"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/contract"
)

// Verify counts what is left of a cluster, in one pass. It never fails: what could not be asked is a finding in the pass.
// The caller numbers the pass and decides how many clean ones it wants.
//
// First a positive control: the account is the recorded one and the base domain's public zone is visible, so that a
// wrong account or a blind credential cannot pass for an empty cloud. Without it nothing else is asked. A cluster that
// never had an infraID was never in DNS, so its zone, which may not even exist, is not asked for.
func (c *Client) Verify(ctx context.Context, t cloud.Target) contract.Pass {
	pass := contract.Pass{Identities: lookedFor(t)}
	public, ok := c.control(ctx, t, &pass)
	if !ok {
		return pass
	}
	v := &verification{seen: map[string]bool{}, pass: &pass}
	v.add(c.askAll(ctx, c.firstQuestions(t, public)))
	v.add(c.askAll(ctx, c.followUps(t, v.found)))
	pass.Clean = len(pass.Leftovers) == 0
	return pass
}

// verification gathers answers into a pass.
type verification struct {
	pass  *contract.Pass
	seen  map[string]bool // kind/id already listed as left
	found []located
}

// located is a thing and the region it was asked for in.
type located struct {
	thing
	region string
}

func (v *verification) add(answers []answer) {
	for _, a := range answers {
		v.pass.Queries = append(v.pass.Queries, a.query)
		for _, t := range a.things {
			v.found = append(v.found, located{t, a.query.Region})
			key := t.kind + "/" + t.id
			if t.kind == "refused-query" {
				key += "/" + a.query.Region + "/" + a.query.Asked
			}
			if t.kind == kindARN || v.seen[key] {
				continue
			}
			v.seen[key] = true
			v.pass.Leftovers = append(v.pass.Leftovers, contract.Leftover{Type: t.kind, ID: t.id, Name: t.name, Free: t.free})
		}
	}
}

// control asks for the account and the public zones. ok is false when either is not as it must be.
func (c *Client) control(ctx context.Context, t cloud.Target, pass *contract.Pass) (public []zone, ok bool) {
	identity := c.ask(ctx, question{service: "sts", call: "GetCallerIdentity", region: c.region, asked: "account",
		ask: func(ctx context.Context) (_ []thing, err error) {
			pass.Account, err = c.Account(ctx)
			return nil, err
		}})
	if identity.query.Err == "" {
		identity.query.Count = 1
		if want := recordedAccount(t, pass.Account); want != pass.Account {
			identity.query.Err = fmt.Sprintf("these credentials belong to account %s, the cluster to %s", pass.Account, want)
			identity.things = []thing{{kind: "wrong-account", id: pass.Account, free: fmt.Sprintf(
				"an administrator of this installation: give the runner credentials of account %s", want)}}
		}
	}
	if infraIDs, _ := names(t); len(infraIDs) == 0 {
		(&verification{pass: pass, seen: map[string]bool{}}).add([]answer{identity})
		if identity.query.Err != "" {
			return nil, false
		}
		pass.Control = fmt.Sprintf("account %s answers; nothing was ever created under a name", pass.Account)
		return nil, true
	}
	dns := c.ask(ctx, question{service: "route53", call: "ListHostedZonesByName", region: globalRegion, asked: "name=" + t.BaseDomain + ".",
		ask: func(ctx context.Context) (_ []thing, err error) {
			public, err = c.publicZones(ctx, t.BaseDomain)
			return nil, err
		}})
	if len(public) > 0 {
		dns.query.Count = len(public)
	} else if dns.query.Err == "" {
		dns.query.Err = "the public zone of " + t.BaseDomain + " is not visible"
		dns.things = []thing{{kind: "zone-not-visible", id: t.BaseDomain, free: "the DNS administrator: show the runner's credentials the public zone of " + t.BaseDomain}}
	}
	(&verification{pass: pass, seen: map[string]bool{}}).add([]answer{identity, dns})
	if identity.query.Err != "" || dns.query.Err != "" {
		return public, false
	}
	pass.Control = fmt.Sprintf("account %s answers, zone %s (%s) is visible", pass.Account, t.BaseDomain, zoneIDs(public))
	return public, true
}

func zoneIDs(zones []zone) string {
	ids := make([]string, len(zones))
	for i, z := range zones {
		ids[i] = z.id
	}
	return strings.Join(ids, ", ")
}

// recordedAccount is the account the cluster was recorded in, or got when none was recorded. One of another account
// than got wins, so that a single mismatch is seen.
func recordedAccount(t cloud.Target, got string) string {
	accounts := []string{t.Account}
	for _, id := range t.Identities {
		accounts = append(accounts, id.Account)
	}
	for _, a := range accounts {
		if a != "" && a != got {
			return a
		}
	}
	return got
}
