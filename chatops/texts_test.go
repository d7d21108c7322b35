package chatops

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/chatopstest"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

var (
	start = chatopstest.Start
	ui    = Links{UI: "http://127.0.0.1:8080"}
)

func card() lifecycle.Card { return chatopstest.Card() }

func ready() lifecycle.Card { return chatopstest.Ready() }

func at(c lifecycle.Card, s lifecycle.Status, p lifecycle.Phase, why string) lifecycle.Card {
	return chatopstest.At(c, s, p, why)
}

func lives() map[string]lifecycle.Card { return chatopstest.Lives() }

func TestTheTextsOfALifeAreGolden(t *testing.T) {
	for name, c := range lives() {
		t.Run(name, func(t *testing.T) {
			golden(t, "comment-"+name+".md", Comment(c, Detail{}, ui))
			golden(t, "check-"+name+".md", shownCheck(Check(c, ui)))
			d := DeploymentOf(c, ui)
			golden(t, "deployment-"+name+".md", fmt.Sprintf("%s %s\n%s\nenvironment: %s\nlog: %s\n", d.Environment, d.State, d.Description, d.EnvironmentURL, d.LogURL))
		})
	}
	for status, phases := range lifecycle.Phases {
		for _, phase := range phases {
			require.True(t, slices.ContainsFunc(slices.Collect(maps.Values(lives())), func(c lifecycle.Card) bool { return c.Status == status && c.Phase == phase }),
				"no golden file shows %s, %s", status, phase)
		}
	}
}

func TestAClusterThatANewerOneReplacedOffersNothing(t *testing.T) {
	for name, c := range lives() {
		if c.Desired == lifecycle.Present || c.Phase == lifecycle.CreateFailed { // a failed install ended it before any push
			continue
		}
		c.ReplacedBy = "shop-pr-41-2"
		check := Check(c, ui)
		require.Empty(t, check.Actions, name)
		for _, text := range []string{Comment(c, Detail{}, ui), check.Summary} {
			require.NotContains(t, text, Prefix+" ", name)
			require.NotContains(t, text, "For a new cluster", name)
		}
		require.Contains(t, Comment(c, Detail{}, ui), "`shop-pr-41-2` replaces it and has its own comment.", name)
	}
}

func TestAClusterDestroyedWhileItWasCreatedDidNotFail(t *testing.T) {
	c := lives()["destroyed-while-created"]
	check := Check(c, ui)
	require.Equal(t, "neutral", check.Conclusion)
	require.Empty(t, check.Actions)
	for _, text := range []string{Comment(c, Detail{Mention: []string{"failed"}}, ui), check.Summary, DeploymentOf(c, ui).Description} {
		require.Contains(t, text, "maya asked for it")
		for _, never := range []string{"Who can fix it", "stopped", "went wrong", "told to stop", "runbook", "could not be created"} {
			require.NotContains(t, text, never)
		}
	}
}

func shownCheck(run CheckRun) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n%s\n%s\n", run.Status, run.Conclusion, run.Title, run.DetailsURL)
	for _, a := range run.Actions {
		fmt.Fprintf(&b, "button %s: %s (%s)\n", a.Label, a.Description, a.Identifier)
	}
	for _, a := range run.Annotations {
		fmt.Fprintf(&b, "%s %s:%d %s: %s\n", a.Level, a.Path, a.Line, a.Title, a.Message)
	}
	return b.String() + "\n" + run.Summary
}

func TestTextsStayTheSameWhileNothingHappens(t *testing.T) {
	for name, c := range lives() {
		later := c
		later.UpdatedAt, later.Version = c.UpdatedAt.Add(time.Minute), c.Version+1
		require.Equal(t, Comment(c, Detail{}, ui), Comment(later, Detail{}, ui), "%s: a new version alone is no news", name)
	}
}

