package doctor

import (
	"context"
	"errors"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/app/socketmode"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/deploy"
)

// checkSlack checks how Slack's requests come in, and the Slack app's token, scopes and workspace.
func (d *doctor) checkSlack(ctx context.Context, f *findings) {
	if d.Roles.Has(config.HooksRole) {
		d.slackRequests(ctx, f)
	}
	if d.Roles.Has(config.WorkerRole) {
		d.slackApp(ctx, f)
	}
}

// slackRequests checks whether Slack's requests can come in. Slack tells no app which addresses it has, so those are only named.
func (d *doctor) slackRequests(ctx context.Context, f *findings) {
	c := d.Settings.Slack
	if c.Mode != config.SlackSocket {
		if c.SigningSecretRef == "" {
			f.skip("requests", "slack.signing_secret_ref is not set, so Slack's requests are not accepted")
			return
		}
		f.skip("requests", "Slack tells nobody which addresses an app has: the command /ocp, Interactivity and Event Subscriptions must all have "+
			"https://<the public listener>/webhooks/slack; type /ocp help to try it")
		return
	}
	token, err := d.Settings.SlackAppToken(ctx)
	if err != nil {
		f.fail("socket", "Store an app-level token (xapp-…) with the scope connections:write, from Basic Information → App-Level Tokens, where "+
			"slack.app_token_ref points.", "%s", err)
		return
	}
	receiver, err := socketmode.New(socketmode.Config{AppToken: token, APIURL: c.APIURL})
	if err == nil {
		err = receiver.Check(ctx)
	}
	if err != nil {
		f.fail("socket", "Check that Socket Mode is on in the app's settings, that the token has the scope connections:write, and that this machine reaches "+c.APIURL+".",
			"Slack opens no connection for the app token: %s", err)
		return
	}
	f.ok("socket", "Slack opens connections for the app token (Socket Mode)")
}

// slackApp checks the bot's token, scopes and workspace.
func (d *doctor) slackApp(ctx context.Context, f *findings) {
	c := d.Settings.Slack
	if c.BotTokenRef == "" {
		f.skip("app", "slack.bot_token_ref is not set, so Slack is disabled")
		return
	}
	token, ok := d.resolveSecret(ctx, f, "app", "slack.bot_token_ref", c.BotTokenRef)
	if !ok {
		return
	}
	if _, err := d.Settings.SlackBotToken(ctx); err != nil {
		f.fail("app", "Copy the Bot User OAuth Token (xoxb-…) of the app, from OAuth & Permissions, to where slack.bot_token_ref points.", "%s", err)
		return
	}
	client, err := slack.New(slack.Config{Token: token, BaseURL: c.APIURL})
	if err != nil {
		f.fail("app", "Correct slack.api_url ("+d.Settings.Origin("slack.api_url")+").", "%s", err)
		return
	}
	id, err := client.Identity(ctx)
	switch {
	case errors.Is(err, slack.ErrRefused):
		f.fail("app", "Copy the Bot User OAuth Token (xoxb-…) of the app again, from OAuth & Permissions, to where slack.bot_token_ref points.", "%s", err)
		return
	case err != nil:
		f.fail("app", "Check that this machine reaches "+c.APIURL+".", "%s", err)
		return
	}
	f.ok("app", "the token belongs to %s in the workspace %s (%s)", id.Bot, id.WorkspaceName, id.Workspace)
	wanted, err := slackScopes()
	if err != nil {
		f.fail("scopes", "Report this as a bug.", "%s", err)
	} else if missing := slices.DeleteFunc(wanted, func(scope string) bool { return slices.Contains(id.Scopes, scope) }); len(missing) > 0 {
		f.fail("scopes", "Add them under OAuth & Permissions, or update the app from deploy/slack-app.yaml, and install the app in the workspace again.",
			"the app lacks %s", joinWords(missing))
	} else {
		f.ok("scopes", "the app has every scope of deploy/slack-app.yaml")
	}
	switch {
	case len(c.Workspaces) == 0:
		f.warn("workspace", "Set slack.workspaces: ["+id.Workspace+"].", "slack.workspaces is empty, so commands from every workspace with the app are accepted")
	case !slices.Contains(c.Workspaces, id.Workspace):
		f.fail("workspace", "Add "+id.Workspace+" to slack.workspaces ("+d.Settings.Origin("slack.workspaces")+"), or install the app in one that is listed.",
			"commands from the app's own workspace %s are not accepted", id.Workspace)
	default:
		f.ok("workspace", "commands from %s are accepted", id.Workspace)
	}
}

// slackScopes returns the scopes of the app's manifest.
func slackScopes() ([]string, error) {
	var manifest struct {
		OAuth struct {
			Scopes struct {
				Bot []string `yaml:"bot"`
			} `yaml:"scopes"`
		} `yaml:"oauth_config"`
	}
	err := yaml.Unmarshal(deploy.SlackApp, &manifest)
	return manifest.OAuth.Scopes.Bot, err
}
