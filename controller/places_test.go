package controller_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	hub "github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// quick is a pace at which nothing waits.
var quick = outbox.Pace{}

func TestEveryPlaceShowsTheClusterThroughItsLife(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	row, open := f.install(f.asked("shop", 41))
	f.settle()
	f.shown(row)
	body := f.ours(41)[0]
	require.Contains(t, body, "**Timeline**")
	require.Contains(t, body, "**Ready** False")
	require.Contains(t, body, fmt.Sprintf("an hour by list price; about %s if it runs until its end", price.Dollars(row.Meter.Total(row.AcceptedAt, row.DestroyAt))))
	require.NotContains(t, body, "github:maya", "nobody who made a move is named")
	require.Equal(t, "in_progress", f.checks(41)[0].Status)
	require.NotEmpty(t, f.checks(41)[0].Actions)
	deployment := f.hub.Deployments()[0]
	require.Equal(t, []string{"ocpctl/aws-minimal-test", "ocpctl:shop", "in_progress"}, []string{deployment.Environment, deployment.Task, deployment.State()})

	f.ends(open, attempts.ResultRow{Outcome: lifecycle.Succeeded, Outputs: &clusters.Outputs{
		ConsoleURL: "https://console.example.com", KubeconfigRef: "s3://b/operate/k"}})
	f.settle()
	f.shown(row)
	deployment = f.hub.Deployments()[0]
	require.Equal(t, "success", deployment.State())
	require.Contains(t, deployment.Statuses[len(deployment.Statuses)-1].EnvironmentURL, "/clusters/"+row.ID+"#console")
	pr, _ := f.hub.PullRequest(41)
	require.True(t, pr.Has("ocp/aws-minimal-test"), "it tells the truth")

	_, err := f.store.Destroy(f.ctx, row.ID, origin)
	require.NoError(t, err)
	f.reconcile(row.ID)
	f.settle()
	f.shown(row)
	require.Equal(t, "inactive", f.hub.Deployments()[0].State())
	pr, _ = f.hub.PullRequest(41)
	require.False(t, pr.Has("ocp/aws-minimal-test"), "it can be set again")
	require.Len(t, f.ours(41), 1)
	require.Len(t, f.hub.Deployments(), 1)
}

func TestALineOfALogIsNoReasonToEditAComment(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	row, open := f.install(f.asked("shop", 41))
	f.settle()
	calls := f.content()
	_, err := f.store.Attempts.Report(f.ctx, open.Attempt, open.Token, attempts.ReportRow{Seq: 1, Phase: lifecycle.Installing, Log: "level=info msg=Waiting\n"})
	require.NoError(t, err)
	bumped(f, row.ID)
	f.settle()
	require.Equal(t, calls, f.content())
	f.extended(row.ID)
	f.settle()
	require.Contains(t, f.ours(41)[0], "level=info msg=Waiting", "it comes along with what is news")
}

// bumped makes a new version of a cluster in which nothing changed, and asks for it to be shown.
func bumped(f *front, id string) {
	f.t.Helper()
	_, err := f.store.Pool().Exec(f.ctx, `UPDATE clusters SET row_version = row_version + 1 WHERE id = $1`, id)
	require.NoError(f.t, err)
	_, err = f.store.Pool().Exec(f.ctx, `UPDATE subscribers SET wanted_version = (SELECT row_version FROM clusters WHERE id = $1), nudge_at = $2
		WHERE cluster_id = $1`, id, f.now())
	require.NoError(f.t, err)
	_, err = f.store.WakeDue(f.ctx, 100)
	require.NoError(f.t, err)
}

