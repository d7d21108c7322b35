package kubernetes

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/ocpctl/ocpctl/internal/dispatch"
)

// The codes of what can be wrong with a runner's pod, explained in docs/runbooks/failed-create.md.
const (
	Unschedulable    = "RunnerUnschedulable"
	ImagePullFailed  = "RunnerImagePullFailed"
	ConfigError      = "RunnerConfigError"
	InitFailed       = "RunnerInitFailed"
	QuotaExceeded    = "RunnerQuotaExceeded"
	Forbidden        = "RunnerForbidden"
	OutOfMemory      = "RunnerOutOfMemory"
	Evicted          = "RunnerEvicted"
	NodeLost         = "RunnerNodeLost"
	Preempted        = "RunnerPreempted"
	DeadlineExceeded = "RunnerDeadlineExceeded"
	Deleted          = "RunnerDeleted"
	ExitedWithError  = "RunnerFailed"
)

// whose problem all of this is: that of those who run ocpctl.
const whose = "ocpctl"

// jobDeleted is the trouble of an attempt that was started and of which nothing is left.
var jobDeleted = dispatch.Trouble{Code: Deleted, Whose: whose,
	Message: "the runner's Job was deleted from outside ocpctl",
	Next:    "find out who deleted it; destroy clusters with ocpctl, which stops a runner gracefully"}

func newTrouble(code, next, format string, args ...any) *dispatch.Trouble {
	return &dispatch.Trouble{Code: code, Whose: whose, Message: fmt.Sprintf(format, args...), Next: next}
}

// recogniseTrouble says what is wrong, from the most certain source to the least: the Job's deadline, the pod, what was recorded about either,
// and at last that the pod is gone.
func (d *Dispatcher) recogniseTrouble(job *batchv1.Job, pods []corev1.Pod, events []corev1.Event) *dispatch.Trouble {
	if job != nil {
		if c := completionOf(job); c != nil && c.Reason == batchv1.JobReasonDeadlineExceeded {
			return newTrouble(DeadlineExceeded, "read the attempt's log for what it was doing; raise runner.kubernetes.deadlines if it was still making progress",
				"the runner did not end within its Job's deadline of %s", time.Duration(*job.Spec.ActiveDeadlineSeconds)*time.Second)
		}
	}
	for i := range pods {
		t := d.ofPod(&pods[i])
		if t == nil || t.Code == ExitedWithError { // what follows an eviction
			t = cmp.Or(ofEviction(&pods[i], events), t)
		}
		if t != nil {
			return t
		}
	}
	if t := ofEvents(events); t != nil {
		return t
	}
	if job != nil && len(pods) == 0 && findCondition(job, batchv1.JobFailed) != nil && !isSuspended(job) {
		return newTrouble(Deleted, "find out who or what deleted it: a person, a drained node, or the removal of its node",
			"the runner's pod was deleted from outside ocpctl")
	}
	return nil
}

// ofPod says what is wrong with a pod; nil: nothing.
func (d *Dispatcher) ofPod(pod *corev1.Pod) *dispatch.Trouble {
	for _, find := range []func(*corev1.Pod) *dispatch.Trouble{d.ofMemory, ofDisruption, ofStatus, ofScheduling, ofContainers, d.ofSilence} {
		if t := find(pod); t != nil {
			return t
		}
	}
	return nil
}

// ofMemory: the kernel killed the container at its memory limit. It comes first, because an evicted pod may show it too.
func (d *Dispatcher) ofMemory(pod *corev1.Pod) *dispatch.Trouble {
	of := "runner.kubernetes.resources." + d.cfg.resourcesName(pod.Labels[LabelProfile], pod.Labels[LabelPlatform], pod.Labels[LabelKind])
	for _, c := range pod.Status.ContainerStatuses {
		if t := c.State.Terminated; t == nil || t.Reason != "OOMKilled" {
			continue
		}
		limit := "of the node"
		for _, spec := range pod.Spec.Containers {
			if most, ok := spec.Resources.Limits[corev1.ResourceMemory]; ok && spec.Name == c.Name {
				limit = "limit of " + most.String()
			}
		}
		if limit == "of the node" {
			return newTrouble(OutOfMemory, "set a memory request in "+of+", so that it gets a node with enough",
				"the runner's pod was killed because its node ran out of memory")
		}
		return newTrouble(OutOfMemory, "raise the memory limit in "+of,
			"the runner's pod was killed because it used more memory than its %s", limit)
	}
	return nil
}

