package scan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// proofName is the name of a cluster that nobody makes: a preflight looks for a cluster's names.
const proofName = "ocpctl-proof"

// roleRefused is the reason if the role of the account cannot be assumed.
const roleRefused = "RoleRefused"

// proveAccount looks whether clusters of the plans can be made in the account, with an attempt's own preflight in every region and for every
// base domain, and measures what fits. Its error says why they cannot, or that the cloud did not answer.
func (s *scan) proveAccount(ctx context.Context) error {
	open, can := s.cfg.Meters[s.spec.Platform]
	if !can {
		return failure{Reason: "UnknownPlatform", Message: "this runner cannot prove accounts of " + s.spec.Platform, Next: "ask an administrator of this installation to upgrade ocpctl-runner"}
	}
	for _, p := range s.spec.Plans {
		if !slices.Contains(s.regions, p.Region) {
			s.regions = append(s.regions, p.Region)
		}
	}
	if len(s.regions) == 0 {
		s.regions = []string{s.spec.HomeRegion}
	}
	var problems []cloud.Problem
	for i, region := range s.regions {
		meter, err := open(ctx, region, s.keys)
		if err != nil {
			return s.explainUnanswered("CloudUnanswered", "the cloud could not be asked", err)
		}
		found, err := s.lookFor(ctx, meter, region, i == 0)
		if err != nil {
			return context.Cause(ctx)
		}
		problems = append(problems, found...)
	}
	if err := s.judgeProblems(problems); err != nil {
		return err
	}
	if err := s.measureRoom(ctx); err != nil {
		return err
	}
	return s.judgeLimits()
}

// lookFor returns what is wrong in a region. All base domains are looked for in the first one alone: their zones are the account's. One that has no
// zone is no problem if another one has: profiles differ.
func (s *scan) lookFor(ctx context.Context, meter Meter, region string, first bool) (problems []cloud.Problem, err error) {
	var missing []cloud.Problem
	domains := s.spec.BaseDomains
	if !first {
		domains = domains[:min(1, len(domains))]
	}
	for _, domain := range domains {
		found, err := meter.Preflight(ctx, cloud.Target{Region: region, Name: proofName, BaseDomain: domain, Account: s.spec.Account, Installation: s.spec.Installation}, nil, nil)
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			if advice := s.keys.Role.Advice(s.keys.Role.ExternalID); advice != "" && p.Code == "CredentialsRefused" {
				p.Code, p.Next = roleRefused, advice
			}
			switch {
			case p.Code == "NameInUse":
			case p.Code == "ZoneMissing":
				missing = append(missing, p)
			case !slices.Contains(problems, p):
				problems = append(problems, p)
			}
		}
	}
	if first && len(missing) == len(domains) {
		problems = append(problems, missing...)
	}
	return problems, nil
}

// judgeProblems returns the failure that the problems are, the worst first; nil: they are none. What the cloud did not answer for a reason of its own
// proves nothing.
func (s *scan) judgeProblems(problems []cloud.Problem) error {
	for _, kind := range []struct {
		verdict string
		is      func(cloud.Problem) bool
	}{
		{contract.ProofRefused, func(p cloud.Problem) bool { return p.Block }},
		{contract.ProofLacking, func(p cloud.Problem) bool { return p.Code == "NotAnswered" && p.Whose == contract.WhoseOurs }},
		{"", func(p cloud.Problem) bool { return p.Code == "NotAnswered" }},
	} {
		var f failure
		var messages, next []string
		for _, p := range problems {
			if !kind.is(p) || slices.Contains(messages, p.Message) {
				continue
			}
			f.Reason, messages = cmp.Or(f.Reason, p.Code), append(messages, p.Message)
			if !slices.Contains(next, p.Next) {
				next = append(next, p.Next)
			}
		}
		if len(messages) > 0 {
			s.proof, f.Message, f.Next = kind.verdict, strings.Join(messages, "; "), strings.Join(next, "; ")
			return f
		}
	}
	return nil
}

// noteUnread remembers a region of which no limit could be read.
func (s *scan) noteUnread(region string, quotas []contract.Quota) {
	if len(quotas) == 0 || slices.ContainsFunc(quotas, func(q contract.Quota) bool { return q.Unknown == "" }) {
		return
	}
	q := quotas[max(0, slices.IndexFunc(quotas, func(q contract.Quota) bool { return q.Denied }))]
	s.denied, s.unread = s.denied || q.Denied, append(s.unread, fmt.Sprintf("%s (%s)", region, q.Unknown))
}

// judgeLimits ends a proof for which everything else is as it should be. Limits that the cloud did not tell for a reason of its own prove nothing.
func (s *scan) judgeLimits() error {
	if len(s.unread) > 0 {
		f := failure{Reason: "LimitsUnread", Message: "the account's limits could not be read in " + strings.Join(slices.Compact(s.unread), ", "), Next: "the next proof tries again"}
		if s.denied {
			s.proof = contract.ProofLacking
			f.Next = "ask an administrator of the account to give the runner's credentials the permissions to read quotas (deploy/terraform/policies, or deploy/ibmcloud)"
		}
		return f
	}
	s.proof = contract.ProofProven
	return nil
}
