package count

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/IBM/go-sdk-core/v5/core"
	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/internal/contract"
)

// thing is a resource that a query found.
type thing struct {
	kind, id, name string
	free           string // who can remove it and how

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

// ask makes one query. Not found is no empty list: IBM answers so for another account's resources and at a wrong address. Queries for
// one resource find out themselves that it is gone.
func (c *Client) ask(ctx context.Context, q question) (a answer) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	a.query = contract.Query{Service: q.service, Call: q.call, Region: q.region, Asked: q.asked, At: c.cfg.Now().UTC().Truncate(time.Millisecond)}
	things, err := answered(ctx, q)
	if err != nil {
		a.query.Err = err.Error()
		a.things = []thing{{
			kind: kindRefused, id: q.service + ":" + q.call, name: q.asked,
			free: fmt.Sprintf("an administrator of the account: allow the runner %s of the service %s in %s, or find out why it does not answer", q.call, q.service, q.region),
		}}
		return a
	}
	a.things, a.query.Count = things, len(things)
	return a
}

// answered makes one query. IBM's pagers panic on a response without a body.
func answered(ctx context.Context, q question) (things []thing, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			things, err = nil, fmt.Errorf("the answer cannot be read: %v", broken)
		}
	}()
	return q.ask(ctx)
}

// keep removes from an answer what is not the cluster's.
func (a *answer) keep(ours func(thing) bool) {
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

// keepFindings removes from an answer what is there for others than the pass.
func (a *answer) keepFindings() {
	a.things = slices.DeleteFunc(a.things, func(t thing) bool { return t.kind != kindRefused })
}

// The kinds of leftovers that are no resources.
const (
	kindRefused = "refused-query"
	kindAccount = "wrong-account"
	kindZone    = "zone-not-visible"
)

// pager is the interface of all pagers of the SDKs.
type pager[T any] interface {
	HasNext() bool
	GetNextWithContext(context.Context) ([]T, error)
}

// collect reads every page and converts its items. A refused page makes the whole result an error. made is the error of making the pager.
func collect[T any](ctx context.Context, p pager[T], made error, thingOf func(T) thing) ([]thing, error) {
	if made != nil {
		return nil, made
	}
	var all []thing
	for p.HasNext() {
		page, err := p.GetNextWithContext(ctx)
		switch {
		case err != nil:
			return nil, explained(nil, err)
		case page == nil:
			return nil, errNoList
		}
		for _, item := range page {
			all = append(all, thingOf(item))
		}
	}
	return all, nil
}

// errNoList is the error of an answer that has no list where one belongs: it is not an empty one.
var errNoList = errors.New("the answer has no list")

// refusal is an answer with an error.
type refusal struct {
	status int
	text   string
}

func (r refusal) Error() string { return r.text }

// explained reads what IBM answered. Several of its SDKs keep neither status nor text in their errors, so both are read from the
// response. Without a response the error is returned as it is.
func explained(response *core.DetailedResponse, err error) error {
	if err == nil {
		return nil
	}
	var problem *core.HTTPProblem
	if response == nil && errors.As(err, &problem) {
		response = problem.Response
	}
	if response == nil {
		return err
	}
	text := fmt.Sprintf("status %d", response.StatusCode)
	if said := said(response); said != "" {
		text += ": " + said
	}
	return refusal{response.StatusCode, text}
}

// said is the code and the message in the body of an error, in any of the shapes that IBM's services use.
func said(response *core.DetailedResponse) string {
	var body struct {
		Errors []struct {
			Code    any    `json:"code"`
			Message string `json:"message"`
		} `json:"errors"`
		ErrorCode    string `json:"error_code"`
		Message      string `json:"message"`
		Code         string `json:"errorCode"`
		ErrorMessage string `json:"errorMessage"`
	}
	raw := response.RawResult
	if raw == nil {
		raw, _ = json.Marshal(response.Result)
	}
	if json.Unmarshal(raw, &body) != nil {
		return ""
	}
	if len(body.Errors) > 0 {
		return strings.TrimSpace(fmt.Sprintf("%v %s", body.Errors[0].Code, body.Errors[0].Message))
	}
	return strings.TrimSpace(strings.Join([]string{body.ErrorCode, body.Message, body.Code, body.ErrorMessage}, " "))
}

// statusOf returns the HTTP status of a refused call, zero if there was no response.
func statusOf(response *core.DetailedResponse, err error) int {
	var r refusal
	if errors.As(explained(response, err), &r) {
		return r.status
	}
	return 0
}

// text returns a string of the SDKs, which is nil where an answer has none.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// texts returns the first text that is not empty.
func texts(all ...*string) string {
	for _, s := range all {
		if text(s) != "" {
			return *s
		}
	}
	return ""
}