func TestWhatAPersonTookAwayIsLeftAlone(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	row, open := f.install(f.asked("shop", 41))
	f.settle()
	require.NoError(t, f.hub.DeleteComment(f.place(row.ID, clusters.KindComment).ExternalID, "maya"))
	f.extended(row.ID)
	f.settle()
	require.Empty(t, f.ours(41))
	require.True(t, f.place(row.ID, clusters.KindComment).Muted)
	calls := f.content()
	f.ends(open, attempts.ResultRow{Outcome: lifecycle.Succeeded, Outputs: &clusters.Outputs{ConsoleURL: "https://console.example.com", KubeconfigRef: "s3://b/operate/k"}})
	require.NotContains(t, strings.Join(f.fixture.jobs("publish"), " "), f.place(row.ID, clusters.KindComment).ID, "it is never due")
	f.work(queue.PublishArgs{Subscriber: f.place(row.ID, clusters.KindComment).ID, Version: f.cluster(row.ID).Version})
	f.settle()
	require.Empty(t, f.ours(41))
	require.Equal(t, calls+3, f.content(), "check, gate and deployment still tell")
}

// A repository that the App may not see any more answers as if all in it were deleted.
func TestWhatCannotBeSeenIsNotTakenForDeleted(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	row, _ := f.install(f.asked("shop", 41))
	f.settle()
	require.NoError(t, f.hub.SetAccess(false, "maya"))
	end := f.extended(row.ID)
	job := queue.PublishArgs{Subscriber: f.place(row.ID, clusters.KindComment).ID, Version: f.cluster(row.ID).Version}
	require.Equal(t, 10*time.Minute, f.snoozes(job, f.now()))
	require.False(t, f.place(row.ID, clusters.KindComment).Muted)
	require.NoError(t, f.hub.SetAccess(true, "maya"))
	f.settle()
	f.shown(row)
	require.Contains(t, f.ours(41)[0], end)

	hidden := hub.APIFault{Status: 404, Message: "Not Found", Path: "/repos/"}
	f.hub.FailNext(3, hidden) // though the token is still one: the comment, the pull request, and the comment once more
	f.extended(row.ID)
	f.work(job)
	require.False(t, f.place(row.ID, clusters.KindComment).Muted, "a pull request that is not there either says nothing of its comment")
}

func TestWhatGitHubDoesNotKnowYetIsNotTakenForDeleted(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	row, _ := f.install(f.asked("shop", 41))
	f.settle()
	f.hub.FailNext(1, hub.APIFault{Status: 404, Message: "Not Found", Method: "PATCH", Path: "/issues/comments/"})
	end := f.extended(row.ID)
	f.settle()
	f.shown(row)
	require.False(t, f.place(row.ID, clusters.KindComment).Muted)
	require.Contains(t, f.ours(41)[0], end)
}

func TestADeploymentThatIsGoneIsLeftAloneAndACheckIsFoundAgain(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	row, open := f.install(f.asked("shop", 41))
	f.settle()
	f.hub.FailNext(2, hub.APIFault{Status: 404, Message: "Not Found", Path: "/statuses"})
	f.hub.FailNext(1, hub.APIFault{Status: 404, Message: "Not Found", Method: "PATCH", Path: "/check-runs/"})
	f.ends(open, attempts.ResultRow{Outcome: lifecycle.Succeeded, Outputs: &clusters.Outputs{ConsoleURL: "https://console.example.com", KubeconfigRef: "s3://b/operate/k"}})
	f.settle()
	require.True(t, f.place(row.ID, clusters.KindDeployment).Muted)
	require.Len(t, f.hub.Deployments(), 1, "none is made in its place")
	require.False(t, f.place(row.ID, clusters.KindCheck).Muted)
	require.Len(t, f.checks(41), 1)
	require.Contains(t, f.checks(41)[0].Title, "is ready")
}

