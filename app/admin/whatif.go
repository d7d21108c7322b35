package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/closest"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Question is a request that somebody else could make.
type Question struct {
	As      string         // a person of the catalogue, or a principal's id
	Role    string         // that they have in the request's team; empty: as in the last request that they made
	Source  string         // the entry point; empty: the API
	Workers *int           // to which it is scaled once it is ready; nil: it stays as the profile makes it
	On      QuestionGitHub // for the entry points on GitHub

	app.CreateRequest
}

// QuestionGitHub is what a request from GitHub brings.
type QuestionGitHub struct {
	Repository string // owner/name
	Permission string // of the person on it; empty: write
	Fork       bool   // the pull request comes from a fork
}

// Answer is what policy says to a Question.
type Answer struct {
	app.Preview
	Principal policy.Principal // as which it was judged
	Since     time.Time        // of the request from which the roles were taken; zero: the question gave one, or GitHub's permission counts
}

// pullRequests are the entry points of a pull request, onGitHub all of those where GitHub's permission counts.
var (
	pullRequests = []policy.Source{policy.SourceLabel, policy.SourceComment}
	onGitHub     = append(slices.Clone(pullRequests), policy.SourceEnvironment, policy.SourceMergeQueue)
)

// somePullRequest and someName stand for what a question does not give.
const (
	somePullRequest = 1
	someName        = "what-if"
)

