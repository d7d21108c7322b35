package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

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
	Why     []string        // one sentence each
	Ends    []End           // the earliest first
	Next    []string        // what can be done now
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
	out := Explanation{Row: row, Why: messages.Reasons(row.Card), Next: nexts(p, row)}
	if len(row.Addons) > 0 && row.Status == lifecycle.Ready {
		conditions, err := s.store.Attempts.Conditions(ctx, row.ID)
		if err != nil {
			return Explanation{}, fmt.Errorf("read the conditions: %w", err)
		}
		out.Why = append(out.Why, missingAddons(row, conditions)...)
	}
	if row.Desired == lifecycle.Present { // no end matters for a cluster that is going away
		out.Ends = ends(row.Ends)
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

func deref(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

// ends returns all ends, the earliest first; a hold is among them, as the earliest possible end.
func ends(e lifecycle.Ends) []End {
	var out []End
	for _, end := range []End{
		{Kind: "ttl", At: e.TTL}, {Kind: "pr_closed", At: e.PRClosed}, {Kind: "label_removed", At: e.LabelRemoved},
		{Kind: "run_finished", At: e.RunFinished}, {Kind: "claim", At: e.Claim}, {Kind: "idle", At: e.Idle}, {Kind: "hold", At: e.Hold}, {Kind: "maximum", At: e.Max},
	} {
		if !end.At.IsZero() {
			end.Message = messages.EndText(end.Kind, e)
			if end.At.Before(e.Hold) {
				end.Message += messages.PostponedByHold(e.Hold)
			}
			out = append(out, end)
		}
	}
	slices.SortStableFunc(out, func(a, b End) int { return a.At.Compare(b.At) })
	return out
}

// nexts returns what the principal can do now, each with its command.
func nexts(p policy.Principal, row clusters.Row) []string {
	var next []string
	for _, act := range Possible(p, row) {
		next = append(next, messages.NextStep(act, row.Card, row.PR != nil))
	}
	return next
}

// Possible returns the acts on a cluster that make sense in its state and that the principal's roles allow. Each is judged again when it
// is requested.
func Possible(p policy.Principal, row clusters.Row) (acts []policy.Act) {
	present, ready := row.Desired == lifecycle.Present, row.Status == lifecycle.Ready
	for _, one := range []struct {
		act policy.Act
		now bool
	}{
		{policy.ActApprove, present && row.NeedsApproval},
		{policy.ActKubeconfig, ready && row.Outputs != nil},
		{policy.ActExtend, present && row.Ends.TTL.Before(row.Ends.Max)},
		{policy.ActHold, present},
		{policy.ActScale, present && ready && row.WorkersLeast != nil && *row.WorkersLeast != deref(row.WorkersMost)},
		{policy.ActRefresh, present && isRefreshable(row)},
		{policy.ActSleep, present && ready && row.SleepMode != ""},
		{policy.ActShare, present},
		{policy.ActTransfer, present},
		{policy.ActDestroy, present},
		{policy.ActRetry, !present && row.Phase != lifecycle.Released},
		{policy.ActAbandon, row.Phase == lifecycle.DestroyBlocked && !row.Abandoned},
	} {
		if one.now && p.May(one.act, row.Team) && (!policy.OpensCluster(one.act) || MayOpen(p, row)) {
			acts = append(acts, one.act)
		}
	}
	return acts
}
