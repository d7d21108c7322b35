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
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// createCluster requests a cluster. Without a profile it opens the form, if Slack still lets one open.
func (s *Service) createCluster(ctx context.Context, t task) (slack.Message, error) {
	request := app.CreateRequest{
		Source: policy.SourceSlack, Profile: t.Profile, Name: t.Name, Region: t.Region, Version: t.Version, Team: t.Team, TTL: t.TTL, OffhoursOptIn: t.OffHours, Pool: t.Pool, Account: t.Account,
	}
	if asksForForm(t.SlackCommand) && t.request.Trigger != "" && s.slack != nil {
		return slack.Message{}, s.openForm(ctx, t.request, t.by, request)
	}
	return s.createFrom(ctx, t, request)
}

// createFrom requests a cluster as asked, once, and shows it where it was asked for. The answer is saved with the result.
func (s *Service) createFrom(ctx context.Context, t task, r app.CreateRequest) (slack.Message, error) {
	if r.Name == "" && !r.OfPull() {
		r.Anew = policy.PersonName(s.nameOf(t), causeOf(t.request))
	}
	if r.Owner == "" {
		r.Owner = s.ownerName(ctx, t)
	}
	if t.DryRun {
		return s.dryRun(ctx, t, r)
	}
	var instead messages.Instead
	if r.Show == nil {
		place, elsewhere, err := s.choosePlace(ctx, t.by, t.request, r.Team)
		if err != nil {
			return slack.Message{}, err
		}
		r.Show, instead = &place, elsewhere
	}
	r.Key = causeOf(t.request)
	r.Say = func(v policy.Verdict, row clusters.Row) *clusters.Reply {
		text := chatops.RefusalInSlack(v)
		if v.Allowed {
			text = sayCreatedInSlack(row.Name, v.Approval != nil, len(v.Waits) > 0, instead)
		}
		reply := replyTo(t.request, blocks.Answer(text))
		if v.Allowed {
			reply.Pressed = t.noticeShows(blocks.Facts{Done: messages.RetriedNote(row.Name)})
		}
		return &reply
	}
	made, err := s.core.Create(ctx, t.by, r)
	if err == nil && made.Replayed && r.Again.Once { // somebody else pressed Retry at the same time
		return s.describeEarlierRetry(ctx, t, r.Again.Of)
	}
	return slack.Message{}, err
}

// ownerName returns the name under which somebody owns a cluster: the first of their names that a tag can hold, at last their id in
// Slack. Empty: the catalogue names them.
func (s *Service) ownerName(ctx context.Context, t task) string {
	if s.isInCatalogue(t.by.ID) {
		return ""
	}
	names := []string{t.by.Name}
	if t.by.Name == "" && s.slack != nil {
		if p, err := s.slack.Person(ctx, t.request.User); err == nil {
			names = append(names, p.Name)
		}
	}
	for _, name := range names {
		if profiles.TagValueProblem(name) == "" {
			return name
		}
	}
	return t.request.User
}

// dryRun answers what would become of a request, and stores nothing else.
func (s *Service) dryRun(ctx context.Context, t task, r app.CreateRequest) (slack.Message, error) {
	preview, err := s.core.DryRun(ctx, t.by, r)
	if err != nil {
		return slack.Message{}, err
	}
	if !preview.Allowed {
		return blocks.Answer(messages.DryRunInSlack + chatops.RefusalInSlack(preview.Verdict)), nil
	}
	return blocks.Answer(messages.DryRunInSlack + chatops.Foreseen(preview.Verdict, preview.Forecast)), nil
}

// choosePlace returns where in Slack a cluster is shown: in the channel in which it was asked for if ocpctl may write there, else in the
// direct messages with the person. instead: why it is not the channel that was meant. app.Denied: they chose a
// channel in a form in which they may not have it posted.
func (s *Service) choosePlace(ctx context.Context, p policy.Principal, r inbound.Request, team string) (place clusters.SlackPlace, instead messages.Instead, err error) {
	place = clusters.SlackPlace{Workspace: r.Workspace, Channel: r.Channel, Person: r.User}
	if s.slack == nil && r.Channel != "" {
		return place, "", nil
	}
	if r.Channel != "" && !strings.HasPrefix(r.Channel, "D") { // a D… may be one between two people
		channel, err := s.checkWritable(ctx, r.Channel)
		if err == nil {
			err = s.mayPost(ctx, p, r, channel, team)
		}
		switch kind := app.KindOf(err); {
		case channel.Archived && r.Kind == inbound.Submission: // whoever chose it can choose another
			return place, "", app.Fail(app.Denied, messages.ChannelArchived)
		case kind == app.Conflict:
			instead = messages.InsteadNotMember
		case kind == app.Denied && r.Kind != inbound.Submission:
			instead = messages.InsteadHidden
		default:
			return place, "", err
		}
	}
	if s.slack == nil {
		return place, "", app.Fail(app.Conflict, messages.SlackAway)
	}
	if place.Channel, err = s.slack.OpenDirect(ctx, r.User); err != nil {
		return place, "", fmt.Errorf("open the direct messages with %s: %w", r.User, err)
	}
	return place, instead, nil
}

