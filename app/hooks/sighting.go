package hooks

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/inbox"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// What polling notices becomes a delivery of our own and is processed like all others, so that one piece of code decides.
const (
	pullRequestSeen  = "pull_request_seen"
	repositorySeen   = "repository_seen"
	installationSeen = "installation_seen"
	queueSeen        = "merge_queue_seen"
)

// sighting is the body of such a delivery. Two equal sightings are equal to the byte.
type sighting struct {
	Installation int64  `json:"installation"`
	Repository   string `json:"repository"` // owner/name as the store knows it

	// Of a pull request. State is nil if GitHub does not have it for us, as Since says.
	Number   int                       `json:"number,omitempty"`
	State    *pullrequests.PullRequest `json:"state,omitempty"`
	Since    string                    `json:"since,omitempty"`    // since when it was gone or unreachable
	Ends     string                    `json:"ends,omitempty"`     // it is open, and this is when a cluster ends as if it were not
	Still    bool                      `json:"still,omitempty"`    // nothing happened to it for a while
	Archived bool                      `json:"archived,omitempty"` // its repository is archived

	// Of a merge queue's commit, with the Number of the pull request whose turn it is. Action says that it is not there any more.
	Head string `json:"head,omitempty"`

	// Of a label that may be lost.
	Label     string    `json:"label,omitempty"`
	By        string    `json:"by,omitempty"` // login
	ByID      int64     `json:"by_id,omitempty"`
	Bot       bool      `json:"bot,omitempty"`
	LabeledAt time.Time `json:"labeled_at,omitzero"`

	// Of a repository or an installation.
	Action       string `json:"action,omitempty"` // as GitHub spells it
	To           string `json:"to,omitempty"`     // owner/name on GitHub
	RepositoryID int64  `json:"repository_id,omitempty"`
}

// toDelivery converts a sighting. The id is derived from what was seen, so that the same sighting is only one delivery.
func (s sighting) toDelivery() (inbox.Delivery, error) {
	d := inbox.Delivery{Source: SourcePoll, Event: repositorySeen, Topic: s.To, Installation: s.Installation}
	about := s.Repository
	switch {
	case s.Head != "":
		about = s.Repository + "#" + s.Head
		d.Event, d.Topic = queueSeen, about
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

// handleSighting processes a delivery of our own.
func (w *InboxWorker) handleSighting(ctx context.Context, d inbox.Delivery) (string, error) {
	var s sighting
	if err := json.Unmarshal(d.Body, &s); err != nil {
		return "", fmt.Errorf("%w: %w", errUnprocessable, err)
	}
	switch d.Event {
	case repositorySeen:
		return w.pulls.RepositoryMoved(ctx, pulls.RepositoryEvent{
			Installation: s.Installation, RepoID: s.RepositoryID, Action: s.Action, From: s.Repository, To: s.To,
		})
	case queueSeen:
		return w.pulls.MergeGroup(ctx, pulls.MergeGroupEvent{Installation: s.Installation, Repo: s.Repository, Head: s.Head, Number: s.Number, Ended: s.Action})
	case installationSeen:
		return w.pulls.InstallationChanged(ctx, pulls.InstallationEvent{Installation: s.Installation, Action: s.Action, Repos: []string{s.Repository}})
	case pullRequestSeen:
		if s.State == nil {
			if pullrequests.Nameless(s.Repository) {
				return w.pulls.PullRequestGone(ctx, s.Repository, s.Number, lifecycle.Reason{Code: lifecycle.ReasonRepoNameTaken, Seen: true})
			}
			why := lifecycle.Reason{Code: lifecycle.ReasonPRUnreachable, Name: pullTopic(s.Repository, s.Number), Seen: true}
			return w.pulls.PullRequestGone(ctx, s.Repository, s.Number, why)
		}
		if s.Label != "" {
			return w.pulls.SyncPullRequest(ctx, s.labelEvent())
		}
		return w.pulls.SyncPullRequest(ctx, pulls.PullRequestEvent{PR: *s.State, Archived: s.Archived, Action: pulls.ActionSeen, Seen: true})
	}
	return "", fmt.Errorf("%w: %s is not a kind of sighting", errUnprocessable, quoteShort(d.Event))
}
