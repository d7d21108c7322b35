package chatops

import (
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// Expected says at which position in the queue a cluster would be, when it may begin and how long it takes until it is ready.
func Expected(f lifecycle.Forecast) string {
	var sentences []string
	if f.Position > 0 {
		place := fmt.Sprintf("It would be number %d in the queue", f.Position)
		if f.StartsAt.IsZero() {
			sentences = append(sentences, place+"; when it could start is not known.")
		} else {
			sentences = append(sentences, place+" and could start at about "+f.StartsAt.UTC().Format("2006-01-02 15:04 UTC")+".")
		}
	}
	if f.ReadyP50 > 0 {
		half, most := duration.Format(max(f.ReadyP50, time.Second)), duration.Format(max(f.ReadyP90, time.Second))
		took := fmt.Sprintf("Half of the recent clusters of this profile were ready within %s, nine of ten within %s.", half, most)
		if half == most {
			took = fmt.Sprintf("Recent clusters of this profile were ready within about %s.", most)
		}
		sentences = append(sentences, took)
	}
	return strings.Join(sentences, " ")
}

// Preview answers a create with DryRun: what would happen if the cluster were requested now. A refusal has the same text as a real
// one, see Refusal.
func Preview(actor string, v policy.Verdict, f lifecycle.Forecast) string {
	return fit(mention(actor) + ", this was a dry run: nothing was created. " + Foreseen(v, f))
}

// Foreseen says what would become of an accepted request: what it would get, at what price, what it would wait for, and how long it
// would take.
func Foreseen(v policy.Verdict, f lifecycle.Forecast) string {
	var b strings.Builder
	g := v.Grant
	fmt.Fprintf(&b, "%s would be accepted: profile %s, version %s in %s, for %s, about %s an hour and %s until its end, by list prices.\n",
		Code(g.Name), Code(g.Profile), Code(g.Version), Code(g.Region), duration.Format(g.TTL), price.Dollars(int64(g.HourlyCents)), price.Dollars(g.PriceCents))
	if spot := g.DescribeSpot(); spot != "" {
		fmt.Fprintf(&b, "\n%s\n", spot)
	}
	if v.Approval != nil {
		why := *v.Approval
		why.Why = nil
		fmt.Fprintf(&b, "\nIt would need an approval before it starts. %s\n\n%s", plain(why.Text()), reasons(v.Asks()))
	}
	if full := v.Full(); len(full) > 0 {
		fmt.Fprintf(&b, "\nIt would wait:\n\n%s", reasons(full))
	}
	if expected := Expected(f); expected != "" {
		fmt.Fprintf(&b, "\n%s\n", expected)
	}
	if warnings := v.Warnings(); len(warnings) > 0 {
		fmt.Fprintf(&b, "\nWorth knowing:\n\n%s", reasons(warnings))
	}
	return fit(b.String())
}
