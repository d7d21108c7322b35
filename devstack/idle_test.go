package devstack_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/chaos"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/resources"
	"github.com/ocpctl/ocpctl/devstack/slack"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
)

// Nobody uses a cluster. Before anything follows from that, a runner reads from its API server whether people do. Maya's requests keep it awake.
// Without them it is put to sleep. Once its API does not answer, she is told that its use is unknown, and the reason for its sleep says so.
func TestRequestsOfPeopleKeepAnIdleClusterAwake(t *testing.T) {
	t.Parallel()
	l := newIdleCluster(t)
	maya := l.cli("requester")
	kubeconfig := filepath.Join(maya.homeOf(maya), "kubeconfig")
	maya.run("kubeconfig", idleName, "--static", "-f", kubeconfig).ends(0)

	require.Contains(t, l.looked(tellAt), "its API server lists no person's request of the last 24 hours")
	require.NotContains(t, l.told(), chatops.Unobserved)

	_, complaint := maya.oc(kubeconfig, "get", "nodes", "-o", "json")
	require.Empty(t, complaint)
	require.Contains(t, l.looked(sleepAt), "its API server lists people's requests in the hour from")
	used := l.cluster()
	require.Equal(t, "people sent requests to its API", used.Idle.LastUse)
	require.WithinDuration(t, time.Now().Add(4*time.Hour), used.Idle.TellAt, time.Hour, "it is told anew, later")
	require.Zero(t, used.Idle.SleepAt)
	l.pass(time.Hour)
	l.nothingDue()
	require.Equal(t, []any{lifecycle.PhaseReady, 0}, []any{l.phase(), l.jobs(lifecycle.JobSleep, lifecycle.JobSucceeded)}, "it is awake when it would be asleep without her")

	l.forgetRequests()
	require.Contains(t, l.looked(tellAt), "no person's request")
	l.passUntil(tellAt, 0)
	l.nothingDue()
	require.Contains(t, l.looked(sleepAt), "no person's request")
	require.Equal(t, "nobody used it", l.slept())

	ask[v1.Accepted](l.as("admin"), http.MethodPost, "/api/v1/clusters/"+l.id+"/wake", nil, http.StatusAccepted)
	l.runUntil("awake", time.Minute, func() bool { return l.phase() == lifecycle.PhaseReady })
	l.apiFails()
	l.failsToLook(tellAt)
	require.Contains(t, l.told(), chatops.Unobserved)
	_, _, page := l.signIn("maya").visit("/clusters/"+l.id, nil)
	require.Contains(t, page, chatops.Unobserved)
	require.Contains(t, maya.run("explain", idleName).ends(0), chatops.Unobserved)
	require.Contains(t, maya.run("status", idleName).ends(0), "whether people use its API is unknown")
	l.failsToLook(sleepAt)
	require.Equal(t, "nobody used it; whether people used its API is unknown, because it could not be asked", l.slept())

	l.apiAnswers()
	require.Contains(t, l.types("maya", slack.Clusters, "destroy "+idleName), idleName)
	l.runUntil("gone", time.Minute, l.every(lifecycle.Released))
	l.assertNothingLeft()
	l.assertSettled()
}

// idleCluster is a cluster from Slack that is ready, whose people are told after 4 hours without use, and which sleeps after 6.
type idleCluster struct {
	*life
	id string
}

const idleName = "thinks"

func newIdleCluster(t *testing.T) idleCluster {
	l := newLife(t, time.Hour)
	raw, err := fs.ReadFile(profiles.EmbeddedFiles(), "profiles/aws-minimal-test.yaml")
	require.NoError(t, err)
	profile := strings.NewReplacer("name: aws-minimal-test\n", "name: idle-test\n", "default: true", "default: false").Replace(string(raw))
	l.catalogueWith(map[string]string{"profiles/idle-test.yaml": profile + "\nidle: {tellAfter: 4h, sleepAfter: 6h}\n"})
	require.Contains(t, l.types("maya", slack.Clusters, "create idle-test --name "+idleName+" --ttl 24h"), "is accepted")
	l.showsUntil("maya", slack.Clusters, "your cluster is ready.")
	return idleCluster{l, l.clusters()[0].ID}
}

func (l idleCluster) cluster() v1.ClusterDetail { return l.as("admin").cluster(l.id) }

func (l idleCluster) phase() lifecycle.Phase { return lifecycle.Phase(l.clusters()[0].Phase) }

func (l idleCluster) jobs(kind lifecycle.JobType, state lifecycle.JobStatus) int {
	return l.count(`SELECT count(*) FROM jobs WHERE cluster_id = $1 AND job_type = $2 AND status = $3`, l.id, kind, state)
}

