package devstack_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// Everything people and programs can do at the API, the pages, the command line and a pull request, in one stack: what does
// not touch each other happens at once, as it would.
func TestEverySourceOfOneStack(t *testing.T) {
	t.Parallel()
	l := newLifeOf(t, devstack.Config{Hour: 30 * time.Second, Pace: 5 * time.Millisecond})
	l.catalogueWith(sourcesCatalogue)
	together(t, l, map[string]func(*life, *testing.T){
		"the specification's request, by a program of AWS":     (*life).theSpecificationsRequest,
		"workers are scaled to none and back":                  (*life).workersAreScaled,
		"a full quota is waited for on pull requests":          (*life).pullRequests,
		"the command line signs in in every way, and works":    (*life).commandLine,
		"people sign in their command lines through the pages": (*life).peoplesCommandLines,
	})
	for _, chapter := range []struct {
		name string
		tell func(*life, *testing.T)
	}{
		{"break-glass shows a password once, and the trail knows first", (*life).breakGlass},
		{"a server killed after it accepted answers the same again", (*life).killedBeforeItsAnswer},
		{"all of it goes, and nothing is left", (*life).allOfItGoes},
		{"the trail is whole, and a changed copy is found offline", (*life).theTrail},
	} {
		t.Run(chapter.name, func(t *testing.T) { chapter.tell(l.in(t), t) })
	}
}

// together tells parts of a test at once.
func together(t *testing.T, l *life, parts map[string]func(*life, *testing.T)) {
	var all sync.WaitGroup
	for name, tell := range parts {
		all.Go(func() { t.Run(name, func(t *testing.T) { tell(l.in(t), t) }) })
	}
	all.Wait()
}

// sourcesCatalogue is what the chapters need beside the demo's catalogue.
var sourcesCatalogue = map[string]string{
	"identities/sources.yaml": `
identities:
  - {name: sources-robot, source: aws, match: {arn: ["` + devstack.CLIUser + `"]}, role: requester, teams: [team-a]}
`,
	"policies/sources.yaml": `
name: sources
rules:
  - name: two-words
    when: pr.number == 44
    effect: requireApproval
    message: Pull request 44 takes the word of two.
    approval: {count: 2, by: requester, for: 10m}
  - {name: soon, when: pr.number == 46, effect: requireApproval, message: Pull request 46 is approved soon or never., approval: {for: 3s}}
  - {name: word, when: "pr.number in [47, 48]", effect: requireApproval, message: This one takes a platform admin's word.}
`,
}

// catalogueWith writes files into the stack's catalogue and has the server take them at once.
func (l *life) catalogueWith(files map[string]string) {
	l.t.Helper()
	for name, content := range files {
		l.writeCatalogue(name, content)
	}
	state := ask[v1.CatalogueState](l.as("admin"), http.MethodPost, "/api/v1/catalogue/reload", nil, http.StatusOK)
	require.Empty(l.t, state.Problem)
}

