// Package kubernetes starts the Kubernetes cluster of the demo and the tests: the program kubernetes, in a module of its own
// (tools/kubernetes), with a real API server, real controllers and real kubelets whose pods are processes of this machine. It ends when
// its standard input closes, so it never outlives the process that started it. ocpctl-server never imports this package.
package kubernetes

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ocpctl/ocpctl/devstack/child"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/tool"
)

const (
	startTimeout = 2*time.Minute + 10*time.Second // longer than the program's own
	stopTimeout  = 15 * time.Second
)

// Config configures the cluster. Dir is required; what is empty is the program's default.
type Config struct {
	Program    string // path of the program; empty: found by Program
	Dir        string // contains the state, which the next start in it continues; created if missing
	Port       int    // of the API server on 127.0.0.1; 0: that of the previous start, or a free one
	Nodes      int
	CPUs       int           // that each node says it has
	Memory     string        // that each node says it has, such as 16Gi
	Storage    string        // ephemeral storage that each node says it has
	Images     []Image       // what pods can run; SetImages changes them
	Heartbeat  time.Duration // how often a node says that it is alive
	NodeGrace  time.Duration // how long a silent node is believed to be alive
	Toleration time.Duration // how long pods stay on a node that is not ready
}

// Image is what stands for a container image.
type Image struct {
	Name       string            // as pods name it
	Rootfs     string            // an unpacked root file system; "/" shows /usr, /etc, /bin, /lib of this machine, and nothing else of it
	Programs   map[string]string // paths in the container to files or directories of this machine, which it can read and execute
	Shared     map[string]string // paths in the container to directories of this machine, which it can also write to
	User       string            // a number; empty: root
	Entrypoint []string
	Cmd        []string
	Env        []string
	Dir        string
}

// Server is a running cluster.
type Server struct {
	cfg        Config
	kubeconfig string
	child      *exec.Cmd
	stdin      io.WriteCloser
	errors     *bytes.Buffer
	ended      <-chan struct{}
	once       sync.Once
}

