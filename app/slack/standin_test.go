package slack_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/credentials"
	slackapp "github.com/ocpctl/ocpctl/app/slack"
	wire "github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	standin "github.com/ocpctl/ocpctl/devstack/slack"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/notices"
)

// protocol is a fixture whose service is behind a stand-in for Slack that speaks its protocol over HTTP.
type protocol struct {
	*servicetest.Fixture
	*standin.Server
	service *slackapp.Service
	behind  sync.WaitGroup
	notes   chan string
}

const botToken = "demo-slack-bot-token"

// spoken is such a fixture. Maya may request clusters; Gus, a guest, has the same identity.
func spoken(t *testing.T) *protocol {
	t.Helper()
	b := servicetest.Catalogue(t, nil)
	b.Teams = []profiles.Team{{Name: "platform", CostCenters: []string{"sandbox"}, Environments: []string{"test"}}}
	b.Identities = append(b.Identities, profiles.Identity{
		Name: "maya", Source: profiles.SourceSlack, Role: "requester", Teams: []string{"platform"},
		Match: map[string][]string{"user": {"U0DEMOMAYA", "U0DEMOGUST"}, "workspace": {standin.Workspace}},
	})
	p := &protocol{Fixture: servicetest.With(t, b), notes: make(chan string, 100)}
	receiver := httptest.NewServer(http.HandlerFunc(p.receive))
	t.Cleanup(receiver.Close)
	var err error
	p.Server, err = standin.Start(t.Context(), standin.Config{CommandURL: receiver.URL, Token: botToken, SigningSecret: "secret"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Stop()) })
	client, err := wire.New(wire.Config{Token: secret.New(botToken), BaseURL: p.API()})
	require.NoError(t, err)
	c := p.Config()
	core := app.New(c)
	p.service = slackapp.New(core, credentials.New(core, c), admin.New(core, c), client, c)
	return p
}

// receive answers a request as the server does, and handles it behind the answer.
func (p *protocol) receive(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	got, err := inbound.Decode(r.Header.Get("Content-Type"), body)
	if err != nil {
		p.Error(err)
	}
	answer := slackapp.Acknowledge(got)
	if answer != nil {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	}
	if got.Kind == inbound.Handshake || got.Kind == inbound.Ignored || slackapp.Rejected(answer) {
		return
	}
	p.behind.Go(func() {
		ctx := context.WithoutCancel(r.Context())
		if err := p.service.OpenWindow(ctx, got); err != nil {
			p.Error(got.Kind, err)
		}
		note, err := p.service.Handle(ctx, got)
		if err != nil {
			p.Error(got.Kind, err)
		}
		p.notes <- note
	})
}

// done waits until a request was handled, and returns what became of it.
func (p *protocol) done(sent error) string {
	p.Helper()
	require.NoError(p, sent)
	p.behind.Wait()
	return <-p.notes
}

func TestAFormIsFilledInAndSubmittedInSlacksProtocol(t *testing.T) {
	p := spoken(t)
	ctx := t.Context()
	p.done(p.UseShortcut(ctx, "maya", "ocp_create", ""))
	form := p.Modal("maya")
	require.NotNil(t, form)
	require.Equal(t, "form updated", p.done(p.ChangeField(ctx, "maya", form.ID, "name", "shop-smoke")))
	p.done(p.ChangeField(ctx, "maya", form.ID, "profile", "aws-standard"))
	p.done(p.ChangeField(ctx, "maya", form.ID, "ttl", "500"))
	require.Contains(t, string(p.Modal("maya").Blocks), "It would be refused")

	view, err := p.SubmitView(ctx, "maya")
	require.Contains(t, string(view.Title), "Create")
	require.Contains(t, p.done(err), "refused")
	form = p.Modal("maya")
	require.Contains(t, string(form.Blocks), "Nothing was created")
	require.Contains(t, string(form.Blocks), "shop-smoke")
	p.done(p.ChangeField(ctx, "maya", form.ID, "ttl", "5"))
	_, err = p.SubmitView(ctx, "maya")
	require.Equal(t, "created", p.done(err))
	require.Contains(t, string(p.Modal("maya").Blocks), "is accepted")
	require.Equal(t, "shop-smoke", p.Only().Name)
	require.NoError(t, p.CloseView(ctx, "maya"))

	p.done(p.UseShortcut(ctx, "maya", "ocp_clusters", ""))
	require.Contains(t, string(p.Modal("maya").Blocks), "shop-smoke")
}

func TestACommandInAMessageFillsInTheForm(t *testing.T) {
	p := spoken(t)
	at, err := p.Write(t.Context(), "maya", standin.Post{Channel: "clusters", Text: "try `/ocp create aws-standard --name shop-smoke --ttl 7h`"})
	require.NoError(t, err)
	p.done(p.UseShortcut(t.Context(), "maya", "ocp_create_message", at))
	form := p.Modal("maya")
	require.NotNil(t, form)
	for _, want := range []string{`"shop-smoke"`, `"aws-standard"`, `"7h"`} {
		require.Contains(t, string(form.Blocks), want)
	}
}

