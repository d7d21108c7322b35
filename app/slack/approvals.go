package slack

import (
	"context"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// mostWaiting is how many approvals are listed.
const mostWaiting = 10

func (s *Service) listApprovals(ctx context.Context, t task) (slack.Message, error) {
	page, next, err := s.core.Approvals(ctx, t.by, store.ApprovalFilter{State: clusters.ApprovalPending, Limit: mostWaiting})
	if err != nil {
		return slack.Message{}, err
	}
	list := make([]chatops.Waiting, 0, len(page))
	for _, a := range page {
		list = append(list, s.toWaiting(a, s.requesterName(ctx, a)))
	}
	return blocks.Approvals(list, next != "", s.chatLinks()), nil
}

// toWaiting returns an approval in the form that messages need.
func (s *Service) toWaiting(a app.Approval, by string) chatops.Waiting {
	return chatops.Waiting{
		ID: a.ID, Cluster: a.ClusterName, Team: a.Team, By: by, Secret: messages.BreakGlassSecret(string(a.Kind)), Why: a.Why, Head: a.Head,
		Votes: app.CountApprovals(a.Approval), Needs: a.Needs, Until: a.ExpiresAt, WhyNot: a.WhyNot,
	}
}

// requesterName is what the person who made an approval's request is called.
func (s *Service) requesterName(ctx context.Context, a app.Approval) string {
	if strings.HasPrefix(a.RequestedBy, string(profiles.SourceSlack)+":") && !s.isInCatalogue(a.RequestedBy) {
		return s.displayName(ctx, a.RequestedBy)
	}
	return s.core.NameOf(a.RequestedBy)
}

// castVote adds the person's vote. The answer is saved with it, so that a command that is worked again is not told that it came too late.
// Notices of the approval show by themselves who decided, wherever that was.
// A refusal without a reason opens a form for it, if Slack still lets one open.
func (s *Service) castVote(ctx context.Context, t task) (slack.Message, error) {
	id, err := s.findApproval(ctx, t.by, t.Ref)
	if err != nil {
		return slack.Message{}, err
	}
	approves := t.Verb == chatops.VerbApprove
	if !approves && strings.TrimSpace(t.Reason) == "" {
		seen, err := s.core.Approval(ctx, t.by, id)
		switch {
		case err != nil:
			return slack.Message{}, err
		case !seen.MayVote:
			return slack.Message{}, app.Fail(app.Denied, seen.WhyNot)
		}
		return slack.Message{}, s.askReason(t, seen)
	}
	_, err = s.core.Vote(ctx, t.by, id, approves, t.onceWith(lifecycle.Noted(t.Reason), func(out clusters.Outcome) string {
		return chatops.SlackVoted(s.toWaiting(app.Approval{Approval: out.Approval}, s.core.NameOf(out.Approval.RequestedBy)), approves, out.Approval.State != clusters.ApprovalPending)
	}))
	return slack.Message{}, err
}

// askReason returns, as an error, the form that asks why an approval is refused.
func (s *Service) askReason(t task, a app.Approval) error {
	press := blocks.Press{Verb: chatops.VerbRefuse, Approval: a.ID, Notice: t.notice}
	return verbForm(t, press, a.ClusterName, fmt.Sprintf("Add a reason: the person who asked is told. Type `%s refuse %s`, followed by the reason.", chatops.Prefix, a.ID))
}

const approvalID = "apr_"

// findApproval returns the id of the approval that somebody means: by its id, or by its cluster's id or name. A cluster has at most one
// pending: a password can only be requested for a cluster that has started.
func (s *Service) findApproval(ctx context.Context, p policy.Principal, ref string) (id string, err error) {
	if strings.HasPrefix(ref, approvalID) {
		return ref, nil
	}
	page, _, err := s.core.Approvals(ctx, p, store.ApprovalFilter{State: clusters.ApprovalPending, Cluster: ref})
	if err != nil {
		return "", err
	}
	if len(page) == 0 {
		return "", app.Fail(app.NotFound, chatops.Code(ref)+" has no pending approval. `/ocp approvals` lists all that are pending.")
	}
	return page[0].ID, nil
}
