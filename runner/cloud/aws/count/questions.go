package count

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud/aws/kinds"
)

// thing is a resource that a query found; it still exists unless it is gone.
type thing struct {
	kinds.Resource
	kind                  string
	free, command, remark string // who can remove it and how, as in contract.Leftover
	region                string // empty: that of the query
}

// question is one query of the cloud, including its pages.
type question struct {
	service, call, region, asked string
	ask                          func(context.Context) ([]thing, error)
	unasked                      func(error) string // why an error is no finding, as in contract.Query; nil or empty: it is one
}

// answer is a query's record and what it found.
type answer struct {
	query  contract.Query
	things []thing
}

// askAll runs all queries, a few at a time, and returns the answers in the order of the queries.
func (c *Client) askAll(ctx context.Context, questions []question) []answer {
	answers := make([]answer, len(questions))
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

func (c *Client) askOne(ctx context.Context, q question) answer {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	a := answer{query: contract.Query{Service: q.service, Call: q.call, Region: q.region, Asked: q.asked, At: c.Now().UTC().Truncate(time.Millisecond)}}
	things, err := q.ask(ctx)
	if err != nil && q.unasked != nil {
		if a.query.Unasked = q.unasked(err); a.query.Unasked != "" {
			return a
		}
	}
	if err != nil && !kinds.IsAbsent(err) {
		a.query.Err = err.Error()
		a.things = []thing{{
			kind: "refused-query", Resource: kinds.Resource{ID: q.service + ":" + q.call, Name: q.asked},
			free: fmt.Sprintf("an administrator of the account: allow the runner %s in %s, or find out why it does not answer", permissionOf(q.service, q.call), q.region),
		}}
		return a
	}
	for _, t := range things {
		if !t.Gone {
			a.things = append(a.things, t)
		}
	}
	a.query.Count = len(a.things)
	return a
}

// permissionOf is the IAM action of a call, if its name differs from the call's.
func permissionOf(service, call string) string {
	switch {
	case service == "tagging":
		service = "tag"
	case call == "HeadBucket":
		call = "ListBucket"
	case call == "ListBuckets":
		call = "ListAllMyBuckets"
	}
	return service + ":" + call
}

// isCredentialsRefusal reports that the cloud answered and does not accept our credentials.
func isCredentialsRefusal(err error) bool {
	code := kinds.StatusOf(err)
	return code == http.StatusUnauthorized || code == http.StatusForbidden
}
