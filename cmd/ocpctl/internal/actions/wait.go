package actions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/kube"
)

// waitForCluster waits for a cluster that another job or workflow asked for.
func (s *step) waitForCluster(ctx context.Context) error {
	turn, cluster := s.Bool("take-turn"), s.needCluster()
	s.waitInputs()
	s.exportInputs()
	if err := s.checkInputs(ctx); err != nil {
		return err
	}
	c, err := runForAnswer[v1.ClusterDetail](ctx, s, nil, "status", "--cluster-id="+cluster)
	if err != nil {
		return err
	}
	if err := s.setCluster(c.ClusterID, c.Name, s.pageURL(c.ClusterID)); err != nil {
		return err
	}
	return s.awaitReady(ctx, c.ClusterID, c.Name, turn, s.readySummary)
}

// waitInputs checks the inputs of a step that can wait.
func (s *step) waitInputs() {
	if _, err := s.waitLimit(); err != nil {
		s.Wrong("wait-timeout", err.Error()+".")
	}
}

// waitLimit returns how long to wait; zero: as long as the command does.
func (s *step) waitLimit() (time.Duration, error) {
	if s.Text("wait-timeout") == "" {
		return 0, nil
	}
	return humanize.Timeout(s.Text("wait-timeout"))
}

// addTimeout adds to a command that waits what is left of the time limit. The limit counts once, for everything that the step waits for.
func (s *step) addTimeout(args ...string) []string {
	limit, err := s.waitLimit()
	if err != nil || limit == 0 {
		return args
	}
	if s.deadline.IsZero() {
		s.deadline = s.Now().Add(limit)
	}
	return append(args, "--timeout="+max(s.deadline.Sub(s.Now()), shortest).String())
}

// shortest is how long a command waits after the time limit has passed: it looks once.
const shortest = time.Second

// prefix is the form of the input env-prefix.
var prefix = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// exportInputs checks the inputs of a step that exports a cluster to the job's next steps.
func (s *step) exportInputs() {
	s.Bool("export-kubeconfig")
	given := s.Text("env-prefix")
	const accepted = "capital letters, digits and underscores, e.g. BLUE_"
	for _, reserved := range []string{"GITHUB_", "RUNNER_"} {
		if strings.HasPrefix(given, reserved) {
			s.Wrong("env-prefix", fmt.Sprintf("Variables that begin with %q are reserved by GitHub.", reserved), accepted)
			return
		}
	}
	if given != "" && !prefix.MatchString(given) {
		s.Wrong("env-prefix", fmt.Sprintf("The name of a variable cannot begin with %q.", given), accepted)
	}
}

// awaitReady waits until the cluster is ready, takes the run's turn on it if it is shared, and exports it to the job, with a
// summary.
func (s *step) awaitReady(ctx context.Context, id, name string, turn bool, summary func(v1.Cluster) string) error {
	if turn {
		end := s.Group("Waiting for this run's turn on " + name)
		_, err := s.Commands.Run(ctx, nil, s.addTimeout("use", "--cluster-id="+id, "--wait")...)
		end()
		if exit.CodeOf(err) == exit.TimedOut {
			err = exit.With(exit.TimedOut, fmt.Errorf("timed out: it is not this run's turn on %s yet: %s. Raise wait-timeout. The position in the queue ends with the job, or with the run", name, s.pageURL(id)))
		}
		if err != nil {
			return err
		}
	}
	end := s.Group("Waiting until " + name + " is ready")
	c, err := runForAnswer[v1.ClusterDetail](ctx, s, nil, s.addTimeout("wait", "--cluster-id="+id, "--for=ready")...)
	end()
	if c.ClusterID == "" { // interrupted, or the server did not answer
		return err
	}
	if exit.CodeOf(err) == exit.TimedOut {
		err = exit.With(exit.TimedOut, fmt.Errorf("timed out: %s is not ready yet, and is still being made: %s. Raise wait-timeout, or wait in another job with wait-cluster", name, s.pageURL(id)))
	}
	if err != nil {
		why := oneLine(textOf(err))
		return errors.Join(err, s.setFacts(c.Cluster), s.Summary(s.clusterSummary(c.Cluster, name+" is not ready", why)))
	}
	path, err := s.writeKubeconfig(ctx, c.ClusterID)
	if err != nil {
		return err
	}
	if err := errors.Join(s.setFacts(c.Cluster), s.exportCluster(c.Cluster, path)); err != nil {
		return err
	}
	return s.Summary(summary(c.Cluster))
}

// writeKubeconfig writes the kubeconfig to a file below the job's own folder, which the runner empties. Its secrets are masked before.
func (s *step) writeKubeconfig(ctx context.Context, id string) (path string, err error) {
	raw, err := s.Commands.Run(ctx, nil, "kubeconfig", "--cluster-id="+id, "--static")
	if err != nil {
		return "", err
	}
	secrets, err := kube.Secrets(raw)
	if err != nil {
		return "", err
	}
	s.Mask(secrets...)
	folder, err := s.makeFolder(id)
	if err != nil {
		return "", err
	}
	path = filepath.Join(folder, "kubeconfig")
	return path, kube.Write(path, raw)
}

// makeFolder returns a folder for a cluster's files that only this user can enter.
func (s *step) makeFolder(id string) (string, error) {
	temp := s.Env("RUNNER_TEMP")
	if temp == "" {
		return "", errors.New("RUNNER_TEMP is not set: this command is run by a step of GitHub Actions")
	}
	path := filepath.Join(temp, "ocpctl", filepath.Base(id))
	return path, os.MkdirAll(path, 0o700)
}

// exportCluster gives the job's next steps what they need to use the cluster.
func (s *step) exportCluster(c v1.Cluster, kubeconfig string) error {
	err := s.setOutputs("console-url", c.ConsoleURL, "api-url", c.APIURL, "kubeconfig", kubeconfig)
	if s.Bool("export-kubeconfig") {
		err = errors.Join(err, s.Export("KUBECONFIG", kubeconfig))
	}
	if prefix := s.Text("env-prefix"); prefix != "" {
		err = errors.Join(err, s.Export(prefix+"KUBECONFIG", kubeconfig), s.Export(prefix+"API_URL", c.APIURL), s.Export(prefix+"CONSOLE_URL", c.ConsoleURL))
	}
	return err
}
