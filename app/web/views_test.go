package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/people"
	"github.com/ocpctl/ocpctl/store/reports"
)

var noon = time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)

func page(t *testing.T, name string, view any) string {
	return shown(t, &pages{Config: Config{Now: func() time.Time { return noon }}, views: parseTemplates(nil, readAssets())}, name, view)
}

func shown(t *testing.T, p *pages, name string, view any) string {
	w := httptest.NewRecorder()
	p.renderPage(w, httptest.NewRequest(http.MethodGet, "/", nil), policy.Principal{ID: "x", Name: "Maya"}, http.StatusOK, name, view)
	require.Equal(t, http.StatusOK, w.Code)
	return w.Body.String()
}

func details(change func(*clusters.Row)) app.Details {
	row := clusters.Row{}
	row.ID, row.Name, row.Status, row.Phase, row.Desired = "clu_1", "shop", lifecycle.Ready, lifecycle.PhaseReady, lifecycle.Present
	row.AcceptedAt, row.DestroyAt = noon, noon.Add(90*time.Minute)
	row.Ends = lifecycle.Ends{TTL: noon.Add(90 * time.Minute), Max: noon.Add(2 * time.Hour)}
	row.Outputs = &clusters.Outputs{
		APIURL: "https://api.shop.example:6443", ConsoleURL: "https://console.shop.example",
		KubeconfigRef: "s3://artifacts/kubeconfig", KubeadminRef: "s3://artifacts/kubeadmin-password",
	}
	change(&row)
	return app.Details{Row: row, Job: reports.Job{ID: "job_1", Type: lifecycle.JobCreate}}
}

func show(t *testing.T, change func(*clusters.Row)) string {
	d := details(change)
	v := detailOf(d)
	maya := policy.As("x", "Maya", policy.Requester, d.Row.Team)
	v.Can = offersOf(maya, d.Row, policy.ClusterAdmin, policy.Actions(d.Row.Card, app.RightsOn(maya, d.Row, shareOf(policy.ClusterAdmin), false), noon), nil, profiles.Catalogue{})
	return page(t, "detail", v)
}

func TestAReadyClusterShowsHowToReachIt(t *testing.T) {
	html := show(t, func(*clusters.Row) {})
	for _, want := range []string{"Open console", "Download kubeconfig", "in 1 h 30 min", "<summary>Extend</summary>"} {
		require.Contains(t, html, want)
	}
}

func TestAClustersPageSaysSinceWhenNobodyUsesItAndWhatFollows(t *testing.T) {
	require.NotContains(t, show(t, func(*clusters.Row) {}), "<dt>Use</dt>", "nothing follows from that")
	html := show(t, func(r *clusters.Row) {
		r.ReadyAt, r.ActiveAt, r.ActiveWhat = noon, noon.Add(10*time.Minute), lifecycle.ActivityPush
		r.Idle, r.Ends.TTL = lifecycle.Idle{TellAfter: 20 * time.Minute, EndAfter: time.Hour}, r.Ends.Max
		r.Ends.Idle = noon.Add(70 * time.Minute)
	})
	require.Contains(t, html, "<dt>Use</dt><dd>As far as ocpctl knows, nobody has used it since 2025-03-01 12:10:00 UTC ("+string(lifecycle.ActivityPush)+
		"). If that stays so, its people are told at 2025-03-01 12:30:00 UTC; it ends at 2025-03-01 13:10:00 UTC.</dd>")
}

func TestAClustersPageSaysWhenItFallsAsleepNext(t *testing.T) {
	require.NotContains(t, show(t, func(*clusters.Row) {}), "<dt>Off-hours</dt>", "it has no nights")
	html := show(t, func(r *clusters.Row) { r.OffHours, r.RestAt = true, noon.Add(time.Hour) })
	require.Contains(t, html, "<dt>Off-hours</dt><dd>falls asleep at 2025-03-01 13:00 UTC, unless it is used</dd>")
}

