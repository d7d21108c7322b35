package main_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// restricted makes the pod one that the Pod Security level restricted admits.
func restricted(p *v1.Pod) *v1.Pod {
	p.Spec.SecurityContext = &v1.PodSecurityContext{RunAsNonRoot: ptr(true), RunAsUser: ptr(int64(65532)), RunAsGroup: ptr(int64(65532)), FSGroup: ptr(int64(65532)),
		SeccompProfile: &v1.SeccompProfile{Type: v1.SeccompProfileTypeRuntimeDefault}}
	for i := range p.Spec.Containers {
		p.Spec.Containers[i].SecurityContext = &v1.SecurityContext{ReadOnlyRootFilesystem: ptr(true), AllowPrivilegeEscalation: ptr(false), Capabilities: &v1.Capabilities{Drop: []v1.Capability{"ALL"}}}
	}
	return p
}

func TestARestrictedContainerIsHeldToIt(t *testing.T) {
	t.Parallel()
	ns := shared.namespace(t)
	p := restricted(pod(ns, "p", "show", "ids", "write:/new", "write:/bin/workload", "write:/work/new", "write:/dev/new", "write:/proc/sys/kernel/core_pattern", "list:/", "list:/bin", "list:/work", "read:/proc/self/status"))
	p.Spec.Volumes = []v1.Volume{{Name: "work", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}}}
	p.Spec.Containers[0].VolumeMounts = []v1.VolumeMount{{Name: "work", MountPath: "/work"}}
	p = shared.await(t, shared.create(t, p), "it has ended", ended)
	require.Equal(t, v1.PodSucceeded, p.Status.Phase, "%+v", p.Status)
	logs := shared.logs(t, p)
	for _, line := range []string{
		"ids 1 65532 65532 [65532]", // the first process of its namespace
		"write:/new open /new: read-only file system",
		"write:/bin/workload open /bin/workload: read-only file system",
		"write:/work/new <nil>",
		"write:/dev/new open /dev/new: permission denied",
		"write:/proc/sys/kernel/core_pattern open /proc/sys/kernel/core_pattern: read-only file system",
		"list:/ [bin dev etc proc var work] <nil>", // nothing of the node but what was mounted
		"list:/work [new] <nil>",
	} {
		require.Contains(t, logs, line+"\n")
	}
	require.Regexp(t, `CapPrm:\s+0000000000000000 CapEff:\s+0000000000000000 CapBnd:\s+0000000000000000`, logs)
	require.Regexp(t, `NoNewPrivs:\s+1`, logs)
}

func TestRootWritesToItsOwnLayerAlone(t *testing.T) {
	t.Parallel()
	ns := shared.namespace(t)
	for n := range 2 { // the second container does not find what the first has written
		p := shared.await(t, shared.create(t, pod(ns, fmt.Sprintf("p-%d", n), "show", "list:/bin", "write:/bin/new")), "it has ended", ended)
		require.Equal(t, "list:/bin [workload] <nil>\nwrite:/bin/new <nil>\n", shared.logs(t, p))
	}
}

func TestAContainerKnowsItsPodAndItsAccount(t *testing.T) {
	t.Parallel()
	ns := shared.namespace(t)
	p := pod(ns, "named", "show", "env:UID", "env:NAME", "env:MEMORY", "env:KUBERNETES_SERVICE_HOST", "read:/var/run/secrets/kubernetes.io/serviceaccount/namespace", "read:/own/token")
	field := func(path string) *v1.EnvVarSource {
		return &v1.EnvVarSource{FieldRef: &v1.ObjectFieldSelector{FieldPath: path}}
	}
	c := &p.Spec.Containers[0]
	c.Env = []v1.EnvVar{{Name: "UID", ValueFrom: field("metadata.uid")}, {Name: "NAME", ValueFrom: field("metadata.name")},
		{Name: "MEMORY", ValueFrom: &v1.EnvVarSource{ResourceFieldRef: &v1.ResourceFieldSelector{Resource: "limits.memory"}}}}
	c.Resources.Limits = v1.ResourceList{v1.ResourceMemory: resource.MustParse("128Mi")}
	p.Spec.Volumes = []v1.Volume{{Name: "own", VolumeSource: v1.VolumeSource{Projected: &v1.ProjectedVolumeSource{Sources: []v1.VolumeProjection{
		{ServiceAccountToken: &v1.ServiceAccountTokenProjection{Audience: "sts", Path: "token", ExpirationSeconds: ptr(int64(600))}}}}}}}
	c.VolumeMounts = []v1.VolumeMount{{Name: "own", MountPath: "/own", ReadOnly: true}}
	p = shared.await(t, shared.create(t, p), "it has ended", ended)
	logs := shared.logs(t, p)
	for _, line := range []string{"env:UID " + string(p.UID), "env:NAME named", "env:MEMORY 134217728", "env:KUBERNETES_SERVICE_HOST 127.0.0.1",
		"read:/var/run/secrets/kubernetes.io/serviceaccount/namespace " + ns + " <nil>", "read:/own/token ey"} {
		require.Contains(t, logs, line)
	}
}

func TestAProbeMakesAContainerReady(t *testing.T) {
	t.Parallel()
	ns := shared.namespace(t)
	p := pod(ns, "p", "serve", "127.0.0.11:18473")
	p.Spec.RestartPolicy = v1.RestartPolicyAlways
	p.Spec.Containers[0].ReadinessProbe = &v1.Probe{PeriodSeconds: 1, ProbeHandler: v1.ProbeHandler{TCPSocket: &v1.TCPSocketAction{Port: intstr.FromInt32(18473)}}}
	p = shared.create(t, p)
	shared.await(t, p, "it is ready", func(p *v1.Pod) bool {
		return len(p.Status.ContainerStatuses) == 1 && p.Status.ContainerStatuses[0].Ready
	})
	shared.eventually(t, "the log can be read", func(context.Context) (bool, any) {
		logs := shared.logs(t, p)
		return strings.Contains(logs, "ready"), logs
	})
}