// ofDisruption reads the condition that Kubernetes sets before it ends a pod on its own initiative.
// https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions
func ofDisruption(pod *corev1.Pod) *dispatch.Trouble {
	for _, c := range pod.Status.Conditions {
		if c.Type != corev1.DisruptionTarget || c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Reason {
		case corev1.PodReasonPreemptionByScheduler:
			return newTrouble(Preempted, "give runners a higher priority class with runner.kubernetes.priority_classes",
				"the runner's pod was removed for a pod with a higher priority")
		case "DeletionByTaintManager", "DeletionByPodGC":
			return nodeLost(pod)
		case "EvictionByEvictionAPI":
			return newTrouble(Evicted, "let runners end before a node is drained, or keep autoscalers from draining their nodes",
				"the runner's pod was evicted because its node %s was drained", pod.Spec.NodeName)
		case corev1.PodReasonTerminationByKubelet:
			if t := ofStatus(pod); t != nil {
				return t
			}
			return evictionTrouble(pod.Status.Message)
		}
	}
	return nil
}

func nodeLost(pod *corev1.Pod) *dispatch.Trouble {
	return newTrouble(NodeLost, "check the node; if its machine is gone, delete the node's object, so that Kubernetes gives its pods up",
		"the runner's node %s stopped responding or was removed", pod.Spec.NodeName)
}

func evictionTrouble(why string) *dispatch.Trouble {
	next := "raise the requests in runner.kubernetes.resources, or give runners nodes of their own"
	if strings.Contains(why, "ephemeral") || strings.Contains(why, "EmptyDir") {
		next = "raise runner.kubernetes.work_size or temp_size, and the ephemeral storage in runner.kubernetes.resources"
	}
	return newTrouble(Evicted, next, "the runner's pod was evicted from its node: %s", shortenMessage(why))
}

// ofStatus reads the reason that the kubelet gives when it ends or rejects a whole pod.
func ofStatus(pod *corev1.Pod) *dispatch.Trouble {
	switch reason := pod.Status.Reason; {
	case reason == "Evicted":
		return evictionTrouble(pod.Status.Message)
	case reason == "NodeLost", reason == "NodeShutdown", reason == "Terminated" && pod.Status.Phase == corev1.PodFailed:
		return nodeLost(pod)
	case reason == "Preempting":
		return newTrouble(Preempted, "give runners a higher priority class with runner.kubernetes.priority_classes",
			"the runner's pod was removed for a pod with a higher priority")
	case reason == "DeadlineExceeded":
		return newTrouble(DeadlineExceeded, "raise runner.kubernetes.deadlines", "the runner did not end within its pod's deadline")
	case strings.HasPrefix(reason, "OutOf"), reason == "NodeAffinity", reason == "UnexpectedAdmissionError":
		return newTrouble(Unschedulable, "nothing, if it happens once: the next attempt may get another node; otherwise check the node's allocatable resources",
			"the node %s rejected the runner's pod: %s", pod.Spec.NodeName, shortenMessage(pod.Status.Message))
	}
	return nil
}

func ofScheduling(pod *corev1.Pod) *dispatch.Trouble {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return newTrouble(Unschedulable, "add a node, lower runner.kubernetes.resources, or correct its node_selector and tolerations",
				"no node takes the runner's pod: %s", shortenMessage(c.Message))
		}
	}
	return nil
}

// ofContainers says why a container does not start, or how it ended.
func ofContainers(pod *corev1.Pod) *dispatch.Trouble {
	for _, c := range pod.Status.InitContainerStatuses {
		if t := c.State.Terminated; t != nil && t.ExitCode != 0 {
			return newTrouble(InitFailed, "read the log of that container; a webhook in the cluster added it", "the init container %s of the runner's pod ended with exit code %d%s",
				c.Name, t.ExitCode, lastWords(t.Message))
		}
		if t := ofWaiting(pod, c); t != nil {
			return t
		}
	}
	for _, c := range pod.Status.ContainerStatuses {
		if t := ofWaiting(pod, c); t != nil {
			return t
		}
		if t := terminationOf(pod, c); t != nil && t.ExitCode != 0 {
			return ofExit(pod, t)
		}
	}
	return nil
}

// terminationOf is how a container ended; nil: it has not. A kubelet that started again and did not find the container of a pod with
// restart policy Never shows it as waiting, in a failed pod, and its end only as that of the container before.
func terminationOf(pod *corev1.Pod, c corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	if c.State.Terminated == nil && pod.Status.Phase == corev1.PodFailed {
		return c.LastTerminationState.Terminated
	}
	return c.State.Terminated
}

func ofWaiting(pod *corev1.Pod, c corev1.ContainerStatus) *dispatch.Trouble {
	w := c.State.Waiting
	if w == nil {
		return nil
	}
	switch w.Reason {
	case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable", "ImageInspectError", "SignatureValidationFailed":
		image := c.Image
		for _, spec := range pod.Spec.Containers {
			if spec.Name == c.Name {
				image = spec.Image
			}
		}
		return newTrouble(ImagePullFailed, "check runner.kubernetes.image, image_pull_secrets, and whether nodes reach the registry",
			"the image %s of the runner's pod cannot be pulled", image)
	case "CreateContainerConfigError":
		return newTrouble(ConfigError, "correct what is named, in the namespace or in runner.kubernetes", "the runner's container cannot be configured: %s", shortenMessage(w.Message))
	case "CreateContainerError", "RunContainerError", "StartError", "CrashLoopBackOff":
		return newTrouble(ConfigError, "check that the image has "+Program+" and runs as a user other than root", "the runner's container cannot be started: %s", shortenMessage(w.Message))
	}
	return nil
}

