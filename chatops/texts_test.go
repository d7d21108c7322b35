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
	start = time.Date(2025, 1, 1, 12, 0, 0, 0, time.UTC)
	ui    = Links{UI: "http://127.0.0.1:8080"}
)

// card is a cluster that was just accepted.
func card() lifecycle.Card {
	c := lifecycle.Card{
		Name: "pr41-shop", Platform: "aws", Profile: "aws-minimal-test", Release: "4.20.3", Region: "us-east-1", BaseDomain: "labs.example.com", Generation: 1,
		Owner: "maya", Team: "platform", RequestedBy: "github:maya", TTL: 24 * time.Hour, AcceptedAt: start, DestroyAt: start.Add(24 * time.Hour), UpdatedAt: start,
		ListCents: 75, HourlyCents: 75, Meter: price.Meter{ToCome: 75}, JobID: "job_1",
	}
	c.ID, c.Desired, c.MaxTries = "clu_1", lifecycle.Present, 2
	c.Ends = lifecycle.Ends{TTL: start.Add(24 * time.Hour), Max: start.Add(72 * time.Hour)}
	return at(c, lifecycle.Pending, lifecycle.Queued, "maya set the label ocp/aws-minimal-test")
}

func at(c lifecycle.Card, s lifecycle.Status, p lifecycle.Phase, why string) lifecycle.Card {
	c.Status, c.Phase, c.Why = s, p, why
	if c.Meter.Since, c.Meter.Rate = start, 0; s != lifecycle.Pending {
		c.Meter.Rate = c.ListCents
	}
	return c
}

func ready() lifecycle.Card {
	c := at(card(), lifecycle.Ready, lifecycle.PhaseReady, "installed on try 1 of 2")
	c.ReadyAt, c.UpdatedAt = start.Add(40*time.Minute), start.Add(40*time.Minute)
	c.APIURL, c.ConsoleURL = "https://api.pr41-shop.labs.example.com:6443", "https://console-openshift-console.apps.pr41-shop.labs.example.com"
	c.Identities = []string{"pr41-shop-x7k2p"}
	return c
}

func going(p lifecycle.Phase, why string) lifecycle.Card {
	c := at(ready(), lifecycle.Destroying, p, why)
	c.Desired, c.DesiredWhy, c.UpdatedAt = lifecycle.Absent, "the pull request was closed", start.Add(3*time.Hour+10*time.Minute)
	return c
}

