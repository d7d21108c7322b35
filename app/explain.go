package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// Explanation is why a cluster is in its state, and what can be done.
type Explanation struct {
	Row     clusters.Row
	Verdict *policy.Verdict // as given; nil: the cluster is older than stored verdicts
	Why     []string        // what else there is to its state, one sentence each
	Ends    []End           // the earliest first
	Next    []messages.Step // what can be done now
}

// End is one reason for a cluster to end.
type End struct {
	Kind    string // ttl, maximum, pr_closed, label_removed, run_finished, claim, idle or hold
	At      time.Time
	Message string
}

// Explain returns why a cluster was accepted, why it is in its state, when and why it ends, and what the principal can do about
// it.
func (s *Service) Explain(ctx context.Context, p policy.Principal, ref string) (Explanation, error) {
	row, err := s.Cluster(ctx, p, ref)
	if err != nil {
		return Explanation{}, err
	}
	actions, err := s.Actions(ctx, p, row)
	if err != nil {
		return Explanation{}, err
	}
	out, err := s.ExplainRow(ctx, row)
	for _, verb := range policy.Possible(actions) {
		if step := sayNextStep(verb, row.Card, row.PR != nil); step.Text != "" {
			out.Next = append(out.Next, step)
		}
	}
	return out, err
}

// ExplainRow is Explain without what can be done, for somebody who may see the cluster.
func (s *Service) ExplainRow(ctx context.Context, row clusters.Row) (Explanation, error) {
	out := Explanation{Row: row, Why: messages.Reasons(row.Card)}
	if len(row.Addons) > 0 && row.Status == lifecycle.Ready {
		conditions, err := s.store.Attempts.Conditions(ctx, row.ID)
		if err != nil {
			return Explanation{}, fmt.Errorf("read the conditions: %w", err)
		}
		out.Why = append(out.Why, missingAddons(row, conditions)...)
	}
	if row.Desired == lifecycle.Present { // no end matters for a cluster that is going away
		out.Ends = listEnds(row.Ends)
	}
	raw, err := s.store.Verdict(ctx, row.ID)
	switch {
	case errors.Is(err, db.ErrNotFound):
		return out, nil
	case err != nil:
		return Explanation{}, fmt.Errorf("read the verdict: %w", err)
	}
	out.Verdict = &policy.Verdict{}
	if err := json.Unmarshal(raw, out.Verdict); err != nil {
		return Explanation{}, fmt.Errorf("the verdict of %s: %w", row.ID, err)
	}
	if asks := out.Verdict.Approval; asks != nil && row.NeedsApproval && row.Desired == lifecycle.Present {
		out.Why = append(out.Why, asks.Text())
	}
	return out, nil
}

// listEnds returns all ends in the order in which they take effect; a hold is among them, as the earliest possible end.
func listEnds(e lifecycle.Ends) []End {
	var out []End
	for _, end := range []End{
		{Kind: "hold", At: e.Hold}, {Kind: "ttl", At: e.TTL}, {Kind: "pr_closed", At: e.PRClosed}, {Kind: "label_removed", At: e.LabelRemoved},
		{Kind: "run_finished", At: e.RunFinished}, {Kind: "claim", At: e.Claim}, {Kind: "idle", At: e.Idle}, {Kind: "drain", At: e.Drain}, {Kind: "maximum", At: e.Max},
	} {
		if !end.At.IsZero() {
			end.Message = sayEnd(end.Kind, e)
			if postpones(e, end) {
				end.Message += "; the hold postpones it to " + chatops.Time(e.Hold)
			}
			out = append(out, end)
		}
	}
	takesEffect := func(end End) time.Time {
		if postpones(e, end) {
			return e.Hold
		}
		return end.At
	}
	slices.SortStableFunc(out, func(a, b End) int { return takesEffect(a).Compare(takesEffect(b)) })
	return out
}

// postpones reports whether the hold postpones one of a cluster's ends.
func postpones(e lifecycle.Ends, end End) bool { return end.Kind != "drain" && end.At.Before(e.Hold) }

// sayEnd says what one of a cluster's ends means: ttl, maximum, pr_closed, label_removed, run_finished, claim, idle, drain or hold.
func sayEnd(kind string, ends lifecycle.Ends) string {
	switch kind {
	case "ttl":
		return "its time to live is over"
	case "pr_closed":
		return ends.WhyClosed().String() + ", and the grace is over"
	case "label_removed":
		return "its label was removed, and the grace is over"
	case "run_finished":
		return ends.WhyFinished().String()
	case "claim":
		return "its claim ends"
	case "idle":
		return "nobody used it: use moves this end"
	case "hold":
		return "a hold: only the profile's maximum or a drain can end it earlier"
	case "drain":
		return ends.DrainWhy.String()
	case "maximum":
		return "the profile's maximum: nothing extends it past this"
	}
	return ""
}

// sayNextStep says what somebody can do with a cluster by an act, and with which command. ofPullRequest: it was requested on one.
func sayNextStep(next policy.Verb, c lifecycle.Card, ofPullRequest bool) messages.Step {
	step := func(text, verb, args string) messages.Step {
		command := strings.TrimRight(fmt.Sprintf("%s %s %s", verb, c.Name, args), " ")
		return messages.Step{Text: text, CLI: command, Slack: command}
	}
	switch next {
	case policy.VerbApprove:
		return step("Approve or refuse it", "approve", "")
	case policy.VerbKubeconfig:
		return step("Fetch its kubeconfig", "kubeconfig", "")
	case policy.VerbConsole:
		return step("Open its console", "console", "")
	case policy.VerbExtend:
		return step("Extend it, at most until "+chatops.Time(c.Ends.Latest()), "extend", "4h")
	case policy.VerbHold:
		text := "Hold it, so that only the profile's maximum or a drain can end it earlier"
		if ofPullRequest {
			text = "Hold it, even if its pull request is closed"
		}
		return step(text, "hold", "8h --reason …")
	case policy.VerbScale:
		return messages.Step{Text: "Scale its workers", CLI: "scale-workers " + c.Name + " --replicas 2", Slack: "scale " + c.Name + " 2"}
	case policy.VerbRefresh:
		return step("Refresh its add-ons", "refresh", "")
	case policy.VerbWake:
		return step("Wake it", "wake", "")
	case policy.VerbTonight:
		return step("Keep it awake until the next working hours", "hold", "tonight")
	case policy.VerbUnhold:
		return step("Remove its hold", "unhold", "")
	case policy.VerbSleep:
		return step("Put it to sleep, so that it costs less", "sleep", "")
	case policy.VerbShare:
		return step("Share it with another team or person", "share", "--team …")
	case policy.VerbTransfer:
		return step("Transfer it to another team", "transfer", "--team …")
	case policy.VerbDestroy:
		return step("Destroy it", "destroy", "")
	case policy.VerbRetry:
		return step("Retry the teardown now", "retry", "--reason …")
	case policy.VerbAbandon:
		return messages.Step{Text: "Give up waiting for its teardown", CLI: "abandon " + c.Name + " --reason …"}
	}
	return messages.Step{}
}