func TestAClustersPageShowsWhatWaitsForGitHub(t *testing.T) {
	d := details(func(*clusters.Row) {})
	require.NotContains(t, page(t, "detail", detailOf(d)), "<strong>GitHub:</strong>")
	d.Conditions = []clusters.Condition{{Type: app.GitHubUpToDate, Status: "False", Message: "GitHub takes no calls until 2025-03-01 12:30:00 UTC."}}
	require.Contains(t, page(t, "detail", detailOf(d)), "<strong>GitHub:</strong> GitHub takes no calls until 2025-03-01 12:30:00 UTC.")
}

func TestAClusterThatIsGoingOffersNothing(t *testing.T) {
	html := show(t, func(r *clusters.Row) {
		r.Status, r.Phase, r.Desired, r.DesiredWhy = lifecycle.Destroying, lifecycle.Verifying, lifecycle.Absent, lifecycle.Reason{Code: lifecycle.ReasonLabelRemoved}
	})
	require.NotContains(t, html, "Download kubeconfig")
	require.Contains(t, html, "its label was removed")
}

func TestTheProofIsShownWithWhatIsLeft(t *testing.T) {
	d := details(func(r *clusters.Row) { r.Status, r.Phase = lifecycle.Failed, lifecycle.DestroyBlocked })
	d.Verifications = []attempts.VerificationRow{
		{Attempt: 2, Number: 1, At: noon, Identities: []string{"shop-x7k2p"}, Blockers: []lifecycle.Blocker{{Name: "vpc vpc-1", Free: "delete it"}}},
		{Attempt: 2, Number: 2, At: noon, Identities: []string{"shop-x7k2p"}, Control: "the zone is visible", Clean: true, Queries: []byte(`[{"service":"tagging","region":"ap-east-1","unasked":"not_enabled"},{"service":"tagging","region":"eu-west-3","unasked":"denied_by_organization"},{"service":"tagging","region":"eu-west-3","unasked":"denied_by_organization"}]`)},
	}
	html := page(t, "detail", detailView{Details: d})
	for _, want := range []string{"Proof of destruction", "vpc vpc-1: delete it", "nothing left", "the zone is visible", "Control: failed",
		"Regions that were not asked: <code>ap-east-1</code> (not enabled), <code>eu-west-3</code> (denied by organization)."} {
		require.Contains(t, html, want)
	}
}

func TestAFailureSaysWhoseTurnItIsAndLeadsToItsRunbook(t *testing.T) {
	html := show(t, func(r *clusters.Row) {
		r.Status, r.Phase, r.Desired = lifecycle.Failed, lifecycle.CreateFailed, lifecycle.Absent
		r.FailReason, r.FailMessage = "VcpuLimitExceeded", "no more vCPUs may run"
		r.FailWhose, r.FailNext = "quota", "raise the limit L-1216C47A"
	})
	for _, want := range []string{"no more vCPUs may run", "the owners of the cloud account", "Raise the limit L-1216C47A. See <a", `href="/runbooks/failed-create#vcpulimitexceeded"`} {
		require.Contains(t, html, want)
	}
	html = show(t, func(r *clusters.Row) {
		r.Status, r.Phase, r.Desired = lifecycle.Failed, lifecycle.DestroyBlocked, lifecycle.Absent
		r.Blockers = []lifecycle.Blocker{{Name: "vpc vpc-1", Free: "detach eni-7 of another team"}}
	})
	for _, want := range []string{"Remaining at the last count", "detach eni-7", "the platform team", `href="/runbooks/destroy-blocked"`} {
		require.Contains(t, html, want)
	}
	require.NotContains(t, show(t, func(*clusters.Row) {}), "Who can fix it")
}

func TestAFailuresMessageStandsOnThePageOnce(t *testing.T) {
	html := show(t, func(r *clusters.Row) {
		r.Status, r.Phase, r.Desired = lifecycle.Destroyed, lifecycle.Released, lifecycle.Absent
		r.FailReason, r.FailMessage = "BootstrapFailed", "the control plane never took over"
		r.DesiredWhy = lifecycle.Reason{Code: lifecycle.ReasonInstallFailed, Words: "the control plane never took over"}
		r.Why = lifecycle.MoveReason{Cause: r.DesiredWhy, Words: "nothing of it is left in the cloud"}
	})
	require.Equal(t, 1, strings.Count(html, "the control plane never took over"))
	require.Contains(t, html, "the install failed; nothing of it is left in the cloud")
}

