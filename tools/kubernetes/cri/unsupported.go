package cri

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func unsupported(what string) error {
	return status.Errorf(codes.Unimplemented, "this container runtime does not support %s", what)
}

// ExecSync refuses: a probe cannot execute a program.
func (*Runtime) ExecSync(context.Context, string, []string, time.Duration) (stdout, stderr []byte, err error) {
	return nil, nil, unsupported("exec")
}

// Exec refuses.
func (*Runtime) Exec(context.Context, *criapi.ExecRequest) (*criapi.ExecResponse, error) {
	return nil, unsupported("exec")
}

// Attach refuses.
func (*Runtime) Attach(context.Context, *criapi.AttachRequest) (*criapi.AttachResponse, error) {
	return nil, unsupported("attach")
}

// PortForward refuses: containers listen on the machine's own addresses.
func (*Runtime) PortForward(context.Context, *criapi.PortForwardRequest) (*criapi.PortForwardResponse, error) {
	return nil, unsupported("port forwarding")
}

// UpdateContainerResources refuses.
func (*Runtime) UpdateContainerResources(context.Context, string, *criapi.ContainerResources) error {
	return unsupported("changing resources in place")
}

// UpdatePodSandboxResources refuses.
func (*Runtime) UpdatePodSandboxResources(context.Context, *criapi.UpdatePodSandboxResourcesRequest) (*criapi.UpdatePodSandboxResourcesResponse, error) {
	return nil, unsupported("changing resources in place")
}

// CheckpointContainer refuses.
func (*Runtime) CheckpointContainer(context.Context, *criapi.CheckpointContainerRequest) error {
	return unsupported("checkpoints")
}

// GetContainerEvents refuses, so that the kubelet lists containers instead.
func (*Runtime) GetContainerEvents(context.Context, chan *criapi.ContainerEventResponse, func(criapi.RuntimeService_GetContainerEventsClient)) error {
	return unsupported("events")
}

// PodSandboxStats refuses, so that the kubelet adds up those of the containers.
func (*Runtime) PodSandboxStats(context.Context, string) (*criapi.PodSandboxStats, error) {
	return nil, unsupported("statistics of pods")
}

// ListPodSandboxStats refuses, so that the kubelet adds up those of the containers.
func (*Runtime) ListPodSandboxStats(context.Context, *criapi.PodSandboxStatsFilter) ([]*criapi.PodSandboxStats, error) {
	return nil, unsupported("statistics of pods")
}

// ListMetricDescriptors has none.
func (*Runtime) ListMetricDescriptors(context.Context) ([]*criapi.MetricDescriptor, error) {
	return nil, unsupported("metrics of pods")
}

// ListPodSandboxMetrics has none.
func (*Runtime) ListPodSandboxMetrics(context.Context) ([]*criapi.PodSandboxMetrics, error) {
	return nil, unsupported("metrics of pods")
}

// UpdateRuntimeConfig has nothing to configure.
func (*Runtime) UpdateRuntimeConfig(context.Context, *criapi.RuntimeConfig) error { return nil }

// RuntimeConfig has no cgroup driver to tell about.
func (*Runtime) RuntimeConfig(context.Context) (*criapi.RuntimeConfigResponse, error) {
	return nil, unsupported("a cgroup driver")
}
