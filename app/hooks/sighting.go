package hooks

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/store"
)

// What is noticed by looking becomes a delivery of our own, and goes the way of all others: one piece of code decides.
const (
	pullRequestSeen  = "pull_request_seen"
	repositorySeen   = "repository_seen"
	installationSeen = "installation_seen"
)

// seenByTheSweep is said of all of them.
const seenByTheSweep = "seen by the sweep"

// sighting is the body of such a delivery. Two sightings of the same are the same to the byte.
type sighting struct {
	Installation int64  `json:"installation"`
	Repository   string `json:"repository"` // owner/name as we know it

	// Of a pull request. State is nil where GitHub has none for us, as Since says.
	Number   int                `json:"number,omitempty"`
	State    *store.PullRequest `json:"state,omitempty"`
	Since    string             `json:"since,omitempty"`    // it was first found gone, or unreachable
	Ends     string             `json:"ends,omitempty"`     // it is open, and when a cluster ends as if it were not
	Still    bool               `json:"still,omitempty"`    // nothing happened to it for a while
	Archived bool               `json:"archived,omitempty"` // its repository is

	// Of a repository, or of an installation.
	Action       string `json:"action,omitempty"` // in GitHub's words
	To           string `json:"to,omitempty"`     // owner/name as GitHub has it
	RepositoryID int64  `json:"repository_id,omitempty"`
}

// delivery makes one of a sighting. Its id is made of what was seen, so that the same seen twice is one delivery.
func (s sighting) delivery() (store.Delivery, error) {
	d := store.Delivery{Source: SourceSweep, Event: repositorySeen, Topic: s.To, Installation: s.Installation}
	about := s.Repository
	switch {
	case s.Number != 0:
		about = pullTopic(s.Repository, s.Number)
		d.Event, d.Topic = pullRequestSeen, about
	case s.To == "":
		d.Event, d.Topic = installationSeen, installationTopic(s.Installation)
	}
	var err error
	if d.Body, err = json.Marshal(s); err != nil {
		return d, fmt.Errorf("write down what was seen of %s: %w", about, err)
	}
	sum := sha256.Sum256(d.Body)
	d.ID = fmt.Sprintf("%s:%x", about, sum[:12])
	return d, nil
}

// sighting works a delivery of our own.
func (w *InboxWorker) sighting(ctx context.Context, d store.Delivery) (string, error) {
	var s sighting
	if err := json.Unmarshal(d.Body, &s); err != nil {
		return "", fmt.Errorf("%w: %w", errUnprocessable, err)
	}
	switch d.Event {
	case repositorySeen:
		return w.pulls.RepositoryMoved(ctx, pulls.RepositoryEvent{
			Installation: s.Installation, RepoID: s.RepositoryID, Action: s.Action, From: s.Repository, To: s.To,
		})
	case installationSeen:
		return w.pulls.InstallationChanged(ctx, pulls.InstallationEvent{Installation: s.Installation, Action: s.Action, Repos: []string{s.Repository}})
	case pullRequestSeen:
		if s.State == nil {
			if store.Nameless(s.Repository) {
				return w.pulls.PullRequestGone(ctx, s.Repository, s.Number, "its repository's name now belongs to another repository, "+seenByTheSweep, "")
			}
			why := fmt.Sprintf("the App can no longer access %s, %s", pullTopic(s.Repository, s.Number), seenByTheSweep)
			return w.pulls.PullRequestGone(ctx, s.Repository, s.Number, why, "")
		}
		return w.pulls.SyncPullRequest(ctx, pulls.PullRequestEvent{PR: *s.State, Archived: s.Archived, Action: pulls.ActionSeen, Why: seenByTheSweep})
	}
	return "", fmt.Errorf("%w: %s is not a kind of sighting", errUnprocessable, quoted(d.Event))
}
