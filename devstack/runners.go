package devstack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/kubernetes"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/internal/dispatch"
	jobs "github.com/ocpctl/ocpctl/internal/dispatch/kubernetes"
)

// What a runner's pod sees besides its volumes.
const (
	runnerImage   = "ocpctl-runner:demo"
	programsInPod = "/opt/stand-ins"
	sharedInPod   = "/opt/shared"
	secretsInPod  = "/run/secrets/ocpctl"

	secretName   = "ocpctl-runner" // with the files of secretsInPod
	sharedFolder = "shared"        // the stand-ins' faults and trace, which pods and tests write
	runnerUser   = "65532"         // as in the images of tools/images
	installation = "demo"          // as in server.yaml.tmpl
)

// Runners are the stack's runners, as its server's dispatcher sees them.
type Runners interface {
	dispatch.Runners
	Kill(ctx context.Context, attempt string) error
	Forget(ctx context.Context, attempt string) error
}

// variable is an environment variable of runners.
type variable struct{ Name, Value string }

// runnerConfig is what server.yaml.tmpl says about runners. Without Kubernetes only SecretsDir and RunnerEnv are used.
type runnerConfig struct {
	Namespace, Kubeconfig, Image, CreateAccount, DestroyAccount, ScanAccount, Secret string

	SecretsDir string // as runners see it
	RunnerEnv  []variable
}

func (h *Stack) runnerConfig() runnerConfig {
	c := runnerConfig{
		Namespace: kubernetes.Namespace, Kubeconfig: h.kubeconfig(), Image: runnerImage,
		CreateAccount: kubernetes.CreateAccount, DestroyAccount: kubernetes.DestroyAccount, ScanAccount: kubernetes.ScanAccount, Secret: secretName, SecretsDir: h.path("secrets"),
	}
	var env []string
	if h.Kubernetes { // a pod has nothing of the server's environment
		c.SecretsDir = secretsInPod
		env = dispatch.Allowed(append(append(h.cloud(), h.standIns()...), h.Env...))
	}
	env = append(append(env, h.realPrograms()...), "AWS_SHARED_CREDENTIALS_FILE="+c.SecretsDir+"/runner-credentials",
		"OCPCTL_PERMISSIONS_BOUNDARY="+boundaryARN)
	values := map[string]int{}
	for _, pair := range env { // the last one counts
		name, value, _ := strings.Cut(pair, "=")
		v := variable{name, strings.ReplaceAll(value, h.path(sharedFolder), sharedInPod)}
		if at, ok := values[name]; ok {
			c.RunnerEnv[at] = v
			continue
		}
		values[name] = len(c.RunnerEnv)
		c.RunnerEnv = append(c.RunnerEnv, v)
	}
	return c
}

// kubeconfig is the path of the server's kubeconfig, with the rights that the Helm chart gives it.
func (h *Stack) kubeconfig() string { return h.path("secrets", "kubeconfig") }

// Shared returns the path of a file that tests and the stand-ins in runners' pods can both write. Without Kubernetes it is a file of the stack.
func (c Config) Shared(name string) string {
	if c.Kubernetes {
		return filepath.Join(c.Dir, sharedFolder, name)
	}
	return filepath.Join(c.Dir, name)
}

// share makes the folder that pods write, whose user is another than this process's.
func (h *Stack) share() (err error) {
	defer must.Catch(&err)
	if !h.Kubernetes {
		return nil
	}
	dir := h.path(sharedFolder)
	must.Do(os.MkdirAll(dir, 0o755))
	for _, name := range []string{"faults.json", "faults.json.lock", "trace"} {
		file := must.Get(os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_WRONLY, 0o600))
		_ = file.Close() // nothing was written
		must.Do(os.Chmod(file.Name(), 0o666))
	}
	return os.Chmod(dir, 0o777)
}

// startKubernetes starts the cluster, and prepares it for the server and the runners.
func (h *Stack) startKubernetes(ctx context.Context) (err error) {
	defer must.Catch(&err)
	if !h.Kubernetes {
		return nil
	}
	cfg := kubernetes.Config{Dir: h.path("kubernetes"), Images: []kubernetes.Image{{
		Name: runnerImage, Rootfs: "/", User: runnerUser, // the stand-in oc writes shell scripts, so a shell is needed
		Programs: map[string]string{jobs.Program: filepath.Join(h.Bin, "ocpctl-runner"), jobs.Installers: h.path("installers"), programsInPod: h.Bin},
		Shared:   map[string]string{sharedInPod: h.path(sharedFolder)},
	}}}
	if program := filepath.Join(h.Bin, "kubernetes"); isFile(program) {
		cfg.Program = program
	}
	h.Kube = must.Get(kubernetes.Start(ctx, cfg))
	must.Do(h.Kube.Runners(ctx, h.kubeconfig()))
	values := map[string][]byte{}
	for _, name := range []string{"runner-credentials", "cloud-credentials", "scan-credentials", "ibm-credentials", "pull-secret", "ssh-key"} {
		values[name] = must.Get(os.ReadFile(h.path("secrets", name)))
	}
	return h.Kube.SetSecret(ctx, secretName, values)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// StopRunners asks every runner to end and waits: an install stops, saves its state and reports it.
func (h *Stack) StopRunners() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	runners, err := h.Dispatcher()
	if err != nil {
		return err
	}
	return dispatch.StopAll(ctx, runners)
}

// RunnerPID returns the process id of an attempt's runner, which is a process of this machine.
func (h *Stack) RunnerPID(attempt string) (int, error) {
	raw, err := os.ReadFile(h.path("work", attempt, "process.json"))
	if err != nil {
		return 0, fmt.Errorf("find the runner: %w", err)
	}
	var process struct{ PID int }
	if err := json.Unmarshal(raw, &process); err != nil || process.PID == 0 {
		return 0, errors.Join(fmt.Errorf("find the runner of %s: no process id", attempt), err)
	}
	return process.PID, nil
}

// Dispatcher returns a dispatcher for the same runners as the server's own.
func (h *Stack) Dispatcher() (Runners, error) {
	if !h.Kubernetes {
		return dispatch.NewProcess(dispatch.Config{
			Runner: h.Bin + "/ocpctl-runner", Installers: h.path("installers"), WorkDir: h.path("work"), StatusURL: h.StatusURL(),
		})
	}
	to, err := jobs.Connect(h.kubeconfig())
	if err != nil {
		return nil, fmt.Errorf("find the runners: %w", err)
	}
	return jobs.New(to, jobs.Config{
		Settings: jobs.Settings{
			Namespace: kubernetes.Namespace, Image: runnerImage,
			ServiceAccounts: jobs.ServiceAccounts{Create: kubernetes.CreateAccount, Destroy: kubernetes.DestroyAccount, Scan: kubernetes.ScanAccount},
		},
		Installation: installation, StatusURL: h.StatusURL(),
	})
}
