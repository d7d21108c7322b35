package count

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/internal/contract"
)

// thing is a resource that a query found; it still exists unless gone (AWS lists deleted resources for up to an hour).
type thing struct {
	kind, id, name string
	free           string // who can remove it and how
	region         string // empty: that of the query
	detail         string // what its price depends on, as in contract.SeenResource
	tags           map[string]string
	gone           bool
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
			answers[i] = c.ask(ctx, q)
			return nil
		})
	}
	_ = group.Wait() // every error is in its answer
	return answers
}

func (c *Client) ask(ctx context.Context, q question) answer {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	a := answer{query: contract.Query{Service: q.service, Call: q.call, Region: q.region, Asked: q.asked, At: c.Now().UTC().Truncate(time.Millisecond)}}
	things, err := q.ask(ctx)
	if err != nil && q.unasked != nil {
		if a.query.Unasked = q.unasked(err); a.query.Unasked != "" {
			return a
		}
	}
	if err != nil && !notFound(err) {
		a.query.Err = err.Error()
		a.things = []thing{{
			kind: "refused-query", id: q.service + ":" + q.call, name: q.asked,
			free: fmt.Sprintf("an administrator of the account: allow the runner %s in %s, or find out why it does not answer", permission(q.service, q.call), q.region),
		}}
		return a
	}
	for _, t := range things {
		if !t.gone {
			a.things = append(a.things, t)
		}
	}
	a.query.Count = len(a.things)
	return a
}

// permission is the IAM action of a call, if its name differs from the call's.
func permission(service, call string) string {
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

// notFound reports that the cloud answered and the resource does not exist.
func notFound(err error) bool {
	var api smithy.APIError
	if errors.As(err, &api) {
		switch code := api.ErrorCode(); code {
		case "NoSuchEntity", "NoSuchBucket", "NoSuchHostedZone", "NotFound",
			"NoSuchTagSet", "LoadBalancerNotFound", "TargetGroupNotFound", "ListenerNotFound":
			return true
		default:
			// EC2 spells it InvalidVpcID.NotFound, NatGatewayNotFound, InvalidAllocationID.NotFound …
			return strings.HasSuffix(code, ".NotFound") || code == "NatGatewayNotFound" || code == "InvalidPlacementGroup.Unknown"
		}
	}
	return false
}

// statusCode returns the HTTP status of a refused call, zero if there was no response.
func statusCode(err error) int {
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}

// refusedCredentials reports that the cloud answered and does not accept our credentials.
func refusedCredentials(err error) bool {
	code := statusCode(err)
	return code == http.StatusUnauthorized || code == http.StatusForbidden
}
