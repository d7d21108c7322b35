package slack_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/slack"
	standin "github.com/ocpctl/ocpctl/devstack/slack"
	"github.com/ocpctl/ocpctl/internal/secret"
)

const token = "demo-slack-bot-token"

func wire(t *testing.T, given string) (*slack.Client, *standin.Server) {
	t.Helper()
	s, err := standin.Start(t.Context(), standin.Config{Token: token})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	c, err := slack.New(slack.Config{Token: secret.New(given), BaseURL: s.API()})
	require.NoError(t, err)
	return c, s
}

var maya = slack.Target{Channel: standin.Clusters, User: "U0DEMOMAYA"}

func words(markdown string) slack.Message { return slack.Message{Text: slack.Text(markdown)} }

func TestAnAnswerIsForThePersonAloneInTheirChannel(t *testing.T) {
	c, s := wire(t, token)
	at, err := c.Send(t.Context(), maya, words("**done**, see [it](https://ui/x)"))
	require.NoError(t, err)
	said := s.Messages()
	require.Len(t, said, 1)
	require.Equal(t, []string{"ephemeral", standin.Clusters, maya.User, "*done*, see <https://ui/x|it>"}, []string{said[0].Kind, said[0].Channel, said[0].To, said[0].Text})
	require.WithinDuration(t, time.Now(), time.UnixMicro(at), time.Minute)
	require.Equal(t, said[0].ID, at)
}

func TestWhereTheBotIsNotAnAnswerComesAlone(t *testing.T) {
	for _, channel := range []string{standin.Random, "C0PRIVATE", "D0SOMEBODY"} {
		c, s := wire(t, token)
		for range 2 {
			_, err := c.Send(t.Context(), slack.Target{Channel: channel, User: maya.User}, words("done"))
			require.NoError(t, err, channel)
		}
		said := s.Messages()
		require.Len(t, said, 2)
		require.Equal(t, []string{"direct", maya.User, "done"}, []string{said[0].Kind, said[0].To, said[0].Text})
	}
}

func TestSlacksErrorsAreToldApart(t *testing.T) {
	for _, c := range []struct {
		method string
		fault  standin.Fault
		is     error
		text   string
	}{
		{"chat.postEphemeral", standin.Fault{Code: "account_inactive"}, slack.ErrRefused, "the bot's account was switched off"},
		{"chat.postEphemeral", standin.Fault{Code: "invalid_auth"}, slack.ErrRefused, "the bot token is not valid"},
		{"chat.postEphemeral", standin.Fault{Code: "msg_too_long"}, slack.ErrNever, "msg_too_long"},
		{"chat.postEphemeral", standin.Fault{Code: "ratelimited"}, slack.RateLimited{RetryAfter: time.Minute}, "again in 1 min"},
		{"chat.postEphemeral", standin.Fault{RetryAfter: 7}, slack.RateLimited{RetryAfter: 7 * time.Second}, "again in 7 s"},
		{"chat.postEphemeral", standin.Fault{Code: "internal_error"}, nil, "internal_error"},
		{"chat.postEphemeral", standin.Fault{LoseAnswer: true}, nil, "EOF"},
		{"conversations.open", standin.Fault{Code: "user_disabled"}, slack.ErrNever, "open a conversation with U0DEMOMAYA"},
		{"conversations.open", standin.Fault{Code: "missing_scope"}, slack.ErrRefused, "the app lacks a scope"},
		{"chat.postMessage", standin.Fault{Code: "channel_not_found"}, slack.ErrNever, "alone"},
		{"chat.postMessage", standin.Fault{RetryAfter: 3}, slack.RateLimited{RetryAfter: 3 * time.Second}, "alone"},
	} {
		client, s := wire(t, token)
		to := maya
		if c.method != "chat.postEphemeral" {
			to.Channel = standin.Random
		}
		s.Break(c.method, c.fault)
		_, err := client.Send(t.Context(), to, words("done"))
		require.ErrorContains(t, err, c.text)
		require.NotContains(t, err.Error(), token)
		var late slack.RateLimited
		switch want := c.is.(type) {
		case slack.RateLimited:
			require.ErrorAs(t, err, &late)
			require.Equal(t, want, late)
		case nil:
			require.False(t, errors.Is(err, slack.ErrNever) || errors.Is(err, slack.ErrRefused) || errors.As(err, &late), "it is tried again: %v", err)
		default:
			require.ErrorIs(t, err, want)
		}
		_, err = client.Send(t.Context(), to, words("done"))
		require.NoError(t, err, "the fault is over")
	}
}

func TestATokenThatIsNotOursIsRefused(t *testing.T) {
	c, s := wire(t, "demo-another")
	_, err := c.Send(t.Context(), maya, words("done"))
	require.ErrorIs(t, err, slack.ErrRefused)
	require.Empty(t, s.Messages())
	_, err = slack.New(slack.Config{})
	require.ErrorContains(t, err, "token is empty")
	_, err = slack.New(slack.Config{Token: secret.New(token), BaseURL: "slack.com"})
	require.ErrorContains(t, err, "want http(s)://host/api/")
}

func TestTheTokenGoesNowhereElse(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	t.Cleanup(other.Close)
	here := httptest.NewServer(http.RedirectHandler(strings.Replace(other.URL, "127.0.0.1", "localhost", 1), http.StatusTemporaryRedirect))
	t.Cleanup(here.Close)
	c, err := slack.New(slack.Config{Token: secret.New(token), BaseURL: here.URL + "/api"})
	require.NoError(t, err)
	_, err = c.Send(t.Context(), maya, words("done"))
	require.ErrorContains(t, err, "307")
}

func TestSlackSaysWhoseTokenItIs(t *testing.T) {
	c, _ := wire(t, token)
	id, err := c.Identity(t.Context())
	require.NoError(t, err)
	require.Equal(t, slack.Identity{Workspace: standin.Workspace, WorkspaceName: "acme", Bot: "ocpctl", Scopes: standin.Scopes}, id)
	c, _ = wire(t, "xoxb-of-another-app")
	_, err = c.Identity(t.Context())
	require.ErrorIs(t, err, slack.ErrRefused)
}
