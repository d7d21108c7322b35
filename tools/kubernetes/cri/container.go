package cri

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/ocpctl/ocpctl/tools/kubernetes/inside"
)

// Exit codes and reasons that container runtimes report.
const (
	exitStartError = 128
	exitKilled     = 137
)

type container struct {
	id      string
	sandbox *sandbox
	config  *criapi.ContainerConfig
	image   Image
	dir     string
	spec    inside.Spec
	created time.Time
	done    chan struct{} // closed when it has exited

	mu                sync.Mutex
	pid               int
	logs              *logFile
	started, finished time.Time
	exit              int32
	reason, message   string
	tooMuch           bool // killed because it used more memory than its limit
}

// CreateContainer implements the runtime service.
func (r *Runtime) CreateContainer(_ context.Context, sandboxID string, config *criapi.ContainerConfig, _ *criapi.PodSandboxConfig) (string, error) {
	r.mu.Lock()
	s := r.sandboxes[sandboxID]
	r.mu.Unlock()
	if s == nil {
		return "", status.Errorf(codes.NotFound, "there is no sandbox %s", sandboxID)
	}
	image, found, err := r.cfg.Images.find(config.Image.GetImage())
	if err != nil {
		return "", err
	}
	if !found {
		return "", status.Errorf(codes.NotFound, "there is no image %s", config.Image.GetImage())
	}
	c := &container{id: rand.Text(), sandbox: s, config: config, image: image, created: time.Now(), done: make(chan struct{})}
	c.dir = filepath.Join(r.cfg.Dir, c.id)
	if err := os.MkdirAll(filepath.Join(c.dir, "scratch"), 0o755); err != nil {
		return "", err
	}
	if c.spec, err = r.spec(c); err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.containers[c.id] = c
	return c.id, nil
}

// spec says what the container's process does before it becomes the container's program.
func (r *Runtime) spec(c *container) (inside.Spec, error) {
	security := c.config.GetLinux().GetSecurityContext()
	s := inside.Spec{Args: slices.Concat(c.config.Command, c.config.Args), Dir: c.config.WorkingDir, Hostname: c.sandbox.config.GetHostname(), Rootfs: c.image.Rootfs,
		Scratch: filepath.Join(c.dir, "scratch"), ReadOnly: security.GetReadonlyRootfs(), ReadOnlyIn: security.GetReadonlyPaths(), Masked: security.GetMaskedPaths(),
		NoNewPrivs: security.GetNoNewPrivs(), UserMapped: r.cfg.Rootless}
	if len(c.config.Command) == 0 {
		args := c.config.Args
		if len(args) == 0 {
			args = c.image.Cmd
		}
		s.Args = slices.Concat(c.image.Entrypoint, args)
	}
	if len(s.Args) == 0 {
		return s, fmt.Errorf("neither the pod nor the image %s says what to execute", c.image.Name)
	}
	if s.Dir == "" {
		s.Dir = filepath.Join("/", c.image.Dir)
	}
	if s.Hostname == "" {
		s.Hostname = c.sandbox.config.GetMetadata().GetName()
	}
	s.Env = r.environment(c)
	s.UID, s.GID = c.user()
	for _, g := range append(security.GetSupplementalGroups(), c.sandbox.config.GetLinux().GetSecurityContext().GetSupplementalGroups()...) {
		if !slices.Contains(s.Groups, int(g)) {
			s.Groups = append(s.Groups, int(g))
		}
	}
	s.Capabilities = capabilities(security)
	return s, r.mounts(c, &s)
}

// environment is the image's, then the pod's.
func (r *Runtime) environment(c *container) []string {
	all := map[string]string{"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOSTNAME": c.sandbox.config.GetHostname(), "HOME": "/"}
	for _, e := range c.image.Env {
		name, value, _ := strings.Cut(e, "=")
		all[name] = value
	}
	for _, e := range c.config.Envs {
		all[e.Key] = e.Value
	}
	for _, e := range r.cfg.Env {
		name, value, _ := strings.Cut(e, "=")
		if _, has := all[name]; has {
			all[name] = value
		}
	}
	env := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		env = append(env, name+"="+all[name])
	}
	return env
}

