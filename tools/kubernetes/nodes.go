package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/ocpctl/ocpctl/tools/kubernetes/credentials"
	"github.com/ocpctl/ocpctl/tools/kubernetes/cri"
	"github.com/ocpctl/ocpctl/tools/kubernetes/node"
)

func nodeName(n int) string { return fmt.Sprintf("node-%d", n+1) }

// nodeIP gives each node an address of its own on the loopback interface.
func nodeIP(n int) net.IP { return net.IPv4(127, 0, 0, byte(11+n)) }

// startNodes starts a process for each node. It ends with this one.
func (c *cluster) startNodes(ctx context.Context) error {
	memory, err := resource.ParseQuantity(c.Memory)
	if err != nil {
		return fmt.Errorf("-memory: %w", err)
	}
	storage, err := resource.ParseQuantity(c.Storage)
	if err != nil {
		return fmt.Errorf("-storage: %w", err)
	}
	for n := range c.Nodes {
		name, ip := nodeName(n), nodeIP(n)
		dir := filepath.Join(c.Dir, "nodes", name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		cert, err := c.creds.Kubelet(name, ip)
		if err != nil {
			return err
		}
		kubeconfig, user := filepath.Join(dir, "kubeconfig"), "system:node:"+name
		if err := c.creds.WriteKubeconfig(kubeconfig, c.server, user, c.tokens[user]); err != nil {
			return err
		}
		port, err := freePort(ctx, ip.String())
		if err != nil {
			return fmt.Errorf("find a port for %s: %w", name, err)
		}
		if err := c.startNode(node.Config{Name: name, IP: ip.String(), Port: port, Dir: dir, Kubeconfig: kubeconfig,
			ClientCA: c.creds.File(credentials.CA), CertFile: c.creds.File(cert + ".crt"), KeyFile: c.creds.File(cert + ".key"),
			CPUs: c.CPUs, Memory: memory.Value(), Storage: storage.Value(), Heartbeat: c.Heartbeat, Images: cri.Images{Table: c.Images},
			APIHost: "127.0.0.1", APIPort: strconv.Itoa(c.Port), Rootless: os.Geteuid() != 0}); err != nil {
			return fmt.Errorf("start %s: %w", name, err)
		}
	}
	return nil
}

func (c *cluster) startNode(cfg node.Config) error {
	log, err := os.OpenFile(filepath.Join(cfg.Dir, "node.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	child := &exec.Cmd{Path: "/proc/self/exe", Args: []string{node.Name}, Env: os.Environ(), Stdout: log, Stderr: log,
		SysProcAttr: &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL, Setsid: true}}
	if cfg.Rootless {
		child.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		child.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		child.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	input, err := child.StdinPipe()
	if err != nil {
		return err
	}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the kernel ends the child with the thread that started it
		err := child.Start()
		started <- err
		if err == nil {
			_ = child.Wait() // a node that ends is one that the control plane loses
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("make its namespaces, which needs root or user namespaces: %w", err)
	}
	if err := json.NewEncoder(input).Encode(cfg); err != nil {
		return errors.Join(err, child.Process.Kill())
	}
	keep = append(keep, input)
	return os.WriteFile(filepath.Join(cfg.Dir, "pid"), []byte(strconv.Itoa(child.Process.Pid)), 0o600)
}

// keep holds the nodes' standard inputs, whose ends are those of the nodes.
var keep []io.WriteCloser