// retryCluster requests a cluster again that failed or ended, or moves the next try of a stuck teardown to now. Without a name it means the
// person's newest cluster. A button means it once, whoever presses it and wherever it is shown: whoever comes second changes nothing, and
// hears who was first and which cluster exists.
func (s *Service) retryCluster(ctx context.Context, t task) (slack.Message, error) {
	row, err := s.findNewest(ctx, t)
	if err != nil {
		return slack.Message{}, err
	}
	pressed := t.request.Kind == inbound.Press
	switch {
	case row.Desired == lifecycle.Present:
		return slack.Message{}, app.Fail(app.Conflict, fmt.Sprintf("There is nothing to retry: `%s` is %s (%s). To replace it, use `%s destroy %s` and then `%s create %s`.",
			row.Card.Name, row.Card.Status, row.Card.Phase, chatops.Prefix, row.Card.Name, chatops.Prefix, row.Card.Profile))
	case row.Phase == lifecycle.DestroyBlocked || row.Phase == lifecycle.Abandoned:
		return s.retryTeardown(ctx, t, row)
	}
	if _, _, err := s.core.Authorize(ctx, t.by, row.ID, policy.ActRetry, t.originWith(s.reasonOf(t))); err != nil {
		return slack.Message{}, err
	}
	if pressed && row.PR == nil && row.ReplacedBy != "" {
		return s.describeEarlierRetry(ctx, t, row.ID)
	}
	r := s.core.Alike(row)
	r.Source, r.Again.Once = policy.SourceSlack, pressed
	if row.RequestedBy != t.by.ID { // who helps does not become the owner, and whoever waits for the cluster hears of it where they did before
		if r.Show, err = s.findPlace(ctx, row.ID); err != nil {
			return slack.Message{}, err
		}
	}
	return s.createFrom(ctx, t, r)
}

// findPlace returns where in Slack a cluster was shown when it was requested; nil: nowhere.
func (s *Service) findPlace(ctx context.Context, cluster string) (*clusters.SlackPlace, error) {
	list, err := s.store.Outbox.Subscribers(ctx, cluster)
	if err != nil {
		return nil, err
	}
	for _, sub := range list {
		if sub.Workspace != "" && !sub.Muted {
			return &clusters.SlackPlace{Workspace: sub.Workspace, Channel: sub.Channel, Person: sub.Person}, nil
		}
	}
	return nil, nil
}

// retryTeardown moves the next try of a teardown to now. Of two people who press a notice's button, the second hears who was first.
func (s *Service) retryTeardown(ctx context.Context, t task, row clusters.Row) (slack.Message, error) {
	_, told, err := s.findNotice(ctx, t, row.ID)
	if err != nil {
		return slack.Message{}, err
	}
	if told.DoneBy != "" {
		by := s.actorName(ctx, accountOf(t.request.Workspace, told.DoneBy))
		return blocks.Answer(fmt.Sprintf("%s already had the teardown of `%s` tried again. Nothing was changed. `%s status %s` shows the progress.", messages.Sentence(by), row.Name, chatops.Prefix, row.Name)), nil
	}
	_, err = s.core.RetryTeardown(ctx, t.by, row.ID, t.onceShown(s.reasonOf(t), func(clusters.Outcome) string {
		return fmt.Sprintf("The teardown of `%s` is tried again now. `%s status %s` shows the progress.", row.Name, chatops.Prefix, row.Name)
	},
		func(clusters.Outcome) blocks.Facts { return blocks.Facts{Done: messages.RetriedNote("")} }))
	return slack.Message{}, err
}

// describeEarlierRetry says who requested a cluster again before, and as which.
func (s *Service) describeEarlierRetry(ctx context.Context, t task, cluster string) (slack.Message, error) {
	row, err := s.core.Cluster(ctx, t.by, cluster)
	if err != nil {
		return slack.Message{}, err
	}
	made, err := s.store.Successors(ctx, cluster)
	if err != nil {
		return slack.Message{}, err
	}
	return blocks.Answer(fmt.Sprintf("`%s` was already requested again by %s, as `%s`. Nothing was changed. `%s retry %s` requests it once more.", row.Name, s.actorName(ctx, made[cluster].By), made[cluster].Name, chatops.Prefix, row.Name)), nil
}

// findNewest returns the named cluster, or the person's newest one, live or gone.
func (s *Service) findNewest(ctx context.Context, t task) (clusters.Row, error) {
	if t.Cluster != "" {
		return s.core.Cluster(ctx, t.by, t.Cluster)
	}
	rows, _, err := s.core.List(ctx, t.by, s.core.OwnedBy(t.by, store.Filter{Limit: 1}))
	switch {
	case err != nil:
		return clusters.Row{}, err
	case len(rows) == 0:
		return clusters.Row{}, app.Fail(app.NotFound, messages.NoneInSlack(t.Verb))
	}
	return rows[0], nil
}

// sayCreatedInSlack tells a requester that their cluster was accepted, and where its message is. approval: it waits for one; queued: it
// waits in the queue; instead: why the message is not where they asked.
func sayCreatedInSlack(name string, approval, queued bool, instead messages.Instead) string {
	text := fmt.Sprintf("`%s` is accepted", name)
	switch {
	case approval:
		text += " and waits for an approval"
	case queued:
		text += " and waits in the queue"
	}
	text += ". Its message shows the progress"
	switch instead {
	case messages.InsteadHidden:
		return text + ". The message is in your direct messages with ocpctl, because another organization shares this channel, or Slack did not show ocpctl who is in it."
	case messages.InsteadNotMember:
		return text + ". ocpctl cannot write in this channel, so the message is in your direct messages with ocpctl. To get such messages here, invite ocpctl to the channel."
	}
	return text + "."
}
