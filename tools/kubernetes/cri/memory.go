package cri

import (
	"bufio"
	"context"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// lookEvery is how often the memory of a container with a limit is counted.
const lookEvery = 100 * time.Millisecond

// watchMemory kills the container when it uses more memory than its limit, as the kernel does with a cgroup.
func (c *container) watchMemory() {
	limit := c.config.GetLinux().GetResources().GetMemoryLimitInBytes()
	if limit <= 0 {
		return
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-c.done:
			return
		case <-tick.C:
		}
		if c.memory() <= uint64(limit) {
			continue
		}
		c.mu.Lock()
		c.tooMuch = c.finished.IsZero()
		c.mu.Unlock()
		c.signal(syscall.SIGKILL)
		return
	}
}

// memory is what the container's processes use, in bytes. They are those in its process namespace.
func (c *container) memory() (sum uint64) {
	c.mu.Lock()
	pid := c.pid
	c.mu.Unlock()
	own, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/pid")
	if err != nil {
		return 0 // it has ended
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if ns, err := os.Readlink("/proc/" + e.Name() + "/ns/pid"); err == nil && ns == own {
			sum += resident("/proc/" + e.Name() + "/status")
		}
	}
	return sum
}

// resident counts what a cgroup charges for: a process's own memory, not the files that it has mapped.
func resident(path string) (sum uint64) {
	file, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) >= 2 && (fields[0] == "RssAnon:" || fields[0] == "RssShmem:") {
			kib, _ := strconv.ParseUint(fields[1], 10, 64) // a number the kernel wrote
			sum += kib << 10
		}
	}
	return sum
}

// ListContainerStats implements the runtime service: memory alone.
func (r *Runtime) ListContainerStats(_ context.Context, filter *criapi.ContainerStatsFilter) (list []*criapi.ContainerStats, _ error) {
	for _, c := range r.all() {
		running := c.status().State == criapi.ContainerState_CONTAINER_RUNNING
		if !running || filter.GetId() != "" && filter.Id != c.id || filter.GetPodSandboxId() != "" && filter.PodSandboxId != c.sandbox.id || !selects(filter.GetLabelSelector(), c.config.Labels) {
			continue
		}
		list = append(list, c.stats())
	}
	return list, nil
}

// ContainerStats implements the runtime service.
func (r *Runtime) ContainerStats(_ context.Context, id string) (*criapi.ContainerStats, error) {
	c, err := r.container(id)
	if err != nil {
		return nil, err
	}
	return c.stats(), nil
}

func (c *container) stats() *criapi.ContainerStats {
	now, used := time.Now().UnixNano(), &criapi.UInt64Value{Value: c.memory()}
	return &criapi.ContainerStats{Attributes: &criapi.ContainerAttributes{Id: c.id, Metadata: c.config.Metadata, Labels: c.config.Labels, Annotations: c.config.Annotations},
		Cpu:           &criapi.CpuUsage{Timestamp: now, UsageCoreNanoSeconds: &criapi.UInt64Value{}},
		Memory:        &criapi.MemoryUsage{Timestamp: now, WorkingSetBytes: used, UsageBytes: used, RssBytes: used},
		WritableLayer: &criapi.FilesystemUsage{Timestamp: now, FsId: &criapi.FilesystemIdentifier{Mountpoint: "/"}, UsedBytes: &criapi.UInt64Value{}, InodesUsed: &criapi.UInt64Value{}}}
}