func TestMessagesThatPeopleWriteAreReadHoweverTheyWriteThem(t *testing.T) {
	p := spoken(t)
	ctx := t.Context()
	for _, subtype := range []string{"", "file_share", "thread_broadcast", "me_message"} {
		_, err := p.Write(ctx, "maya", standin.Post{Channel: "clusters", Text: "@ocpctl help", Subtype: subtype})
		require.Equal(t, "help", p.done(err), "mentioned in a %q", subtype)
		at, err := p.DirectMessage(ctx, "maya", "help")
		require.Equal(t, "help", p.done(err))
		i := slices.IndexFunc(p.Messages(), func(m standin.Message) bool { return m.TS == at })
		_, err = p.Write(ctx, "maya", standin.Post{Channel: p.Messages()[i].Channel, Text: "help", Subtype: subtype})
		require.Equal(t, "help", p.done(err), "a direct %q", subtype)
	}
	_, err := p.DirectMessage(ctx, "maya", "@ocpctl help")
	require.Equal(t, "help", p.done(err), "a mention in the bot's own direct message")
	p.behind.Wait()
	require.Empty(t, p.notes, "once")
	_, err = p.Write(ctx, "maya", standin.Post{Channel: "clusters", Text: "@ocpctl help", Subtype: "bot_message"})
	require.NoError(t, err)
	p.behind.Wait()
	require.Empty(t, p.notes, "what an app wrote is none of it")
}

func TestAChannelWithAnotherIDKeepsWhatItHears(t *testing.T) {
	p := spoken(t)
	ctx := t.Context()
	_, err := p.Mention(ctx, "maya", "clusters", "create aws-minimal-test --name shop-smoke")
	require.Contains(t, p.done(err), "create")
	sub := notices.Subscription{Workspace: standin.Workspace, Channel: standin.Clusters, Events: []string{"ready"}, CreatedBy: "slack:maya"}
	require.NoError(t, p.Store.Notices.Subscribe(ctx, sub, clusters.Origin{Actor: "slack:maya", Source: "slack"}))
	sub.Team = "platform"
	require.NoError(t, p.Store.Notices.Subscribe(ctx, sub, clusters.Origin{Actor: "slack:maya", Source: "slack"}))
	require.NoError(t, p.Store.Notices.ChannelProblem(ctx, standin.Workspace, standin.Clusters, "channel_not_found"))

	is, err := p.ChangeID(ctx, "clusters")
	require.Contains(t, p.done(err), is)
	kept, err := p.Store.Notices.Subscriptions(ctx, standin.Workspace, is)
	require.NoError(t, err)
	require.Len(t, kept, 2)
	row := p.Only()
	shown, err := p.Store.Outbox.SlackMessage(ctx, row.ID)
	require.NoError(t, err)
	require.Equal(t, is, shown.Channel)
	closed, err := p.Store.Notices.Closed(ctx, standin.Workspace, standin.Clusters)
	require.NoError(t, err)
	require.False(t, closed)
	again, err := p.Store.Notices.MoveChannel(ctx, standin.Workspace, standin.Clusters, is)
	require.NoError(t, err)
	require.Zero(t, again)
}

func TestHomeIsShownInSlacksProtocol(t *testing.T) {
	p := spoken(t)
	ctx := t.Context()
	p.done(p.OpenHome(ctx, "maya"))
	require.NoError(t, p.service.ShowHome(ctx, standin.Workspace, "U0DEMOMAYA"))
	require.Contains(t, string(p.Home("maya").Blocks), "Clusters at once, team platform")

	p.done(p.OpenHome(ctx, "gus"))
	require.NoError(t, p.service.ShowHome(ctx, standin.Workspace, "U0DEMOGUST"))
	require.Contains(t, string(p.Home("gus").Blocks), "Guests of the workspace")
	p.done(p.UseShortcut(ctx, "gus", "ocp_create", ""))
	window := p.Modal("gus")
	require.Contains(t, string(window.Blocks), "Guests of the workspace")
	require.Empty(t, window.Submit, "a guest sees no form")
}

func TestWhereSomebodyMayPostIsAskedInSlacksProtocol(t *testing.T) {
	p := spoken(t)
	for channel, want := range map[string]string{
		"#admins": "You are not in this channel", "#partners": "only a platform admin", "#partners-soon": "only a platform admin", "#payments": "now gets messages",
	} {
		_, err := p.Command(t.Context(), "maya", "clusters", "notify "+channel+" ready")
		p.done(err)
		said := p.Query(`DELETE FROM replies RETURNING body`)
		require.Len(t, said, 1, channel)
		require.Contains(t, said[0], want, channel)
	}
	require.Equal(t, []string{standin.Payments}, p.Query(`SELECT channel FROM channel_subscriptions`))
	require.NoError(t, p.service.JudgeSubscriptions(t.Context()))
	require.Len(t, p.Query(`SELECT channel FROM channel_subscriptions`), 1)
	require.NoError(t, p.Leave(t.Context(), "maya", "payments"))
	require.NoError(t, p.service.JudgeSubscriptions(t.Context()))
	require.Empty(t, p.Query(`SELECT channel FROM channel_subscriptions`), "who left the channel has nothing posted there any more")
}
