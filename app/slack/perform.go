package slack

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// task is a command on its way through the service, whichever way it came: typed, pressed or submitted.
type task struct {
	request inbound.Request
	by      policy.Principal
	chatops.SlackCommand
	notice string // id of the notice whose button was pressed; empty: none
	seen   int64  // when the cluster's lifetime ended as the button showed it, in microseconds; 0: it does not matter
}

// performCommand runs a command for somebody and returns the answer; an empty one was saved with the change. A request that is worked again
// changes nothing. Whether they may is the application's decision.
func (s *Service) performCommand(ctx context.Context, r inbound.Request, p policy.Principal, c chatops.SlackCommand) (slack.Message, error) {
	return s.runTask(ctx, task{request: r, by: p, SlackCommand: c})
}

// open are the commands that somebody without a role may use, as far as clusters are shared with them.
var open = []chatops.Verb{chatops.VerbStatus, chatops.VerbList, chatops.VerbPage, chatops.VerbLogs, chatops.VerbExplain, chatops.VerbKubeconfig, chatops.VerbConsole}

func (s *Service) runTask(ctx context.Context, t task) (slack.Message, error) {
	switch t.Verb {
	case chatops.VerbHelp:
		return blocks.Help(t.Ref), nil
	case chatops.VerbLink:
		return s.linkAccount(ctx, t)
	case chatops.VerbUnlink:
		return s.unlinkAccount(ctx, t)
	}
	do, known := s.useCases()[t.Verb]
	if !known {
		return slack.Message{}, app.Fail(app.Invalid, fmt.Sprintf("`/ocp %s` is not available here.\n\n%s", t.Verb, chatops.SlackHelp("")))
	}
	if len(t.by.Seats) == 0 && !slices.Contains(open, t.Verb) {
		return slack.Message{}, app.Fail(app.Denied, messages.NoRoleOnSlack)
	}
	answer, err := do(ctx, t)
	if len(t.by.Seats) == 0 && app.KindOf(err) == app.Denied {
		return slack.Message{}, app.Fail(app.Denied, messages.NoRoleOnSlack)
	}
	return answer, err
}

// useCases are the use cases by verb.
func (s *Service) useCases() map[chatops.Verb]func(context.Context, task) (slack.Message, error) {
	return map[chatops.Verb]func(context.Context, task) (slack.Message, error){
		chatops.VerbCreate: s.createCluster, chatops.VerbRetry: s.retryCluster,
		chatops.VerbDestroy: s.destroyCluster, chatops.VerbExtend: s.extendCluster, chatops.VerbHold: s.holdCluster, chatops.VerbUnhold: s.unholdCluster,
		chatops.VerbScale: s.scaleCluster, chatops.VerbRefresh: s.refreshAddons, chatops.VerbSleep: s.putToSleep, chatops.VerbWake: s.wakeCluster,
		chatops.VerbStatus: s.showStatus, chatops.VerbLogs: s.showLogs, chatops.VerbExplain: s.explainCluster, chatops.VerbList: s.listClusters, chatops.VerbPage: s.listClusters,
		chatops.VerbKubeconfig: s.sendAccessLink, chatops.VerbConsole: s.sendAccessLink, chatops.VerbShare: s.shareCluster, chatops.VerbUnshare: s.unshareCluster, chatops.VerbTransfer: s.transferCluster,
		chatops.VerbAcceptHandover: s.answerOffer, chatops.VerbDeclineHandover: s.answerOffer,
		chatops.VerbApprovals: s.listApprovals, chatops.VerbApprove: s.castVote, chatops.VerbRefuse: s.castVote, chatops.VerbNotify: s.handleSubscription,
	}
}

// originWith returns who asks, from where and why.
func (t task) originWith(why lifecycle.Reason) app.Origin {
	return app.OriginOf(policy.SourceSlack, why, nil)
}