// writeCatalogue writes one of the catalogue's files; an empty one is removed.
func (l *life) writeCatalogue(name, content string) {
	path := filepath.Join(l.Dir, "catalogue", name)
	if content == "" {
		require.NoError(l.t, os.Remove(path))
		return
	}
	require.NoError(l.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(l.t, os.WriteFile(path, []byte(content), 0o600))
}

// theSpecificationsRequest is asked for as it is written there, and lived with.
func (l *life) theSpecificationsRequest(*testing.T) {
	robot, maya := l.byAWS(), l.as("requester")
	sample, err := os.ReadFile("../app/api/testdata/specification-request.json")
	require.NoError(l.t, err)
	answer, raw := robot.send(http.MethodPost, "/api/v1/clusters", sample, "Idempotency-Key", "the-specification")
	require.Equal(l.t, http.StatusAccepted, answer.StatusCode, "%s", raw)
	at := answer.Header.Get("Location")
	require.Regexp(l.t, `^/api/v1/clusters/clu_[0-9A-Z]{26}$`, at)
	id := strings.TrimPrefix(at, "/api/v1/clusters/")
	c := robot.until(id, "ready", isReady)
	require.Equal(l.t, []string{"team-a-smoke-01", "team-a", "team-a", "sandbox", "test", "webform"},
		[]string{c.Name, c.Team, c.Owner, c.CostCenter, c.Environment, c.Tags["RequestSource"]})
	maya.refused(http.MethodGet, at, nil, http.StatusNotFound)

	out := ask[v1.Outputs](robot, http.MethodGet, at+"/outputs", nil, http.StatusOK)
	require.Equal(l.t, "https://api.team-a-smoke-01.labs.example.com:6443", out.APIURL)
	require.Contains(l.t, out.ConsoleURL, "console-openshift-console")

	link := ask[v1.Link](robot, http.MethodPost, at+"/kubeconfig-links", nil, http.StatusCreated)
	handle := link.URL[strings.LastIndexByte(link.URL, '/'):]
	maya.refused(http.MethodPost, "/api/v1/links"+handle, nil, http.StatusNotFound) // and it is not spent by it
	answer, raw = robot.send(http.MethodPost, "/api/v1/links"+handle, nil)
	require.Equal(l.t, http.StatusOK, answer.StatusCode, "%s", raw)
	require.Contains(l.t, string(raw), "token: ey")
	require.NotContains(l.t, string(raw), "client-key-data", "the installer's certificate is nobody's")
	robot.refused(http.MethodPost, "/api/v1/links"+handle, nil, http.StatusNotFound)

	stale := robot.refused(http.MethodPost, at+"/extend", v1.Extend{Hours: 1}, http.StatusPreconditionFailed, "If-Match", `"1"`)
	require.Contains(l.t, stale.Detail, "team-a-smoke-01")
	far := ask[v1.Change](robot, http.MethodPost, at+"/extend", v1.Extend{Hours: 4000}, http.StatusOK)
	require.True(l.t, far.Capped)
	require.Equal(l.t, far.Cluster.MaxDestroyAt, far.Cluster.DestroyAt, "no further than the profile's maximum")
	require.True(l.t, far.Cluster.DestroyAt.After(c.DestroyAt))
}

// workersAreScaled on the profile that says within which bounds, and a scaling does not stand in the way of an end.
func (l *life) workersAreScaled(*testing.T) {
	robot := l.byAWS()
	hours := 24
	id := robot.create(v1.CreateRequest{Name: "standard", Profile: "aws-standard", Team: "team-a", TTLHours: hours}, "standard").ClusterID
	robot.until(id, "ready", isReady)
	require.Equal(l.t, 3, l.workersOf("standard"))
	at := "/api/v1/clusters/" + id + "/scale-workers"
	many := robot.refused(http.MethodPost, at, v1.Scale{Replicas: 4}, http.StatusUnprocessableEntity)
	require.Equal(l.t, []string{"0 to 3"}, many.Errors[0].Accepted)
	counted := func(workers int, phase string) func(v1.ClusterDetail) bool {
		return func(c v1.ClusterDetail) bool {
			return c.WorkersWanted == nil && c.Workers != nil && *c.Workers == workers && c.Phase == phase
		}
	}
	for _, step := range []struct {
		replicas int
		phase    string
	}{{0, "scaled_down"}, {3, "ready"}} {
		job := ask[v1.Accepted](robot, http.MethodPost, at, v1.Scale{Replicas: step.replicas}, http.StatusAccepted).JobID
		c := robot.until(id, fmt.Sprintf("at %d workers", step.replicas), counted(step.replicas, step.phase))
		require.Equal(l.t, v1.READY, c.Status, "it is never anything else meanwhile")
		require.Equal(l.t, "SUCCEEDED", ask[v1.JobDetail](robot, http.MethodGet, "/api/v1/jobs/"+job, nil, http.StatusOK).Status)
		require.Equal(l.t, step.replicas, l.workersOf("standard"), "counted in the cloud")
	}

	require.NoError(l.t, installer.SetFault(l.Faults(), "oc-scale/standard", &installer.Fault{Pause: true}))
	ask[v1.Accepted](robot, http.MethodPost, at, v1.Scale{Replicas: 1}, http.StatusAccepted)
	l.runUntil("a runner scales", 20*time.Second, func() bool {
		return l.count("SELECT count(*) FROM attempts WHERE cluster_id = $1 AND kind = 'scale' AND phase = 'scaling' AND closed_at IS NULL", id) == 1
	})
	ask[v1.Accepted](robot, http.MethodPost, "/api/v1/clusters/"+id+"/destroy", nil, http.StatusAccepted)
	gone := robot.until(id, "released", isGone)
	require.NoError(l.t, installer.SetFault(l.Faults(), "oc-scale/standard", nil))
	scaling := gone.Attempts[len(gone.Attempts)-2]
	require.Equal(l.t, []string{"scale", "destroy"}, []string{string(scaling.Kind), string(gone.Attempts[len(gone.Attempts)-1].Kind)})
	require.NotEqual(l.t, string(lifecycle.Succeeded), scaling.Outcome)
	require.False(l.t, scaling.ClosedAt.After(gone.Attempts[len(gone.Attempts)-1].OpenedAt), "nothing is taken down beside a running scaling")
	require.Empty(l.t, l.AWS.Resources("standard"))
}

// workersOf counts a cluster's workers in the stand-in AWS.
func (l *life) workersOf(name string) (n int) {
	for _, r := range l.AWS.Resources(name) {
		if r.Type == "instance" && r.State == "running" && strings.Contains(r.Name, "-worker-") {
			n++
		}
	}
	return n
}
