package devstack_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/slack"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
)

func TestAClusterFromSlackFromTheFormToNothingLeft(t *testing.T) {
	t.Parallel()
	l := newLifeOf(t, devstack.Config{Hour: 20 * time.Second, Pace: 5 * time.Millisecond})
	l.fillsInTheForm("maya", "from-form", slack.Clusters)
	m := l.showsUntil("maya", slack.Clusters, "from-form is ready", "Profile", "Maya, team platform")
	l.showsUntil("maya", slack.Clusters, "<@U0DEMOMAYA>, your cluster is ready.")

	before := l.endOf("from-form")
	warning := l.showsUntil("maya", slack.Clusters, "from-form ends soon")
	require.Equal(t, m.TS, warning.Thread, "the warning is in the thread of the cluster's message")
	require.NoError(t, l.Slack.Click(l.ctx, "maya", warning.TS, "ocp_extend"))
	require.NoError(t, l.Slack.Click(l.ctx, "maya", warning.TS, "ocp_extend"), "pressed twice, it is extended once")
	l.showsUntil("maya", slack.Clusters, "Extended until", "by <@U0DEMOMAYA>.")
	require.Greater(t, l.endOf("from-form"), before)
	require.Equal(t, 1, l.count("SELECT count(*) FROM audit_events WHERE action = 'extended'"))

	require.Contains(t, l.types("maya", slack.Clusters, "transfer from-form @rob"), "is offered to rob")
	offer := l.showsUntil("rob", "D0DEMOROBB", "from-form is offered to you", "Maya wants to hand this cluster over")
	require.NoError(t, l.Slack.Click(l.ctx, "rob", offer.TS, "ocp_accept-handover"))
	l.showsUntil("maya", slack.Clusters, "from-form", "Rob, team payments")

	require.NoError(t, l.Slack.Click(l.ctx, "rob", m.TS, "ocp_destroy"))
	l.runUntil("it is destroyed", time.Minute, l.every(lifecycle.Released))
	l.showsUntil("maya", slack.Clusters, "from-form is gone", "found nothing of it")
	l.assertNothingLeft()
	require.Equal(t, 1, l.postsWith(slack.Clusters, "from-form"), "the channel has one message of it; everything else is in its thread")
}

func TestAClusterFromSlackOverASocket(t *testing.T) {
	t.Parallel()
	l := newLifeOf(t, devstack.Config{Hour: time.Hour, Pace: 5 * time.Millisecond, SlackSocket: true})
	l.runUntil("the server is connected", 20*time.Second, func() bool { return l.Slack.Sockets() > 0 })
	require.Contains(t, l.types("maya", slack.Clusters, "create aws-minimal-test --name by-socket --ttl 2h"), "is accepted")
	m := l.showsUntil("maya", slack.Clusters, "by-socket is ready", "Profile")
	l.Slack.Disconnect("refresh_requested")
	require.NoError(t, l.Slack.Click(l.ctx, "maya", m.TS, "ocp_destroy"))
	l.runUntil("it is destroyed", time.Minute, l.every(lifecycle.Released))
	l.showsUntil("maya", slack.Clusters, "by-socket is gone")
	l.assertNothingLeft()
}

func TestAMessageWaitsUntilTheBotIsBackInItsChannel(t *testing.T) {
	t.Parallel()
	l := newLifeOf(t, devstack.Config{Hour: time.Hour, Pace: 5 * time.Millisecond})
	require.Contains(t, l.types("maya", slack.Clusters, "create aws-minimal-test --name stays --ttl 9h"), "is accepted")
	l.showsUntil("maya", slack.Clusters, "stays is ready", "Profile")
	l.showsUntil("maya", slack.Clusters, "your cluster is ready.")
	require.NoError(t, l.Slack.Kick(l.ctx, slack.Clusters))
	require.Contains(t, l.types("maya", slack.Clusters, "extend stays 1h"), "stays", "the answer is a direct message")
	l.runUntil("the message waits", time.Minute, func() bool {
		return l.count("SELECT count(*) FROM slack_channels WHERE problem = 'not_in_channel'") == 1
	})
	findings := func() int {
		return l.count("SELECT count(*) FROM findings WHERE kind = 'slack_channel' AND resolved_at IS NULL")
	}
	_, err := l.pool.Exec(l.ctx, `INSERT INTO river_job (kind, queue, max_attempts, args, state, scheduled_at)
		VALUES ($1, $2, 1, '{}', 'available', now())`, queue.FindingsArgs{}.Kind(), queue.QueueReconcile)
	require.NoError(t, err, "a look, which otherwise comes every five minutes")
	l.runUntil("the operators read of it", time.Minute, func() bool { return findings() == 1 })
	require.NoError(t, l.Slack.Invite(l.ctx, slack.Bot, slack.Clusters))
	require.Contains(t, l.types("maya", slack.Clusters, "destroy stays"), "stays")
	l.showsUntil("maya", slack.Clusters, "stays is gone")
	require.Equal(t, 1, l.postsWith(slack.Clusters, "stays"), "its message was updated")
	require.Zero(t, l.count("SELECT count(*) FROM slack_channels WHERE problem <> ''"))
}

// fillsInTheForm opens the form with the shortcut, enters a name, a lifetime and a channel, and submits it.
func (l *life) fillsInTheForm(who, name, channel string) {
	l.t.Helper()
	require.NoError(l.t, l.Slack.UseShortcut(l.ctx, who, "ocp_create", ""))
	l.runUntil("the form is open", 10*time.Second, func() bool {
		v := l.Slack.Modal(who)
		return v != nil && strings.Contains(string(v.Blocks), "It would be accepted")
	})
	form := l.Slack.Modal(who).ID
	for _, f := range [][2]string{{"name", name}, {"ttl", "2"}, {"post", channel}} {
		require.NoError(l.t, l.Slack.ChangeField(l.ctx, who, form, f[0], f[1]))
	}
	_, err := l.Slack.SubmitView(l.ctx, who)
	require.NoError(l.t, err)
}

// showsUntil waits until somebody sees a message with all the texts, and returns the newest.
func (l *life) showsUntil(who, channel string, texts ...string) (found slack.Message) {
	l.t.Helper()
	l.runUntil(who+" sees "+strings.Join(texts, ", "), time.Minute, func() bool {
		for _, m := range l.Slack.Visible(who, channel) {
			said := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(m.Blocks)) + m.Text
			has := true
			for _, text := range texts {
				has = has && strings.Contains(said, text)
			}
			if has {
				found = m
			}
		}
		return found.TS != ""
	})
	return found
}

// postsWith counts the messages that the bot posted in a channel, for everybody and in no thread, with a text.
func (l *life) postsWith(channel, text string) (n int) {
	for _, m := range l.Slack.Messages() {
		if m.Channel == channel && m.Kind == slack.KindChannel && m.Thread == "" && !m.Deleted && strings.Contains(string(m.Blocks)+m.Text, text) {
			n++
		}
	}
	return n
}

// endOf returns when a cluster's lifetime ends, in seconds.
func (l *life) endOf(name string) int {
	return l.count("SELECT extract(epoch FROM end_ttl)::int FROM clusters WHERE name = $1", name)
}
