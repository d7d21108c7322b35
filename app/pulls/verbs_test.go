package pulls_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

func TestATeamOfGitHubGivesARole(t *testing.T) {
	h := fixtureWith(t, servicetest.Catalogue(t, map[string]string{
		"identities/crew.yaml": "identities:\n  - {name: crew, source: github, match: {team: [acme/admins]}, role: platform_admin, teams: [\"*\"]}\n",
	}))
	h.GitHub.TeamsOf = map[string][]string{"maya": {"acme/admins", "acme/others"}}
	h.Sync(h.Event("opened", "will", true))
	h.Comment(1, "will", "/ocp create aws-minimal-mint")
	require.Contains(t, h.Replies()[0], "only for platform admins")
	h.Comment(2, "maya", "/ocp create aws-minimal-mint --region mars-1")
	require.NotContains(t, h.Replies()[1], "only for platform admins")
}

func TestReactions(t *testing.T) {
	for name, c := range map[string]struct {
		author, body string
		want         []string
	}{
		"understood and done":      {"will", "/ocp create", []string{"react eyes", "react +1"}},
		"not understood":           {"will", "/ocp craete", []string{"react eyes", "react confused"}},
		"one of two is refused":    {"will", "/ocp help\n/ocp create nope", []string{"react eyes", "react confused"}},
		"who may not":              {"rita", "/ocp status", []string{"react eyes", "react confused"}},
		"refused first, then fine": {"will", "/ocp extend 4h\n/ocp help", []string{"react eyes", "react confused"}},
		"talk":                     {"will", "hello", nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := opened(t)
			h.Comment(7, c.author, c.body)
			h.Comment(7, c.author, c.body)
			require.ElementsMatch(t, c.want, h.Effects())
		})
	}
}

// forkFixture is a fixture whose repository takes forks once a person agreed.
func forkFixture(t *testing.T) *fixture {
	h := newFixture(t)
	h.File("forks: approve\n")
	e := h.Event("opened", "zoe", true)
	e.PR.Fork, e.PR.Author, e.PR.Association = true, "zoe", "FIRST_TIME_CONTRIBUTOR"
	h.Sync(e)
	return h
}

func (h *fixture) pushedUnseen(head string) {
	pr := h.PR(true)
	pr.Fork, pr.Author, pr.Head = true, "zoe", head
	h.GitHub.PRs = map[int]pullrequests.PullRequest{41: pr}
}

func TestAForkBeginsOnceSomebodyOfTheTeamAgreedToItsNewestCommit(t *testing.T) {
	h := forkFixture(t)
	h.Comment(1, "will", "/ocp create")
	require.True(t, h.Only().NeedsApproval)
	h.Comment(2, "rita", "/ocp approve")
	require.True(t, h.Only().NeedsApproval, "she may only read")

	h.pushedUnseen(strings.Repeat("f", 40))
	h.Comment(3, "maya", "/ocp approve")
	require.True(t, h.Only().NeedsApproval, "she looked at another commit")
	require.Contains(t, h.Replies()[len(h.Replies())-1], "now at `fffffff`")
	h.Comment(4, "maya", "/ocp approve")
	require.False(t, h.Only().NeedsApproval)
	require.Contains(t, h.Replies()[len(h.Replies())-1], "at `fffffff`")
}

func TestARefusalByCommentEndsItWithItsReason(t *testing.T) {
	h := forkFixture(t)
	h.Comment(1, "will", "/ocp create")
	h.Comment(2, "maya", "/ocp refuse aws-minimal-test it mines coins")
	require.Equal(t, lifecycle.Absent, h.Only().Desired)
	require.Contains(t, h.Only().DesiredWhy.String(), "it mines coins")
	require.Contains(t, h.Replies()[len(h.Replies())-1], "@maya refused `"+h.Only().Name+"`")
	n := len(h.Replies())
	h.Comment(2, "maya", "/ocp refuse aws-minimal-test it mines coins")
	require.Len(t, h.Replies(), n)
}