func TestEveryPhaseHasAFaceAndNoWordsAreACommand(t *testing.T) {
	for status, phases := range lifecycle.Phases {
		for _, phase := range phases {
			require.Contains(t, faces, phase)
			c := at(ready(), status, phase, "a reason")
			body := Comment(c, Detail{}, ui)
			require.Contains(t, body, "A reason.", phase)
			require.Empty(t, Parse(body), phase)
			run := Check(c, ui)
			require.Contains(t, run.Summary, "A reason.", phase)
			require.Equal(t, run.Status == "completed", run.Conclusion != "", phase)
		}
	}
	require.Empty(t, Parse(Help("aws-standard")))
}

func TestAReadyCommentTellsEverythingOneNeeds(t *testing.T) {
	body := Comment(ready(), Detail{}, ui)
	for _, part := range []string{
		"[open it](http://127.0.0.1:8080/clusters/clu_1#console) with an account of your own", "<https://api.pr41-shop.labs.example.com:6443>",
		"$0.75 an hour", "$18.00 if it runs until its end", "**Thursday 2 January 2025 at 12:00 UTC** (2025-01-02T12:00:00Z)", "24 h after it was requested", "extended to 2025-01-04 12:00 UTC",
		"`/ocp kubeconfig`, `/ocp console`, `/ocp extend 4h`, `/ocp logs`, `/ocp destroy`, `/ocp help`", "Installed on attempt 1 of 2.",
	} {
		require.Contains(t, body, part)
	}
}

func TestEveryFailureAndBlockedTeardownLeadsToItsRunbook(t *testing.T) {
	for name, page := range map[string]string{
		"create-failed": "/runbooks/failed-create#installfailed", "create-failed-quota": "/runbooks/failed-create#vcpulimitexceeded",
		"create-failed-lost": "/runbooks/failed-create#lost", "destroyed-never-ready": "/runbooks/failed-create#installfailed",
		"destroy-blocked": "/runbooks/destroy-blocked", "abandoned": "/runbooks/destroy-blocked#abandon",
	} {
		c := lives()[name]
		for _, text := range []string{Comment(c, Detail{}, ui), Check(c, ui).Summary, StatusReply("maya", []lifecycle.Card{c}, ui, start)} {
			require.Contains(t, text, "(http://127.0.0.1:8080"+page+")", name)
		}
		require.NotContains(t, Comment(c, Detail{}, Links{}), "/runbooks/", "%s: without an address of the pages there is nothing to link to", name)
	}
	for _, name := range []string{"ready", "installing", "destroyed", "verifying", "awaiting-capacity"} {
		require.NotContains(t, Comment(lives()[name], Detail{}, ui), "/runbooks/", name)
	}
	odd := lives()["create-failed"]
	odd.FailReason = "a b](x"
	require.Equal(t, "/runbooks/failed-create", Runbook(odd))
}

func TestEveryOwnerOfAFailureHasATurn(t *testing.T) {
	for _, whose := range []string{"user", "quota", "cloud", "installer", "ocpctl"} {
		c := lives()["create-failed"]
		c.FailWhose, c.FailNext = whose, "do this"
		text, next := Turn(c)
		require.Equal(t, owners[whose], text)
		require.NotEmpty(t, text)
		require.Equal(t, "Do this.", next)
	}
	for _, name := range []string{"ready", "destroyed", "pending"} {
		whose, next := Turn(lives()[name])
		require.Empty(t, whose+next, name)
	}
}

func TestALogBundleToReadComesWithALinkAndACommandAndHowLongItIsThere(t *testing.T) {
	c := lives()["create-failed"]
	link := "[download it from the cluster's page](" + strings.TrimRight(ui.UI, "/") + "/clusters/" + c.ID + "#log-bundle), or with `ocpctl logs " + c.ID + " --bundle`, for at least 30 days"
	require.NotContains(t, Comment(c, Detail{}, ui), "--bundle", "it is not told to read one")
	c.FailNext = "read the machines' logs in the log bundle, and try again"
	require.Contains(t, Comment(c, Detail{}, ui), link)
	require.Contains(t, Check(c, ui).Summary, link)
	require.Contains(t, Comment(c, Detail{}, Links{}), "`ocpctl logs "+c.ID+" --bundle` downloads it")
}