// lives is a card for each thing that can be seen.
func lives() map[string]lifecycle.Card {
	installing := at(card(), lifecycle.Creating, lifecycle.Installing, "the installer is creating the cluster")
	installing.Progress = lifecycle.Progress{Percent: 47, Step: "waiting for bootstrapping to complete", ETA: start.Add(38 * time.Minute), Late: start.Add(53 * time.Minute)}
	late := installing
	late.Progress.ETA = time.Time{}
	waiting := at(card(), lifecycle.Pending, lifecycle.AwaitingCapacity, "waiting for capacity in the cloud account: Elastic IPs: 3 needed, 5 of 5 are in use or reserved")
	waiting.Place, waiting.WaitsSince = 3, start.Add(4*time.Minute)
	turn := at(card(), lifecycle.Pending, lifecycle.AwaitingCapacity, "waiting in the queue: team platform has 5 of 5 clusters")
	turn.NeedsTurn, turn.Place, turn.WaitsSince, turn.TurnETA = true, 2, start.Add(time.Minute), start.Add(90*time.Minute)
	runner := at(card(), lifecycle.Pending, lifecycle.AwaitingCapacity, lifecycle.WaitingForRunner+"at most 40 run at once in this installation besides teardowns")
	runner.Place, runner.WaitsSince, runner.TurnETA = 3, start.Add(time.Minute), start.Add(30*time.Minute)
	teardown := going(lifecycle.Restoring, "the pull request was closed; "+lifecycle.WaitingForRunner+"at most 50 run at once in this installation")
	teardown.Place, teardown.WaitsSince = 1, start.Add(3*time.Hour+10*time.Minute)
	unscaled := at(ready(), lifecycle.Ready, lifecycle.PhaseReady, "installed on try 1 of 2; "+lifecycle.WaitingForRunner+"at most 40 run at once in this installation besides teardowns")
	unscaled.WorkersBase, unscaled.WorkersWanted, unscaled.Place, unscaled.WaitsSince = new(3), new(1), 2, start.Add(time.Hour)
	approval := at(card(), lifecycle.Pending, lifecycle.AwaitingApproval, "a maintainer has to approve it first")
	approval.NeedsApproval, approval.ApproveBy = true, start.Add(4*time.Hour)
	scaling := at(ready(), lifecycle.Ready, lifecycle.PhaseReady, "scaling from 3 to 1 worker")
	scaling.WorkersBase, scaling.WorkersWanted = new(3), new(1)
	scaled := at(ready(), lifecycle.Ready, lifecycle.ScaledDown, "it runs with 1 of its profile's 3 workers")
	scaled.WorkersBase, scaled.Workers = new(3), new(1)
	held := ready()
	held.Ends.PRClosed, held.Ends.Hold, held.HoldWhy = start.Add(2*time.Hour), start.Add(30*time.Hour), "a demo on Friday"
	kept := ready()
	kept.Ends.Hold, kept.HoldWhy = kept.Ends.Max, "the label ocp/keep"
	cleaning := at(card(), lifecycle.Creating, lifecycle.Cleaning, "what the last attempt created is removed first")
	cleaning.FailReason, cleaning.FailMessage = "InstallFailed", "bootstrap did not complete in time"
	closed := ready()
	closed.Ends.PRClosed = start.Add(2 * time.Hour)
	unlabelled := ready()
	unlabelled.Ends.LabelRemoved = start.Add(2 * time.Hour)
	expiring := at(ready(), lifecycle.Ready, lifecycle.Expiring, "it ends at 12:00 UTC on 4 January (the profile's maximum lifetime)")
	expiring.Ends.TTL, expiring.UpdatedAt = expiring.Ends.Max, start.Add(71*time.Hour)
	verifying := going(lifecycle.Verifying, "counting what is left in the cloud")
	verifying.Progress = lifecycle.Progress{Percent: 90, Step: "pass 1 of 2"}
	gone := at(going("", ""), lifecycle.Destroyed, lifecycle.Released, "the pull request was closed; two counts in a row found nothing left of 1 name")
	gone.ReleasedAt, gone.Ends.PRClosed = start.Add(4*time.Hour), start.Add(3*time.Hour)
	failed := at(card(), lifecycle.Failed, lifecycle.CreateFailed, "try 2 of 2 failed: bootstrap did not complete in time")
	failed.Desired, failed.DesiredWhy = lifecycle.Absent, "the install failed: bootstrap did not complete in time"
	failed.FailReason, failed.FailMessage = "InstallFailed", "bootstrap did not complete in time"
	quota := failed
	quota.FailReason, quota.FailMessage = "VcpuLimitExceeded", "the account may run no more standard vCPUs in us-east-1"
	quota.FailWhose, quota.FailNext = "quota", "raise the limit L-1216C47A, or release clusters there; then ask again with /ocp create aws-minimal-test"
	lost := failed
	lost.FailReason, lost.FailMessage = "lost", "the runner was not heard of for 15 minutes"
	never := at(failed, lifecycle.Destroyed, lifecycle.Released, "the install failed: bootstrap did not complete in time; two counts in a row found nothing left of 2 names")
	never.ReleasedAt, never.Identities = start.Add(2*time.Hour), []string{"pr41-shop-x7k2p", "pr41-shop-b4r9d"}
	asked := at(card(), lifecycle.Destroyed, lifecycle.Released, "@maya asked for it; two counts in a row found nothing left of the one name it was recorded under")
	asked.Desired, asked.DesiredWhy, asked.FailReason, asked.FailMessage = lifecycle.Absent, "@maya asked for it", "stopped", "the runner was told to stop"
	asked.ReleasedAt, asked.Identities = start.Add(30*time.Minute), []string{"pr41-shop-x7k2p"}
	blocked := going("", "")
	blocked = at(blocked, lifecycle.Failed, lifecycle.DestroyBlocked, "3 teardowns left something behind; still there: vpc vpc-0a1. The next try is at 15:30:00 UTC on 1 January and there is no last one")
	blocked.Blockers = []string{"vpc vpc-0a1 (pr41-shop-x7k2p-vpc): detach the network interface eni-7 of another team", "network-interface eni-7"}
	abandoned := at(blocked, lifecycle.Failed, lifecycle.Abandoned, "an admin abandoned it; it still counts until nothing is left")
	creating := func(p lifecycle.Phase, percent int, why string) lifecycle.Card {
		c := at(card(), lifecycle.Creating, p, why)
		c.Progress.Percent = percent
		return c
	}
	return map[string]lifecycle.Card{
		"preflight": creating(lifecycle.Preflight, 0, "looking at limits and names first"), "claiming": creating(lifecycle.Claiming, 3, "names outside the installer are written down"),
		"rendering": creating(lifecycle.Rendering, 5, "the install-config is rendered"), "recording": creating(lifecycle.Recording, 8, "what it takes to remove it is kept first"),
		"configuring": creating(lifecycle.Configuring, 95, "add-ons and outputs"), "degraded": at(ready(), lifecycle.Ready, lifecycle.Degraded, "2 of 33 operators are not available"),
		"restoring": going(lifecycle.Restoring, "the newest archive is fetched"), "destroying": going(lifecycle.DestroyingRuns, "openshift-install destroy cluster runs"),
		"held-to-the-maximum": kept, "awaiting-turn": turn, "awaiting-runner": runner, "teardown-awaiting-runner": teardown, "scaling-awaiting-runner": unscaled,
		"awaiting-approval": approval, "scaling": scaling, "scaled-down": scaled, "held": held,
		"awaiting-capacity": waiting, "late": late, "create-failed-quota": quota, "create-failed-lost": lost, "abandoned": abandoned,
		"pending": card(), "installing": installing, "cleaning": cleaning, "ready": ready(), "ready-closed": closed, "ready-unlabelled": unlabelled, "expiring": expiring,
		"stopping": going(lifecycle.Stopping, "the pull request was closed; the running install is stopped first"), "verifying": verifying,
		"destroyed": gone, "create-failed": failed, "destroyed-never-ready": never, "destroyed-while-created": asked, "destroy-blocked": blocked,
	}
}

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
		"<https://console-openshift-console.apps.pr41-shop.labs.example.com>", "<https://api.pr41-shop.labs.example.com:6443>",
		"curl -fsS -H \"Authorization: Bearer $TOKEN\" \\\n  -o kubeconfig http://127.0.0.1:8080/api/v1/clusters/clu_1/kubeconfig\n",
		"$0.75 an hour", "$18.00 if it runs until its end", "**Thursday 2 January 2025 at 12:00 UTC** (2025-01-02T12:00:00Z)", "24h after it was requested", "extended to 2025-01-04 12:00 UTC",
		"`/ocp kubeconfig`, `/ocp logs`, `/ocp extend 4h`, `/ocp destroy`, `/ocp help`", "Installed on try 1 of 2.",
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
	c.Place = 1
	require.Contains(t, Comment(c, Detail{}, ui), "It is next in the queue.")
	c.Phase = lifecycle.Queued
	require.NotContains(t, Comment(c, Detail{}, ui), "in the queue")
}