func TestTheAnswersToOneCommentStandTogetherInItsOrder(t *testing.T) {
	h := ready(t)
	h.Comment(2, "will", "/ocp link\n/ocp status\n/ocp logs\n/ocp hepl\n/ocp kubeconfig")
	all, err := h.Store.Outbox.Thread(t.Context(), "comment:2")
	require.NoError(t, err)
	var typed []string
	for _, r := range all {
		line, _, _ := strings.Cut(r.Body, "\n")
		typed = append(typed, line)
	}
	require.Equal(t, []string{
		"> You wrote `/ocp link`", "> You wrote `/ocp status`", "> You wrote `/ocp logs`", "> You wrote `/ocp hepl`", "> You wrote `/ocp kubeconfig`",
	}, typed)
	held, err := h.Store.Outbox.IsThreadHeld(t.Context(), "comment:2")
	require.NoError(t, err)
	require.False(t, held)
}

func TestWhatOneMayDoWithAReadyClusterByComment(t *testing.T) {
	h := ready(t)
	id := int64(10)
	says := func(line string) string {
		id++
		h.Comment(id, "will", line)
		return h.LastReply()
	}
	require.Contains(t, says("/ocp logs"), h.Only().Name)
	help := says("/ocp help extend")
	require.Contains(t, help, "/ocp extend <duration>")
	require.NotContains(t, help, "/ocp create", "help about one command is about that one")
	require.Contains(t, says("/ocp help"), "<details>")
	explained := says("/ocp explain")
	for _, want := range []string{"**About `" + h.Only().Name + "`**", "When it ends, the earliest first", "its time to live is over"} {
		require.Contains(t, explained, want)
	}
	require.Contains(t, says("/ocp scale 2"), "is being scaled to 2 workers")
	require.Contains(t, says("/ocp scale 4000"), "may have")
	require.Contains(t, says(`/ocp hold 3h --reason "the demo"`), "The hold takes effect")
	require.Equal(t, "the demo", h.Only().HoldWhy)
	require.Contains(t, says("/ocp share --team security"), "is shared with team `security`")
	require.Contains(t, says("/ocp share --team security --role view"), "is shared with team `security` for use with the role view")
	require.Contains(t, says("/ocp share --team security --role root"), "`root` is not a role in a cluster; the roles are view, edit and admin")
	require.Contains(t, says("/ocp share --with @rita"), "is shared with principal `github:rita`")
	require.Contains(t, says("/ocp share --team platform"), "the cluster already belongs to this team")
	require.Contains(t, says("/ocp retry"), "nothing to retry")
	h.Sync(h.Event("closed", "will", false))
	require.Contains(t, says(`/ocp destroy --reason "enough"`), "is being destroyed")
	require.Equal(t, "@will: enough", h.Only().DesiredWhy.String())
}

func TestRetryAsksForTheNextGenerationInTheNameOfWhoAsks(t *testing.T) {
	h := ready(t)
	h.Destroy(h.Only())
	h.Comment(2, "maya", "/ocp retry")
	h.Comment(2, "maya", "/ocp retry")
	rows := h.Clusters()
	require.Len(t, rows, 2)
	require.Empty(t, h.Replies(), "worked again, the cluster it made is no reason to decline it")
	require.Equal(t, 2, rows[1].Generation)
	require.Equal(t, servicetest.OnGitHub("maya"), rows[1].RequestedBy)
	require.Equal(t, "aws-standard", rows[1].Profile)
}

func TestRetryAsksForWhatWasAskedFor(t *testing.T) {
	h := opened(t)
	h.Comment(1, "will", "/ocp create aws-standard --ttl 7h --region us-east-2")
	h.Destroy(h.Only())
	h.Comment(2, "maya", "/ocp retry")
	again := h.Clusters()[1]
	require.Equal(t, "us-east-2", again.Region)
	require.Equal(t, 7*time.Hour, again.TTL)
}

// fails has every write that the trigger is for fail, as where a process dies before it, until it is lifted.
func (h *fixture) fails(trigger string) (lifted func()) {
	h.Helper()
	for _, sql := range []string{
		`CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the process died'; END $$`,
		`CREATE TRIGGER fails BEFORE ` + trigger + ` EXECUTE FUNCTION fails()`,
	} {
		_, err := h.Store.Pool().Exec(h.Context(), sql)
		require.NoError(h, err)
	}
	return func() {
		_, err := h.Store.Pool().Exec(h.Context(), `DROP FUNCTION fails CASCADE`)
		require.NoError(h, err)
	}
}

