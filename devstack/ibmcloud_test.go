package devstack_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/lifecycle"
)

const ibmLabel = "ocp/ibm-minimal-test"

// Two pull requests have a cluster each, on different clouds. The one on IBM Cloud has its runner killed in the middle of the install, is
// installed anew, sleeps and wakes, and goes with its pull request. Nothing is left in either cloud, and each bill is its own cloud's.
func TestAClusterOnIBMCloudLivesBesideOneOnAWS(t *testing.T) {
	t.Parallel()
	l := newLife(t, time.Hour)
	beside, err := l.GitHub.Open("On AWS", "maya")
	require.NoError(t, err)
	require.NoError(t, l.GitHub.Label(beside, label, "maya"))
	pr, err := l.GitHub.Open("On IBM Cloud", "maya")
	require.NoError(t, err)
	require.NoError(t, l.GitHub.Label(pr, ibmLabel, "maya"))
	var id, attempt string
	l.runUntil("the install on IBM Cloud", time.Minute, func() bool {
		return l.pool.QueryRow(l.ctx, `SELECT c.id, a.id FROM clusters c JOIN attempts a ON a.cluster_id = c.id WHERE c.pr_number = $1 AND a.phase = 'installing'`, pr).Scan(&id, &attempt) == nil
	})
	l.killRunner(attempt)
	l.runUntil("both are ready", 3*time.Minute, l.every(lifecycle.PhaseReady))
	require.Positive(t, l.count(`SELECT count(*) FROM attempts WHERE cluster_id = $1 AND kind = 'destroy'`, id), "what the killed install had made was removed first")
	require.NotEmpty(t, l.IBMCloud.Resources(l.nameOf(pr)))
	require.Empty(t, l.AWS.Resources(l.nameOf(pr)))
	require.Empty(t, l.IBMCloud.Resources(l.nameOf(beside)))

	detail := ask[v1.ClusterDetail](l.as("admin"), http.MethodGet, "/api/v1/clusters/"+id, nil, http.StatusOK)
	require.Equal(t, "ibmcloud", detail.Platform)
	require.Equal(t, 76, detail.HourlyCents, "by the price list of its cloud")
	for _, r := range l.IBMCloud.Resources(l.nameOf(pr)) {
		if r.Service == "is" && r.Type == "instance" {
			require.Contains(t, strings.Join(r.Tags, " "), "clusterid:"+strings.ToLower(id), "tagged after the install")
		}
	}

	l.getTagsAfterAScan(id, l.nameOf(pr))

	_, err = l.GitHub.Comment(pr, "/ocp sleep --for 12h", "maya")
	require.NoError(t, err)
	l.runUntil("asleep", time.Minute, func() bool {
		return l.count(`SELECT count(*) FROM clusters WHERE id = $1 AND phase = 'asleep'`, id) == 1
	})
	require.Equal(t, map[string]int{"stopped": 3}, l.machinesOnIBM())
	ask[v1.Accepted](l.as("admin"), http.MethodPost, "/api/v1/clusters/"+id+"/wake", nil, http.StatusAccepted)
	l.runUntil("awake", time.Minute, func() bool {
		return l.count(`SELECT count(*) FROM clusters WHERE id = $1 AND phase = 'ready' AND power = ''`, id) == 1
	})
	require.Equal(t, map[string]int{"running": 3}, l.machinesOnIBM())

	require.NoError(t, l.GitHub.Close(pr, "maya"))
	require.NoError(t, l.GitHub.Close(beside, "maya"))
	l.runUntil("both are released", 2*time.Minute, l.every(lifecycle.Released))
	l.assertNothingLeft()
	l.assertSettled()
	require.Equal(t, 2, l.count(`SELECT count(DISTINCT account) FROM attempts WHERE account IN ($1, $2)`, devstack.Account, devstack.IBMAccount))
}

// getTagsAfterAScan: what is made in the cluster's resource group later gets its tags once a scan saw it without, at the second try, and
// nobody else's things do.
func (l *life) getTagsAfterAScan(id, name string) {
	l.t.Helper()
	machines := l.IBMCloud.Resources(name)
	at := slices.IndexFunc(machines, func(r ibmcloud.Resource) bool { return r.Service == "is" && r.Type == "instance" })
	later := l.plantOnIBM(ibmcloud.Resource{Service: "is", Type: "volume", Name: "pvc-later", Group: machines[at].Group, Region: machines[at].Region})
	foreign := []ibmcloud.Resource{
		l.plantOnIBM(ibmcloud.Resource{Service: "is", Type: "volume", Name: "pvc-elsewhere", Group: "another"}),
		l.plantOnIBM(ibmcloud.Resource{Service: "is", Type: "volume", Name: name + "-x", Tags: []string{"owner:rob"}}),
	}
	l.IBMCloud.Refuse("tags:attach_tag", 1, ibmcloud.Denied)
	tries := func(status lifecycle.JobStatus) int {
		return l.count(`SELECT count(*) FROM jobs WHERE cluster_id = $1 AND job_type = 'TAG' AND status = $2`, id, status)
	}
	l.scanOf(devstack.IBMAccount)
	l.runUntil("a try was refused", time.Minute, func() bool { return tries(lifecycle.JobFailed) == 1 })
	require.Equal(l.t, 1, l.count(`SELECT count(*) FROM seen WHERE untagged_of IS NOT NULL`), "the install tagged all that it made")
	l.scanOf(devstack.IBMAccount)
	l.runUntil("the next one was not", time.Minute, func() bool { return tries(lifecycle.JobSucceeded) == 1 })
	now := l.standingOnIBM()
	require.Contains(l.t, now[later.Seq].Tags, "clusterid:"+strings.ToLower(id))
	l.scan()
	require.Zero(l.t, l.count(`SELECT count(*) FROM seen WHERE untagged_of IS NOT NULL`))
	require.Equal(l.t, 2, l.count(`SELECT count(*) FROM attempts WHERE kind = 'tag'`), "no more than needed, and none on AWS")
	l.standOnIBM(foreign)
	for _, f := range foreign {
		require.NoError(l.t, l.IBMCloud.Free(f.ID))
	}
}

func (l *life) machinesOnIBM() map[string]int {
	states := map[string]int{}
	for _, r := range l.IBMCloud.Resources("") {
		if r.Service == "is" && r.Type == "instance" {
			states[r.State]++
		}
	}
	return states
}