func TestALineMovesWithItsPlace(t *testing.T) {
	c := lives()["awaiting-capacity"]
	require.Contains(t, Comment(c, Detail{}, ui), "It is number 3 in the queue.")
	require.Contains(t, StatusReply("maya", []lifecycle.Card{c}, ui, start), "It is number 3 in the queue.")
	c.Position = 1
	require.Contains(t, Comment(c, Detail{}, ui), "It is next in the queue.")
	c.Phase = lifecycle.Queued
	require.NotContains(t, Comment(c, Detail{}, ui), "in the queue")
}

func TestTheEstimateCountsWholeHours(t *testing.T) {
	c := ready()
	c.UpdatedAt = start.Add(3*time.Hour + 59*time.Minute)
	require.Contains(t, Comment(c, Detail{}, ui), "about $2.25 so far, as of 2025-01-01 15:00 UTC; about $18.00 if it runs until its end")
	c.Meter = price.Meter{Ran: price.Between(75, start, start.Add(90*time.Minute)), Since: start.Add(90 * time.Minute), Rate: 150, ToCome: 150}
	require.Contains(t, Comment(c, Detail{}, ui), "about $4.13 so far, as of 2025-01-01 15:30 UTC; about $34.88 if it runs until its end", "it was scaled")
	c = lives()["destroyed"]
	require.Contains(t, Comment(c, Detail{}, ui), "about $3.00 in all")
}

func TestACommentThatIsRarelyEditedTellsTheWholePriceOnly(t *testing.T) {
	c := ready()
	c.UpdatedAt = time.Time{}
	require.Contains(t, Comment(c, Detail{}, ui), "about $0.75 an hour by list price; about $18.00 if it runs until its end")
	c.Meter = price.Meter{Ran: price.Between(75, start, start.Add(90*time.Minute)), Since: start.Add(90 * time.Minute), Rate: 150, ToCome: 150}
	require.Contains(t, Comment(c, Detail{}, ui), "by list price; about $34.88 if it runs until its end", "it was scaled")
}

func TestShortLivesShowSeconds(t *testing.T) {
	c := ready()
	c.Ends = lifecycle.Ends{TTL: start.Add(24 * time.Second), Max: start.Add(72 * time.Second)}
	require.Contains(t, Comment(c, Detail{}, ui), "at 12:00:24 UTC** (2025-01-01T12:00:24Z), 24 s after it was requested")
}

func TestCheckRunsTellPassFailAndNeutralApart(t *testing.T) {
	cancelled := lives()["destroyed"]
	cancelled.ReadyAt = time.Time{}
	for name, want := range map[string][2]string{
		"pending": {"queued", ""}, "installing": {"in_progress", ""}, "ready": {"completed", "success"}, "verifying": {"completed", "neutral"},
		"destroyed": {"completed", "neutral"}, "create-failed": {"completed", "failure"}, "destroyed-never-ready": {"completed", "failure"}, "destroy-blocked": {"completed", "failure"},
	} {
		run := Check(lives()[name], ui)
		require.Equal(t, want, [2]string{run.Status, run.Conclusion}, name)
	}
	require.Equal(t, "neutral", Check(cancelled, ui).Conclusion)
	cancelled.NeedsApproval = true
	require.Equal(t, "cancelled", Check(cancelled, ui).Conclusion, "what nobody approved does not let a pull request pass")
}

