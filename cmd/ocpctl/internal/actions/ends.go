package actions

import (
	"context"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
)

// extendCluster moves a cluster's end.
func (s *step) extendCluster(ctx context.Context) error {
	args := []string{"extend", "--cluster-id=" + s.needCluster()}
	duration, until := s.Text("duration"), s.Text("until")
	if (duration == "") == (until == "") {
		s.Wrong("duration", "Give either duration or until.", "4h", "1d")
	}
	if until != "" {
		args = append(args, "--until="+until)
	}
	if err := s.checkInputs(ctx); err != nil {
		return err
	}
	if duration != "" {
		args = append(args, "--", duration)
	}
	changed, err := runForAnswer[v1.Change](ctx, s, nil, args...)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(s.log, changed.Message)
	if changed.Capped {
		s.Warning("ocpctl extend-cluster", changed.Message)
	}
	return s.setOutputs("expires-at", changed.Cluster.DestroyAt.UTC().Format("2006-01-02T15:04:05Z"), "limited", fmt.Sprint(changed.Capped))
}

// destroyCluster destroys a cluster. It is no error if there is none any more: the step runs with if: always().
func (s *step) destroyCluster(ctx context.Context) error {
	waits, cluster := s.Bool("wait"), s.clusterInput()
	s.waitInputs()
	if err := s.checkInputs(ctx); err != nil {
		return err
	}
	if cluster == "" {
		s.Notice("ocpctl destroy-cluster", "There is nothing to destroy: no create-cluster step of this job got a cluster.")
		return nil
	}
	reason := s.Text("reason")
	if reason == "" {
		reason = strings.Join([]string{s.Env("GITHUB_SERVER_URL"), s.Env("GITHUB_REPOSITORY"), "actions/runs", s.Env("GITHUB_RUN_ID")}, "/")
	}
	args := []string{"destroy", "--cluster-id=" + cluster, "--yes", "--reason=" + reason}
	var err error
	if waits {
		end := s.Group("Waiting until it is destroyed")
		_, err = s.Commands.Run(ctx, nil, s.addTimeout(append(args, "--wait", "--output=name")...)...)
		end()
	} else {
		var accepted v1.Accepted
		accepted, err = runForAnswer[v1.Accepted](ctx, s, nil, args...)
		_, _ = fmt.Fprintln(s.log, accepted.Message)
	}
	if exit.CodeOf(err) == exit.NotFound {
		s.Notice("ocpctl destroy-cluster", fmt.Sprintf("There is nothing to destroy: %s does not exist.", cluster))
		return nil
	}
	return err
}
