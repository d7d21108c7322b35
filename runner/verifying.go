package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/status"
)

const (
	cleanPasses = 2
	shownItems  = 10               // leftovers named in the result; the pass contains all
	uncleanWait = 30 * time.Second // maximum wait between passes that still find something
)

// verifyGone makes ocpctl's own count. It succeeds with two clean passes in a row, VerifyGap apart, taken after the destroyer's end
// was reported. What is found is removed by exact name and counted again, a limited number of times; the next attempt continues from
// there.
func (a *attempt) verifyGone(ctx context.Context) error {
	if !a.say.drainReports(ctx) && ctx.Err() == nil {
		return status.ErrLeaseOver
	}
	clean, unclean := 0, 0
	target := a.cloudTarget()
	for number := 1; ; number++ {
		// The last pass also asks the regions in which the cluster was not recorded. Once it was reached, every pass does: what it found there
		// is looked for, and removed, again.
		target.Everywhere = target.Everywhere || clean == cleanPasses-1
		pass := a.cloud.Verify(ctx, target)
		if ctx.Err() != nil {
			return context.Cause(ctx) // what was refused because of the cancellation is not a finding
		}
		pass.Number = number
		a.refusals.explainPass(&pass)
		pass.Clean = a.isClean(pass)
		a.say.Fact(contract.Report{Pass: a.redactPass(pass)})
		a.noteLine("verification %d: %d queries, %d leftovers", number, len(pass.Queries), len(pass.Leftovers))
		if pass.Account != "" && a.account != pass.Account {
			return wrongAccount(pass.Account, a.account)
		}
		wait := a.spec.VerifyGap
		if pass.Clean {
			clean++
			if clean == cleanPasses {
				return nil
			}
			a.say.Step(85, "found nothing left; counting again to confirm")
		} else {
			clean, wait = 0, min(a.spec.VerifyGap, uncleanWait)
			if unclean++; unclean >= a.cfg.Timings.UncleanPasses || unclean >= cleanPasses && a.refusals.isHopeless(pass) {
				return a.leftoversFound(pass)
			}
			a.say.Step(75, fmt.Sprintf("%d left; removing by name what can be removed", len(pass.Leftovers)))
			removal := target
			removal.Everywhere = target.Everywhere || unclean > 1 // what a removal by name left is looked for by tag, too
			a.removeLeftovers(ctx, removal)
		}
		// The gap is measured on the server's clock between two reported passes, so the first must have arrived.
		if !a.say.drainReports(ctx) && ctx.Err() == nil {
			return status.ErrLeaseOver
		}
		if err := status.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// redactPass prepares a pass for the server: refusals are the cloud's own text, and some repeat a request with its token.
func (a *attempt) redactPass(p contract.Pass) *contract.Pass {
	p.Queries, p.Leftovers = slices.Clone(p.Queries), slices.Clone(p.Leftovers)
	for i := range p.Queries {
		p.Queries[i].Err = a.cfg.Redact.Text(p.Queries[i].Err)
	}
	for i := range p.Leftovers {
		l := &p.Leftovers[i]
		for _, text := range []*string{&l.Name, &l.Free, &l.Command, &l.Remark} {
			*text = a.cfg.Redact.Text(*text)
		}
		if l.Refused != nil {
			refused := *l.Refused
			refused.Words, refused.Next, refused.Command = a.cfg.Redact.Text(refused.Words), a.cfg.Redact.Text(refused.Next), a.cfg.Redact.Text(refused.Command)
			l.Refused = &refused
		}
	}
	return &p
}

// isClean checks a pass again: the control succeeded, every query was answered, nothing was found, and every identity was searched
// for.
func (a *attempt) isClean(p contract.Pass) bool {
	for _, id := range a.spec.Identities {
		for _, name := range []string{id.InfraID, id.CCOName} {
			if name != "" && !slices.Contains(p.Identities, name) {
				return false
			}
		}
	}
	refused := slices.ContainsFunc(p.Queries, func(q contract.Query) bool { return q.Err != "" })
	return p.Clean && p.Control != "" && len(p.Leftovers) == 0 && !refused
}

// leftoversFound names what a count still saw, and who can remove it.
func (a *attempt) leftoversFound(p contract.Pass) failure {
	var names []string
	for _, l := range p.Leftovers[:min(len(p.Leftovers), shownItems)] {
		name := l.Type + " " + l.ID
		if l.Name != "" && l.Name != l.ID {
			name += " (" + l.Name + ")"
		}
		switch {
		case l.Refused != nil && !l.Refused.Heals:
			name += ": " + l.Refused.Reason // the pass says more
		case l.Refused != nil:
			name += ": " + l.Refused.Reason + ", " + l.Refused.Words
		case l.Free != "":
			name += ": " + l.Advice()
		}
		names = append(names, name)
	}
	if more := len(p.Leftovers) - shownItems; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	if len(names) == 0 {
		names = []string{"the count could not be completed"}
	}
	left := strings.Join(names, "; ")
	f := failure{
		Reason: "LeftoversFound", Retryable: true, Message: "still there: " + left, Whose: contract.WhoseOurs,
		Next: "ask whoever is named beside each resource to remove it: neither openshift-install nor ocpctl removes it by itself; ocpctl tries the teardown again",
	}
	switch by, lasting := a.refusals.findCause(p); {
	case lasting:
		return a.explainBlocked(by, left)
	case len(p.Leftovers) == 0 || slices.ContainsFunc(p.Leftovers, isUnanswered):
		f.Next = "ask an administrator of this installation to allow the refused queries for the runner's credentials; perhaps nothing is left, but ocpctl cannot verify it"
	case a.refusals.isWaiting(p) || a.timedOut:
		f.Whose = contract.WhoseCloud
		f.Next = "wait: ocpctl removes and counts them again; if the same resources stay, ask whoever is named beside them to remove them"
	}
	return f
}

// isUnanswered reports whether a leftover is not a resource but a query without an answer.
func isUnanswered(l contract.Leftover) bool {
	return slices.Contains([]string{"refused-query", "wrong-account", "zone-not-visible"}, l.Type)
}
