package runner_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// What a cloud answers to a stop or a start.
var (
	deniedBySCP = &smithy.GenericAPIError{Code: "UnauthorizedOperation", Message: "User: arn:aws:sts::123456789012:assumed-role/runner/1 is not authorized to perform: ec2:StopInstances on resource: x with an explicit deny in a service control policy"}
	forbidden   = &smithy.GenericAPIError{Code: "not_authorized", Message: "The request is not authorized. (403)"}
	noCapacity  = &smithy.GenericAPIError{Code: "InsufficientInstanceCapacity", Message: "We currently do not have sufficient m6i.xlarge capacity in the Availability Zone you requested (us-east-1a)."}
)

// refuse refuses to turn the machines that are, in that direction.
func (w *world) refuse(err error, running bool, is func(cloud.Machine) bool) {
	w.power = func(m cloud.Machine, to bool) error {
		if to == running && is(m) {
			return err
		}
		return nil
	}
}

func anyMachine(cloud.Machine) bool     { return true }
func controlPlane(m cloud.Machine) bool { return m.ControlPlane }
func waitName(name string) func(cloud.Machine) bool {
	return func(m cloud.Machine) bool { return m.Name == name }
}

// A refusal that does not heal ends the attempt long before its time is over.
func TestARefusedStopEndsTheAttemptAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		is     func(cloud.Machine) bool
		reason string
		next   string
		turned []string
		awake  bool
	}{
		"an SCP denies it":                   {deniedBySCP, anyMachine, "DeniedByPolicy", "to allow ec2:StopInstances on shop-00001-worker-a-1 i-1", nil, true},
		"a permission is missing":            {forbidden, anyMachine, "PermissionMissing", "shop-00001-worker-a-1 i-1", nil, true},
		"it is denied for the control plane": {deniedBySCP, controlPlane, "DeniedByPolicy", "shop-00001-master-0 i-0", []string{"false i-1", "false i-2"}, false},
		"it is denied for a second machine":  {forbidden, waitName("shop-00001-worker-b-1"), "PermissionMissing", "shop-00001-worker-b-1 i-2", []string{"false i-1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newSleeper(t, contract.KindSleep, cloud.MachineRunning)
			w.cfg.Timings.Power = time.Hour
			w.refuse(c.err, false, c.is)
			require.NoError(t, w.run(t.Context()))
			got := w.result()
			require.Equal(t, "failed", got.Outcome)
			require.Equal(t, c.reason, got.Reason, got.Message)
			require.Equal(t, contract.WhoseOurs, got.Whose)
			require.False(t, got.Retryable)
			require.Contains(t, got.Message, "was not stopped: ")
			require.Contains(t, got.Message, c.err.(*smithy.GenericAPIError).Message)
			require.Contains(t, got.Next, c.next)
			require.Equal(t, c.turned, w.turned())
			require.Equal(t, c.awake, got.Asleep != nil && !*got.Asleep, "what is stopped is started again by a wake")
		})
	}
}

// A call that was not answered may have stopped the machine.
func TestAClusterIsNotCalledAwakeAfterAStopWithoutAnAnswer(t *testing.T) {
	w := newSleeper(t, contract.KindSleep, cloud.MachineRunning)
	w.cfg.Timings.Power = 50 * time.Millisecond
	w.refuse(errors.New("connection reset by peer"), false, anyMachine)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "MachinesNotStopped", w.result().Reason)
	require.Contains(t, w.result().Message, "connection reset by peer")
	require.True(t, w.result().Retryable)
	require.Nil(t, w.result().Asleep)
}

func TestARefusedStartEndsTheAttemptAtOnce(t *testing.T) {
	w := newSleeper(t, contract.KindWake, cloud.MachineStopped)
	w.cfg.Timings.Power = time.Hour
	w.refuse(deniedBySCP, true, anyMachine)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "DeniedByPolicy", w.result().Reason)
	require.Contains(t, w.result().Message, "shop-00001-master-0 was not started: ")
}

