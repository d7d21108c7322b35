package actions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
)

// mustGatherTime limits oc adm must-gather, which takes about ten minutes on a small cluster.
const mustGatherTime = 30 * time.Minute

// logLines is the most that the server gives of a job's log.
const logLines = "5000"

// collectLogs writes what helps to understand a failure to files. What cannot be had is a warning: the job has failed already.
func (s *step) collectLogs(ctx context.Context) error {
	cluster, bundle, gather := s.needCluster(), s.Bool("bundle"), s.Bool("must-gather")
	s.Bool("upload") // of the action.yml, as retention-days
	if err := s.checkInputs(ctx); err != nil {
		return err
	}
	c, err := runForAnswer[v1.ClusterDetail](ctx, s, nil, "status", "--cluster-id="+cluster)
	if err != nil {
		return err
	}
	folder, err := s.logFolder(c.ClusterID)
	if err != nil {
		return err
	}
	if err := s.setOutputs("path", folder, "artifact", s.artifactName(c.Name)); err != nil {
		return err
	}
	end := s.Group("Collecting logs of " + c.Name)
	defer end()
	parts := []struct {
		name string
		want bool
		get  func(context.Context, v1.Cluster, string) error
	}{
		{"the cluster's state", true, s.saveState}, {"the logs of its jobs", true, s.saveJobLogs},
		{"the log bundle", bundle, s.saveBundle}, {"must-gather", gather, s.runMustGather},
	}
	for _, part := range parts {
		if !part.want {
			continue
		}
		if err := part.get(ctx, c.Cluster, folder); ctx.Err() != nil {
			return err
		} else if err != nil {
			s.Warning("ocpctl collect-logs", fmt.Sprintf("%s cannot be collected: %s", part.name, oneLine(textOf(err))))
		}
	}
	return nil
}

func (s *step) logFolder(id string) (string, error) {
	if given := s.Text("path"); given != "" {
		path, err := filepath.Abs(given)
		if err != nil {
			return "", fmt.Errorf("path: %w", err)
		}
		return path, os.MkdirAll(path, 0o700)
	}
	folder, err := s.makeFolder(id)
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "logs")
	return path, os.MkdirAll(path, 0o700)
}

var unfitArtifact = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// artifactName returns a name for the uploaded files that no other job, attempt or cluster of the run has.
func (s *step) artifactName(cluster string) string {
	return unfitArtifact.ReplaceAllString(strings.Join([]string{"ocpctl", cluster, s.Env("GITHUB_JOB"), s.matrixIndex(), s.Env("GITHUB_RUN_ATTEMPT")}, "-"), "-")
}

// saveState writes what the server knows of the cluster.
func (s *step) saveState(ctx context.Context, c v1.Cluster, folder string) error {
	var all error
	for _, page := range []struct{ command, output, file string }{
		{"status", "json", "cluster.json"}, {"explain", "", "explain.txt"}, {"timeline", "", "timeline.txt"},
	} {
		raw, err := s.Commands.Run(ctx, nil, page.command, "--cluster-id="+c.ClusterID, "--output="+page.output)
		if err == nil {
			err = s.saveFile(filepath.Join(folder, page.file), raw)
		}
		all = errors.Join(all, err)
	}
	return all
}

// saveJobLogs writes a log for each of the cluster's jobs: of the installer and of the teardown, above all.
func (s *step) saveJobLogs(ctx context.Context, c v1.Cluster, folder string) error {
	page, err := runForAnswer[v1.JobPage](ctx, s, nil, "jobs", "--cluster="+c.ClusterID, "--limit=0")
	for _, job := range page.Items {
		raw, one := s.Commands.Run(ctx, nil, "logs", "--cluster-id="+c.ClusterID, "--job="+job.JobID, "--lines="+logLines)
		if one == nil {
			one = s.saveFile(filepath.Join(folder, strings.ToLower(job.Type)+"-"+filepath.Base(job.JobID)+".log"), raw)
		}
		err = errors.Join(err, one)
	}
	return err
}

// saveBundle writes the diagnostics of a failed install.
func (s *step) saveBundle(ctx context.Context, c v1.Cluster, folder string) error {
	_, err := s.Commands.Run(ctx, nil, "logs", "--cluster-id="+c.ClusterID, "--bundle", "--file="+filepath.Join(folder, "log-bundle.tar.gz"))
	if connect.Is(err, 404) {
		_, _ = fmt.Fprintln(s.log, "There is no log bundle: no install of this cluster failed.")
		return nil
	}
	return err
}

// runMustGather has oc collect the state of the cluster itself.
func (s *step) runMustGather(ctx context.Context, c v1.Cluster, folder string) error {
	if c.Status != v1.READY {
		return fmt.Errorf("the cluster is %s, and does not answer", strings.ToLower(string(c.Status)))
	}
	path, err := exec.LookPath("oc")
	if err != nil {
		return errors.New("oc is not on the PATH. Install it in a step before, for example with redhat-actions/openshift-tools-installer")
	}
	kubeconfig, err := s.writeKubeconfig(ctx, c.ClusterID)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, mustGatherTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "adm", "must-gather", "--kubeconfig="+kubeconfig, "--dest-dir="+filepath.Join(folder, "must-gather"))
	cmd.Stdout, cmd.Stderr = s.log, s.log
	if err := s.Exec(cmd); err != nil {
		return fmt.Errorf("oc adm must-gather: %w", err)
	}
	return nil
}

// saveFile writes a file that only this user can read.
func (s *step) saveFile(path string, raw []byte) error {
	if err := connect.WriteFile(path, raw); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.log, "%s (%d bytes)\n", path, len(raw))
	return err
}