func TestThereIsOneCommentAndNoDeploymentBeforeTheApproval(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	pr, found := f.hub.PullRequest(41)
	require.True(t, found)
	row := f.acceptAs("shop", func(a *store.Judgement) {
		a.Row.PR = &clusters.PRRef{Installation: hub.Installation, Repo: hub.Repo, Number: 41, Head: pr.HeadSHA}
		a.Row.Spec.Approval, a.Row.Spec.Approvers = "One platform admin has to approve it.", []string{"rita"}
		a.Approval = &store.ApprovalAsk{ID: "apr_1", Why: []string{"a fork"}, Needs: 1, By: "platform_admin", For: 2 * time.Hour, Asked: strings.Repeat("a", 64), Head: pr.HeadSHA}
	})
	f.reconcile(row.ID)
	f.settle()
	require.Empty(t, f.hub.Deployments())
	require.Len(t, f.ours(41), 1)
	require.Contains(t, f.ours(41)[0], "@rita: your approval is needed.")
	f.shown(row)

	_, err := f.store.Vote(f.ctx, "apr_1", true, clusters.Origin{Actor: "github:rita"})
	require.NoError(t, err)
	f.reconcile(row.ID)
	f.settle()
	require.Len(t, f.hub.Deployments(), 1, "it begins")
	require.Len(t, f.ours(41), 1, "the same comment")
	require.NotContains(t, f.ours(41)[0], "@rita")
}

func TestAnApproverIsCalledByTheCurrentLogin(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	pr, found := f.hub.PullRequest(41)
	require.True(t, found)
	for _, login := range []string{"rita", "rita-l"} {
		_, err := f.store.People.RecordGitHubAccount(f.ctx, 2003, login)
		require.NoError(t, err)
	}
	row := f.acceptAs("shop", func(a *store.Judgement) {
		a.Row.PR = &clusters.PRRef{Installation: hub.Installation, Repo: hub.Repo, Number: 41, Head: pr.HeadSHA}
		a.Row.Spec.Approvers = []string{"acme/leads", "rita"}
		a.Approval = &store.ApprovalAsk{ID: "apr_1", Why: []string{"a fork"}, Needs: 1, By: "platform_admin", For: 2 * time.Hour, Asked: strings.Repeat("a", 64), Head: pr.HeadSHA}
	})
	f.reconcile(row.ID)
	f.settle()
	require.Contains(t, f.ours(41)[0], "@acme/leads, @rita-l: your approval is needed.")
}

func TestACheckThatIsLeftSaysSoOnce(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	row, open := f.install(f.asked("shop", 41))
	f.settle()
	before, _ := f.hub.PullRequest(41)
	require.NoError(t, f.hub.Push(41, "maya"))
	after, _ := f.hub.PullRequest(41)
	require.NoError(t, f.store.Outbox.FollowHead(f.ctx, hub.Repo, 41, after.HeadSHA))
	f.settle()
	left, now := ofClusters(f.hub.ChecksOf(before.HeadSHA)), ofClusters(f.hub.ChecksOf(after.HeadSHA))
	require.Len(t, left, 1)
	require.Equal(t, []string{"completed", "neutral"}, []string{left[0].Status, left[0].Conclusion})
	require.Contains(t, left[0].Summary, after.HeadSHA[:7])
	require.Equal(t, "in_progress", now[0].Status)
	f.pass(5 * time.Minute)
	f.report(open, 1, 40)
	f.settle()
	require.Equal(t, left, ofClusters(f.hub.ChecksOf(before.HeadSHA)), "never again")
	require.Contains(t, f.hub.ChecksOf(after.HeadSHA)[0].Title, "40 %")
	require.Equal(t, f.cluster(row.ID).Version, f.place(row.ID, clusters.KindComment).ShownVersion)
}

func TestALabelOfANewerClusterIsLeftOn(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	row := f.asked("shop", 41)
	f.settle()
	_, err := f.store.Destroy(f.ctx, row.ID, origin)
	require.NoError(t, err)
	f.acceptAs("shop-2", func(a *store.Judgement) {
		a.Row.PR, a.Row.Generation = row.PR, 2
	})
	f.reconcile(row.ID)
	f.settle()
	pr, _ := f.hub.PullRequest(41)
	require.True(t, pr.Has("ocp/aws-minimal-test"))
}

