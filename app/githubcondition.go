package app

import (
	"context"
	"strings"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// GitHubUpToDate is the condition of a cluster whose pull request waits for GitHub. It is computed when it is read.
const GitHubUpToDate = "GitHubUpToDate"

// conditions returns the observed facts about a cluster, and GitHubUpToDate if its pull request waits for GitHub.
func (s *Service) conditions(ctx context.Context, row clusters.Row) ([]clusters.Condition, error) {
	out, err := s.store.Attempts.Conditions(ctx, row.ID)
	if err != nil || row.PR == nil {
		return out, err
	}
	waits, err := s.store.Outbox.WaitsForGitHub(ctx, row.ID)
	if err != nil || waits.Since.IsZero() {
		return out, err
	}
	return append(out, waiting(row, waits)), nil
}

// waiting returns the condition: what waits, since when, and until when.
func waiting(row clusters.Row, w outbox.GitHubBacklog) clusters.Condition {
	c := clusters.Condition{Type: GitHubUpToDate, Status: "False", Reason: "Unavailable", At: w.Since}
	if w.AwaySince.IsZero() {
		c.Reason = "RateLimited"
	}
	var places []string
	for _, kind := range w.Places {
		places = append(places, strings.TrimPrefix(kind, "github_"))
	}
	c.Message = messages.BacklogText(messages.Backlog{
		Repo: row.PR.Repo, Number: row.PR.Number, Places: places, Deliveries: w.Deliveries, Since: w.Since, AwaySince: w.AwaySince, HeldUntil: w.HeldUntil,
	})
	return c
}
