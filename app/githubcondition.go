package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/store"
)

// GitHubUpToDate is the condition of a cluster whose pull request waits for GitHub. It is computed when it is read.
const GitHubUpToDate = "GitHubUpToDate"

// placeNames are the names of the subscribers on a pull request, by kind.
var placeNames = map[string]string{
	store.KindComment: "its comment", store.KindCheck: "its check", store.KindDeployment: "its deployment", store.KindLabel: "its label",
}

// conditions returns the observed facts about a cluster, and GitHubUpToDate if its pull request waits for GitHub.
func (d *Service) conditions(ctx context.Context, row store.Row) ([]store.Condition, error) {
	out, err := d.store.Conditions(ctx, row.ID)
	if err != nil || row.PR == nil {
		return out, err
	}
	waits, err := d.store.WaitsForGitHub(ctx, row.ID)
	if err != nil || waits.Since.IsZero() {
		return out, err
	}
	return append(out, waiting(row, waits)), nil
}

// waiting returns the condition as text: what waits, since when, and until when.
func waiting(row store.Row, w store.GitHubBacklog) store.Condition {
	c := store.Condition{Type: GitHubUpToDate, Status: "False", At: w.Since}
	var words []string
	if w.AwaySince.IsZero() {
		c.Reason = "RateLimited"
		words = append(words, fmt.Sprintf("GitHub's rate limit is used up, or nearly, until %s.", chatops.Time(w.HeldUntil)))
	} else {
		c.Reason = "Unavailable"
		words = append(words, fmt.Sprintf("GitHub has not answered since %s; it is tried at least every 20 seconds.", chatops.Time(w.AwaySince)))
	}
	if len(w.Places) > 0 {
		var names []string
		for _, place := range w.Places {
			names = append(names, placeNames[place])
		}
		words = append(words, fmt.Sprintf("On %s#%d, %s may show an older state than this page.", row.PR.Repo, row.PR.Number, strings.Join(names, ", ")))
	}
	if w.Deliveries > 0 {
		words = append(words, fmt.Sprintf("Events of %s#%d that wait for GitHub: %d, the oldest since %s.", row.PR.Repo, row.PR.Number, w.Deliveries, chatops.Time(w.Since)))
	}
	c.Message = strings.Join(append(words, "The cluster's end, its teardown, the API and the command line do not wait."), " ")
	return c
}
