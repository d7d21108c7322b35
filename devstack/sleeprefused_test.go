package devstack_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// powerCloud is how a cloud refuses to stop and start machines.
type powerCloud struct {
	label       string
	machines    func() map[string]int // by state
	ids         func() []string       // of the control plane's machines, by name
	refuse      func(call string, times int, code string)
	lift        func(call string)
	stop, start string // the calls
	denied      string
	reason      string // of that refusal
	words       string
	full        string
	capacity    string // in the cloud's words
	free        func(id string) error
	note        func(id, key, value string) error
	replace     string
	deniedOne   string // of a stop of one machine
}

func TestARefusedSleepAndAnIncompleteWakeOnAWS(t *testing.T) {
	t.Parallel()
	l := newLife(t, time.Hour)
	l.playPower(powerCloud{
		label: label, machines: l.instances, refuse: l.AWS.Refuse, lift: l.AWS.Lift, stop: "ec2:StopInstances", start: "ec2:StartInstances",
		ids: func() (ids []string) {
			for _, r := range l.AWS.Resources("") {
				if r.Type == "instance" && strings.Contains(r.Name, "-master-") {
					ids = append(ids, r.Name+" "+r.ID)
				}
			}
			return ids
		},
		denied: aws.DeniedBySCP, deniedOne: aws.DeniedByBoundary, reason: "DeniedByPolicy", words: "with an explicit deny in a service control policy",
		full: aws.NoCapacity, capacity: "Insufficient capacity.", free: l.AWS.Free, note: l.AWS.Note, replace: "oc delete machine ",
	})
}

func TestARefusedSleepAndAnIncompleteWakeOnIBMCloud(t *testing.T) {
	t.Parallel()
	l := newLife(t, time.Hour)
	l.playPower(powerCloud{
		label: ibmLabel, machines: l.machinesOnIBM, refuse: l.IBMCloud.Refuse, lift: l.IBMCloud.Lift,
		stop: "vpc:create_instance_action:stop", start: "vpc:create_instance_action:start",
		ids: func() (ids []string) {
			for _, r := range l.IBMCloud.Resources("") {
				if r.Service == "is" && r.Type == "instance" && strings.Contains(r.Name, "-master-") {
					ids = append(ids, r.Name+" "+r.ID)
				}
			}
			return ids
		},
		denied: ibmcloud.Denied, deniedOne: ibmcloud.Denied, reason: "PermissionMissing", words: "(403)",
		full: ibmcloud.NoCapacity, capacity: "cannot_start_capacity: ", free: l.IBMCloud.Free, note: l.IBMCloud.Note, replace: "Request a new cluster",
	})
}

// playPower has the cloud refuse a stop of all machines and of one, have no capacity for a while, and lose a machine that is stopped.
func (l *life) playPower(c powerCloud) {
	l.t.Helper()
	pr, err := l.GitHub.Open("Refused", "maya")
	require.NoError(l.t, err)
	require.NoError(l.t, l.GitHub.Label(pr, c.label, "maya"))
	l.runUntil("ready", 2*time.Minute, l.every(lifecycle.PhaseReady))
	id := l.clusters()[0].ID
	detail := func() v1.ClusterDetail {
		return ask[v1.ClusterDetail](l.as("admin"), http.MethodGet, "/api/v1/clusters/"+id, nil, http.StatusOK)
	}
	sleep := func() {
		ask[v1.Accepted](l.as("admin"), http.MethodPost, "/api/v1/clusters/"+id+"/sleep", map[string]any{}, http.StatusAccepted)
	}
	wake := func() {
		ask[v1.Accepted](l.as("admin"), http.MethodPost, "/api/v1/clusters/"+id+"/wake", nil, http.StatusAccepted)
	}
	attempts := func(kind string) int {
		return l.count(`SELECT count(*) FROM attempts WHERE cluster_id = $1 AND kind = $2`, id, kind)
	}
	awake := func(phase lifecycle.Phase) func() bool {
		return func() bool {
			return l.count(`SELECT count(*) FROM clusters WHERE id = $1 AND phase = $2 AND power = '' AND NOT sleep_wanted`, id, string(phase)) == 1
		}
	}
	failedSleeps := func() int {
		return l.count(`SELECT count(*) FROM jobs WHERE cluster_id = $1 AND job_type = 'SLEEP' AND status = 'FAILED' AND error_code = $2`, id, c.reason)
	}

	c.refuse(c.stop, -1, c.denied)
	sleep()
	l.runUntil("the sleep is refused", time.Minute, func() bool { return failedSleeps() == 1 && awake(lifecycle.PhaseReady)() })
	now := detail()
	require.True(l.t, now.Usable)
	require.Contains(l.t, now.Why, "it could not be put to sleep and stays awake: ")
	require.Contains(l.t, now.Why, c.words)
	require.Contains(l.t, now.Why, "llow ")
	require.Equal(l.t, []int{1, 0}, []int{attempts("sleep"), attempts("wake")}, "it is tried once, and there is nothing to wake")
	require.Equal(l.t, map[string]int{"running": 3}, withoutEnded(c.machines()))
	c.lift(c.stop)

	ids := c.ids()
	slices.Sort(ids)
	_, second, _ := strings.Cut(ids[1], " ")
	c.refuse(c.stop+"/"+second, -1, c.deniedOne)
	sleep()
	l.runUntil("what was stopped is started again", 2*time.Minute, func() bool { return failedSleeps() == 2 && awake(lifecycle.PhaseReady)() })
	require.Equal(l.t, map[string]int{"running": 3}, withoutEnded(c.machines()))
	require.Equal(l.t, []int{2, 1}, []int{attempts("sleep"), attempts("wake")})
	c.lift(c.stop + "/" + second)

	sleep()
	l.runUntil("asleep", time.Minute, l.every(lifecycle.PhaseAsleep))
	c.refuse(c.start, -1, c.full)
	wake()
	l.runUntil("missing capacity is told", time.Minute, func() bool {
		now := detail()
		return strings.Contains(now.Progress.Step, c.capacity) && strings.Contains(now.Progress.Step, "0 of 3 machines running")
	})
	c.lift(c.start)
	l.runUntil("awake", 2*time.Minute, awake(lifecycle.PhaseReady))

	sleep()
	l.runUntil("asleep again", time.Minute, l.every(lifecycle.PhaseAsleep))
	name, lost, _ := strings.Cut(ids[2], " ")
	require.NoError(l.t, c.free(lost))
	require.NoError(l.t, c.note(second, "ocpctl-standin/egress", "10.0.1.200"))
	wake()
	l.runUntil("awake without a machine", 2*time.Minute, awake(lifecycle.Degraded))
	now = detail()
	require.True(l.t, now.Usable)
	require.Contains(l.t, now.Why, "it is awake; the control plane runs with 2 of 3 machines: "+name+" does not exist any more")
	require.Contains(l.t, now.Why, c.replace)
	require.Equal(l.t, 3, l.count(`SELECT count(*) FROM jobs WHERE cluster_id = $1 AND job_type = 'WAKE' AND status = 'SUCCEEDED'`, id))

	_, err = l.GitHub.Comment(pr, "/ocp destroy", "will")
	require.NoError(l.t, err)
	l.runUntil("gone", 2*time.Minute, l.every(lifecycle.Released))
	l.assertNothingLeft()
	l.assertSettled()
}

// withoutEnded leaves out machines that are gone and still listed: the one that bootstrapped.
func withoutEnded(states map[string]int) map[string]int {
	delete(states, "terminated")
	return states
}