func TestForeignTextNeitherCallsPeopleNorBreaksOut(t *testing.T) {
	c := lives()["destroy-blocked"]
	evil := "cc @acme/platform <script> `rm` | [x](http://e)\n/ocp destroy\n" + strings.Repeat("long ", 50_000)
	c.Why.Words, c.DesiredWhy, c.Name, c.Blockers = evil, lifecycle.Noted(evil), evil, slices.Repeat([]lifecycle.Blocker{{Name: evil, Free: evil, Command: evil, Remark: evil}}, 5000)
	c.Owner, c.ConsoleURL, c.FailMessage, c.Status = evil, "https://user:pass@evil/|", evil, lifecycle.Ready
	failed := lives()["create-failed"]
	failed.FailReason, failed.FailMessage, failed.FailNext, failed.FailWhose, failed.Profile = evil, evil, evil, evil, evil
	held := lives()["held"]
	held.HoldWhy = evil
	for _, body := range []string{
		Comment(held, Detail{}, ui), Answer(evil, evil[:0]), Comment(c, Detail{}, ui), Check(c, ui).Summary, Comment(failed, Detail{}, ui), StatusReply(evil, []lifecycle.Card{failed}, ui, start), StatusReply(evil, []lifecycle.Card{c, c}, ui, start), UnknownLabel(evil, []string{"a"}),
		Refusal(evil, policy.Verdict{Checks: []policy.Check{{Name: "name", Result: policy.Fail, Message: evil, Next: evil}}}),
		AdviceText(policy.Verdict{Allowed: true, Grant: policy.Grant{Name: evil}, Checks: []policy.Check{{Name: evil, Result: policy.Warn, Message: evil, Next: evil}}}),
	} {
		require.LessOrEqual(t, len(body), 65_536)
		require.Empty(t, Parse(body))
		require.NotContains(t, withoutCode(body), "@acme")
		require.NotContains(t, withoutCode(body), " <script")
		require.NotContains(t, withoutCode(body), "[x](")
		require.NotContains(t, body, "user:pass", "an address with a password is shown without it")
	}
	require.LessOrEqual(t, len(StatusReply("maya", cards(5000), ui, start)), 65_536)
}

func slicesOf(text string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = text
	}
	return out
}

func cards(n int) []lifecycle.Card {
	out := make([]lifecycle.Card, n)
	for i := range out {
		out[i] = ready()
	}
	return out
}

// withoutCode drops code spans, in which GitHub neither mentions nor renders, and in which a backslash means nothing.
func withoutCode(body string) string {
	var kept strings.Builder
	inside := false
	for i := 0; i < len(body); i++ {
		switch {
		case body[i] == '`':
			inside = !inside
		case inside:
		case body[i] == '\\' && i+1 < len(body):
			kept.WriteString(body[i : i+2])
			i++
		default:
			kept.WriteByte(body[i])
		}
	}
	return kept.String()
}

func TestWhatWasOnlyAcceptedIsNoReason(t *testing.T) {
	c := lives()["awaiting-approval"]
	c.Why = lifecycle.MoveReason{Code: lifecycle.MoveAccepted}
	require.NotContains(t, Comment(c, Detail{}, ui), "Why:")
	require.NotContains(t, Check(c, ui).Summary, "Why:")
}