func TestTheCommandThatFreesABlockerCanBeCopied(t *testing.T) {
	html := show(t, func(r *clusters.Row) {
		r.Status, r.Phase, r.Desired = lifecycle.Failed, lifecycle.DestroyBlocked, lifecycle.Absent
		r.Blockers = []lifecycle.Blocker{{
			Name: "volume vol-1 (shop-pvc)", Free: "an administrator of the account", Command: "aws ec2 delete-volume --volume-id vol-1", Remark: "ask its owner",
		}}
	})
	require.Contains(t, html, "<li>volume vol-1 (shop-pvc): an administrator of the account: <code>aws ec2 delete-volume --volume-id vol-1</code> (ask its owner)</li>")
}

func TestAClusterInLineShowsItsPlaceAndARunningOneItsTimes(t *testing.T) {
	html := show(t, func(r *clusters.Row) {
		r.Status, r.Phase, r.Position = lifecycle.Pending, lifecycle.AwaitingCapacity, 2
	})
	require.Contains(t, html, "It is number 2 in the queue.")
	html = show(t, func(r *clusters.Row) {
		r.Status, r.Phase = lifecycle.Creating, lifecycle.Installing
		r.Progress = lifecycle.Progress{Percent: 40, Step: "bootstrap", ETA: noon.Add(10 * time.Minute), Late: noon.Add(25 * time.Minute)}
	})
	require.Contains(t, html, "bootstrap · 40 % · ready at about 12:10 UTC; nine of ten recent ones were ready by 12:25")
}

func TestWhatOthersWroteIsShownAsText(t *testing.T) {
	evil := `<script>alert(1)</script>`
	d := details(func(r *clusters.Row) {
		r.Why.Words, r.Owner, r.FailMessage, r.Blockers = evil, evil, evil, []lifecycle.Blocker{{Name: evil, Free: evil, Command: evil, Remark: evil}}
		r.Outputs.ConsoleURL = "javascript:alert(1)"
	})
	d.Log = []string{evil}
	d.Timeline = []store.Event{{At: noon, Why: evil}}
	html := page(t, "detail", detailOf(d))
	require.Contains(t, html, "&lt;script&gt;")
	require.NotContains(t, html, evil)
	require.NotContains(t, html, `href="javascript`)
}

func TestTheStepsSayWhereAClusterIs(t *testing.T) {
	for phase, want := range map[lifecycle.Phase]string{lifecycle.Installing: "now", lifecycle.PhaseReady: "done"} {
		row := details(func(r *clusters.Row) {
			r.Phase = phase
			if phase != lifecycle.PhaseReady {
				r.Status = lifecycle.Creating
			}
		}).Row
		for _, s := range stepsOf(row) {
			if s.Name == plainState(phase) {
				require.Equal(t, want, s.State)
			}
		}
	}
	require.Empty(t, stepsOf(details(func(r *clusters.Row) { r.Status, r.Phase = lifecycle.Creating, lifecycle.Cleaning }).Row))
	released := stepsOf(details(func(r *clusters.Row) { r.Status, r.Phase = lifecycle.Destroyed, lifecycle.Released }).Row)
	require.Equal(t, "done", released[len(released)-1].State)
}

// shareOf is what somebody holds of a cluster in which they may have this role.
func shareOf(role policy.ClusterRole) people.Share {
	if role == "" {
		return people.Share{Access: people.AccessSee}
	}
	return people.Share{Access: people.AccessUse, Role: access.Role(role)}
}

func TestOnesOwnPageNamesTheAccountsInTheCatalogue(t *testing.T) {
	require.Contains(t, page(t, "me", meView{}), "None. Comment <code>/ocp link</code>")
	html := page(t, "me", meView{Listed: []string{"github:maya"}})
	require.Contains(t, html, "In the catalogue: <code>github:maya</code>.")
	require.NotContains(t, html, "None. Comment")
}
