package config

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/ocpctl/ocpctl/internal/secret"
)

// How Slack's requests come in.
const (
	SlackHTTP   = "http"   // Slack calls the public listener
	SlackSocket = "socket" // the server opens connections to Slack (Socket Mode)
)

// Slack is the Slack app. Without a signing secret (mode http) or an app token (mode socket), Slack's requests are not accepted.
type Slack struct {
	Mode             string `yaml:"mode"`               // http or socket
	SigningSecretRef string `yaml:"signing_secret_ref"` // mode http: reference to the app's signing secret; empty: Slack's requests are not accepted
	AppTokenRef      string `yaml:"app_token_ref"`      // mode socket: reference to an app-level token (xapp-…) with the scope connections:write
	BotTokenRef      string `yaml:"bot_token_ref"`      // the bot token (xoxb-…), which the role worker answers with
	APIURL           string `yaml:"api_url"`            // base URL of the API

	Workspaces   []string `yaml:"workspaces"`    // workspaces that this server handles, by id; empty: all that sign with the secret
	AdminChannel string   `yaml:"admin_channel"` // id of the channel that hears of failures, blocked teardowns, findings and budgets; empty: none
	EmailDomains []string `yaml:"email_domains"` // domains whose confirmed e-mail addresses count as identities: read docs/slack.md first
}

var (
	slackWorkspace = regexp.MustCompile(`^T[A-Z0-9]{1,31}$`)
	slackChannel   = regexp.MustCompile(`^[CG][A-Z0-9]{1,31}$`)
	mailDomain     = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]{2,}$`)
)

// checkSlack checks the Slack settings: a server that accepts Slack's requests must be able to answer them.
func (c Config) checkSlack(r Roles) []error {
	bad := c.Slack.checkRefs()
	bad = append(bad, c.Slack.checkNames()...)
	const a = "a reference (" + secret.References + ") to "
	missing := func(has, lacks, role, what string) {
		bad = append(bad, fmt.Errorf("%s is set but %s is empty; the role %s needs %s%s, or omit both to disable Slack", has, lacks, role, a, what))
	}
	const bot, signing, app = "slack.bot_token_ref", "slack.signing_secret_ref", "slack.app_token_ref"
	const botToken = "the Slack app's bot token (xoxb-…) to answer"
	switch c.Slack.Mode {
	case SlackHTTP, "":
		if c.Slack.AppTokenRef != "" {
			bad = append(bad, fmt.Errorf("%s is set but slack.mode is http; give slack.mode: socket, or omit the token", app))
		}
		if r.Has(WorkerRole) && c.Slack.SigningSecretRef != "" && c.Slack.BotTokenRef == "" {
			missing(signing, bot, WorkerRole, botToken)
		}
		if r.Has(HooksRole) && c.Slack.BotTokenRef != "" && c.Slack.SigningSecretRef == "" {
			missing(bot, signing, HooksRole, "the Slack app's signing secret")
		}
	case SlackSocket:
		if r.Has(HooksRole) && c.Slack.AppTokenRef == "" {
			bad = append(bad, fmt.Errorf("slack.mode is socket but %s is empty; the role hooks needs %san app-level token (xapp-…) with the scope connections:write", app, a))
		}
		if r.Has(WorkerRole) && c.Slack.BotTokenRef == "" {
			bad = append(bad, fmt.Errorf("slack.mode is socket but %s is empty; the role worker needs %s%s", bot, a, botToken))
		}
	default:
		bad = append(bad, fmt.Errorf("slack.mode is %q; give http (Slack calls the public listener) or socket (the server connects to Slack)", c.Slack.Mode))
	}
	return bad
}

// checkRefs checks that secrets are references. They are not quoted: one may be the secret itself.
func (s Slack) checkRefs() (bad []error) {
	for _, ref := range []struct{ field, ref, what string }{
		{"slack.signing_secret_ref", s.SigningSecretRef, "the Slack app's signing secret"},
		{"slack.app_token_ref", s.AppTokenRef, "an app-level token (xapp-…) of the Slack app"},
		{"slack.bot_token_ref", s.BotTokenRef, "the Slack app's bot token (xoxb-…)"},
	} {
		if ref.ref != "" && !isRef(ref.ref) {
			bad = append(bad, fmt.Errorf("%s is not a reference; give a reference (%s) to %s, or omit it", ref.field, secret.References, ref.what))
		}
	}
	return bad
}

// checkNames checks ids and domains.
func (s Slack) checkNames() (bad []error) {
	for i, id := range s.Workspaces {
		if !slackWorkspace.MatchString(id) {
			bad = append(bad, fmt.Errorf("slack.workspaces[%d] is %q; give a workspace's id, such as T012AB3CD, or omit the list", i, id))
		}
	}
	if id := s.AdminChannel; id != "" && !slackChannel.MatchString(id) {
		bad = append(bad, fmt.Errorf("slack.admin_channel is %q; give the channel's id, such as C012AB3CD (in Slack: the channel's details, at the bottom), or omit it", id))
	}
	for i, domain := range s.EmailDomains {
		if !mailDomain.MatchString(domain) {
			bad = append(bad, fmt.Errorf("slack.email_domains[%d] is %q; give a domain in lower case, such as example.com, or omit the list", i, domain))
		}
	}
	return bad
}

// SlackBotToken returns the bot's token. An error names what the reference leads to instead.
func (c Config) SlackBotToken(ctx context.Context) (secret.Text, error) {
	return c.slackToken(ctx, "slack.bot_token_ref", c.Slack.BotTokenRef, "xoxb-", "the Bot User OAuth Token, from OAuth & Permissions")
}

// SlackAppToken returns the token for Socket Mode. An error names what the reference leads to instead.
func (c Config) SlackAppToken(ctx context.Context) (secret.Text, error) {
	return c.slackToken(ctx, "slack.app_token_ref", c.Slack.AppTokenRef, "xapp-",
		"an app-level token with the scope connections:write, from Basic Information → App-Level Tokens")
}

func (c Config) slackToken(ctx context.Context, field, ref, prefix, what string) (secret.Text, error) {
	token, err := c.Secret(ctx, field, ref)
	if err != nil || c.Demo || strings.HasPrefix(token.Reveal(), prefix) {
		return token, err
	}
	is := "a token of another kind"
	for other, name := range map[string]string{"xoxb-": "a bot token (xoxb-…)", "xoxp-": "a person's token (xoxp-…)", "xapp-": "an app-level token (xapp-…)"} {
		if strings.HasPrefix(token.Reveal(), other) {
			is = name
		}
	}
	return secret.Text{}, fmt.Errorf("%s: %s leads to %s; store %s (%s…) there", field, ref, is, what, prefix)
}