func TestRepliesAreGolden(t *testing.T) {
	verdict := policy.Verdict{Checks: []policy.Check{
		{Name: "profile", Result: policy.Pass, Message: "fine"},
		{Name: "permission", Result: policy.Fail, Message: "rita has only read permission on acme/shop; to create a cluster takes write.", Next: "Ask someone with write permission on acme/shop."},
		{Name: "ttl", Result: policy.Fail, Message: "200h is more than the 72h that profile aws-minimal-test allows.", Next: "Ask for at most 72h."},
	}}
	golden(t, "refusal.md", Refusal("rita", verdict))
	golden(t, "refusal-label.md", LabelRefusal("rita", "ocp/aws-minimal-test", verdict))
	golden(t, "refusal-tree.md", Refusal("maya", policy.Verdict{Checks: []policy.Check{
		{Name: "quota", Result: policy.Fail, Message: "both", Checks: []policy.Check{
			{Name: "person live", Result: policy.Fail, Message: "maya has 4 of the 4 clusters that quota person allows at once.", Next: "Destroy one that is no longer needed."},
			{Name: "team live", Result: policy.Pass, Message: "Team shop has 1 of the 5 clusters that quota team allows at once."},
			{Name: "repo live", Result: policy.Fail, Message: "acme/shop has 2 of the 2 clusters that quota repo allows at once.", Next: "Destroy one that is no longer needed."},
			{Name: "all live", Result: policy.Wait, Message: "This installation has 50 of the 50 clusters that quota all allows at once.", Next: "Nothing: its turn comes by itself when there is room."},
		}},
		{Name: "rules", Result: policy.Ask, Message: "w", Checks: []policy.Check{{Name: "hours/weekend", Result: policy.Ask, Message: "Long clusters at weekends need a person's word.", Next: "Ask for 24h."}}},
	}}))
	accepted := policy.Verdict{
		Allowed: true, Grant: policy.Grant{Name: "pr41-shop"}, Approval: &policy.Approval{Count: 2, By: policy.PlatformAdmin, For: 8 * time.Hour, Why: []string{"because"}},
		Waits: []policy.Limit{{Quota: "team"}},
		Checks: []policy.Check{
			{Name: "quota", Result: policy.Wait, Message: "w", Checks: []policy.Check{{Name: "team live", Result: policy.Wait, Message: "Team shop has 5 of the 5 clusters that quota team allows at once.", Next: "Nothing: its turn comes by itself when there is room."}}},
			{Name: "budget", Result: policy.Ask, Message: "w", Checks: []policy.Check{{Name: "warning", Result: policy.Ask, Message: "Team shop has spent $408.00 of its $500.00.", Next: "A shorter life may need none."}}},
			{Name: "rules", Result: policy.Warn, Message: "w", Checks: []policy.Check{{Name: "tips/names", Result: policy.Warn, Message: "Names with the team in front are found more easily.", Next: "Choose another name."}}},
		},
	}
	waiting := Detail{Approval: ApprovalText(accepted), Approvers: []string{"rita", "acme/platform", "no login!"}, Advice: AdviceText(accepted)}
	golden(t, "comment-asked.md", Comment(lives()["awaiting-approval"], waiting, ui))
	require.Contains(t, Comment(lives()["awaiting-approval"], waiting, ui), "\n@rita, @acme/platform: your approval is needed.\n")
	for _, later := range []lifecycle.Card{ready(), lives()["destroyed"], lives()["installing"]} {
		text := Comment(later, waiting, ui)
		require.NotContains(t, text, "@rita", "nobody is called once it is approved")
		require.NotContains(t, text, "admins have to approve")
		require.Equal(t, later.Status == lifecycle.Creating, strings.Contains(text, "Worth knowing"))
	}
	fine := policy.Verdict{Allowed: true, Checks: []policy.Check{{Name: "ttl", Result: policy.Pass, Message: "fine"}}}
	require.Empty(t, ApprovalText(fine)+AdviceText(fine))
	golden(t, "status.md", StatusReply("maya", []lifecycle.Card{ready(), lives()["installing"], lives()["verifying"], lives()["destroyed"]}, ui, start.Add(90*time.Minute)))
	golden(t, "exists.md", Answer("/ocp create --ttl 4h", Exists("maya", ready(), ui, start.Add(90*time.Minute))))
	golden(t, "status-none.md", StatusReply("github:maya", nil, ui, start))
	known := []string{"aws-minimal-test", "aws-standard"}
	golden(t, "unknown-label.md", UnknownLabel("ocp/aws-minmal-test", known)+UnknownLabel("OCP/gke", known))
	var replies strings.Builder
	for _, line := range []string{"/ocp crate", "/ocp create --tll 4h --ttl soon", "/ocp extend", "/ocp hold 8h --reason 'a demo", "/ocpctl destroy", "ocp/aws-standard", "/ocp share"} {
		replies.WriteString(Parse(line)[0].Reply + "\n\n---\n\n")
	}
	golden(t, "not-understood.md", replies.String())
}

