// Package cri is a container runtime: it implements the Container Runtime Interface that a kubelet calls, with processes of this
// machine in namespaces of their own. It stands in for containerd, and keeps what a pod's security context promises: the user, the
// groups, the capabilities, the read-only root file system, the volumes and nothing else of the node's files, a memory limit.
//
// It does not do: networks (containers share that of the machine, so NetworkPolicies and Services have no effect), cgroups (a memory
// limit is enforced by looking, a CPU limit not at all), seccomp and SELinux profiles, exec, attach and port forwarding.
// It keeps nothing over a restart, after which a kubelet finds what it finds after a reboot.
package cri

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Config configures a runtime.
type Config struct {
	Dir      string   // for the containers' scratch directories
	Images   Images   // what pods can run
	PodIP    string   // of every pod
	Env      []string // replaces variables of every container that has them, because no proxy leads to a service's address
	Rootless bool     // the node runs in a user namespace in which only root exists
}

// Runtime implements the kubelet's runtime service.
type Runtime struct {
	cfg Config

	mu         sync.Mutex
	sandboxes  map[string]*sandbox
	containers map[string]*container
}

// New returns a runtime without containers.
func New(cfg Config) *Runtime {
	return &Runtime{cfg: cfg, sandboxes: map[string]*sandbox{}, containers: map[string]*container{}}
}

type sandbox struct {
	id      string
	config  *criapi.PodSandboxConfig
	created time.Time
	ready   bool
}

// Version implements the runtime service.
func (*Runtime) Version(context.Context, string) (*criapi.VersionResponse, error) {
	return &criapi.VersionResponse{Version: "0.1.0", RuntimeName: "ocpctl-processes", RuntimeVersion: "1.0.0", RuntimeApiVersion: "v1"}, nil
}

// Status implements the runtime service.
func (*Runtime) Status(context.Context, bool) (*criapi.StatusResponse, error) {
	return &criapi.StatusResponse{Status: &criapi.RuntimeStatus{Conditions: []*criapi.RuntimeCondition{
		{Type: criapi.RuntimeReady, Status: true}, {Type: criapi.NetworkReady, Status: true}}}}, nil
}

// RunPodSandbox implements the runtime service. A sandbox is a record: namespaces belong to the containers.
func (r *Runtime) RunPodSandbox(_ context.Context, config *criapi.PodSandboxConfig, _ string) (string, error) {
	s := &sandbox{id: rand.Text(), config: config, created: time.Now(), ready: true}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sandboxes[s.id] = s
	return s.id, nil
}

// StopPodSandbox implements the runtime service.
func (r *Runtime) StopPodSandbox(ctx context.Context, id string) error {
	for _, c := range r.ofSandbox(id) {
		if err := r.StopContainer(ctx, c.id, 0); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.sandboxes[id]; s != nil {
		s.ready = false
	}
	return nil
}

// RemovePodSandbox implements the runtime service.
func (r *Runtime) RemovePodSandbox(ctx context.Context, id string) error {
	err := r.StopPodSandbox(ctx, id)
	for _, c := range r.ofSandbox(id) {
		err = errors.Join(err, r.RemoveContainer(ctx, c.id))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sandboxes, id)
	return err
}

func (r *Runtime) ofSandbox(id string) (list []*container) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.containers {
		if c.sandbox.id == id {
			list = append(list, c)
		}
	}
	return list
}

// PodSandboxStatus implements the runtime service.
func (r *Runtime) PodSandboxStatus(_ context.Context, id string, _ bool) (*criapi.PodSandboxStatusResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sandboxes[id]
	if s == nil {
		return nil, status.Errorf(codes.NotFound, "there is no sandbox %s", id)
	}
	return &criapi.PodSandboxStatusResponse{Timestamp: time.Now().UnixNano(), Status: &criapi.PodSandboxStatus{Id: s.id, Metadata: s.config.Metadata,
		State: s.state(), CreatedAt: s.created.UnixNano(), Labels: s.config.Labels, Annotations: s.config.Annotations,
		Network: &criapi.PodSandboxNetworkStatus{Ip: r.cfg.PodIP},
		Linux:   &criapi.LinuxPodSandboxStatus{Namespaces: &criapi.Namespace{Options: s.config.GetLinux().GetSecurityContext().GetNamespaceOptions()}}}}, nil
}

func (s *sandbox) state() criapi.PodSandboxState {
	if s.ready {
		return criapi.PodSandboxState_SANDBOX_READY
	}
	return criapi.PodSandboxState_SANDBOX_NOTREADY
}

// ListPodSandbox implements the runtime service.
func (r *Runtime) ListPodSandbox(_ context.Context, filter *criapi.PodSandboxFilter) (list []*criapi.PodSandbox, _ error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sandboxes {
		if filter.GetId() != "" && filter.Id != s.id || filter.GetState() != nil && filter.State.State != s.state() || !selects(filter.GetLabelSelector(), s.config.Labels) {
			continue
		}
		list = append(list, &criapi.PodSandbox{Id: s.id, Metadata: s.config.Metadata, State: s.state(), CreatedAt: s.created.UnixNano(),
			Labels: s.config.Labels, Annotations: s.config.Annotations})
	}
	return list, nil
}

func selects(selector, labels map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return true
}

func (r *Runtime) container(id string) (*container, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.containers[id]; c != nil {
		return c, nil
	}
	return nil, status.Errorf(codes.NotFound, "there is no container %s", id)
}

// ListContainers implements the runtime service.
func (r *Runtime) ListContainers(_ context.Context, filter *criapi.ContainerFilter) (list []*criapi.Container, _ error) {
	for _, c := range r.all() {
		s := c.status()
		if filter.GetId() != "" && filter.Id != c.id || filter.GetPodSandboxId() != "" && filter.PodSandboxId != c.sandbox.id ||
			filter.GetState() != nil && filter.State.State != s.State || !selects(filter.GetLabelSelector(), c.config.Labels) {
			continue
		}
		list = append(list, &criapi.Container{Id: c.id, PodSandboxId: c.sandbox.id, Metadata: c.config.Metadata, Image: s.Image, ImageRef: s.ImageRef, ImageId: s.ImageId,
			State: s.State, CreatedAt: s.CreatedAt, Labels: c.config.Labels, Annotations: c.config.Annotations})
	}
	return list, nil
}

func (r *Runtime) all() (list []*container) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.containers {
		list = append(list, c)
	}
	return list
}

// ContainerStatus implements the runtime service.
func (r *Runtime) ContainerStatus(_ context.Context, id string, _ bool) (*criapi.ContainerStatusResponse, error) {
	c, err := r.container(id)
	if err != nil {
		return nil, err
	}
	return &criapi.ContainerStatusResponse{Status: c.status()}, nil
}

// RemoveContainer implements the runtime service.
func (r *Runtime) RemoveContainer(ctx context.Context, id string) error {
	c, err := r.container(id)
	if err != nil {
		return nil // the kubelet may ask twice
	}
	if err := r.StopContainer(ctx, id, 0); err != nil {
		return err
	}
	r.mu.Lock()
	delete(r.containers, id)
	r.mu.Unlock()
	if err := os.RemoveAll(c.dir); err != nil {
		return fmt.Errorf("remove the container %s: %w", id, err)
	}
	return nil
}
