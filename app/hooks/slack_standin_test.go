package hooks

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	api "github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/socketmode"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	standin "github.com/ocpctl/ocpctl/devstack/slack"
	"github.com/ocpctl/ocpctl/internal/secret"
)

// inWorkspace is an intake behind the stand-in, over HTTP or a socket.
func inWorkspace(t *testing.T, socket bool) (*front, *standin.Server, *slack.Client) {
	f := newFront(t)
	s, err := standin.Start(t.Context(), standin.Config{
		Token: "demo-bot", SigningSecret: slackSecret, CommandURL: f.Server.URL + "/webhooks/slack", Socket: socket, Retries: []time.Duration{},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	client, err := slack.New(slack.Config{Token: secret.New("demo-bot"), BaseURL: s.API()})
	require.NoError(t, err)
	if !socket {
		return f, s, client
	}
	intake := NewSlackIntake(f.store, nil, "", nil)
	r, err := socketmode.New(socketmode.Config{
		AppToken: secret.New(standin.DefaultAppToken), APIURL: s.API(),
		Take: func(ctx context.Context, contentType string, body []byte) (any, bool) {
			got := intake.Take(ctx, contentType, body)
			return got.Body, got.Status == http.StatusOK
		},
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); r.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	require.Eventually(t, func() bool { return s.Sockets() == 2 }, 10*time.Second, 10*time.Millisecond)
	return f, s, client
}

// inForm opens a form with a field, as an answer to a shortcut.
func inForm(t *testing.T, f *front, s *standin.Server, client *slack.Client) {
	require.NoError(t, s.UseShortcut(t.Context(), "maya", "ocp_create", ""))
	raw := f.query(`SELECT convert_from(body, 'UTF8') FROM deliveries WHERE event = 'shortcut' ORDER BY id DESC LIMIT 1`)
	require.Len(t, raw, 1)
	r, err := inbound.Stored([]byte(raw[0]))
	require.NoError(t, err)
	_, err = client.OpenForm(t.Context(), r.Trigger, blocks.Form(blocks.FormView{
		Callback: blocks.FormCreate, Title: "Create a cluster", Submit: "Create",
		Fields: []blocks.Field{{Name: "ttl", Label: "Time to live", Kind: "text", Value: "4h"}},
	}))
	require.NoError(t, err)
}

func TestWhatPeopleDoInSlackIsStored(t *testing.T) {
	for name, socket := range map[string]bool{"over HTTP": false, "over a socket": true} {
		t.Run(name, func(t *testing.T) {
			f, s, client := inWorkspace(t, socket)
			ctx := t.Context()
			require.NoError(t, do(s.Command(ctx, "maya", standin.Clusters, "status shop")))
			require.NoError(t, do(s.Mention(ctx, "maya", standin.Clusters, "<@"+standin.Bot+"> list")))
			require.NoError(t, do(s.DirectMessage(ctx, "maya", "help")))
			require.NoError(t, s.OpenHome(ctx, "maya"))
			require.NoError(t, s.Deactivate(ctx, "rob"))
			_, err := client.Post(ctx, slack.Place{Channel: standin.Clusters}, slack.Message{Text: "ready", Blocks: []api.Block{api.NewActionBlock("b",
				api.NewButtonBlockElement("ocp_extend", `{"v":"extend"}`, api.NewTextBlockObject("plain_text", "Extend", false, false)))}}, "1")
			require.NoError(t, err)
			said := s.Visible("maya", standin.Clusters)
			require.NoError(t, s.Click(ctx, "maya", said[len(said)-1].TS, "ocp_extend"))
			require.NoError(t, s.Kick(ctx, standin.Clusters))
			want := []string{"slash_command", "mention", "direct", "home_opened", "lifecycle", "press", "lifecycle"}
			require.Eventually(t, func() bool {
				return slices.Equal(want, f.query(`SELECT event FROM deliveries ORDER BY id`))
			}, 10*time.Second, 20*time.Millisecond, "%v", f.query(`SELECT event FROM deliveries ORDER BY id`))
			for _, raw := range f.query(`SELECT convert_from(body, 'UTF8') FROM deliveries`) {
				require.NotContains(t, raw, "response_url")
				require.False(t, strings.Contains(raw, "token"), raw)
			}
			inForm(t, f, s, client)
			_, err = s.SubmitView(ctx, "maya")
			require.NoError(t, err)
			require.Equal(t, []string{"submission"}, f.query(`SELECT event FROM deliveries ORDER BY id DESC LIMIT 1`))
		})
	}
}

// do drops what is not looked at.
func do[T any](_ T, err error) error { return err }

func TestSomebodyInAnotherWorkspaceIsAnsweredWhereSlackAllowsIt(t *testing.T) {
	f := newFront(t)
	var intake *SlackIntake
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		answerSlack(w, intake.Take(r.Context(), r.Header.Get("Content-Type"), body))
	}))
	t.Cleanup(front.Close)
	s, err := standin.Start(t.Context(), standin.Config{Token: "demo-bot", SigningSecret: slackSecret, CommandURL: front.URL, Retries: []time.Duration{}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	intake = NewSlackIntake(f.store, []string{"TANOTHER"}, s.API(), nil)
	client, err := slack.New(slack.Config{Token: secret.New("demo-bot"), BaseURL: s.API()})
	require.NoError(t, err)
	ctx := t.Context()
	_, err = client.Post(ctx, slack.Place{Channel: standin.Clusters}, slack.Message{Text: "ready", Blocks: []api.Block{api.NewActionBlock("b",
		api.NewButtonBlockElement("ocp_extend", `{"v":"extend"}`, api.NewTextBlockObject("plain_text", "Extend", false, false)))}}, "1")
	require.NoError(t, err)
	posted := s.Messages()[0]

	said, err := s.Command(ctx, "maya", standin.Clusters, "help")
	require.NoError(t, err)
	require.Equal(t, messages.SlackOtherWorkspace, said)
	for name, do := range map[string]func() error{
		"a press":            func() error { return s.Click(ctx, "rob", posted.TS, "ocp_extend") },
		"a message shortcut": func() error { return s.UseShortcut(ctx, "rob", "ocp_create_message", posted.TS) },
	} {
		before := len(s.Seen("rob"))
		require.NoError(t, do(), name)
		seen := s.Seen("rob")
		require.Len(t, seen, before+1, name)
		require.Equal(t, messages.SlackOtherWorkspace, seen[before], name)
	}
	require.Equal(t, "ready", s.Messages()[0].Text, "the message itself stays")
	require.Empty(t, f.stored())
}
