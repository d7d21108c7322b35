package count

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/internal/contract"
)

// thing is a resource that a query found.
type thing struct {
	kind, id, name        string
	free, command, remark string // who can remove it and how, as in contract.Leftover

	detail string // what its price depends on, as in contract.SeenResource

	crn       string
	group     string   // id of its resource group
	groupName string   // a VPC resource says it too
	vpc       string   // id of the VPC that it is in
	subnets   []string // ids of those that a load balancer is in
	tags      []string // user tags, as far as its list has them
	iamID     string   // of a service ID, and of whoever an API key is for
}

// question is one query of the cloud, including its pages.
type question struct {
	service, call, region, asked string
	ask                          func(context.Context) ([]thing, error)
	next                         string // what to do if it is not answered; empty: to allow the call
}

// reply is a query's record and what it found.
type reply struct {
	query  contract.Query
	things []thing
}

// askAll runs all queries, a few at a time, and returns the answers in the order of the queries.
func (c *Client) askAll(ctx context.Context, questions []question) []reply {
	answers := make([]reply, len(questions))
	var group errgroup.Group
	group.SetLimit(parallel)
	for i, q := range questions {
		group.Go(func() error {
			answers[i] = c.askOne(ctx, q)
			return nil
		})
	}
	_ = group.Wait() // every error is in its answer
	return answers
}

// askOne makes one query. Not found is no empty list: IBM answers so for another account's resources and at a wrong address. Queries for
// one resource find out themselves that it is gone.
func (c *Client) askOne(ctx context.Context, q question) (a reply) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	a.query = contract.Query{Service: q.service, Call: q.call, Region: q.region, Asked: q.asked, At: c.cfg.Now().UTC().Truncate(time.Millisecond)}
	things, err := q.ask(ctx)
	if err != nil {
		a.query.Err = err.Error()
		a.things = []thing{{
			kind: kindRefused, id: q.service + ":" + q.call, name: q.asked,
			free: "an administrator of the account: " + cmp.Or(q.next, fmt.Sprintf("allow the runner %s of the service %s in %s, or find out why it does not answer", q.call, q.service, q.region)),
		}}
		return a
	}
	a.things, a.query.Count = things, len(things)
	return a
}

// keepOwn removes from an answer what is not the cluster's.
func (a *reply) keepOwn(ours func(thing) bool) {
	if a.query.Err != "" {
		return
	}
	var kept []thing
	for _, t := range a.things {
		if ours(t) {
			kept = append(kept, t)
		}
	}
	a.things, a.query.Count = kept, len(kept)
}

// The kinds of leftovers that are no resources.
const (
	kindRefused = "refused-query"
	kindAccount = "wrong-account"
	kindZone    = "zone-not-visible"
)
