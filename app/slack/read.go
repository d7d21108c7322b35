package slack

import (
	"context"
	"fmt"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// showStatus shows the named cluster, or lists those that the person may see.
func (s *Service) showStatus(ctx context.Context, t task) (slack.Message, error) {
	if t.Cluster != "" {
		return s.statusOf(ctx, t)
	}
	return s.listClusters(ctx, t)
}

// statusOf shows one cluster to the person. If somebody deleted its message in this channel, that is posted again instead.
func (s *Service) statusOf(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.core.Cluster(ctx, t.by, t.Cluster)
	if err != nil {
		return slack.Message{}, err
	}
	again, err := s.store.Outbox.ShowAgain(ctx, row.ID, t.request.Workspace, t.request.Channel)
	if err != nil {
		return slack.Message{}, err
	}
	if again {
		return blocks.Answer("The cluster's message in this channel was deleted. It is being posted again."), nil
	}
	actions, err := s.core.Actions(ctx, t.by, row)
	if err != nil {
		return slack.Message{}, err
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return slack.Message{}, fmt.Errorf("read the clock: %w", err)
	}
	view := blocks.ClusterView{
		Card: row.Card, Detail: chatops.Detail{Approval: row.Spec.Approval, Advice: row.Spec.Advice}, Links: s.chatLinks(),
		Acts: append([]chatops.Verb{}, chatops.VerbsOf(actions)...), Now: now,
	}
	if row.NeedsApproval {
		page, _, err := s.core.Approvals(ctx, t.by, store.ApprovalFilter{State: clusters.ApprovalPending, Cluster: row.ID, Kind: clusters.ApproveCreate})
		if err != nil && app.KindOf(err) == "" {
			return slack.Message{}, err
		}
		if len(page) > 0 {
			waiting := s.toWaiting(page[0], s.requesterName(ctx, page[0]))
			view.Approval = &waiting
		}
	}
	return blocks.Cluster(view), nil
}

// showLogs shows the last lines of the newest job's log, which is redacted.
func (s *Service) showLogs(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.findCluster(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	lines := t.Lines
	if lines == 0 {
		lines = chatops.LogLines
	}
	log, err := s.core.Log(ctx, t.by, row.ID, "", lines)
	if err != nil {
		return slack.Message{}, err
	}
	return blocks.Answer(chatops.SlackLog(row.Card, log.Lines, s.chatLinks())), nil
}

// explainCluster says why a cluster is in its state, when it ends, and what the person can do.
func (s *Service) explainCluster(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.findCluster(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	why, err := s.core.Explain(ctx, t.by, row.ID)
	if err != nil {
		return slack.Message{}, err
	}
	return blocks.Answer(why.Markdown()), nil
}
