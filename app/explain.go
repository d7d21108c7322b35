package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// Explanation is why a cluster is in its state, and what can be done.
type Explanation struct {
	Row     store.Row
	Verdict *policy.Verdict // as given; nil: the cluster is older than stored verdicts
	Why     []string        // one sentence each
	Ends    []End           // the earliest first
	Next    []string        // what can be done now
}

// End is one reason for a cluster to end.
type End struct {
	Kind  string // ttl, maximum, pr_closed, label_removed, run_finished, claim or hold
	At    time.Time
	Words string
}

// Explain returns why a cluster was accepted, why it is in its state, when and why it ends, and what the principal can do about
// it.
func (d *Service) Explain(ctx context.Context, p policy.Principal, ref string) (Explanation, error) {
	row, err := d.Seen(ctx, p, ref)
	if err != nil {
		return Explanation{}, err
	}
	out := Explanation{Row: row, Why: whys(row), Next: nexts(p, row)}
	if len(row.Addons) > 0 && row.Status == lifecycle.Ready {
		conditions, err := d.store.Conditions(ctx, row.ID)
		if err != nil {
			return Explanation{}, fmt.Errorf("read the conditions: %w", err)
		}
		out.Why = append(out.Why, missingAddons(row, conditions)...)
	}
	if row.Desired == lifecycle.Present { // no end matters for a cluster that is going away
		out.Ends = ends(row.Ends)
	}
	raw, err := d.store.Verdict(ctx, row.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
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

// whys returns why it is in its state.
func whys(row store.Row) []string {
	why := []string{fmt.Sprintf("%s is %s (%s): %s.", row.Name, row.Status, row.Phase, strings.TrimSuffix(row.Why, "."))}
	add := func(wanted bool, format string, args ...any) {
		if wanted {
			why = append(why, fmt.Sprintf(format, args...))
		}
	}
	live := row.Phase != lifecycle.Released
	add(row.Desired != lifecycle.Present, "It is to be destroyed: %s.", strings.TrimSuffix(row.DesiredWhy, "."))
	add(live && row.NeedsApproval, "It waits for an approval, until %s at the latest.", chatops.Time(row.ApproveBy))
	if line := chatops.Line(row.Card); live && line != "" {
		why = append(why, line)
	}
	add(row.FailMessage != "", "Its last attempt failed: %s", row.FailMessage)
	add(row.FailNext != "", "What to do about it: %s", row.FailNext)
	for _, b := range row.Blockers {
		add(live, "Blocked by: %s", b)
	}
	add(live && row.RetryAt.After(row.UpdatedAt), "The next attempt is due %s.", chatops.Time(row.RetryAt))
	add(row.AddonsWanted > row.AddonsDone, "Its add-ons are being refreshed: %s.", strings.Join(row.Addons, ", "))
	add(row.WorkersWanted != nil, "Its workers are being scaled to %d.", deref(row.WorkersWanted))
	add(row.HoldWhy != "", "It is held until %s: %s.", chatops.Time(row.Ends.Hold), strings.TrimSuffix(row.HoldWhy, "."))
	add(live && row.Desired == lifecycle.Present, "It ends %s: %s.", chatops.Time(row.DestroyAt), row.Ends.Reason())
	return why
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
		{"ttl", e.TTL, "its time to live is over"},
		{"pr_closed", e.PRClosed, cmp.Or(e.PRWhy, lifecycle.BecauseClosed) + ", and the grace is over"},
		{"label_removed", e.LabelRemoved, "its label was removed, and the grace is over"},
		{"run_finished", e.RunFinished, "its workflow run finished, and the grace is over"},
		{"claim", e.Claim, "its claim ends"},
		{"hold", e.Hold, "a hold: only the maximum can end it before"},
		{"maximum", e.Max, "the profile's maximum: nothing extends it past this"},
	} {
		if !end.At.IsZero() {
			out = append(out, end)
		}
	}
	slices.SortStableFunc(out, func(a, b End) int { return a.At.Compare(b.At) })
	return out
}

// nexts returns what the principal can do now, each with its command.
func nexts(p policy.Principal, row store.Row) []string {
	present, ready := row.Desired == lifecycle.Present, row.Status == lifecycle.Ready
	command := func(verb, args string) string {
		return strings.TrimRight(fmt.Sprintf(": ocpctl %s %s %s", verb, row.Name, args), " ")
	}
	hold := "Hold it, so that only the profile's maximum can end it before"
	if row.PR != nil {
		hold = "Hold it, even if its pull request is closed"
	}
	var next []string
	for _, one := range []struct {
		act    policy.Act
		now    bool
		remark string
	}{
		{policy.ActApprove, present && row.NeedsApproval, "Approve or refuse it" + command("approve", "")},
		{policy.ActKubeconfig, ready && row.Outputs != nil, "Fetch its kubeconfig" + command("kubeconfig", "")},
		{policy.ActExtend, present && row.Ends.TTL.Before(row.Ends.Max), "Extend it, at most until " + chatops.Time(row.Ends.Max) + command("extend", "4h")},
		{policy.ActHold, present, hold + command("hold", "8h --reason …")},
		{policy.ActScale, present && ready && row.WorkersLeast != nil && *row.WorkersLeast != deref(row.WorkersMost), "Scale its workers" + command("scale-workers", "--replicas 2")},
		{policy.ActRefresh, present && unrefreshable(row) == "", "Refresh its add-ons" + command("refresh", "")},
		{policy.ActShare, present, "Share it with another team or person" + command("share", "--team …")},
		{policy.ActTransfer, present, "Transfer it to another team" + command("transfer", "--team …")},
		{policy.ActDestroy, present, "Destroy it" + command("destroy", "")},
		{policy.ActRetry, !present && row.Phase != lifecycle.Released, "Bring its next teardown forward" + command("retry", "--reason …")},
		{policy.ActAbandon, row.Phase == lifecycle.DestroyBlocked && !row.Abandoned, "Give up waiting for its teardown" + command("abandon", "--reason …")},
	} {
		if one.now && p.May(one.act, row.Team) && (!policy.OpensCluster(one.act) || MayOpen(p, row)) {
			next = append(next, one.remark)
		}
	}
	return next
}
