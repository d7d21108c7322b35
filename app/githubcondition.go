package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// GitHubUpToDate is the condition of a cluster whose pull request waits for GitHub. It is computed when it is read.
const GitHubUpToDate = "GitHubUpToDate"

// listConditions returns the observed facts about a cluster, and GitHubUpToDate if its pull request waits for GitHub.
func (s *Service) listConditions(ctx context.Context, row clusters.Row) ([]clusters.Condition, error) {
	out, err := s.store.Attempts.Conditions(ctx, row.ID)
	for i := range out {
		out[i].Message = chatops.BriefCondition(row.Card, out[i].Type, out[i].Message)
	}
	if err != nil || row.PR == nil {
		return out, err
	}
	waits, err := s.store.Outbox.WaitsForGitHub(ctx, row.ID)
	if err != nil || waits.Since.IsZero() {
		return out, err
	}
	return append(out, waitingCondition(row, waits)), nil
}

// waitingCondition returns the condition: what waits, since when, and until when.
func waitingCondition(row clusters.Row, w outbox.GitHubBacklog) clusters.Condition {
	c := clusters.Condition{Type: GitHubUpToDate, Status: "False", Reason: "Unavailable", At: w.Since}
	if w.AwaySince.IsZero() {
		c.Reason = "RateLimited"
	}
	var places []string
	for _, kind := range w.Places {
		places = append(places, strings.TrimPrefix(kind, "github_"))
	}
	c.Message = sayBacklog(messages.Backlog{
		Repo: row.PR.Repo, Number: row.PR.Number, Places: places, Deliveries: w.Deliveries, Since: w.Since, AwaySince: w.AwaySince, HeldUntil: w.HeldUntil,
	})
	return c
}

// sayBacklog says on a cluster's page what waits for GitHub, since when, and until when.
func sayBacklog(b messages.Backlog) string {
	var sentences []string
	if b.AwaySince.IsZero() {
		sentences = append(sentences, fmt.Sprintf("GitHub's rate limit is used up, or nearly, until %s.", chatops.Time(b.HeldUntil)))
	} else {
		sentences = append(sentences, fmt.Sprintf("GitHub has not answered since %s; it is tried at least every 20 seconds.", chatops.Time(b.AwaySince)))
	}
	if len(b.Places) > 0 {
		var names []string
		for _, place := range b.Places {
			names = append(names, "its "+place)
		}
		sentences = append(sentences, fmt.Sprintf("On %s#%d, %s may show an older state than this page.", b.Repo, b.Number, strings.Join(names, ", ")))
	}
	if b.Deliveries > 0 {
		sentences = append(sentences, fmt.Sprintf("Events of %s#%d that wait for GitHub: %d, the oldest since %s.", b.Repo, b.Number, b.Deliveries, chatops.Time(b.Since)))
	}
	return strings.Join(append(sentences, "The cluster's end, its teardown, the API and the command line do not wait."), " ")
}