func TestWhatFollowsForANewClusterFollowsThoughTheProcessDied(t *testing.T) {
	for name, do := range map[string]func(*fixture) func() error{
		"of a comment": func(h *fixture) func() error {
			e := pulls.CommentEvent{Installation: 5001, Repo: repo, Number: 41, ID: 1, Author: "will", AuthorID: servicetest.AccountID("will"), Action: "created", Body: "/ocp create"}
			return func() error { _, err := h.Service.Comment(h.Context(), e); return err }
		},
		"of a label": func(h *fixture) func() error {
			e := pulls.PullRequestEvent{PR: h.PR(true, chatops.KeepLabel, label), Actor: "will", ActorID: servicetest.AccountID("will"), Action: "labeled", Label: label}
			h.GitHub.Stands(e.PR)
			return func() error { _, err := h.Service.SyncPullRequest(h.Context(), e); return err }
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			h.Sync(h.Event("opened", "maya", true))
			h.Sync(pulls.PullRequestEvent{PR: h.PR(true, chatops.KeepLabel), Actor: "maya", ActorID: servicetest.AccountID("maya"), Action: "labeled", Label: chatops.KeepLabel})
			done := do(h)
			lifted := h.fails(`UPDATE OF end_hold ON clusters FOR EACH ROW WHEN (new.end_hold IS DISTINCT FROM old.end_hold)`)
			require.ErrorContains(t, done(), "the process died")
			require.True(t, h.Only().Ends.Hold.IsZero())
			lifted()
			require.NoError(t, done())
			require.False(t, h.Only().Ends.Hold.IsZero())
			require.Empty(t, h.Replies())
		})
	}
}

// A teardown that was brought forward goes on at once: read again, the same line would mean a new cluster.
func TestATeardownThatIsRetriedIsNotTakenForOneThatIsOver(t *testing.T) {
	h := ready(t)
	h.Destroy(h.Only())
	_, err := h.Store.Pool().Exec(t.Context(), `UPDATE clusters SET status = 'FAILED', phase = 'destroy_blocked', retry_at = now() + interval '1 hour'`)
	require.NoError(t, err)
	e := pulls.CommentEvent{Installation: 5001, Repo: repo, Number: 41, ID: 2, Author: "maya", AuthorID: servicetest.AccountID("maya"), Action: "created", Body: "/ocp retry"}
	lifted := h.fails(`INSERT ON replies FOR EACH ROW`)
	_, err = h.Service.Comment(t.Context(), e)
	require.ErrorContains(t, err, "the process died")
	lifted()
	_, err = h.Store.Pool().Exec(t.Context(), `UPDATE clusters SET status = 'DESTROYING', phase = 'destroying' WHERE retry_at <= now()`)
	require.NoError(t, err)
	_, err = h.Service.Comment(t.Context(), e)
	require.NoError(t, err)
	require.Equal(t, 1, len(h.Clusters()))
	require.Contains(t, h.LastReply(), "is tried again now")
}

func TestRetryBringsAStuckTeardownForward(t *testing.T) {
	h := ready(t)
	h.Destroy(h.Only())
	_, err := h.Store.Pool().Exec(t.Context(), `UPDATE clusters SET status = 'FAILED', phase = 'destroy_blocked'`)
	require.NoError(t, err)
	h.Comment(2, "rita", "/ocp retry")
	require.Contains(t, h.LastReply(), "write is needed")
	h.Comment(3, "maya", "/ocp retry")
	require.Contains(t, h.LastReply(), "is tried again now")
	require.Equal(t, 1, len(h.Clusters()), "what is stuck is freed first; /ocp create asks for another beside it")
	require.Equal(t, []string{servicetest.OnGitHub("maya")}, h.Query(`SELECT actor FROM audit_events WHERE action LIKE '%retr%'`))
}
