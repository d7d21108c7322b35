package main_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPodsOfALostNodeAreDeletedAndEndWithItsObject(t *testing.T) {
	t.Parallel()
	c := start(t, t.TempDir(), "-nodes", "2", "-heartbeat", "1s", "-node-grace", "4s", "-toleration", "1")
	ns := c.namespace(t)
	p := pod(ns, "p", "wait")
	p.Finalizers = []string{"test/stay"} // so that its end can be looked at
	p = c.await(t, c.create(t, p), "it runs", running)
	node := p.Spec.NodeName

	c.signalNode(t, node, syscall.SIGSTOP)
	p = c.await(t, p, "it is to be deleted", func(p *v1.Pod) bool { return p.DeletionTimestamp != nil })
	require.Equal(t, v1.PodRunning, p.Status.Phase)
	condition := func(p *v1.Pod, kind v1.PodConditionType) (found v1.PodCondition) {
		for _, condition := range p.Status.Conditions {
			if condition.Type == kind {
				found = condition
			}
		}
		return found
	}
	require.Equal(t, "DeletionByTaintManager", condition(p, v1.DisruptionTarget).Reason)
	require.Equal(t, v1.ConditionFalse, condition(p, v1.PodReady).Status)

	require.NoError(t, c.CoreV1().Nodes().Delete(t.Context(), node, metav1.DeleteOptions{}))
	c.await(t, p, "the garbage collector of pods has failed it", func(p *v1.Pod) bool { return p.Status.Phase == v1.PodFailed })
}

func TestARestartContinuesAndItsPodsHaveEnded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := start(t, dir)
	ns := first.namespace(t)
	once := first.await(t, first.create(t, pod(ns, "once", "forever")), "it runs", running)
	always := pod(ns, "always", "forever")
	always.Spec.RestartPolicy = v1.RestartPolicyAlways
	always = first.await(t, first.create(t, always), "it runs", running)
	require.NoError(t, first.command.Process.Kill())
	first.stop()

	second := start(t, dir)
	require.Equal(t, first.config.Host, second.config.Host, "kubeconfigs that were given out are still valid")
	require.Equal(t, first.config.BearerToken, second.config.BearerToken)
	once = second.await(t, once, "it has ended", ended)
	require.Equal(t, v1.PodFailed, once.Status.Phase)
	end := state(once).Terminated
	if end == nil { // the kubelet shows a container that it did not find in one of two ways
		end = once.Status.ContainerStatuses[0].LastTerminationState.Terminated
	}
	require.NotNil(t, end, "%+v", once.Status)
	require.EqualValues(t, 137, end.ExitCode)
	require.Equal(t, "ContainerStatusUnknown", end.Reason)
	second.await(t, always, "it runs again", func(p *v1.Pod) bool {
		return state(p).Running != nil && p.Status.ContainerStatuses[0].RestartCount > 0
	})
	_, err := second.CoreV1().Pods(ns).Get(t.Context(), "nothing", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))
}
