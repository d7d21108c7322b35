package web

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
)

func TestTheStartShowsWhatWaitsForOneAndWhatIsOnes(t *testing.T) {
	h := newFixture(t)
	row, soak, theirs := h.make("maya", "shop", "platform", 2).Row, h.make("maya", "soak", "platform", 60), h.make("zoe", "pear", "platform", 2).Row
	_, err := h.store.Reports.SaveFindings(t.Context(), []lifecycle.FindingKind{lifecycle.Overdue}, []lifecycle.Finding{
		{Kind: lifecycle.Overdue, Cluster: row.ID, Why: "its end has passed", Since: noon}, {Kind: lifecycle.Overdue, Cluster: theirs.ID, Why: "theirs is late", Since: noon}})
	require.NoError(t, err)

	_, page, _ := h.as("will").get("/")
	todo := between(page, `id="todo"`, `id="yours"`)
	require.Contains(t, todo, `href="/approvals/`+soak.ApprovalID()+`"><strong>Create a cluster: soak</strong></a> for maya (OIDC), team platform. About $0.74 an hour`)
	require.Contains(t, page, `Approvals <span class="badge">1<span class="sr"> waiting for you</span></span>`)
	require.Contains(t, page, `Findings <span class="badge">2<span class="sr"> open</span></span>`)
	require.Contains(t, page, "Newest of all teams")

	_, page, _ = h.as("maya").get("/")
	todo = between(page, `id="todo"`, `id="yours"`)
	require.Contains(t, todo, `Your request for <a href="/clusters/`+soak.Row.ID+`"><strong>soak</strong></a> waits for an approval.`)
	require.Contains(t, todo, `<strong>shop</strong></a>: its end has passed`)
	require.Contains(t, todo, `<strong>shop</strong></a> ends <time`, "within a working day")
	require.NotContains(t, todo, "theirs is late")
	require.NotContains(t, page, `class="badge"`)
	mine := between(page, `id="yours"`, `id="others"`)
	require.Contains(t, mine, ">shop<")
	require.NotContains(t, mine, ">pear<")
	require.Contains(t, between(page, `id="others"`, "</main>"), ">pear<")

	h.fail(row.ID)
	_, page, _ = h.as("maya").get("/")
	todo, mine = between(page, `id="todo"`, `id="yours"`), between(page, `id="yours"`, `id="others"`)
	require.Contains(t, todo, `<strong>shop</strong></a> could not be created, and nothing of it is left.`)
	require.NotContains(t, mine, ">shop<", "it is said once")

	h.shown("fig")
	_, page, _ = h.as("una").get("/")
	require.Contains(t, page, "Shared with you")
	require.Contains(t, page, ">fig<")
	require.NotContains(t, page, `id="setup"`, "who has no role is not sent anywhere")
}

func TestTheStartNamesTheClustersThatNobodyUses(t *testing.T) {
	row := func(change func(*clusters.Row)) clusters.Row { return details(change).Row }
	warned := row(func(r *clusters.Row) {
		r.OffHours, r.RestAt, r.RestWarned = true, noon.Add(time.Hour), noon.Add(time.Hour)
	})
	idle := row(func(r *clusters.Row) {
		r.ReadyAt, r.ActiveAt, r.IdleTold = noon, noon.Add(10*time.Minute), noon.Add(30*time.Minute)
		r.Idle = lifecycle.Idle{TellAfter: 20 * time.Minute, SleepAfter: 2 * time.Hour}
	})
	asleep := row(func(r *clusters.Row) {
		r.Phase, r.PowerBy, r.SleepWanted = lifecycle.PhaseAsleep, lifecycle.ByIdle, true
	})
	asked := row(func(r *clusters.Row) {
		r.Phase, r.PowerBy, r.SleepWanted = lifecycle.PhaseAsleep, lifecycle.ByPerson, true
	})
	used := row(func(*clusters.Row) {})
	require.Equal(t, []bool{true, true, true, false, false}, []bool{isUnused(warned), isUnused(idle), isUnused(asleep), isUnused(asked), isUnused(used)})

	html := page(t, "start", startView{Unused: []clusters.Row{warned, idle, asleep}})
	require.Contains(t, html, "</a> falls asleep at 2025-03-01 13:00 UTC, unless it is used.")
	require.Contains(t, html, "</a>: As far as ocpctl knows, nobody has used it since 2025-03-01 12:10:00 UTC")
	require.Contains(t, html, "</a> sleeps because nobody used it.")
	require.Contains(t, html, `action="/clusters/`+asleep.ID+`/wake"`)
}

func TestTheStepsOfTheSetUpShowWhatIsDoneAndGo(t *testing.T) {
	h := newFixture(t)
	b := h.as("maya")
	_, page, _ := b.get("/")
	steps := between(page, `id="setup"`, `id="waits"`)
	require.Equal(t, 4, strings.Count(steps, "<li"))
	require.NotContains(t, steps, "done")
	require.Contains(t, steps, "ocpctl login --server "+h.base)

	h.make("maya", "soak", "platform", 60)
	_, page, _ = b.get("/")
	require.Contains(t, between(page, `id="setup"`, `id="waits"`), `<li class="done"><strong>Create your first cluster</strong> <small>done</small></li>`)

	h.sql(`INSERT INTO accounts (account, principal, name, proof, linked_at, seen_at) VALUES ('slack:T1/U1', $1, 'Maya', '{}', now(), now()), ('github:id/7', $1, 'Maya', '{}', now(), now())`, h.id("maya"))
	require.NoError(t, h.store.Audit(t.Context(), h.service.StoreOrigin(app.Origin{Source: policy.SourceAPI}, h.principal("maya")), "outputs.read", "", map[string]string{"why": "addresses were read"}))
	_, page, _ = b.get("/")
	require.NotContains(t, page, `id="setup"`, "everything is done")

	zoe := h.as("zoe")
	_, page, _ = zoe.post("/setup/hide", nil)
	require.Equal(t, "The steps are hidden in this browser.", says(page))
	require.NotContains(t, page, `id="setup"`)
}

// between is the part of a page between two marks.
func between(page, from, to string) string {
	_, rest, _ := strings.Cut(page, from)
	part, _, _ := strings.Cut(rest, to)
	return part
}