// user is the pod's, or the image's. The kubelet has refused a root that the pod forbids.
func (c *container) user() (uid, gid int) {
	uid, _ = strconv.Atoi(c.image.User)
	security := c.config.GetLinux().GetSecurityContext()
	if u := security.GetRunAsUser(); u != nil {
		uid = int(u.Value)
	}
	if g := security.GetRunAsGroup(); g != nil {
		gid = int(g.Value)
	}
	return uid, gid
}

// mounts adds the programs of the image, the resolver's configuration and the volumes, outer paths before inner ones.
func (r *Runtime) mounts(c *container, s *inside.Spec) error {
	for target, source := range c.image.Programs {
		s.Mounts = append(s.Mounts, inside.Mount{Source: source, Target: target, ReadOnly: true})
	}
	for target, source := range c.image.Shared {
		s.Mounts = append(s.Mounts, inside.Mount{Source: source, Target: target})
	}
	resolver := filepath.Join(c.dir, "resolv.conf")
	dns := c.sandbox.config.GetDnsConfig()
	var text strings.Builder
	for _, server := range dns.GetServers() {
		fmt.Fprintf(&text, "nameserver %s\n", server)
	}
	if len(dns.GetSearches()) > 0 {
		fmt.Fprintf(&text, "search %s\n", strings.Join(dns.GetSearches(), " "))
	}
	if err := os.WriteFile(resolver, []byte(text.String()), 0o644); err != nil {
		return err
	}
	s.Mounts = append(s.Mounts, inside.Mount{Source: resolver, Target: "/etc/resolv.conf", ReadOnly: true})
	for _, m := range c.config.Mounts {
		s.Mounts = append(s.Mounts, inside.Mount{Source: m.HostPath, Target: m.ContainerPath, ReadOnly: m.Readonly})
	}
	slices.SortStableFunc(s.Mounts, func(a, b inside.Mount) int {
		return strings.Count(filepath.Clean(a.Target), "/") - strings.Count(filepath.Clean(b.Target), "/")
	})
	return nil
}

func (c *container) status() *criapi.ContainerStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &criapi.ContainerStatus{Id: c.id, Metadata: c.config.Metadata, CreatedAt: c.created.UnixNano(), Image: &criapi.ImageSpec{Image: c.image.Name}, ImageRef: c.image.id(), ImageId: c.image.id(),
		Labels: c.config.Labels, Annotations: c.config.Annotations, Mounts: c.config.Mounts, LogPath: c.logPath(), State: criapi.ContainerState_CONTAINER_CREATED}
	if !c.started.IsZero() {
		s.State, s.StartedAt = criapi.ContainerState_CONTAINER_RUNNING, c.started.UnixNano()
	}
	if !c.finished.IsZero() {
		s.State, s.FinishedAt = criapi.ContainerState_CONTAINER_EXITED, c.finished.UnixNano()
		s.ExitCode, s.Reason, s.Message = c.exit, c.reason, c.message
	}
	return s
}

// StopContainer sends the container's program SIGTERM, and kills everything in the container when the timeout, in seconds, is over.
func (r *Runtime) StopContainer(ctx context.Context, id string, timeout int64) error {
	c, err := r.container(id)
	if err != nil {
		return nil // the kubelet may ask twice
	}
	if timeout > 0 && c.signal(syscall.SIGTERM) {
		select {
		case <-c.done:
			return nil
		case <-time.After(time.Duration(timeout) * time.Second):
		case <-ctx.Done():
		}
	}
	if c.signal(syscall.SIGKILL) {
		<-c.done // the end of a namespace's first process is that of all others
	}
	return nil
}

// signal reports whether the container was running.
func (c *container) signal(s syscall.Signal) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pid == 0 || !c.finished.IsZero() {
		return false
	}
	_ = syscall.Kill(c.pid, s) // it is not reaped before finished is set, so the pid is its own
	return true
}

// ReopenContainerLog implements the runtime service, for a log that the kubelet has renamed.
func (r *Runtime) ReopenContainerLog(_ context.Context, id string) error {
	c, err := r.container(id)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.logs == nil || !c.finished.IsZero() {
		return status.Errorf(codes.FailedPrecondition, "the container %s is not running", id)
	}
	return c.logs.reopen()
}

func (c *container) logPath() string {
	if c.config.LogPath == "" {
		return ""
	}
	return filepath.Join(c.sandbox.config.LogDirectory, c.config.LogPath)
}