func TestTheCommentSaysWhatKeepsAClusterWhosePullRequestEndsIt(t *testing.T) {
	closed := lives()["ready-closed"]
	for why, want := range map[lifecycle.Reason]string{
		{}:                              "because the pull request was closed. Reopen it to keep the cluster",
		{Code: lifecycle.ReasonPRDraft}: "because the pull request became a draft. Mark it ready for review to keep the cluster",
		{Code: lifecycle.ReasonAppSuspended, Name: "acme/shop"}: "because the App was suspended on acme/shop. `/ocp hold 4h` keeps it longer",
		{Code: lifecycle.ReasonPRMerged, Seen: true}:            "because the pull request was merged, seen by polling. `/ocp hold 4h` keeps it longer",
	} {
		closed.Ends.PRWhy = why
		require.Contains(t, Comment(closed, Detail{}, ui), want)
	}
}

func TestTheCommentSaysHowOneComesToANewClusterWhereThePullRequestTookTheLastOne(t *testing.T) {
	gone := lives()["destroyed"]
	for why, want := range map[lifecycle.Reason]string{
		{}: "For a new cluster, reopen the pull request and set the label `ocp/aws-minimal-test`.",
		{Code: lifecycle.ReasonPRClosed, Seen: true}:            "For a new cluster, reopen the pull request and set the label `ocp/aws-minimal-test`.",
		{Code: lifecycle.ReasonPRMerged}:                        "The pull request was merged. For a new cluster, open another pull request.",
		{Code: lifecycle.ReasonPRDraft}:                         "For a new cluster, mark the pull request as ready for review and set the label `ocp/aws-minimal-test`.",
		{Code: lifecycle.ReasonAppSuspended, Name: "acme/shop"}: "For a new cluster, comment `/ocp create aws-minimal-test`.",
	} {
		gone.Ends.PRWhy = why
		require.Contains(t, Comment(gone, Detail{}, ui), want)
	}
}

func TestWhatWasNeverMadeCostNothing(t *testing.T) {
	refused := lives()["destroyed"]
	refused.Identities, refused.Meter = nil, price.Meter{}
	require.Contains(t, Comment(refused, Detail{}, ui), "| Price | nothing, because nothing was created; about $0.75 an hour by list price |")
	require.NotContains(t, StatusReply("maya", []lifecycle.Card{refused}, ui, start.Add(90*time.Minute)), "About $")
}

func TestAnApprovalIsAwaitedNoLongerThanTheClusterItself(t *testing.T) {
	c := lives()["awaiting-approval"]
	c.Ends = ready().Ends
	c.ApproveBy, c.Ends.PRClosed = start.Add(24*time.Hour), start.Add(time.Hour)
	require.Contains(t, Comment(c, Detail{}, ui), "If nobody approves it by 2025-01-01 13:00 UTC")
}

func TestABlockedTeardownSaysWhoTheCloudWaitsForAndTheCommandCanBeCopied(t *testing.T) {
	c := lives()["destroy-blocked"]
	c.StuckReason, c.StuckWhose = "TerminationProtected", "user"
	c.StuckNext = "ask whoever protected the instance to run: aws ec2 modify-instance-attribute --instance-id i-1 --no-disable-api-termination"
	whose, next := Turn(c)
	require.Equal(t, "you", whose)
	require.Contains(t, next, "--no-disable-api-termination")
	require.Contains(t, next, "The next attempt starts by itself.")

	require.Equal(t, "instance i-1 (shop-master-0): ask whoever protected it to run: `aws ec2 modify --id i-1` (TerminationProtected: it may not be terminated)",
		blocker(lifecycle.Blocker{Name: "instance i-1 (shop-master-0)", Free: "ask whoever protected it to run", Command: "aws ec2 modify --id i-1", Remark: "TerminationProtected: it may not be terminated"}))
}
