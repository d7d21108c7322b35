package controller_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	hub "github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
)

const (
	gateLabel = "ocp/aws-minimal-test"
	gateName  = "ocpctl/aws-minimal-test"
)

// checks are the clusters' own check runs on a pull request's head.
func (f *front) checks(number int) []hub.Check { return ofClusters(f.hub.Checks(number)) }

func ofClusters(all []hub.Check) []hub.Check {
	return slices.DeleteFunc(all, func(c hub.Check) bool { return !strings.HasPrefix(c.Name, gateName+" #") })
}

// gate is the result of the required check on a pull request's head, as GitHub takes it: the newest run of its name.
func (f *front) gate(number int) string {
	out := "none"
	for _, c := range f.hub.Checks(number) {
		if c.Name == gateName {
			out = c.Status + " " + c.Conclusion
		}
	}
	return strings.TrimSpace(out)
}

// labelled is the cluster that a label on a pull request asked for.
func (p *pipeline) labelled(number int) clusters.Row {
	p.t.Helper()
	require.NoError(p.t, p.hub.Label(number, gateLabel, "maya"))
	p.goOn()
	row, err := p.store.ClusterForPR(p.ctx, hub.Repo, number, "aws-minimal-test")
	require.NoError(p.t, err, "%v", p.notes())
	return row
}

// fails lets a cluster's install fail for good.
func (p *pipeline) fails(row clusters.Row) {
	p.t.Helper()
	for p.cluster(row.ID).Status != lifecycle.Failed {
		_, open := p.install(row)
		p.fixture.ends(open, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "Broken", Message: "it broke", Whose: "cloud", Next: "look"})
		p.reconcile(row.ID)
	}
	p.goOn()
}

// twins are two pull requests with one head, for main and for a release, whose rules require the check.
func twins(t *testing.T) (p *pipeline, main, release int) {
	p = newPipeline(t)
	require.NoError(t, p.hub.MakeBranch("release-1"))
	main = 41
	release, err := p.hub.OpenTo("release-1", main, "maya")
	require.NoError(t, err)
	for _, branch := range []string{hub.Branch, "release-1"} {
		require.NoError(t, p.hub.Require(branch, false, gateName))
	}
	p.goOn()
	return p, main, release
}

func TestTheGateOfAPullRequestIsNotOpenedByAnotherWithItsHead(t *testing.T) {
	t.Parallel()
	p, main, release := twins(t)
	one := p.labelled(main)
	p.becomesReady(one)
	p.goOn()
	require.Equal(t, "queued", p.gate(main), "the other pull request at this commit has no cluster")
	require.ErrorContains(t, p.hub.Merge(release, "maya"), "is in progress")

	two := p.labelled(release)
	require.Len(t, p.checks(main), 2, "each cluster has a check of its own on the commit")
	require.NotEqual(t, p.checks(main)[0].Name, p.checks(main)[1].Name)
	require.Equal(t, "queued", p.gate(release), "one result of two clusters")
	require.ErrorContains(t, p.hub.Merge(release, "maya"), "is in progress")
	p.becomesReady(two)
	p.goOn()
	require.Equal(t, "completed success", p.gate(main))
	require.NoError(t, p.hub.Merge(main, "maya"))
	require.NoError(t, p.hub.Merge(release, "maya"))
}

func TestAFailureClosesTheGateUntilItsPullRequestIsGone(t *testing.T) {
	t.Parallel()
	p, main, release := twins(t)
	bad, good := p.labelled(main), p.labelled(release)
	p.fails(bad)
	p.becomesReady(good) // its result is newer
	p.goOn()
	require.Equal(t, "completed failure", p.gate(main))
	require.ErrorContains(t, p.hub.Merge(main, "maya"), "is failing")
	require.ErrorContains(t, p.hub.Merge(release, "maya"), "is failing")
	summary := ""
	for _, c := range p.hub.Checks(main) {
		if c.Name == gateName {
			summary = c.Summary
		}
	}
	for _, row := range []clusters.Row{bad, good} {
		require.Contains(t, summary, row.Name, "it says which clusters it means")
	}

	require.NoError(t, p.hub.Close(main, "maya"))
	p.goOn()
	require.Equal(t, "completed success", p.gate(release))
	require.NoError(t, p.hub.Merge(release, "maya"))
}

func TestAForkCannotCloseTheGateOfACommit(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	require.NoError(t, p.hub.Require(hub.Branch, false, gateName))
	p.becomesReady(p.labelled(41))
	p.goOn()
	_, err := p.hub.OpenSame(41, "outsider")
	require.NoError(t, err)
	p.goOn()
	require.Equal(t, "completed success", p.gate(41))
	draft, err := p.hub.OpenSame(41, "acme")
	require.NoError(t, err)
	p.goOn()
	require.Equal(t, "queued", p.gate(41), "a branch of the repository asks for a result of its own")
	require.NoError(t, p.hub.SetDraft(draft, true, "maya"))
	p.goOn()
	require.Equal(t, "completed success", p.gate(41), "a draft is not merged")
}

func TestAGateFollowsThePush(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	require.NoError(t, p.hub.Require(hub.Branch, false, gateName))
	row := p.labelled(41)
	first, _ := p.hub.PullRequest(41)
	require.NoError(t, p.hub.Push(41, "will"))
	p.goOn()
	require.Equal(t, "queued", p.gate(41))
	p.becomesReady(row)
	p.goOn()
	require.Equal(t, "completed success", p.gate(41))
	old := map[string]string{}
	for _, c := range p.hub.ChecksOf(first.HeadSHA) {
		old[c.Name] = c.Conclusion
	}
	require.Equal(t, map[string]string{gateName: "cancelled", gateName + " #41": "neutral"}, old, "the commit that it moved on from passes no gate")
}

// A gate is looked for on GitHub only if the answer to a post of it may be lost: then there is still one.
func TestAGateWhosePostWasLostIsFoundAgain(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	row := p.labelled(41)
	gates := func() (ids []int64) {
		for _, c := range p.hub.Checks(41) {
			if c.Name == gateName {
				ids = append(ids, c.ID)
			}
		}
		return ids
	}
	looks := func() (n int) {
		for _, c := range p.hub.Calls() {
			if c.Method == http.MethodGet && strings.HasSuffix(c.Path, "/check-runs") {
				n++
			}
		}
		return n
	}
	first := gates()
	require.Len(t, first, 1)
	require.Zero(t, looks(), "nothing was posted before")

	_, err := p.store.Pool().Exec(p.ctx, `UPDATE gates SET external_id = 0, shown = '', posting_at = $1`, p.now())
	require.NoError(t, err)
	p.becomesReady(row)
	p.goOn()
	require.Equal(t, first, gates())
	require.Equal(t, "completed success", p.gate(41))
	require.Equal(t, 1, looks())
}

func TestReRunningAGateRetriesWhatFailed(t *testing.T) {
	t.Parallel()
	p := newPipeline(t)
	row := p.labelled(41)
	p.fails(row)
	for _, c := range p.hub.Checks(41) {
		if c.Name == gateName {
			require.Equal(t, "failure", c.Conclusion)
			require.NoError(t, p.hub.Rerun(c.ID, "maya"))
		}
	}
	p.goOn()
	next, err := p.store.ClusterForPR(p.ctx, hub.Repo, 41, "aws-minimal-test")
	require.NoError(t, err)
	require.Equal(t, row.Generation+1, next.Generation)
	require.Equal(t, "queued", p.gate(41))
}
