package pulls

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// CheckEvent is a click on a button of a cluster's check run, or on its re-run.
type CheckEvent struct {
	Installation int64
	Repo         string
	Cluster      string // id, from the check run's external id
	Head         string // the commit that the check run is on
	Identifier   string // of the button: extend, destroy, retry or approve; a re-run is a retry
	Actor        string // login
	ActorID      int64
	Bot          bool   // the actor's account is a bot's, by its type
	Cause        string // the same for two deliveries of one click, e.g. the delivery's id
}

// extension is how much the Extend button adds.
const extension = 4 * time.Hour

// clicks maps each button to the command that it stands for.
var clicks = map[string]chatops.Command{
	chatops.ActionExtend:  {Verb: chatops.VerbExtend, TTL: extension},
	chatops.ActionDestroy: {Verb: chatops.VerbDestroy},
	chatops.ActionRetry:   {Verb: chatops.VerbRetry},
	chatops.ActionApprove: {Verb: chatops.VerbApprove},
}

// wholeCommit matches a full commit id, as check runs have it.
var wholeCommit = regexp.MustCompile(`^[0-9a-f]{40}$`)

// CheckAction does what a check run's button asks for, on behalf of whoever clicked it, as if they had typed it.
func (s *Service) CheckAction(ctx context.Context, e CheckEvent) (note string, err error) {
	click, known := clicks[e.Identifier]
	if !known {
		return "no button is called " + chatops.Code(e.Identifier), nil
	}
	row, err := s.clusterOf(ctx, e)
	if err != nil {
		return "", err
	}
	if row.ID == "" {
		return "no cluster of this repository", nil
	}
	event := CommentEvent{Installation: e.Installation, Repo: e.Repo, Number: row.PR.Number, Author: e.Actor, AuthorID: e.ActorID, Bot: e.Bot}
	if click.Verb == chatops.VerbApprove {
		if click.Profile, click.Commit = row.Profile, strings.ToLower(e.Head); !wholeCommit.MatchString(click.Commit) {
			return "the check run names no commit to approve", nil
		}
	}
	pr, err := s.pullRequest(ctx, event, click.Verb == chatops.VerbRetry || click.Verb == chatops.VerbApprove)
	if err != nil {
		return "", err
	}
	c := command{event: event, pr: pr, cause: "click:" + e.Cause, by: "with the " + e.Identifier + " button of its check", Command: click}
	if c.request, err = s.newRequest(ctx, policy.SourceComment, pr, e.actorOf()); err != nil {
		if click.Verb == chatops.VerbDestroy && isUnanswered(err) {
			err = errors.Join(err, s.endByMemory(ctx, c, row))
		}
		return "", err
	}
	return s.runOnce(ctx, c, func(c command) (string, string, error) { return s.handleClick(ctx, c, row) })
}

// clusterOf returns the cluster whose check was clicked; its id is empty if it is none of the repository's.
func (s *Service) clusterOf(ctx context.Context, e CheckEvent) (clusters.Row, error) {
	row, err := s.store.Cluster(ctx, e.Cluster)
	if errors.Is(err, db.ErrNotFound) || err == nil && (row.PR == nil || !strings.EqualFold(row.PR.Repo, e.Repo)) {
		return clusters.Row{}, nil
	}
	if err != nil {
		return clusters.Row{}, fmt.Errorf("read cluster: %w", err)
	}
	return row, nil
}

// handleClick acts only on the cluster whose check was clicked: if a newer one replaced it, people do not mean the old one.
func (s *Service) handleClick(ctx context.Context, c command, row clusters.Row) (reply, note string, err error) {
	if verdict := policy.Authorize(c.request, c.Verb.Act(), nil); !verdict.Allowed {
		return "", "", declined{chatops.Refusal(c.event.Author, verdict), refusalNote(string(c.Verb), verdict)}
	}
	newest, err := s.store.ClusterForPR(ctx, c.pr.Repo, c.pr.Number, row.Profile)
	if err != nil {
		return "", "", fmt.Errorf("look for the newest of %s: %w", row.Profile, err)
	}
	if newest.ID != row.ID {
		return "", "", failTo(app.Stale, fmt.Sprintf("@%s, that check is of `%s`, and `%s` took its place since, so nothing was done. Its own check has the buttons that count.",
			c.event.Author, row.Name, newest.Name))
	}
	switch c.Verb {
	case chatops.VerbExtend:
		return s.extendCluster(ctx, c, row)
	case chatops.VerbDestroy:
		return s.destroyCluster(ctx, c, row)
	case chatops.VerbApprove:
		return s.voteByComment(ctx, c)
	}
	return s.retryCluster(ctx, c, row)
}