func TestTheEstimateCountsWholeHours(t *testing.T) {
	c := ready()
	c.UpdatedAt = start.Add(3*time.Hour + 59*time.Minute)
	require.Contains(t, Comment(c, Detail{}, ui), "about $2.25 until 2025-01-01 15:00 UTC; about $18.00 if it runs until its end")
	c.Meter = price.Meter{Ran: price.Between(75, start, start.Add(90*time.Minute)), Since: start.Add(90 * time.Minute), Rate: 150, ToCome: 150}
	require.Contains(t, Comment(c, Detail{}, ui), "about $4.13 until 2025-01-01 15:30 UTC; about $34.88 if it runs until its end", "it was scaled")
	c = lives()["destroyed"]
	require.Contains(t, Comment(c, Detail{}, ui), "about $3.00 in all")
}

func TestShortLivesShowSeconds(t *testing.T) {
	c := ready()
	c.Ends = lifecycle.Ends{TTL: start.Add(24 * time.Second), Max: start.Add(72 * time.Second)}
	require.Contains(t, Comment(c, Detail{}, ui), "at 12:00:24 UTC** (2025-01-01T12:00:24Z), 24s after it was requested")
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
	c.Why, c.DesiredWhy, c.Name, c.Blockers = evil, evil, evil, slicesOf(evil, 5000)
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
	c.Why = "accepted"
	require.NotContains(t, Comment(c, Detail{}, ui), "Why:")
	require.NotContains(t, Check(c, ui).Summary, "Why:")
}

func TestRepliesAreGolden(t *testing.T) {
	verdict := policy.Verdict{Checks: []policy.Check{
		{Name: "profile", Result: policy.Pass, Message: "fine"},
		{Name: "permission", Result: policy.Fail, Message: "rita has only read permission on acme/shop; to create a cluster takes write.", Next: "Ask someone with write permission on acme/shop."},
		{Name: "ttl", Result: policy.Fail, Message: "200h is more than the 72h that profile aws-minimal-test gives at most.", Next: "Ask for at most 72h."},
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
	for why, want := range map[string]string{
		"":                                   "because the pull request was closed. Reopen it to keep the cluster",
		lifecycle.BecauseDraft:               "because the pull request became a draft. Mark it ready for review to keep the cluster",
		"the App was suspended on acme/shop": "because the App was suspended on acme/shop. `/ocp hold 4h` keeps it longer",
		lifecycle.BecauseMerged + ", seen by the sweep": "because the pull request was merged, seen by the sweep. `/ocp hold 4h` keeps it longer",
	} {
		closed.Ends.PRWhy = why
		require.Contains(t, Comment(closed, Detail{}, ui), want)
	}
}

func TestTheCommentSaysHowOneComesToANewClusterWhereThePullRequestTookTheLastOne(t *testing.T) {
	gone := lives()["destroyed"]
	for why, want := range map[string]string{
		"": "For a new cluster, reopen the pull request and set the label `ocp/aws-minimal-test`.",
		lifecycle.BecauseClosed + ", seen by the sweep": "For a new cluster, reopen the pull request and set the label `ocp/aws-minimal-test`.",
		lifecycle.BecauseMerged:                         "The pull request was merged. For a new cluster, open another pull request.",
		lifecycle.BecauseDraft:                          "For a new cluster, mark the pull request as ready for review and set the label `ocp/aws-minimal-test`.",
		"the App was suspended on acme/shop":            "For a new cluster, comment `/ocp create aws-minimal-test`.",
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
	require.Contains(t, Comment(c, Detail{}, ui), "Without an approval it ends at 2025-01-01 13:00 UTC.")
}
