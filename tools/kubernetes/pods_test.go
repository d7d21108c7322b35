package main_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func ptr[T any](v T) *T { return &v }

func TestAJobRunsToCompletion(t *testing.T) {
	t.Parallel()
	ns := shared.namespace(t)
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job", Namespace: ns}, Spec: batchv1.JobSpec{BackoffLimit: ptr(int32(0)), Template: v1.PodTemplateSpec{Spec: pod(ns, "", "exit", "0").Spec}}}
	_, err := shared.BatchV1().Jobs(ns).Create(t.Context(), job, metav1.CreateOptions{})
	require.NoError(t, err)
	shared.eventually(t, "the Job is complete", func(ctx context.Context) (bool, any) {
		found, err := shared.BatchV1().Jobs(ns).Get(ctx, "job", metav1.GetOptions{})
		require.NoError(t, err)
		return found.Status.Succeeded == 1 && found.Status.CompletionTime != nil, found.Status
	})
	pods, err := shared.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "job-name=job"})
	require.NoError(t, err)
	require.Len(t, pods.Items, 1)
	require.Equal(t, "Completed", state(&pods.Items[0]).Terminated.Reason)
	require.Equal(t, "exiting with 0\n", shared.logs(t, &pods.Items[0]))
}

func TestAnExitCodeFailsThePod(t *testing.T) {
	t.Parallel()
	ns := shared.namespace(t)
	p := pod(ns, "p", "exit", "3")
	p.Spec.Containers[0].TerminationMessagePolicy = v1.TerminationMessageFallbackToLogsOnError
	p = shared.await(t, shared.create(t, p), "it has ended", ended)
	require.Equal(t, v1.PodFailed, p.Status.Phase)
	require.Equal(t, "Error", state(p).Terminated.Reason)
	require.EqualValues(t, 3, state(p).Terminated.ExitCode)
	require.Equal(t, "exiting with 3\n", state(p).Terminated.Message)
}

func TestAFailedInitContainerFailsThePod(t *testing.T) {
	t.Parallel()
	ns := shared.namespace(t)
	p := pod(ns, "p", "exit", "0")
	p.Spec.InitContainers = []v1.Container{{Name: "first", Image: "workload:1", Args: []string{"exit", "4"}}}
	p = shared.await(t, shared.create(t, p), "it has ended", ended)
	require.Equal(t, v1.PodFailed, p.Status.Phase)
	require.EqualValues(t, 4, p.Status.InitContainerStatuses[0].State.Terminated.ExitCode)
}

func TestADeletedPodGetsSIGTERMAndItsGrace(t *testing.T) {
	t.Parallel()
	ns := shared.namespace(t)
	p := shared.await(t, shared.create(t, pod(ns, "polite", "wait")), "it runs", running)
	deaf := shared.await(t, shared.create(t, pod(ns, "deaf", "forever")), "it runs", running)
	finalizer := []byte(`{"metadata":{"finalizers":["test/stay"]}}`) // so that the ends can be looked at
	for _, name := range []string{p.Name, deaf.Name} {
		_, err := shared.CoreV1().Pods(ns).Patch(t.Context(), name, "application/merge-patch+json", finalizer, metav1.PatchOptions{})
		require.NoError(t, err)
		require.NoError(t, shared.CoreV1().Pods(ns).Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: ptr(int64(2))}))
	}
	p = shared.await(t, p, "it has ended", ended)
	require.Equal(t, v1.PodSucceeded, p.Status.Phase)
	require.Contains(t, shared.logs(t, p), "terminated politely")
	deaf = shared.await(t, deaf, "it was killed", ended)
	require.EqualValues(t, 137, state(deaf).Terminated.ExitCode)
	for _, name := range []string{p.Name, deaf.Name} {
		_, err := shared.CoreV1().Pods(ns).Patch(t.Context(), name, "application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		shared.eventually(t, "it is gone", func(ctx context.Context) (bool, any) {
			_, err := shared.CoreV1().Pods(ns).Get(ctx, name, metav1.GetOptions{})
			return apierrors.IsNotFound(err), err
		})
	}
}