// WhatIf judges a request as if somebody else made it now, by the function that judges real ones, and stores nothing.
func (s *Service) WhatIf(ctx context.Context, p policy.Principal, q Question) (Answer, error) {
	if err := app.MayForEverybody(p, policy.ActCatalogue, "ask what policy would say to somebody else"); err != nil {
		return Answer{}, err
	}
	q.CreateRequest.Source = policy.Source(cmp.Or(q.Source, string(policy.SourceAPI)))
	q.Name, q.On.Permission = cmp.Or(q.Name, someName), cmp.Or(q.On.Permission, policy.Permissions[0])
	out, wrong, err := s.resolveQuestion(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	if wrong = append(append(wrong, q.checkGitHub()...), q.Wrong...); len(wrong) > 0 {
		return Answer{}, &app.Error{Kind: app.Invalid, Message: "The question cannot be answered.", Fields: wrong}
	}
	if _, known := s.catalogue().PersonOf(out.Principal.ID); !known {
		q.Owner = cmp.Or(q.Owner, someName) // the name of an unlinked account is no tag's value
	}
	q.Explain = true
	if !slices.Contains(onGitHub, q.CreateRequest.Source) && out.Principal.MayAnywhere(policy.ActCreate) {
		out.Preview, err = s.core.DryRun(ctx, out.Principal, q.CreateRequest)
	} else {
		out.Verdict, err = s.core.Judge(ctx, q.policyRequest(out.Principal, s.core.OwnershipOf(q.On.Repository)))
	}
	if err == nil && q.Workers != nil {
		err = s.judgeWorkers(ctx, q, &out)
	}
	return out, err
}

// policyRequest is the request that an entry point on GitHub would make of the question.
func (q Question) policyRequest(by policy.Principal, own policy.Ownership) policy.Request {
	r := q.CreateRequest
	out := policy.Request{
		Principal: by, Source: r.Source, Ownership: own, Profile: r.Profile, Generation: 1, Region: r.Region, Version: r.Version, BaseDomain: r.BaseDomain, Team: r.Team, TTL: r.TTL,
		Tags: r.ExtraTags, CostCenter: r.CostCenter, Environment: r.Environment, Owner: r.Owner, Addons: r.Addons, OffHours: r.OffhoursOptIn,
	}
	if !slices.Contains(onGitHub, r.Source) {
		out.Name = r.Name
		return out
	}
	out.Permission, out.PR = q.On.Permission, &policy.PullRequest{Repo: q.On.Repository, Author: by.Name, Fork: q.On.Fork}
	if slices.Contains(pullRequests, r.Source) {
		out.PR.Number = somePullRequest
	} else {
		out.Name = r.Name
	}
	return out
}

// checkGitHub reports what is wrong with the entry point, and with what it needs.
func (q Question) checkGitHub() (wrong []app.Field) {
	refuse := func(name, got string, accept ...string) {
		wrong = append(wrong, app.ProblemOf(name, messages.Problem{Detail: got, Accept: accept}))
	}
	source := q.CreateRequest.Source
	if !slices.Contains(policy.Sources, source) {
		var names []string
		for _, one := range policy.Sources {
			names = append(names, string(one))
		}
		refuse("source", fmt.Sprintf("There is no entry point %q.", source), names...)
	}
	owner, name, _ := strings.Cut(q.On.Repository, "/")
	named := app.IsRepositoryName(owner) && app.IsRepositoryName(name)
	switch {
	case slices.Contains(onGitHub, source) && !named:
		refuse("repository", "A request from GitHub comes from a repository.", "owner/name, e.g. acme/shop")
	case q.On.Repository != "" && !named:
		refuse("repository", fmt.Sprintf("%q is not the name of a repository.", q.On.Repository), "owner/name, e.g. acme/shop")
	}
	if known := append(slices.Clone(policy.Permissions), "triage", "read", "none"); !slices.Contains(known, q.On.Permission) {
		refuse("permission", fmt.Sprintf("GitHub has no permission %q.", q.On.Permission), known...)
	}
	return wrong
}

// resolveQuestion finds out who asks, and with which roles.
func (s *Service) resolveQuestion(ctx context.Context, q Question) (out Answer, wrong []app.Field, err error) {
	c := s.catalogue().Catalogue
	ids := []string{q.As}
	person, known := profiles.Spellings(c.People)[strings.ToLower(q.As)]
	if known {
		ids = person.Identities
	}
	if !known && !strings.Contains(q.As, ":") {
		return out, []app.Field{unknownPerson(q.As, c)}, nil
	}
	out.Principal = policy.Principal{ID: ids[0], Name: c.NameOf(ids[0])}
	if q.Role != "" {
		seat, wrong := seatOf(q, c)
		out.Principal.Seats = []policy.Seat{seat}
		return out, wrong, nil
	}
	last, found, err := s.store.LastDecision(ctx, ids)
	if err != nil {
		return out, nil, fmt.Errorf("look for the last request of %s: %w", q.As, err)
	}
	if found {
		var made policy.Request
		if err := json.Unmarshal(last.Request, &made); err != nil {
			return out, nil, fmt.Errorf("read the request %s: %w", last.ID, err)
		}
		out.Principal.ID, out.Principal.Seats, out.Since = made.Principal.ID, made.Principal.Seats, last.At
	} else if !slices.Contains(onGitHub, q.CreateRequest.Source) {
		wrong = append(wrong, app.ProblemOf("role", messages.Problem{Detail: fmt.Sprintf("%s made no request yet, so their role is not known.", out.Principal.Name), Accept: roleNames()}))
	}
	return out, wrong, nil
}

func unknownPerson(as string, c profiles.Catalogue) app.Field {
	var names []string
	for _, person := range c.People {
		names = append(names, person.Name)
	}
	text := fmt.Sprintf("Nobody in the catalogue is called %q.", as)
	if near, found := closest.Match(as, names); found {
		text = fmt.Sprintf("Nobody in the catalogue is called %q. Did you mean %s?", as, near)
	}
	if as == "" {
		text = "It is required."
	}
	return app.ProblemOf("as", messages.Problem{Detail: text, Accept: []string{"a person's name in the catalogue", "a principal's id, e.g. github:maya or saml:maya@acme.example"}})
}

func roleNames() (names []string) {
	for _, role := range policy.Roles {
		names = append(names, string(role))
	}
	return names
}

// seatOf returns the seat that a question gives: in the request's team, or in every team for those who act for all of them.
func seatOf(q Question, c profiles.Catalogue) (seat policy.Seat, wrong []app.Field) {
	seat = policy.Seat{Role: policy.Role(q.Role), Team: cmp.Or(q.Team, policy.EveryTeam)}
	if !slices.Contains(policy.Roles, seat.Role) {
		wrong = append(wrong, app.ProblemOf("role", messages.Problem{Detail: fmt.Sprintf("There is no role %q.", q.Role), Accept: roleNames()}))
	}
	if seat.Role == policy.Requester && q.Team == "" {
		accept := []string{"a team's name"}
		for _, team := range c.Teams {
			accept = append(accept, team.Name)
		}
		wrong = append(wrong, app.ProblemOf("team", messages.Problem{Detail: "A requester has the role in a team.", Accept: accept}))
	}
	return seat, wrong
}

// judgeWorkers adds the check of a change of the workers, by the bounds and limits that hold for a cluster that was granted.
func (s *Service) judgeWorkers(ctx context.Context, q Question, out *Answer) error {
	c := s.catalogue().Catalogue
	profile, known := c.Get(out.Grant.Profile)
	if !known || !out.Allowed {
		return nil
	}
	w, asked := profile.Workers, *q.Workers
	check := policy.Check{Name: "workers", Result: policy.Pass, Asked: fmt.Sprint(asked), Accept: fmt.Sprintf("%d to %d", w.Least, w.Most), Message: fmt.Sprintf("Profile %s allows %d to %d workers.", profile.Name, w.Least, w.Most)}
	switch {
	case w.Least >= w.Most && asked != w.Replicas:
		check.Accept = fmt.Sprint(w.Replicas)
		check.Result, check.Message = policy.Fail, fmt.Sprintf("Profile %s has a fixed number of workers: %d.", profile.Name, w.Replicas)
	case w.Least < w.Most && (asked < w.Least || asked > w.Most):
		check.Result, check.Message = policy.Fail, fmt.Sprintf("%d workers are out of the bounds of profile %s: %d to %d.", asked, profile.Name, w.Least, w.Most)
	case asked > w.Replicas:
		repository := ""
		if slices.Contains(pullRequests, q.CreateRequest.Source) {
			repository = q.On.Repository
		}
		used, err := s.store.Usage(ctx, usage.Scope{Person: out.Principal.ID, Team: out.Grant.Ownership.Team, Repo: repository, Everywhere: true})
		if err != nil {
			return fmt.Errorf("count what is used: %w", err)
		}
		more := price.Hourly(out.Grant.HourlyCents, profile.Nodes(), w.Replicas, asked)
		if region, _ := profile.Region(out.Grant.Region); region.WorkerMicros != nil {
			more = price.WithWorkers(out.Grant.HourlyCents, *region.WorkerMicros, w.Replicas, asked)
		}
		more -= out.Grant.HourlyCents
		rise := policy.Rise{Cents: price.For(more, out.Grant.TTL), NodeHours: float64(asked-w.Replicas) * out.Grant.TTL.Hours()}
		judged := policy.JudgeRise(policy.Party{Asks: out.Principal, RequestedBy: out.Principal.ID, Team: out.Grant.Ownership.Team, Repo: repository}, rise, app.ToPolicyUsage(used), c)
		check.Result, check.Checks, check.Next = judged.Result, judged.Checks, judged.Next
		check.Message = fmt.Sprintf("%d instead of %d workers add %s until its end. %s", asked, w.Replicas, price.Dollars(rise.Cents), judged.Message)
	}
	out.Checks = append(out.Checks, check)
	out.Allowed = out.Allowed && check.Result != policy.Fail
	return nil
}
