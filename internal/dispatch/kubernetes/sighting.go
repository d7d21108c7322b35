package kubernetes

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/ocpctl/ocpctl/internal/dispatch"
)

// sightingOf says what an attempt's objects show. While a Job may create its pod, the runner counts as running. Of a pod whose node does not
// answer nothing is known: the runner's lease decides then, not the node's return.
func sightingOf(job *batchv1.Job, pods []corev1.Pod, now time.Time) dispatch.Sighting {
	silent := false
	for i := range pods {
		if !isLiving(&pods[i]) {
			continue
		}
		if !isSilent(&pods[i], now) {
			return dispatch.Running
		}
		silent = true
	}
	switch {
	case silent:
		return dispatch.Unknown
	case job == nil && len(pods) == 0:
		return dispatch.Missing
	case job == nil, len(pods) > 0: // with a backoffLimit of 0 no pod follows one that ended
		return dispatch.Ended
	case completionOf(job) != nil, job.DeletionTimestamp != nil:
		return dispatch.Ended
	case isSuspended(job) && findCondition(job, batchv1.JobSuspended) != nil: // the Job controller has seen it: no pod comes any more
		return dispatch.Ended
	}
	return dispatch.Running
}

// isLiving reports that a pod's processes may be running, or may still be started. Only a node, or Kubernetes for a node that is gone, moves
// a pod to a final phase; a pod that was deleted before it got a node never starts.
func isLiving(pod *corev1.Pod) bool {
	ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	return !ended && (pod.DeletionTimestamp == nil || pod.Spec.NodeName != "")
}

// silentFor is how long after the end of its grace period a pod that was deleted must be gone, or its node does not answer.
const silentFor = time.Minute

// isSilent reports that a pod should have been gone long ago. The grace period of its own is added, because a kubelet that is already
// ending the pod keeps to it when the deletion names a shorter one.
func isSilent(pod *corev1.Pod, now time.Time) bool {
	if !isLiving(pod) || pod.DeletionTimestamp == nil {
		return false
	}
	grace := silentFor
	if own := pod.Spec.TerminationGracePeriodSeconds; own != nil {
		grace += time.Duration(*own) * time.Second
	}
	return now.Sub(pod.DeletionTimestamp.Time) > grace
}

// completionOf returns the condition that ended the Job; nil: it is not finished.
func completionOf(job *batchv1.Job) *batchv1.JobCondition {
	for _, kind := range []batchv1.JobConditionType{batchv1.JobFailed, batchv1.JobFailureTarget, batchv1.JobComplete, batchv1.JobSuccessCriteriaMet} {
		if c := findCondition(job, kind); c != nil {
			return c
		}
	}
	return nil
}

func findCondition(job *batchv1.Job, kind batchv1.JobConditionType) *batchv1.JobCondition {
	for i, c := range job.Status.Conditions {
		if c.Type == kind && c.Status == corev1.ConditionTrue {
			return &job.Status.Conditions[i]
		}
	}
	return nil
}

func isSuspended(job *batchv1.Job) bool { return job.Spec.Suspend != nil && *job.Spec.Suspend }

// isCreating reports that a pod has a node but its container is not started, without a reason in its status.
func isCreating(pod *corev1.Pod) bool {
	if pod.Status.Phase != corev1.PodPending || pod.Spec.NodeName == "" {
		return false
	}
	for _, c := range pod.Status.ContainerStatuses {
		if w := c.State.Waiting; w == nil || w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
			return false
		}
	}
	return true
}

// hasEndedQuietly reports that a pod has ended, and that its status says no more than an exit code. A kubelet that evicts a pod for the size
// of a volume leaves no reason there if the container ends by itself within its grace period; only the event says it.
func hasEndedQuietly(pod *corev1.Pod) bool {
	if isLiving(pod) || pod.Status.Reason != "" {
		return false
	}
	for _, c := range pod.Status.ContainerStatuses {
		if t := terminationOf(pod, c); t != nil && t.Reason != "Completed" && t.Reason != "Error" {
			return false
		}
	}
	return true
}