func TestMissingCapacityIsToldWhileTheClusterWaitsForIt(t *testing.T) {
	for name, change := range map[string]func(*world){
		"AWS refuses the start": func(w *world) { w.refuse(noCapacity, true, controlPlane) },
		"IBM Cloud accepts it, and the machine stays stopped": func(w *world) {
			w.machines[0].Trouble = "cannot_start_capacity: We do not have sufficient m6i.xlarge capacity in the zone."
			w.refuse(&smithy.GenericAPIError{Code: "instance_action_conflict", Message: "not now (409)"}, true, controlPlane)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newSleeper(t, contract.KindWake, cloud.MachineStopped)
			w.cfg.Timings.Power = 300 * time.Millisecond
			w.machines[0].Type, w.machines[0].Zone = "m6i.xlarge", "us-east-1a"
			change(w)
			require.NoError(t, w.run(t.Context()))
			got := w.result()
			require.Contains(t, got.Message, "not all machines of the control plane are running: shop-00001-master-0 (m6i.xlarge in us-east-1a) is stopped")
			require.Equal(t, "NoCapacity", got.Reason)
			require.Equal(t, contract.WhoseCloud, got.Whose)
			require.Contains(t, got.Next, "another zone is not possible")
			require.True(t, got.Retryable)
			var steps []string
			for _, r := range w.reports {
				steps = append(steps, r.Step)
			}
			require.True(t, slices.ContainsFunc(steps, func(step string) bool {
				return strings.HasPrefix(step, "control plane: 0 of 1 machines running; shop-00001-master-0 (m6i.xlarge in us-east-1a) was not started: ") &&
					strings.Contains(step, "sufficient m6i.xlarge capacity")
			}))
		})
	}
}

func TestAStartThatExceedsAQuotaIsTheQuotasOwners(t *testing.T) {
	w := newSleeper(t, contract.KindWake, cloud.MachineStopped)
	w.cfg.Timings.Power = 50 * time.Millisecond
	w.refuse(&smithy.GenericAPIError{Code: "VcpuLimitExceeded", Message: "You have requested more vCPU capacity than your current vCPU limit of 32 allows for the instance bucket that the specified instance type belongs to."}, true, anyMachine)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, contract.WhoseQuota, w.result().Whose, w.result().Message)
	require.True(t, w.result().Retryable)
}

// newTrio is a sleeping cluster whose control plane had three machines.
func newTrio(t *testing.T) *world {
	w := newSleeper(t, contract.KindWake, cloud.MachineStopped)
	w.spec.Power.ControlPlane = 3
	for i, name := range []string{"master-1", "master-2"} {
		w.machines = append(w.machines, cloud.Machine{ID: fmt.Sprintf("i-%d", 3+i), Name: "shop-00001-" + name, ControlPlane: true, State: cloud.MachineStopped, Started: started, Ours: true})
	}
	w.file("nodes", nodesOf(5, "True", started.Add(time.Minute)))
	return w
}

func TestAControlPlaneWakesWithTwoOfThreeMachinesAndSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(*world)
		platform string
		says     string
		next     string
	}{
		"one was terminated": {
			func(w *world) { w.machines = w.machines[:4] }, "aws",
			"the control plane runs with 2 of 3 machines: shop-00001-master-2 does not exist any more. They are a majority", "oc delete machine shop-00001-master-2 -n openshift-machine-api",
		},
		"one was terminated on IBM Cloud": {
			func(w *world) { w.machines = w.machines[:4] }, "ibmcloud", "shop-00001-master-2 does not exist any more", "request a new cluster",
		},
		"one does not start": {
			func(w *world) { w.refuse(noCapacity, true, waitName("shop-00001-master-1")) }, "aws", "2 of 3 machines: shop-00001-master-1 is stopped", "wake it again later",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTrio(t)
			w.cfg.Timings.Power = 6 * time.Second
			w.file("operators", operators("True", "True", "True")) // as long as a machine is missing
			if w.spec.Platform = c.platform; c.platform == "ibmcloud" {
				w.cfg.Clouds["ibmcloud"] = w.cfg.Clouds["aws"]
			}
			c.change(w)
			require.NoError(t, w.run(t.Context()))
			got := w.result()
			require.Equal(t, "succeeded", got.Outcome, got.Message)
			require.False(t, *got.Asleep)
			require.Equal(t, "ControlPlaneIncomplete", got.Reason)
			require.Contains(t, got.Message, c.says)
			require.NotContains(t, got.Message, "operators")
			require.Contains(t, got.Next, c.next)
		})
	}
}

func TestAControlPlaneWithoutAMajorityIsNotWoken(t *testing.T) {
	w := newTrio(t)
	w.machines = w.machines[:3]
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "NoMajority", w.result().Reason)
	require.Equal(t, "of the control plane's 3 machines only shop-00001-master-0 is there. Without a majority etcd does not work, so nothing was started", w.result().Message)
	require.Empty(t, w.turned())

	w = newTrio(t)
	w.cfg.Timings.Power = 600 * time.Millisecond
	w.refuse(noCapacity, true, func(m cloud.Machine) bool { return m.ControlPlane && m.Name != "shop-00001-master-0" })
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "NoCapacity", w.result().Reason, w.result().Message)
	require.Contains(t, w.result().Message, "shop-00001-master-1 is stopped, shop-00001-master-2 is stopped")
}
