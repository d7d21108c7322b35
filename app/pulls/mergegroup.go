package pulls

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/outbox"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// MergeGroupEvent says that a commit came into a merge queue, or left it.
type MergeGroupEvent struct {
	Installation int64
	Repo         string
	Head         string // the queue's commit
	Number       int    // the pull request whose turn it is
	Ended        string // why it left the queue: merged, invalidated, dequeued or gone; empty: it came
	Actor        string // login of whoever put the pull request there; empty: unknown
	ActorID      int64
}

// MergeGroup has the checks on a merge queue's commit show what the repository's file says, and ends the clusters of a commit that left.
func (s *Service) MergeGroup(ctx context.Context, e MergeGroupEvent) (note string, err error) {
	group := outbox.MergeGroup{Installation: e.Installation, Repo: e.Repo, Head: e.Head, Number: e.Number, Mode: profiles.MergeQueueReuse}
	if e.Ended != "" {
		return s.endMergeGroup(ctx, group, e)
	}
	pr, err := s.askTruth(ctx, pullrequests.PullRequest{Installation: e.Installation, Repo: e.Repo, Number: e.Number})
	if err != nil {
		return "", err
	}
	names, err := s.store.Outbox.GateProfiles(ctx, pr.Repo, pr.Head)
	if err != nil || len(names) == 0 {
		return "its pull request has no check", err
	}
	file, wrong, err := s.readFile(ctx, pr)
	if err != nil {
		return "", err
	}
	if wrong != nil || file != nil && file.MergeQueue == profiles.MergeQueueCluster { // a request tells what is wrong
		group.Mode = profiles.MergeQueueCluster
	}
	group.PullHead = pr.Head
	if group, err = s.store.Outbox.SaveMergeGroup(ctx, group); err != nil {
		return "", err
	}
	if group.EndedAt != nil { // a try before may have got as far as a cluster
		return s.endMergeGroup(ctx, group, e)
	}
	var notes []string
	for _, profile := range names {
		gate := outbox.Gate{Installation: e.Installation, Repo: e.Repo, Head: e.Head, Profile: profile}
		said := "the result of the pull request counts for " + profile
		if group.Mode == profiles.MergeQueueCluster {
			if said, gate.Refused, err = s.createForQueue(ctx, e, group, pr, profile); err != nil {
				return "", err
			}
		}
		if err := s.store.Outbox.AskGate(ctx, gate, "merge group"); err != nil {
			return "", err
		}
		notes = append(notes, said)
	}
	// The end may have been processed meanwhile, and have found no cluster. This waits for it.
	if group, err = s.store.Outbox.SaveMergeGroup(ctx, group); err == nil && group.EndedAt != nil {
		return s.endMergeGroup(ctx, group, e)
	}
	return strings.Join(notes, "; "), err
}

// createForQueue requests the cluster of a merge queue's commit, on behalf of whoever put the pull request there. If only GitHub itself is
// known to have done that, the author of the pull request counts. refused says why there is none, in Markdown.
func (s *Service) createForQueue(ctx context.Context, e MergeGroupEvent, g outbox.MergeGroup, pr pullrequests.PullRequest, profile string) (note, refused string, err error) {
	by := actor{e.Actor, e.ActorID, false}
	if by.login == "" || by.id == 0 {
		by = actor{pr.Author, pr.AuthorID, false}
	}
	request, err := s.newRequest(ctx, policy.SourceMergeQueue, pr, by)
	if err != nil {
		return "", "", err
	}
	asked, err := s.toClusterRequest(ctx, request, pr)
	if err != nil {
		return "", "", err
	}
	key := g.Key(profile)
	asked.Request.Profile, asked.Request.Generation = profile, 1
	asked.Request.Name = policy.RunName(e.Repo, key)
	asked.Actor, asked.Key = by.login, key
	asked.PR = pullrequests.PullRequest{} // it is the commit's cluster: no comment shows it, and it ends with the commit's turn
	made, err := s.core.CreateFrom(ctx, asked)
	switch {
	case app.KindOf(err) != "" && app.KindOf(err) != app.Busy:
		return "refused: " + err.Error(), err.Error(), nil
	case err != nil:
		return "", "", err
	case made.Row.ID == "":
		return refusalNote(profile, made.Verdict), chatops.WaitRefusal(made.Verdict), nil
	}
	return fmt.Sprintf("accepted %s as %s", profile, made.Row.ID), "", s.store.Outbox.ShowOnCommit(ctx, made.Row.ID, g)
}

// endMergeGroup destroys the clusters of a commit that left the queue.
func (s *Service) endMergeGroup(ctx context.Context, g outbox.MergeGroup, e MergeGroupEvent) (note string, err error) {
	e.Ended = cmp.Or(e.Ended, g.EndedWhy)
	found, err := s.store.Outbox.EndMergeGroup(ctx, g, e.Ended)
	if err != nil {
		return "", err
	}
	for _, cluster := range found {
		origin := clusters.Origin{Actor: db.Lifecycle, Source: string(policy.SourceMergeQueue), Why: sayLeftMergeQueue(g.Number, e.Ended)}
		if _, err := s.store.Destroy(ctx, cluster, origin); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("it left the queue (%s); clusters that end: %d", e.Ended, len(found)), nil
}

// sayLeftMergeQueue is why the cluster of a merge queue's commit ends.
func sayLeftMergeQueue(number int, why string) string {
	after := map[string]string{
		"merged": "it was merged", "invalidated": "an earlier pull request left the queue", "dequeued": "the pull request was taken out of the queue",
	}[why]
	if after == "" {
		after = "its branch is gone"
	}
	return fmt.Sprintf("the commit of #%d left the merge queue: %s", number, after)
}