// Start returns when every node is ready and pods can be created.
func Start(ctx context.Context, cfg Config) (_ *Server, err error) {
	defer must.Catch(&err)
	must.FailIf(cfg.Dir == "", "start Kubernetes: a directory is needed")
	dir, err := filepath.Abs(cfg.Dir)
	must.Wrap(err, "start Kubernetes")
	cfg.Dir = dir
	if cfg.Program == "" {
		if cfg.Program, err = Program(ctx); err != nil { // before the time limit starts, because it may have to be built
			return nil, fmt.Errorf("start Kubernetes: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	s := &Server{cfg: cfg, errors: &bytes.Buffer{}}
	must.Wrap(s.launch(ctx), "start Kubernetes")
	return s, nil
}

func (s *Server) launch(ctx context.Context) (err error) {
	defer must.Catch(&err)
	must.Do(os.MkdirAll(s.cfg.Dir, 0o755))
	must.Do(s.SetImages(s.cfg.Images))
	s.child = exec.Command(s.cfg.Program, s.cfg.arguments()...) // it lives until Stop, not as long as the context of Start
	s.child.Stderr = s.errors
	stdout, stdoutIn := must.Get2(os.Pipe())
	defer stdout.Close()
	s.child.Stdout = stdoutIn
	if s.stdin, err = s.child.StdinPipe(); err == nil {
		s.ended, err = child.Start(s.child, syscall.SIGTERM)
	}
	_ = stdoutIn.Close() // the child has it
	must.Do(err)
	ready := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(stdout).ReadString('\n') // its end without a line is the child's
		ready <- strings.TrimSpace(line)
	}()
	select {
	case line := <-ready:
		kubeconfig, ok := strings.CutPrefix(line, "ready ")
		if !ok {
			_ = s.Stop() // why it did not start is the more useful error
			return errors.New(strings.TrimSpace(s.errors.String()))
		}
		s.kubeconfig = kubeconfig
		return nil
	case <-ctx.Done():
		_ = s.Stop()
		return ctx.Err()
	}
}

func (c Config) arguments() []string {
	args := []string{"-dir", c.Dir}
	add := func(name, value string, set bool) {
		if set {
			args = append(args, "-"+name, value)
		}
	}
	add("port", strconv.Itoa(c.Port), c.Port != 0)
	add("nodes", strconv.Itoa(c.Nodes), c.Nodes != 0)
	add("cpus", strconv.Itoa(c.CPUs), c.CPUs != 0)
	add("memory", c.Memory, c.Memory != "")
	add("storage", c.Storage, c.Storage != "")
	add("heartbeat", c.Heartbeat.String(), c.Heartbeat != 0)
	add("node-grace", c.NodeGrace.String(), c.NodeGrace != 0)
	add("toleration", strconv.Itoa(int(c.Toleration/time.Second)), c.Toleration != 0)
	return args
}

// SetImages replaces what pods can run. A pod that waits for an image finds it at its next pull.
func (s *Server) SetImages(images []Image) (err error) {
	defer must.Catch(&err)
	raw := must.Get(json.Marshal(images))
	path := filepath.Join(s.cfg.Dir, "images.json")
	must.Do(os.WriteFile(path+".new", raw, 0o644))
	return os.Rename(path+".new", path)
}

// Kubeconfig is the path of the administrator's kubeconfig.
func (s *Server) Kubeconfig() string { return s.kubeconfig }

// Token is the administrator's bearer token.
func (s *Server) Token() (string, error) {
	raw, err := os.ReadFile(filepath.Join(s.cfg.Dir, "pki", "token-admin"))
	return string(raw), err
}

// CA is the path of the certificate authority's certificate.
func (s *Server) CA() string { return filepath.Join(s.cfg.Dir, "pki", "ca.crt") }

// URL is that of the API server.
func (s *Server) URL() (string, error) {
	port, err := os.ReadFile(filepath.Join(s.cfg.Dir, "port"))
	return "https://127.0.0.1:" + string(port), err
}

// LoseNode makes a node silent, as if its network had failed: its containers go on, and the control plane hears nothing of them. The
// nodes are called node-1, node-2, and so on. The controllers move pods away only while another node is ready.
func (s *Server) LoseNode(name string) error { return s.signal(name, syscall.SIGSTOP) }

// ReturnNode lets a lost node speak again. A node whose object was deleted meanwhile registers at the next start, as a kubelet does.
func (s *Server) ReturnNode(name string) error { return s.signal(name, syscall.SIGCONT) }

func (s *Server) signal(node string, sig syscall.Signal) (err error) {
	defer must.Catch(&err)
	raw, err := os.ReadFile(filepath.Join(s.cfg.Dir, "nodes", node, "pid"))
	must.Wrap(err, "find the process of the node %s", node)
	pid, err := strconv.Atoi(string(raw))
	must.Wrap(err, "find the process of the node %s", node)
	return syscall.Kill(pid, sig)
}

// Ended is closed when the cluster has ended, by Stop or by itself.
func (s *Server) Ended() <-chan struct{} { return s.ended }

// Stop ends the cluster, and every pod's processes at once, as a loss of power would. Its state stays in the directory.
func (s *Server) Stop() error {
	s.once.Do(func() {
		_ = s.stdin.Close()
		select {
		case <-s.ended:
		case <-time.After(stopTimeout):
			_ = s.child.Process.Kill()
			<-s.ended
		}
	})
	return nil
}

var program = tool.Tool{
	Name: "kubernetes", Module: "tools/kubernetes", Make: "build-kubernetes", Long: "the first build takes about ten minutes",
}

// Program returns the path of the program kubernetes. The first build takes about ten minutes, and says on standard error that it goes
// on.
func Program(ctx context.Context) (string, error) { return program.Path(ctx) }