func TestALabelIsTakenOffOnce(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	row := f.asked("shop", 41)
	_, err := f.store.Destroy(f.ctx, row.ID, origin)
	require.NoError(t, err)
	f.reconcile(row.ID)
	f.settle()
	require.NoError(t, f.hub.Label(41, "ocp/aws-minimal-test", "maya"))
	bumped(f, row.ID)
	f.settle()
	pr, _ := f.hub.PullRequest(41)
	require.True(t, pr.Has("ocp/aws-minimal-test"), "somebody asked again, and was not heard yet")
}

// killed are the writes after which a process dies: GitHub has what was sent, and nobody here knows.
func TestAProcessKilledBetweenSendingAndRememberingDoublesNothing(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"the comment": "/issues/41/comments", "the check": "/check-runs", "the deployment": "/deployments", "its status": "/statuses",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFront(t, quick)
			row := f.asked("shop", 41)
			f.hub.FailNext(1, hub.APIFault{After: true, Method: "POST", Path: path})
			f.settle()
			f.shown(row)
			require.Len(t, f.ours(41), 1)
			require.Len(t, f.checks(41), 1)
			require.Len(t, f.hub.Deployments(), 1)
			require.Len(t, f.hub.Deployments()[0].Statuses, 1)
		})
	}
	t.Run("the label", func(t *testing.T) {
		t.Parallel()
		f := newFront(t, quick)
		row := f.asked("shop", 41)
		f.settle()
		f.hub.FailNext(1, hub.APIFault{After: true, Method: "DELETE", Path: "/labels/"})
		_, err := f.store.Destroy(f.ctx, row.ID, origin)
		require.NoError(t, err)
		f.reconcile(row.ID)
		f.settle()
		f.shown(row)
		pr, _ := f.hub.PullRequest(41)
		require.False(t, pr.Has("ocp/aws-minimal-test"))
	})
	t.Run("an edit", func(t *testing.T) {
		t.Parallel()
		f := newFront(t, quick)
		row, _ := f.install(f.asked("shop", 41))
		f.settle()
		f.hub.FailNext(2, hub.APIFault{After: true, Method: "PATCH"})
		end := f.extended(row.ID)
		f.settle()
		f.shown(row)
		require.Len(t, f.ours(41), 1)
		require.Contains(t, f.ours(41)[0], end)
		require.Len(t, f.checks(41), 1)
	})
}

func TestRetryAfterIsHonouredByEveryController(t *testing.T) {
	t.Parallel()
	f := newFront(t, documented)
	one, two := f.asked("shop", 41), f.asked("cart", 42)
	f.hub.FailNext(1, hub.APIFault{Status: 403, RetryAfter: "90", Message: "You have exceeded a secondary rate limit.", Method: "POST", Path: "/comments"})
	first := queue.PublishArgs{Subscriber: f.place(one.ID, clusters.KindComment).ID, Version: 1}
	require.Equal(t, 90*time.Second, f.snoozes(first, f.now()))
	calls := len(f.hub.Calls())
	f.Controller = f.another()
	second := queue.PublishArgs{Subscriber: f.place(two.ID, clusters.KindComment).ID, Version: 1}
	wait := f.snoozes(second, f.now())
	require.GreaterOrEqual(t, wait, 30*time.Second)
	require.LessOrEqual(t, wait, time.Minute, "it is up to date within a minute of the limit's end")
	f.pass(80 * time.Second)
	f.snoozes(second, f.now())
	require.Len(t, f.hub.Calls(), calls, "nothing at all was asked meanwhile")
	f.pass(10 * time.Second)
	f.work(second)
	require.Len(t, f.ours(42), 1)
}

