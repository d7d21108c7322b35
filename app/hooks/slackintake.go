package hooks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	slackapp "github.com/ocpctl/ocpctl/app/slack"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	wire "github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/inbox"
)

// slackTime is how long a request from Slack waits for PostgreSQL. Slack takes an answer for three seconds.
const slackTime = 2 * time.Second

// slashCommand is the event of stored commands. Their body is a form, which the release before reads too.
const slashCommand = "slash_command"

// SlackIntake stores what Slack sends, over HTTP or a socket, and says how it is answered. It is safe for concurrent use.
type SlackIntake struct {
	store      *store.Store
	workspaces []string
	respond    *wire.Responder
	log        *slog.Logger
}

// NewSlackIntake returns an intake for these workspaces, by id; none: for all. apiURL is the address of Slack's API; empty: Slack's own.
func NewSlackIntake(s *store.Store, workspaces []string, apiURL string, log *slog.Logger) *SlackIntake {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &SlackIntake{store: s, workspaces: workspaces, respond: wire.NewResponder(apiURL), log: log}
}

// SlackAnswer is the immediate answer to a request from Slack.
type SlackAnswer struct {
	Status int    // of HTTP; over a socket, only what has 200 is acknowledged
	Body   any    // for Slack, as JSON; nil: an empty answer
	Detail string // what is wrong, for whoever sent a request that is refused
}

// Take stores one request and returns its answer, in two seconds at most. Nothing is done before it is stored, and a request that is
// sent again is stored once.
func (i *SlackIntake) Take(ctx context.Context, contentType string, body []byte) SlackAnswer {
	r, err := inbound.Decode(contentType, body)
	switch {
	case errors.Is(err, inbound.ErrTooLong) && r.Kind == inbound.Command:
		return SlackAnswer{Status: http.StatusOK, Body: slackapp.OnlyToYou(wire.Text(fmt.Sprintf("Nothing was done: a command has at most %d characters. %s lists the commands.", inbound.MaxText, chatops.Code("/ocp help"))))}
	case err != nil:
		return SlackAnswer{Status: http.StatusBadRequest, Detail: "The body is not a Slack event, command or interaction: " + err.Error() + "."}
	case r.Response != "":
		return SlackAnswer{Status: http.StatusOK, Body: map[string]string{"challenge": r.Response}}
	case r.Kind == inbound.Handshake, r.Kind == inbound.Ignored:
		i.log.DebugContext(ctx, "slack request ignored", "event", r.Event)
		return SlackAnswer{Status: http.StatusOK, Body: slackapp.Acknowledge(r)}
	case len(i.workspaces) > 0 && !slices.Contains(i.workspaces, r.Workspace):
		return i.otherWorkspace(ctx, r, body)
	}
	reply := slackapp.Acknowledge(r)
	if slackapp.Rejected(reply) {
		return SlackAnswer{Status: http.StatusOK, Body: reply}
	}
	ctx, cancel := context.WithTimeout(ctx, slackTime)
	defer cancel()
	d := toDelivery(r)
	fresh, err := i.store.Inbox.SaveDelivery(ctx, d)
	if err != nil {
		i.log.ErrorContext(ctx, "delivery not stored", "delivery", d.ID, "correlation", d.ID, "err", err)
		return i.answerUnstored(r)
	}
	i.log.DebugContext(ctx, "delivery stored", "delivery", d.ID, "correlation", d.ID, "source", SourceSlack, "event", d.Event, "fresh", fresh)
	return SlackAnswer{Status: http.StatusOK, Body: reply}
}

// otherWorkspace refuses a request from a workspace that is not listed, in words where Slack shows them: as the answer to a command or at a
// field of a form, and at the address that comes with a press or a message shortcut. With anything else, Slack sends no way to answer that
// does without a token of that workspace.
func (i *SlackIntake) otherWorkspace(ctx context.Context, r inbound.Request, body []byte) SlackAnswer {
	i.log.WarnContext(ctx, "slack workspace refused", "workspace", r.Workspace)
	said, shown := slackapp.NotStored(r, messages.SlackOtherWorkspace)
	if at := inbound.ResponseURL(body); !shown && !at.Empty() {
		if err := i.respond.Respond(ctx, at, messages.SlackOtherWorkspace); err != nil {
			i.log.WarnContext(ctx, "refusal in slack not shown", "workspace", r.Workspace, "err", err)
		}
	}
	return SlackAnswer{Status: http.StatusOK, Body: said}
}

// Unstored returns the answer to a request that cannot be stored now.
func (i *SlackIntake) Unstored(contentType string, body []byte) SlackAnswer {
	r, err := inbound.Decode(contentType, body)
	if err != nil {
		return SlackAnswer{Status: http.StatusServiceUnavailable, Detail: messages.SlackNotStored}
	}
	return i.answerUnstored(r)
}

// answerUnstored tells the person, where Slack shows the answer. Everything else fails: Slack repeats an event, and marks a button whose
// press failed.
func (i *SlackIntake) answerUnstored(r inbound.Request) SlackAnswer {
	if said, shown := slackapp.NotStored(r, messages.SlackNotStored); shown {
		return SlackAnswer{Status: http.StatusOK, Body: said}
	}
	return SlackAnswer{Status: http.StatusServiceUnavailable, Detail: messages.SlackNotStored}
}

// toDelivery returns a request as it is stored. A person's requests are processed in order; so are what happened to a workspace, and the
// visits to a person's App Home, which wait for no command.
func toDelivery(r inbound.Request) inbox.Delivery {
	d := inbox.Delivery{
		Source: SourceSlack, ID: r.ID, Event: string(r.Kind), Topic: SourceSlack + ":" + r.Workspace + "/" + r.User, Body: r.Encode(),
		Urgent: r.Trigger != "",
	}
	switch r.Kind {
	case inbound.Command:
		d.Event, d.Body = slashCommand, commandForm(r)
	case inbound.HomeOpened:
		d.Topic += "/home"
	case inbound.Lifecycle:
		d.Topic = SourceSlack + ":" + r.Workspace
	}
	return d
}

// commandForm returns a command as Slack sends it, without its two secrets: the token, which identified Slack's requests before there
// were signatures, and the response_url, which lets anybody write in the channel for half an hour.
func commandForm(r inbound.Request) []byte {
	form := url.Values{
		"command": {"/ocp"}, "team_id": {r.Workspace}, "channel_id": {r.Channel}, "user_id": {r.User}, "user_name": {r.Name}, "text": {r.Text},
		"trigger_id": {r.Trigger},
	}
	if r.Org != "" {
		form.Set("enterprise_id", r.Org)
	}
	return []byte(form.Encode())
}

// readSlack reads a stored request.
func readSlack(d inbox.Delivery) (inbound.Request, error) {
	if d.Event == slashCommand {
		return inbound.Decode("application/x-www-form-urlencoded", d.Body)
	}
	return inbound.Stored(d.Body)
}
