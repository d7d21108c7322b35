package pulls

import (
	"context"
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// asRefusal returns the error with which GitHub refused something; nil if it is another error.
func asRefusal(err error) error {
	if app.IsRefused(err) {
		return err
	}
	return nil
}

// LabelsGivenUp tells whoever asked for something by labels that it is not tried any more, and takes these labels off: they would stand for
// nothing, and have to be added again. For any other event nothing is done.
func (s *Service) LabelsGivenUp(ctx context.Context, e PullRequestEvent, why error) error {
	e.Label, e.PR.Labels = lowerOurLabel(e.Label), mapLabels(e.PR.Labels, lowerOurLabel)
	e.as, e.at = e.PR, fmt.Sprint(e.PR.UpdatedAt.Unix())
	live, err := s.listLive(ctx, e.PR.Repo, e.PR.Number)
	if err != nil {
		return err
	}
	var labels []string
	for _, label := range e.PR.Labels {
		// A label that stands for a living cluster was acted on, and taking it off would end the cluster.
		if isOurLabel(label) && (setsLabel(e, label) || undraftsLabel(e, label)) && !slices.ContainsFunc(live, s.isOfLabel(label)) {
			labels = append(labels, label)
		}
	}
	if len(labels) == 0 || e.Bot {
		return nil
	}
	cause := "given up:" + e.Action + ":" + e.at
	for _, label := range labels {
		if err := s.store.Outbox.SaveEffect(ctx, removeLabelEffect(e.PR, label, cause)); err != nil {
			return fmt.Errorf("take the label off: %w", err)
		}
	}
	return s.answerLabel(ctx, e.PR, cause, e.Label, messages.LabelsGivenUp(e.Actor, labels, asRefusal(why)))
}

// isOfLabel returns whether a cluster is of the profile that a label names.
func (s *Service) isOfLabel(label string) func(clusters.Row) bool {
	name, _ := profileIn(label)
	profile, known := s.catalogue().Get(name)
	return func(row clusters.Row) bool { return known && row.Profile == profile.Name }
}

// CheckActionGivenUp tells whoever clicked a button that it is not tried any more.
func (s *Service) CheckActionGivenUp(ctx context.Context, e CheckEvent, why error) error {
	if _, known := clicks[e.Identifier]; !known {
		return nil
	}
	row, err := s.clusterOf(ctx, e)
	if err != nil || row.ID == "" {
		return err
	}
	pr := row.PR
	text := messages.ButtonGivenUp(e.Actor, e.Identifier, row.Name, asRefusal(why))
	err = s.store.Outbox.SaveReply(ctx, clusters.Reply{Cause: "given up:click:" + e.Cause, Installation: e.Installation, Repo: pr.Repo, Number: pr.Number, Body: text})
	if err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}