func TestAThousandChangesInAMinuteAreFewCalls(t *testing.T) {
	t.Parallel()
	f := newFront(t, documented)
	row, open := f.install(f.asked("shop", 41))
	f.until(f.now().Add(10 * time.Second))
	before, start := f.content(), f.now()
	for i := range 1000 {
		_, err := f.store.Attempts.Report(f.ctx, open.Attempt, open.Token, attempts.ReportRow{
			Seq: i + 1, Phase: lifecycle.Installing, Percent: 1 + i%99, Step: fmt.Sprintf("step %d", i),
		})
		require.NoError(t, err)
		f.reconcile(row.ID)
		if i%5 == 4 {
			f.until(start.Add(time.Duration(i+1) * 60 * time.Millisecond))
		}
	}
	storm := f.content() - before
	require.Zero(t, storm, "none of it is news")
	f.settle()
	f.shown(row)
	f.pass(5 * time.Minute)
	f.report(open, 1001, 10)
	f.settle()
	f.shown(row)
	f.keepsThePace()
	require.Contains(t, f.checks(41)[0].Title, "10 %", "how far it is, once in five minutes")
	require.Equal(t, before+1, f.content())
	statuses := f.hub.Deployments()[0].Statuses
	require.Contains(t, statuses[len(statuses)-1].Description, "is being created")
}

// The comment and the deployment are not edited for each step of an installation, so their first texts have to fit all of it.
func TestWhatIsSaidAtTheBeginningFitsTheWholeInstallation(t *testing.T) {
	t.Parallel()
	f := newFront(t, documented)
	row := f.asked("shop", 41)
	f.settle()
	first := f.ours(41)
	require.Len(t, first, 1)
	require.Contains(t, first[0], "`shop` is being created")
	require.Contains(t, first[0], "The check shows its progress.")
	require.NotContains(t, first[0], "waiting")
	_, open := f.install(row)
	f.report(open, 1, 40)
	f.settle()
	require.Equal(t, first, f.ours(41))
	require.Equal(t, "shop is being created", f.hub.Deployments()[0].Statuses[0].Description)
	require.Equal(t, "in_progress", f.hub.Deployments()[0].Statuses[0].State)
}

func TestTwoHundredClustersAtOnceAllGetTheirFirstMessage(t *testing.T) {
	t.Parallel()
	f := newFront(t, documented)
	var rows []clusters.Row
	for i := range 200 {
		number, err := f.hub.Open(fmt.Sprintf("Change number %d", i), "maya")
		require.NoError(t, err)
		rows = append(rows, f.asked(fmt.Sprintf("c%d", i), number))
	}
	start := f.now()
	spoken := func() (n int) {
		for _, row := range rows {
			n += len(f.ours(row.PR.Number))
		}
		return n
	}
	for spoken() < len(rows) {
		f.until(f.now().Add(15 * time.Second))
		require.Less(t, f.now().Sub(start), 10*time.Minute, "%d have their first words", spoken())
	}
	for _, row := range rows {
		require.Len(t, f.ours(row.PR.Number), 1)
	}
	f.keepsThePace()
	t.Logf("200 clusters had their first words after %s and %d writes; %v", f.now().Sub(start), len(f.writes), f.hub.CallsByRoute())
	reads := len(f.hub.Calls()) - f.content()
	require.Less(t, reads, 1000, "who waits reads nothing: GitHub's primary limit is 5,000 an hour")
}

