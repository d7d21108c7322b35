package slack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
)

const (
	// askAgain is how long what Slack said of a person is used without asking again. An event of Slack's ends it sooner.
	askAgain = 10 * time.Minute
	// knownFor is how long it is used when Slack does not answer.
	knownFor = 24 * time.Hour
	// askTime is how long Slack is waited for: a form opens within three seconds of the press.
	askTime = 1500 * time.Millisecond
)

// identifyRequester returns who acts in Slack, by what Slack says of them now. app.Denied: nobody who may act here, in words. A user's id never changes
// hands, so it is also the account's number.
//
// The principal is always slack:<workspace>/<user>. An e-mail address that Slack confirmed, of a trusted domain, adds an attribute for the
// catalogue's identities, and the person who has it there is who the account counts for. A link of the account comes before that.
func (s *Service) identifyRequester(ctx context.Context, r inbound.Request) (policy.Principal, error) {
	known, err := s.requireMember(ctx, r)
	if err != nil {
		return policy.Principal{}, err
	}
	return s.core.ExternalPrincipal(ctx, s.core.SlackClaims(known, r.Channel, r.Name))
}

// requireMember returns what Slack says of the person. app.Denied: they are no full member, in words.
func (s *Service) requireMember(ctx context.Context, r inbound.Request) (people.SlackPerson, error) {
	known, err := s.readPerson(ctx, r)
	if err != nil {
		return known, err
	}
	if why := whyRefused(known); why != "" {
		return known, app.Fail(app.Denied, why)
	}
	return known, nil
}

func subjectOf(r inbound.Request) string { return r.Workspace + "/" + r.User }

// whyRefused says why somebody may do nothing here; empty: they may be somebody.
func whyRefused(p people.SlackPerson) string {
	switch {
	case p.Bot:
		return "ocpctl takes requests from people. This one is from an app; use the API for that, with a token."
	case p.Deactivated:
		return "This Slack account is deactivated. Ask an administrator of the workspace."
	case p.Stranger:
		return "ocpctl works for members of its own workspace, and you are a member of another organization. Ask somebody here to do it."
	case p.Guest:
		return "Guests of the workspace cannot use ocpctl. Ask a full member to do it for you, or ask an administrator of the workspace to make you a full member."
	}
	return ""
}

// readPerson returns what Slack says of the person, from the store if that is recent.
func (s *Service) readPerson(ctx context.Context, r inbound.Request) (people.SlackPerson, error) {
	if s.slack == nil { // nobody can be asked, so what the request says counts
		return people.SlackPerson{Workspace: r.Workspace, ID: r.User, Stranger: r.HomeTeam != ""}, nil
	}
	known, err := s.store.People.SlackPerson(ctx, r.Workspace, r.User)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return people.SlackPerson{}, err
	}
	now, clock := s.store.Now(ctx)
	if clock != nil {
		return people.SlackPerson{}, fmt.Errorf("read the clock: %w", clock)
	}
	age := now.Sub(known.AskedAt)
	if err == nil && !known.Changed && age < askAgain {
		return known, nil
	}
	asking, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	said, asked := s.slack.Person(asking, r.User)
	switch {
	case asked == nil:
		fresh := s.toStoredPerson(r, said)
		return fresh, s.store.People.KeepSlackPerson(ctx, fresh)
	case errors.Is(asked, slack.ErrNever): // a stranger whom the bot may not see, or an id that does not exist
		return people.SlackPerson{}, app.Fail(app.Denied, "Slack does not let ocpctl see your account, as is usual for members of other organizations. Ask a member of this workspace to do it.")
	case err == nil && !known.Changed && age < knownFor:
		return known, nil
	case slack.CodeOf(asked) == "missing_scope":
		return people.SlackPerson{}, app.Fail(app.Denied, "Nothing was done: ocpctl's Slack app may not ask Slack who you are, because it lacks the scope `users:read`. "+
			"Ask a platform admin to update the app from `deploy/slack-app.yaml` and to install it again.")
	}
	return people.SlackPerson{}, app.Fail(app.Busy, "Nothing was done: Slack did not confirm in time that you are a member of this workspace. Try again in a few minutes.")
}

// toStoredPerson is what Slack says of somebody, as the store keeps it. Only members have an identity by e-mail: a guest's or stranger's address is
// confirmed by others.
func (s *Service) toStoredPerson(r inbound.Request, p slack.Person) people.SlackPerson {
	out := people.SlackPerson{
		Workspace: r.Workspace, ID: r.User, Home: p.Workspace, Org: p.Org, Name: p.Name,
		Bot: p.Bot, Deactivated: p.Deactivated, Guest: p.Guest, Stranger: p.Stranger,
	}
	if p.Confirmed {
		out.Email = p.Email
	}
	_, domain, _ := strings.Cut(out.Email, "@")
	if out.IsMember() && domain != "" && slices.Contains(s.emails, domain) {
		out.Mapped = profiles.ByEmail + out.Email
	}
	return out
}
