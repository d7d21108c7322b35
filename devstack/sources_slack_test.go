package devstack_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/slack"
)

// Slack's entry point in one stack: who may is told by what they prove and where, a word is given once, whatever dies in between.
func TestApprovalsInSlack(t *testing.T) {
	t.Parallel()
	l := newLifeOf(t, devstack.Config{Hour: 30 * time.Second, Pace: 5 * time.Millisecond})
	l.catalogueWith(sourcesCatalogue)
	t.Run("two words, of which one comes by an account that was linked", func(t *testing.T) { l.in(t).twoVotesInSlack() })
	t.Run("a refusal, by a server that dies behind it", func(t *testing.T) { l.in(t).refusedInSlack() })
	t.Run("nothing that Slack meant for us alone was kept", func(t *testing.T) { l.in(t).slackKeptNothing() })
}

// types has somebody type a command in Slack and returns the answer.
func (l *life) types(who, channel, text string) string {
	l.t.Helper()
	before := len(l.Slack.Seen(who))
	got, err := l.Slack.Command(l.ctx, who, channel, text)
	require.NoError(l.t, err)
	require.Empty(l.t, got, "a command has one answer")
	l.runUntil(fmt.Sprintf("%s is answered in Slack", who), 20*time.Second, func() bool { return len(l.Slack.Seen(who)) > before })
	return l.Slack.Seen(who)[before]
}

// twoVotesInSlack: whoever is of another team sees nothing, an auditor changes nothing, and one person is one by whichever entry point.
func (l *life) twoVotesInSlack() {
	const number = 44
	a := l.requestApproval(number)
	name := l.nameOf(number)
	require.Contains(l.t, l.types("rob", slack.Clusters, "approve "+a.ApprovalID), "You have no approval \""+a.ApprovalID+"\"")
	require.Contains(l.t, l.types("rob", slack.Clusters, "refuse "+name+" mine now"), "You have no cluster called "+name+".")
	require.Contains(l.t, l.types("ada", slack.Clusters, "approvals"), name, "an auditor sees everything")
	require.Contains(l.t, l.types("ada", slack.Clusters, "approve "+a.ApprovalID), "You are an auditor")
	require.Contains(l.t, l.types("will", slack.Clusters, "approve "+a.ApprovalID), "`/ocp link`", "nobody knows him in Slack")

	l.cli("admin").run("approve", name, "--reason", "looks fine").ends(0)

	l.Slack.Break("chat.postMessage", slack.Fault{RetryAfter: 1}) // and it comes as a direct message: the bot is not there
	at := regexp.MustCompile(`<[^>]+(/links/[^>]+)>`).FindStringSubmatch(l.types("will", slack.Random, "link"))
	require.NotNil(l.t, at)
	will := l.signIn("will")
	status, _, page := will.visit(at[1], url.Values{"account": {slack.Workspace + "/U0DEMOWILL"}})
	require.Equal(l.t, http.StatusOK, status, page)
	code := regexp.MustCompile(`value="/ocp (link [^"]+)"`).FindStringSubmatch(page)
	require.NotNil(l.t, code, page)
	require.Contains(l.t, l.types("will", slack.Clusters, code[1]), "is now linked to you")
	require.Contains(l.t, l.types("will", slack.Clusters, "approve "+a.ApprovalID+" looks fine"), "It starts now")
	_, _, page = will.visit("/approvals/"+a.ApprovalID+"/approve", url.Values{})
	require.NotContains(l.t, page, "Approved.", "he gave his word")
	l.as("requester").until(name, "ready", isReady)
	require.Contains(l.t, l.types("will", slack.Clusters, "status "+name), "is ready")

	a = l.approval(a.ApprovalID)
	require.Equal(l.t, v1.ApprovalStateApproved, a.State)
	require.Len(l.t, a.Votes, 2)
	require.Equal(l.t, "api", a.Votes[0].Source)
	require.Equal(l.t, []string{"saml:will@acme.example", "slack"}, []string{a.Votes[1].Principal, a.Votes[1].Source})
}

// refusedInSlack: the server is killed right behind the vote, before the answer is posted.
func (l *life) refusedInSlack() {
	const number = 47
	no := l.requestApproval(number)
	l.Slack.Break("chat.postEphemeral", slack.Fault{Code: "internal_error"})
	before := len(l.Slack.Seen("will"))
	got, err := l.Slack.Command(l.ctx, "will", slack.Clusters, "refuse "+no.ApprovalID+" not this week")
	require.NoError(l.t, err)
	require.Empty(l.t, got)
	l.runUntil("the vote is written", 20*time.Second, func() bool {
		return l.count("SELECT count(*) FROM approval_votes WHERE approval_id = $1", no.ApprovalID) == 1
	})
	require.NoError(l.t, l.KillServer())
	_, err = l.pool.Exec(l.ctx, "UPDATE deliveries SET state = 'received', finished_at = NULL, nudge_at = now() WHERE source = 'slack'") // none of it was written down
	require.NoError(l.t, err)
	require.NoError(l.t, l.StartServer(l.ctx))
	l.runUntil("he is answered", time.Minute, func() bool { return len(l.Slack.Seen("will")) > before })
	l.runUntil("all of Slack's is worked again", time.Minute, func() bool { return l.count("SELECT count(*) FROM deliveries WHERE state = 'received'") == 0 })
	require.Equal(l.t, 1, strings.Count(strings.Join(l.Slack.Seen("will")[before:], "\n"), "You refused"))
	require.Equal(l.t, v1.ApprovalStateRefused, l.approval(no.ApprovalID).State)
	require.Equal(l.t, 1, l.count("SELECT count(*) FROM approval_votes WHERE approval_id = $1", no.ApprovalID))
	c := l.as("requester").until(no.ClusterID, "released", isGone)
	require.True(l.t, c.NothingBegun)
}

// slackKeptNothing looks at the bytes that were stored.
func (l *life) slackKeptNothing() {
	require.Positive(l.t, l.count("SELECT count(*) FROM deliveries WHERE source = 'slack'"))
	require.Zero(l.t, l.count(`SELECT count(*) FROM deliveries WHERE source = 'slack' AND convert_from(body, 'UTF8') ~ 'response_url|token|commands%2F'`))
	require.Equal(l.t, l.count("SELECT count(*) FROM deliveries WHERE source = 'slack'"), l.count("SELECT count(*) FROM replies WHERE workspace IS NOT NULL"), "each command one answer")
}