// pass lets time pass while nothing is under way.
func (l idleCluster) pass(by time.Duration) {
	l.t.Helper()
	l.runUntil("nothing is under way", 30*time.Second, func() bool {
		return l.count(`SELECT count(*) FROM attempts WHERE closed_at IS NULL`)+l.count(`SELECT count(*) FROM jobs WHERE status IN ('PENDING', 'RUNNING', 'RETRYING')`) == 0
	})
	require.NoError(l.t, chaos.MoveBack(l.ctx, l.pool, by))
}

// nothingDue waits until what became due when time passed was decided.
func (l idleCluster) nothingDue() {
	l.t.Helper()
	l.runUntil("nothing is due", 30*time.Second, func() bool { return l.count(`SELECT count(*) FROM clusters WHERE wake_at > now()`) == 1 })
}

// The steps that follow from idleness.
func tellAt(i v1.Idle) time.Time  { return i.TellAt }
func sleepAt(i v1.Idle) time.Time { return i.SleepAt }

// passUntil lets time pass until it is so long before a step. What the step is due for was counted to the second.
func (l idleCluster) passUntil(step func(v1.Idle) time.Time, before time.Duration) {
	l.t.Helper()
	at := step(l.cluster().Idle)
	require.False(l.t, at.IsZero(), "nothing follows")
	l.pass(time.Until(at.Add(-before)))
}

// looked lets time pass until shortly before a step, and returns what a runner saw then. Its step follows.
func (l idleCluster) looked(step func(v1.Idle) time.Time) (saw string) {
	l.t.Helper()
	before := l.jobs(lifecycle.JobObserve, lifecycle.JobSucceeded)
	l.passUntil(step, 10*time.Minute)
	l.runUntil("a runner looked into it", 30*time.Second, func() bool { return l.jobs(lifecycle.JobObserve, lifecycle.JobSucceeded) > before })
	require.NoError(l.t, l.pool.QueryRow(l.ctx, `SELECT message FROM attempts WHERE cluster_id = $1 AND kind = 'observe' ORDER BY opened_at DESC LIMIT 1`, l.id).Scan(&saw))
	return saw
}

// failsToLook is looked for an API that does not answer.
func (l idleCluster) failsToLook(step func(v1.Idle) time.Time) {
	l.t.Helper()
	used, before := l.cluster().Idle, l.jobs(lifecycle.JobObserve, lifecycle.JobFailed)
	l.passUntil(step, 10*time.Minute)
	l.runUntil("two looks failed", 30*time.Second, func() bool { return l.jobs(lifecycle.JobObserve, lifecycle.JobFailed) == before+2 })
	require.Equal(l.t, 2, l.count(`SELECT coalesce((work #>> '{observe,failures}')::int, 0) FROM clusters WHERE id = $1`, l.id))
	require.Equal(l.t, used.LastUse, l.cluster().Idle.LastUse)
}

// told lets the rest of the time pass until its people are told that nobody has used it since then, and returns the notice.
func (l idleCluster) told() string {
	l.t.Helper()
	l.passUntil(tellAt, 0)
	since := fmt.Sprintf("nobody has used it since <!date^%d^", l.cluster().Idle.Since.Unix())
	return string(l.showsUntil("maya", slack.Clusters, since).Blocks)
}

// slept lets the rest of the time pass until it is put to sleep, and returns why.
func (l idleCluster) slept() (why string) {
	l.t.Helper()
	l.passUntil(sleepAt, 0)
	l.runUntil("asleep", time.Minute, func() bool { return l.phase() == lifecycle.PhaseAsleep })
	require.Equal(l.t, 3, l.instances()["stopped"])
	return l.cluster().Sleep.Why
}

// apiFails makes the cluster's API answer no query, until apiAnswers.
func (l idleCluster) apiFails() {
	l.t.Helper()
	require.NoError(l.t, installer.SetFault(l.Faults(), "oc-get/"+idleName, &installer.Fault{Message: "Unable to connect to the server: EOF"}))
}

func (l idleCluster) apiAnswers() {
	l.t.Helper()
	require.NoError(l.t, installer.SetFault(l.Faults(), "oc-get/"+idleName, nil))
}

// forgetRequests makes the requests of people older than those that the cluster's API server lists.
func (l idleCluster) forgetRequests() {
	l.t.Helper()
	for _, r := range l.AWS.Resources(idleName) {
		for tag := range r.Tags {
			if strings.HasPrefix(tag, resources.RequestsTag) {
				require.NoError(l.t, l.AWS.Retag(func(other aws.Resource) bool { return other.ID == r.ID }, tag, ""))
			}
		}
	}
}
