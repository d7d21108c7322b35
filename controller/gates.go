package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	chat "github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// showGate brings a gate up to date. Several effects of one gate are worked one after the other. Only the newest shows it, so that what GitHub refuses
// is tried by one of them.
func (c *Controller) showGate(ctx context.Context, e clusters.Effect) (note string, err error) {
	return c.oneAtATime(ctx, "gate "+e.Content, func(ctx context.Context) (string, error) {
		g, err := c.Store.Outbox.Gate(ctx, e.Content)
		if errors.Is(err, db.ErrNotFound) {
			return "the gate is gone", nil
		}
		if err != nil {
			return "", err
		}
		if newer, err := c.Store.Outbox.HasNewer(ctx, e); err != nil || newer {
			return "left to a newer change of the same gate", err
		}
		return c.showGateAt(ctx, e, g)
	})
}

func (c *Controller) showGateAt(ctx context.Context, e clusters.Effect, g outbox.Gate) (note string, err error) {
	run, why, err := c.gateRun(ctx, e, g)
	if err != nil || why != "" {
		return why, err
	}
	hash := gateHash(run)
	if hash == g.Shown {
		return "shown before", nil
	}
	lost, err := c.Store.Outbox.StartGatePost(ctx, g.ID)
	if err != nil {
		return "", err
	}
	target := github.CheckTarget{
		Installation: e.Installation, Repo: e.Repo, Head: g.Head, Name: chat.GateName(g.Profile), ExternalKey: chat.GateKey(g.Profile),
		ExternalID: g.ExternalID, Sure: !lost,
	}
	id, err := c.GitHub.UpsertCheckRun(ctx, target, run)
	if errors.Is(err, github.ErrGone) {
		target.ExternalID, target.Sure = 0, false
		id, err = c.GitHub.UpsertCheckRun(ctx, target, run)
	}
	if err != nil {
		return "", err
	}
	return run.Title, c.Store.Outbox.SaveGateShown(ctx, g, id, hash, run.Conclusion != "", e.ID)
}

func gateHash(run chat.CheckRun) string { return hashOf(fmt.Sprintf("%+v", run)) }

// gateRun renders a gate; why says why it stays as it is.
func (c *Controller) gateRun(ctx context.Context, e clusters.Effect, g outbox.Gate) (run chat.CheckRun, why string, err error) {
	group, err := c.Store.Outbox.MergeGroupAt(ctx, g.Repo, g.Head)
	switch {
	case errors.Is(err, db.ErrNotFound):
	case err != nil:
		return run, "", err
	case group.EndedAt != nil:
		return run, "the commit left the merge queue", nil
	case group.Mode == profiles.MergeQueueReuse:
		of := g
		of.Head = group.PullHead
		members, err := c.gateMembers(ctx, of)
		return chat.QueueGate(g.Profile, group.Number, members, c.Links), "", err
	case g.Refused != "":
		return chat.QueueGateRefused(g.Profile, g.Refused, c.Links), "", nil
	}
	members, err := c.gateMembers(ctx, g)
	switch {
	case err != nil:
		return run, "", err
	case group.Head != "" && len(members) == 0:
		return chat.QueueGateWaits(g.Profile, c.Links), "", nil
	case group.Head == "" && chat.GatePasses(members) && gateHash(chat.Gate(g.Profile, members, c.Links)) != g.Shown:
		if members, err = c.withUnknownPulls(ctx, e, g, members); err != nil {
			return run, "", err
		}
	case len(members) == 0 && (g.ExternalID == 0 || g.Completed):
		return run, "no pull request is at the commit", nil // a result that was reached stays
	}
	return chat.Gate(g.Profile, members, c.Links), "", nil
}

// withUnknownPulls adds the open pull requests at a gate's commit of which no event told. GitHub is asked before a gate opens only.
func (c *Controller) withUnknownPulls(ctx context.Context, e clusters.Effect, g outbox.Gate, members []chat.GateMember) ([]chat.GateMember, error) {
	pulls, err := c.GitHub.PullsAt(ctx, e.Installation, e.Repo, g.Head)
	for _, pr := range pulls {
		known := slices.ContainsFunc(members, func(m chat.GateMember) bool { return m.Number == pr.Number })
		if !known && pr.Open && !pr.Fork && !pr.Draft {
			members = append(members, chat.GateMember{Number: pr.Number})
		}
	}
	return members, err
}

// gateMembers returns the pull requests on which a gate depends: those that are open, or else those that were closed with the commit. A
// pull request without a cluster counts if it comes from a branch of the repository; otherwise anybody could block a commit from a fork.
func (c *Controller) gateMembers(ctx context.Context, g outbox.Gate) (members []chat.GateMember, err error) {
	all, err := c.Store.Outbox.GateMembers(ctx, g)
	if err != nil {
		return nil, err
	}
	var closed []chat.GateMember
	for _, m := range all {
		member := chat.GateMember{Number: m.Number}
		if m.Cluster == "" && (m.Fork || m.Draft || !m.Open) {
			continue
		}
		if m.Cluster != "" {
			row, err := c.Store.Cluster(ctx, m.Cluster)
			if err != nil {
				return nil, err
			}
			member.Card = &row.Card
		}
		if m.Open {
			members = append(members, member)
		} else {
			closed = append(closed, member)
		}
	}
	if len(members) == 0 {
		members = closed
	}
	return members, nil
}
