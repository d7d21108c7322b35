package app

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
)

// approvalAsk returns the approval that an accepted request needs; nil: none. It covers exactly what was requested.
func approvalAsk(r ClusterRequest, v policy.Verdict, asked []byte) *store.ApprovalAsk {
	a := v.Approval
	if a == nil {
		return nil
	}
	return &store.ApprovalAsk{
		ID: db.NewID("apr"), Why: a.Why, Needs: a.Count, Self: a.Self, By: string(a.By), For: a.For, Asked: fmt.Sprintf("%x", sha256.Sum256(asked)), Head: r.PR.Head, At: r.AskedAt,
	}
}

// turnAsk returns an accepted request's entry in the queue; nil: it starts at once. One that needs an approval gets its turn
// afterwards, so that many that are approved together pass no limit either.
func turnAsk(v policy.Verdict, u policy.Usage) *store.TurnAsk {
	if len(v.Waits) == 0 && (v.Approval == nil || len(v.Grant.Limits) == 0) {
		return nil
	}
	t := store.TurnAsk{Position: 1}
	for _, l := range v.Grant.Limits {
		t.Limits = append(t.Limits, lifecycle.Limit(l))
	}
	var limits []string
	for _, l := range v.Waits {
		limits = append(limits, lifecycle.Limit(l).Text())
		t.Position = max(t.Position, 1+countsFor(u, l.Scope).Waiting)
	}
	t.Words = strings.Join(limits, "; ")
	return &t
}

func countsFor(u policy.Usage, scope string) policy.Counts {
	switch scope {
	case lifecycle.ScopePerson:
		return u.Person
	case lifecycle.ScopeTeam:
		return u.Team
	case lifecycle.ScopeRepository:
		return u.Repository
	case lifecycle.ScopeCohort:
		var all policy.Counts
		for _, team := range u.Cohort {
			all.Waiting += team.Waiting
		}
		return all
	}
	return u.Everywhere
}