// onceWith returns the origin of a change whose answer is saved with it, so that a request that is worked twice changes nothing the second
// time.
func (t task) onceWith(why lifecycle.Reason, answer func(clusters.Outcome) string) app.Origin {
	return t.onceShown(why, answer, nil)
}

// onceShown is once for a button in a notice, which shows from then on what the press did. A nil shows: it stays as it is.
func (t task) onceShown(why lifecycle.Reason, answer func(clusters.Outcome) string, shows func(clusters.Outcome) blocks.Facts) app.Origin {
	origin := t.originWith(why)
	origin.Reply = &clusters.ReplyOnce{Cause: causeOf(t.request), Build: func(out clusters.Outcome) clusters.Reply {
		reply := replyTo(t.request, blocks.Answer(answer(out)))
		if shows != nil {
			reply.Pressed = t.noticeShows(shows(out))
		}
		return reply
	}}
	return origin
}

// reasonOf is the reason of a change, for the audit trail and the cluster's message.
func (s *Service) reasonOf(t task) lifecycle.Reason {
	return cmp.Or(lifecycle.Noted(t.Reason), lifecycle.Reason{Code: lifecycle.ReasonAsked, By: s.nameOf(t), Via: "in Slack"})
}

// nameOf is what the person who acts is called: as in the catalogue, else as in Slack.
func (s *Service) nameOf(t task) string {
	if s.isInCatalogue(t.by.ID) || t.by.Name == "" {
		return s.core.NameOf(t.by.ID)
	}
	return t.by.Name
}

// mostChoices is how many clusters a question offers.
const mostChoices = 10

// findCluster returns the cluster that a command means: the named one, or else the only one of the person. If they have several, the error is
// the question which.
func (s *Service) findCluster(ctx context.Context, t task) (clusters.Row, error) {
	if t.Cluster != "" {
		return s.core.Cluster(ctx, t.by, t.Cluster)
	}
	rows, more, err := s.core.List(ctx, t.by, s.core.OwnedBy(t.by, store.Filter{Live: true, Limit: mostChoices}))
	if err != nil {
		return clusters.Row{}, err
	}
	if present := slices.DeleteFunc(slices.Clone(rows), func(r clusters.Row) bool { return r.Desired != lifecycle.Present }); len(present) > 0 {
		rows = present // of what is going away, people rarely mean anything
	}
	switch len(rows) {
	case 0:
		return clusters.Row{}, app.Fail(app.NotFound, messages.NoneInSlack(t.Verb))
	case 1:
		return rows[0], nil
	}
	return clusters.Row{}, t.askWhich(rows, more != "")
}

// mostValue is the most bytes of a command that a button repeats: Slack allows 2,000 characters for a button's value.
const mostValue = 1500

// askWhich asks which of several clusters the command means, with a button for each that repeats the command.
func (t task) askWhich(rows []clusters.Row, more bool) error {
	cards := make([]lifecycle.Card, 0, len(rows))
	for _, row := range rows {
		cards = append(cards, row.Card)
	}
	press := blocks.Press{Verb: t.Verb, Notice: t.notice}
	if t.request.Kind != inbound.Press && len(t.request.Text) <= mostValue {
		press.Value = repeatValue(t.Verb, t.request.Text)
	}
	return question{blocks.Choose(sayWhichInSlack(t.Verb, len(rows), more), cards, press)}
}

func (s *Service) chatLinks() chatops.Links { return chatops.Links{UI: s.ui} }

// sayWhichInSlack asks which of several clusters a command means; buttons or names follow. more: there are more than these.
func sayWhichInSlack(verb chatops.Verb, n int, more bool) string {
	if more {
		return fmt.Sprintf("You have more than %d clusters. Which one do you mean by `%s %s`? These are the newest; to choose another one, repeat the command with its name.", n, chatops.Prefix, verb)
	}
	return fmt.Sprintf("You have %s. Which one do you mean by `%s %s`?", messages.Clusters(n), chatops.Prefix, verb)
}