func TestAPodWaitsForItsSecret(t *testing.T) {
	t.Parallel()
	ns := shared.namespace(t)
	p := pod(ns, "p", "show", "read:/secret/token", "env:KEY")
	p.Spec.Volumes = []v1.Volume{{Name: "secret", VolumeSource: v1.VolumeSource{Secret: &v1.SecretVolumeSource{SecretName: "late", DefaultMode: ptr(int32(0o400))}}}}
	p.Spec.Containers[0].VolumeMounts = []v1.VolumeMount{{Name: "secret", MountPath: "/secret", ReadOnly: true}}
	p.Spec.Containers[0].Env = []v1.EnvVar{{Name: "KEY", ValueFrom: &v1.EnvVarSource{SecretKeyRef: &v1.SecretKeySelector{LocalObjectReference: v1.LocalObjectReference{Name: "late"}, Key: "token"}}}}
	p.Spec.SecurityContext = &v1.PodSecurityContext{RunAsUser: ptr(int64(65532)), FSGroup: ptr(int64(65532))}
	p = shared.create(t, p)
	shared.event(t, ns, "FailedMount", `secret "late" not found`)
	p = shared.await(t, p, "it is being created", waiting("ContainerCreating"))
	require.Equal(t, v1.PodPending, p.Status.Phase)

	_, err := shared.CoreV1().Secrets(ns).Create(t.Context(), &v1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "late"}, StringData: map[string]string{"token": "abc"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	p = shared.await(t, p, "it has ended", ended)
	require.Equal(t, "read:/secret/token abc <nil>\nenv:KEY abc\n", shared.logs(t, p))
}

// event waits for one with the reason and the text.
func (c *cluster) event(t *testing.T, ns, reason, text string) {
	t.Helper()
	c.eventually(t, "there is an event "+reason+" with "+text, func(ctx context.Context) (bool, any) {
		list, err := c.CoreV1().Events(ns).List(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		var seen []string
		for _, e := range list.Items {
			if e.Reason == reason && strings.Contains(e.Message, text) {
				return true, nil
			}
			seen = append(seen, e.Reason+": "+e.Message)
		}
		return false, seen
	})
}

func TestAnUnknownImageCannotBePulled(t *testing.T) {
	t.Parallel()
	ns := shared.namespace(t)
	p := pod(ns, "p", "exit", "0")
	p.Spec.Containers[0].Image = "registry.example.com/nothing:1"
	p = shared.await(t, shared.create(t, p), "the pull backs off", waiting("ImagePullBackOff"))
	require.Equal(t, v1.PodPending, p.Status.Phase)
	require.Contains(t, state(p).Waiting.Message, `Back-off pulling image "registry.example.com/nothing:1"`)
	shared.event(t, ns, "Failed", "registry.example.com/nothing:1: not found")
}

func TestAPodMayNotRunAsRootWhenItSaysSo(t *testing.T) {
	t.Parallel()
	ns := shared.namespace(t)
	p := pod(ns, "p", "exit", "0")
	p.Spec.SecurityContext = &v1.PodSecurityContext{RunAsNonRoot: ptr(true)}
	p = shared.await(t, shared.create(t, p), "its container is refused", waiting("CreateContainerConfigError"))
	require.Contains(t, state(p).Waiting.Message, "container has runAsNonRoot and image will run as root")
}

func TestAProgramThatDoesNotExistIsAStartError(t *testing.T) {
	t.Parallel()
	ns := shared.namespace(t)
	p := pod(ns, "p")
	p.Spec.Containers[0].Command = []string{"/nothing"}
	p = shared.await(t, shared.create(t, p), "it has ended", ended)
	require.Equal(t, "StartError", state(p).Terminated.Reason)
	require.EqualValues(t, 128, state(p).Terminated.ExitCode)
	require.Contains(t, state(p).Terminated.Message, "no such file or directory")
}

func TestMemoryOverTheLimitKills(t *testing.T) {
	t.Parallel()
	ns := shared.namespace(t)
	p := pod(ns, "p", "allocate", "200")
	p.Spec.Containers[0].Resources.Limits = v1.ResourceList{v1.ResourceMemory: resource.MustParse("64Mi")}
	p = shared.await(t, shared.create(t, p), "it has ended", ended)
	require.Equal(t, v1.PodFailed, p.Status.Phase)
	require.Equal(t, "OOMKilled", state(p).Terminated.Reason)
	require.EqualValues(t, 137, state(p).Terminated.ExitCode)
}

func TestAFullVolumeEvicts(t *testing.T) {
	t.Parallel()
	ns := shared.namespace(t)
	p := pod(ns, "p", "fill", "/work/file", "3")
	p.Spec.Volumes = []v1.Volume{{Name: "work", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{SizeLimit: ptr(resource.MustParse("1Mi"))}}}}
	p.Spec.Containers[0].VolumeMounts = []v1.VolumeMount{{Name: "work", MountPath: "/work"}}
	p = shared.await(t, shared.create(t, p), "it has ended", ended)
	require.Equal(t, v1.PodFailed, p.Status.Phase)
	require.Equal(t, "Evicted", p.Status.Reason)
	require.Equal(t, `Usage of EmptyDir volume "work" exceeds the limit "1Mi". `, p.Status.Message)
}

func TestADeadlineEndsThePod(t *testing.T) {
	t.Parallel()
	ns := shared.namespace(t)
	p := pod(ns, "p", "wait")
	p.Spec.ActiveDeadlineSeconds = ptr(int64(2))
	p = shared.await(t, shared.create(t, p), "it has ended", ended)
	require.Equal(t, "DeadlineExceeded", p.Status.Reason)
}

func TestAQuotaRefusesPods(t *testing.T) {
	t.Parallel()
	ns := shared.namespace(t)
	_, err := shared.CoreV1().ResourceQuotas(ns).Create(t.Context(), &v1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "none"},
		Spec: v1.ResourceQuotaSpec{Hard: v1.ResourceList{v1.ResourcePods: resource.MustParse("0")}}}, metav1.CreateOptions{})
	require.NoError(t, err)
	shared.eventually(t, "the quota is in force", func(ctx context.Context) (bool, any) {
		_, err := shared.CoreV1().Pods(ns).Create(ctx, pod(ns, "p", "exit", "0"), metav1.CreateOptions{DryRun: []string{"All"}})
		return err != nil && strings.Contains(err.Error(), "exceeded quota: none"), err
	})
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job", Namespace: ns}, Spec: batchv1.JobSpec{Template: v1.PodTemplateSpec{Spec: pod(ns, "", "exit", "0").Spec}}}
	_, err = shared.BatchV1().Jobs(ns).Create(t.Context(), job, metav1.CreateOptions{})
	require.NoError(t, err)
	shared.event(t, ns, "FailedCreate", "exceeded quota: none")
}

func TestARestrictedNamespaceRefusesOtherPods(t *testing.T) {
	t.Parallel()
	ns := shared.namespace(t)
	_, err := shared.CoreV1().Namespaces().Patch(t.Context(), ns, "application/merge-patch+json", []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	shared.eventually(t, "the label is in force", func(ctx context.Context) (bool, any) {
		_, err := shared.CoreV1().Pods(ns).Create(ctx, pod(ns, "p", "exit", "0"), metav1.CreateOptions{DryRun: []string{"All"}})
		return err != nil && strings.Contains(err.Error(), `violates PodSecurity "restricted:latest"`), err
	})
}