func TestWhatAClusterCameToIsNotHeldUpByProgress(t *testing.T) {
	t.Parallel()
	f := newFront(t, outbox.Pace{PerHour: 100}) // fifty at once
	row, open := f.install(f.asked("shop", 41))
	f.settle()
	for len(f.writes) < 42 {
		wait, err := f.store.Outbox.TakePace(f.ctx, hub.Installation, f.pace)
		require.NoError(t, err)
		require.Zero(t, wait)
		f.writes = append(f.writes, f.now())
	}
	calls := f.content()
	f.report(open, 1, 40)
	f.until(f.now().Add(30 * time.Second))
	require.Equal(t, calls, f.content(), "less than a fifth of the hour is left, and progress can wait")
	require.NoError(t, f.store.Outbox.SaveReply(f.ctx, clusters.Reply{Cause: "comment:7", Installation: hub.Installation, Repo: hub.Repo, Number: 41, Body: "pong"}))
	f.ends(open, attempts.ResultRow{Outcome: lifecycle.Succeeded, Outputs: &clusters.Outputs{KubeconfigRef: "s3://b/operate/k"}})
	f.until(f.now().Add(time.Second))
	require.Len(t, f.ours(41), 2, "an answer does not wait")
	f.shown(row)
	require.Equal(t, "success", f.checks(41)[0].Conclusion)
}

// Each line's answer is written down with what it did, and all of them stand in one comment.
func TestWhatIsAnsweredToOneCommentStandsInOneComment(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	say := func(cause, body string) {
		require.NoError(t, f.store.Outbox.SaveReply(f.ctx, clusters.Reply{
			Cause: cause, Thread: "comment:7", Installation: hub.Installation, Repo: hub.Repo, Number: 41, Body: body,
		}))
	}
	say("comment:7:0", "one")
	f.settle()
	say("comment:7:1", "two")
	say("comment:7:2", "three")
	f.settle()
	require.Len(t, f.ours(41), 1)
	require.Contains(t, f.ours(41)[0], "one\n\n---\n\ntwo\n\n---\n\nthree")

	calls := f.content()
	_, err := f.store.Pool().Exec(f.ctx, `UPDATE replies SET external_id = 0`) // killed before it was remembered
	require.NoError(t, err)
	all, err := f.store.Outbox.Thread(f.ctx, "comment:7")
	require.NoError(t, err)
	for _, r := range all {
		f.work(queue.ReplyArgs{Reply: r.ID})
	}
	require.Len(t, f.ours(41), 1)
	require.Equal(t, calls+1, f.content(), "found by its marker, and what the others ask for is done with that")

	f.hub.FailNext(1, hub.APIFault{Status: 404, Message: "Not Found", Method: "PATCH", Path: "/issues/comments/"})
	say("comment:7:3", "four")
	f.settle()
	require.Contains(t, f.ours(41)[0], "three\n\n---\n\nfour", "not known for a moment is not gone")

	require.NoError(t, f.hub.DeleteComment(f.hub.Comments(41)[0].ID, "maya"))
	say("comment:7:4", "five")
	f.settle()
	require.Empty(t, f.ours(41), "what a person took away is left alone")
	require.Empty(t, f.fixture.jobs("reply"))

	require.NoError(t, f.store.Outbox.HoldThread(f.ctx, "comment:8"))
	require.NoError(t, f.store.Outbox.SaveReply(f.ctx, clusters.Reply{
		Cause: "comment:8:0", Thread: "comment:8", Installation: hub.Installation, Repo: hub.Repo, Number: 41, Body: "see /links/" + strings.Repeat("a", 43),
	}))
	f.until(f.now().Add(5 * time.Second))
	require.Empty(t, f.ours(41), "the comment has more commands")
	require.NoError(t, f.store.Outbox.SaveReply(f.ctx, clusters.Reply{
		Cause: "comment:8:1", Thread: "comment:8", Installation: hub.Installation, Repo: hub.Repo, Number: 41, Body: "and this",
	}))
	require.NoError(t, f.store.Outbox.ReleaseThread(f.ctx, "comment:8"))
	f.settle()
	require.Contains(t, f.ours(41)[0], strings.Repeat("a", 43)+"\n\n---\n\nand this")

	late := func(body string) {
		require.NoError(t, f.store.Outbox.SaveReply(f.ctx, clusters.Reply{
			Cause: "comment:8:" + body, Thread: "comment:8", Installation: hub.Installation, Repo: hub.Repo, Number: 41, Body: body,
		}))
		f.settle()
	}
	late("late") // whoever ran the lines died in between
	require.Len(t, f.ours(41), 2, "an edit would remove the link")
	require.Contains(t, f.ours(41)[0], strings.Repeat("a", 43)+"\n\n---\n\nand this")
	require.NotContains(t, f.ours(41)[1], "/links/")
	_, err = f.store.Pool().Exec(f.ctx, `UPDATE replies SET external_id = 0 WHERE cause = 'comment:8:late'`) // killed before it was remembered
	require.NoError(t, err)
	late("later")
	require.Len(t, f.ours(41), 2, "found by its marker")
	require.Contains(t, f.ours(41)[1], "late\n\n---\n\nlater")
	late("last")
	require.Len(t, f.ours(41), 2)
	require.Contains(t, f.ours(41)[1], "late\n\n---\n\nlater\n\n---\n\nlast")
	for _, c := range f.hub.Comments(41) {
		require.Empty(t, c.Minimized, "the answers to one comment do not make each other outdated")
	}

	require.NoError(t, f.store.Outbox.HoldThread(f.ctx, "comment:8"))
	f.pass(2 * time.Minute)
	held, err := f.store.Outbox.IsThreadHeld(f.ctx, "comment:8")
	require.NoError(t, err)
	require.False(t, held, "whoever held it died")
}