func ofExit(pod *corev1.Pod, t *corev1.ContainerStateTerminated) *dispatch.Trouble {
	switch t.Reason {
	case "ContainerStatusUnknown": // the kubelet started again and did not find the container
		return newTrouble(NodeLost, "check why the node restarted", "the runner's node %s restarted, and the runner ended with it", pod.Spec.NodeName)
	case "ContainerCannotRun", "StartError":
		return newTrouble(ConfigError, "check that the image has "+Program+" and runs as a user other than root", "the runner's container could not be started: %s", shortenMessage(t.Message))
	}
	if t.ExitCode == 137 || t.Signal == 9 {
		return newTrouble(ExitedWithError, "check whether somebody deleted its pod, and the events of its node", "the runner's pod was killed")
	}
	return newTrouble(ExitedWithError, "read the attempt's log and the pod's log", "the runner ended with exit code %d%s", t.ExitCode, lastWords(t.Message))
}

// ofSilence recognises a pod that was to be gone long ago: its node would have confirmed it.
func (d *Dispatcher) ofSilence(pod *corev1.Pod) *dispatch.Trouble {
	if isSilent(pod, d.cfg.Now()) {
		return nodeLost(pod)
	}
	return nil
}

// ofEviction reads the event of a pod that was evicted and ended by itself, which leaves no reason in its status.
func ofEviction(pod *corev1.Pod, events []corev1.Event) *dispatch.Trouble {
	for _, e := range events {
		if e.Reason == "Evicted" && e.InvolvedObject.UID == pod.UID {
			return evictionTrouble(e.Message)
		}
	}
	return nil
}

// ofEvents says why a Job has no pod, or why a pod's container is not created. The newest event counts.
func ofEvents(events []corev1.Event) *dispatch.Trouble {
	var newest *corev1.Event
	for i, e := range events {
		known := e.Reason == "FailedCreate" || e.Reason == "FailedMount" || e.Reason == "FailedAttachVolume" || e.Reason == "FailedCreatePodSandBox"
		if known && (newest == nil || eventTime(e).After(eventTime(*newest))) {
			newest = &events[i]
		}
	}
	switch {
	case newest == nil:
		return nil
	case newest.Reason == "FailedCreate":
		return ofRefusal("pod", newest.Message)
	case newest.Reason == "FailedCreatePodSandBox":
		return newTrouble(ConfigError, "check the network of the node", "the runner's pod gets no sandbox: %s", shortenMessage(newest.Message))
	}
	return newTrouble(ConfigError, "check that the named secret or volume exists in the runners' namespace", "a volume of the runner's pod cannot be mounted: %s", shortenMessage(newest.Message))
}

func eventTime(e corev1.Event) time.Time {
	switch {
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	}
	return e.EventTime.Time
}

// ofRefusal says why the API refused to create an object.
func ofRefusal(what, message string) *dispatch.Trouble {
	if strings.Contains(message, "exceeded quota") || strings.Contains(message, "failed quota") {
		return newTrouble(QuotaExceeded, "raise the ResourceQuota of the runners' namespace, or wait until other runners have ended",
			"the runner's %s was refused: %s", what, shortenMessage(message))
	}
	return newTrouble(Forbidden, "correct what is named: the service account and its rights, the security context, or the policy that refused it",
		"the runner's %s was refused: %s", what, shortenMessage(message))
}

// toRefusal turns an answer that a repetition does not change into a refusal.
func toRefusal(what string, err error) error {
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsNotFound(err) || apierrors.IsUnauthorized(err) {
		return &dispatch.Refusal{Trouble: *ofRefusal(what, err.Error()), Err: fmt.Errorf("create the %s: %w", what, err)}
	}
	return fmt.Errorf("create the %s: %w", what, err)
}

// varying is what differs between two messages about the same trouble: generated names and counts of tries.
var varying = regexp.MustCompile(`(pods? )"[^"]+"( is forbidden)|\(UID: [^)]*\)|, preemption:.*$|preemption: .*$`)

// most limits a message from outside.
const most = 300

// shortenMessage shortens a message from outside to one line that stays the same while the trouble does.
func shortenMessage(message string) string {
	text := strings.Join(strings.Fields(varying.ReplaceAllString(message, "$1$2")), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	if text = strings.TrimRight(text, ". "); text == "" {
		return "no reason was given"
	}
	return text
}

// lastWords returns the last line of a container's output, as the end of a sentence. The runner redacts its own output.
func lastWords(message string) string {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return ": " + shortenMessage(last)
	}
	return ""
}
