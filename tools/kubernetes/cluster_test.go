package main_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/ocpctl/ocpctl/tools/kubernetes/cri"
)

// patience is how long a test waits for a condition. The slowest, that pods of a deleted node are collected, takes 60 seconds.
const patience = 2 * time.Minute

// program and workload are built once.
var program, image string

// shared is the cluster of the tests that leave it as it was.
var shared *cluster

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "kubernetes-test-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		program, image = filepath.Join(dir, "kubernetes"), filepath.Join(dir, "image")
		build(program, ".", "CGO_ENABLED="+os.Getenv("CGO_ENABLED"))
		build(filepath.Join(image, "bin", "workload"), "./testdata/workload", "CGO_ENABLED=0")
		shared, err = launch(filepath.Join(dir, "shared"))
		if err != nil {
			panic(err)
		}
		defer shared.stop()
		return m.Run()
	}())
}

func build(out, pkg, env string) {
	command := exec.Command("go", "build", "-o", out, pkg)
	command.Env = append(os.Environ(), env)
	command.Stderr = os.Stderr
	if err := command.Run(); err != nil {
		panic(err)
	}
}

// cluster is a running program.
type cluster struct {
	dir        string
	kubeconfig string
	config     *rest.Config
	*kubernetes.Clientset
	command *exec.Cmd
	stdin   io.Closer
}

// launch starts the program, whose image workload:1 has the tests' workload.
func launch(dir string, flags ...string) (*cluster, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	table, err := json.Marshal([]cri.Image{{Name: "workload:1", Rootfs: image, Entrypoint: []string{"workload"}}})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "images.json"), table, 0o644); err != nil {
		return nil, err
	}
	c := &cluster{dir: dir, command: exec.Command(program, append([]string{"-dir", dir}, flags...)...)}
	c.command.Stderr = os.Stderr
	stdin, err := c.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := c.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.stdin = stdin
	if err := c.command.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	kubeconfig, ready := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if !ready {
		return nil, fmt.Errorf("the program said %q: %w", line, err)
	}
	c.kubeconfig = kubeconfig
	if c.config, err = clientcmd.BuildConfigFromFlags("", kubeconfig); err != nil {
		return nil, err
	}
	c.config.QPS = -1
	c.Clientset, err = kubernetes.NewForConfig(c.config)
	return c, err
}

func start(t *testing.T, dir string, flags ...string) *cluster {
	c, err := launch(dir, flags...)
	require.NoError(t, err)
	t.Cleanup(c.stop)
	return c
}

func (c *cluster) stop() {
	_ = c.stdin.Close()
	_ = c.command.Wait()
}

// namespace makes one in which pods can be created.
func (c *cluster) namespace(t *testing.T) string {
	name := strings.ToLower(strings.Map(func(r rune) rune {
		if r == '/' || r == '_' {
			return '-'
		}
		return r
	}, t.Name()))
	if len(name) > 50 {
		name = name[:50]
	}
	_, err := c.CoreV1().Namespaces().Create(t.Context(), &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	require.NoError(t, err)
	c.eventually(t, "the default service account exists", func(ctx context.Context) (bool, any) {
		account, err := c.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, account
	})
	return name
}

// pod is one with a container that executes the workload.
func pod(ns, name string, args ...string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns}, Spec: v1.PodSpec{RestartPolicy: v1.RestartPolicyNever,
		Containers: []v1.Container{{Name: "main", Image: "workload:1", Args: args}}}}
}

func (c *cluster) create(t *testing.T, p *v1.Pod) *v1.Pod {
	created, err := c.CoreV1().Pods(p.Namespace).Create(t.Context(), p, metav1.CreateOptions{})
	require.NoError(t, err)
	return created
}

// await waits until the pod is as wanted, and returns it.
func (c *cluster) await(t *testing.T, p *v1.Pod, what string, wanted func(*v1.Pod) bool) *v1.Pod {
	t.Helper()
	var last *v1.Pod
	c.eventually(t, what, func(ctx context.Context) (bool, any) {
		found, err := c.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		last = found
		return wanted(found), found.Status
	})
	return last
}

// eventually asks until the answer is yes; the second value is shown when it stays no.
func (c *cluster) eventually(t *testing.T, what string, ask func(context.Context) (bool, any)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		yes, shown := ask(ctx)
		if yes {
			return
		}
		select {
		case <-ctx.Done():
			raw, _ := json.MarshalIndent(shown, "", " ")
			require.FailNow(t, "not within "+patience.String()+": "+what, "%v\n%s", shown, raw)
		case <-tick.C:
		}
	}
}

func (c *cluster) logs(t *testing.T, p *v1.Pod) string {
	raw, err := c.CoreV1().Pods(p.Namespace).GetLogs(p.Name, &v1.PodLogOptions{}).DoRaw(t.Context())
	require.NoError(t, err)
	return string(raw)
}

// signalNode signals the process that is a node.
func (c *cluster) signalNode(t *testing.T, node string, s syscall.Signal) {
	raw, err := os.ReadFile(filepath.Join(c.dir, "nodes", node, "pid"))
	require.NoError(t, err)
	pid, err := strconv.Atoi(string(raw))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, s))
}

func ended(p *v1.Pod) bool {
	return p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed
}

func running(p *v1.Pod) bool { return p.Status.Phase == v1.PodRunning }

// state is that of the pod's only container.
func state(p *v1.Pod) v1.ContainerState {
	if len(p.Status.ContainerStatuses) == 0 {
		return v1.ContainerState{}
	}
	return p.Status.ContainerStatuses[0].State
}

func waiting(reason string) func(*v1.Pod) bool {
	return func(p *v1.Pod) bool { return state(p).Waiting != nil && state(p).Waiting.Reason == reason }
}