func TestANewerAnswerMinimizesTheOlderOnes(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	say := func(number, line int, thread string) {
		require.NoError(t, f.store.Outbox.SaveReply(f.ctx, clusters.Reply{
			Cause: fmt.Sprintf("%d:%s:%d", number, thread, line), Thread: thread, Installation: hub.Installation, Repo: hub.Repo, Number: number, Body: "an answer",
		}))
		f.settle()
	}
	minimized := func(number int) (all []string) {
		for _, c := range f.hub.Comments(number) {
			if c.Author == hub.Bot {
				all = append(all, c.Minimized)
			}
		}
		return all
	}
	say(41, 0, "comment:7")
	say(41, 1, "comment:7")
	say(42, 0, "comment:8")
	require.Equal(t, []string{""}, minimized(41), "the answers to one comment are not outdated by each other, nor by those elsewhere")
	say(41, 0, "")
	require.Equal(t, []string{"outdated", ""}, minimized(41))
	say(41, 2, "comment:7")
	require.Equal(t, []string{"outdated", "outdated", ""}, minimized(41), "nobody reads what is added to a minimized comment")

	f.hub.FailNext(1, hub.APIFault{Status: 502, Message: "Bad Gateway", Method: "POST", Path: "/graphql"})
	say(41, 0, "comment:9")
	require.Equal(t, []string{"outdated", "outdated", "outdated", ""}, minimized(41), "what failed is tried again")
	require.NoError(t, f.hub.DeleteComment(f.hub.Comments(41)[3].ID, "maya"))
	say(41, 0, "comment:10")
	require.Equal(t, []string{"outdated", "outdated", "outdated", ""}, minimized(41), "a deleted one is left alone")
	require.Equal(t, []string{""}, minimized(42))
}

func TestWhatIsAnnouncedAndBegunIsOneLineOfTheTimeline(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	row, _ := f.install(f.asked("shop", 41))
	f.yard.away = true
	f.pass(lease + limits.LeaseGrace + time.Second)
	f.reconcile(row.ID)
	require.Equal(t, lifecycle.Cleaning, f.cluster(row.ID).Phase)
	f.pass(2 * limits.RetryBase)
	f.reconcile(row.ID)
	require.Equal(t, lifecycle.Destroy, f.open(row.ID).Kind)
	f.settle()
	require.Equal(t, 1, strings.Count(f.ours(41)[0], " cleaning: attempt 1 of 2 did not finish"), f.ours(41)[0])
}
