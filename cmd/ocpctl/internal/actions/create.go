package actions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/internal/price"
)

// createCluster asks for a cluster, and waits for it unless it is told not to.
func (s *step) createCluster(ctx context.Context) error {
	waits, dry := s.Bool("wait"), s.Bool("dry-run")
	s.OneOf("reuse", "none", "run", "pull-request")
	s.OneOf("lifetime", "run", "job", "ttl")
	s.OneOf("on-ready", "none", "deployment", "dispatch")
	s.waitInputs()
	s.exportInputs()
	if s.Text("lifetime") == "job" && !waits && !dry {
		s.Wrong("lifetime", "This job ends before the cluster is ready, and the cluster would end with it.", "run", "ttl", "job with wait: true")
	}
	if err := s.checkInputs(ctx); err != nil {
		return err
	}
	args, in, err := s.createArguments()
	if err != nil {
		return err
	}
	if dry {
		return s.dryRun(ctx, in, args)
	}
	accepted, err := runForAnswer[v1.Accepted](ctx, s, in, s.addProfile(args, "--idempotency-key="+s.idempotencyKey())...)
	if err != nil {
		return s.explainConflict(err)
	}
	// Before anything else, so that steps with if: always() find the cluster.
	if err := s.setCluster(accepted.ClusterID, accepted.Name, accepted.URL); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(s.log, "%s (%s): %s\n%s\n", accepted.Name, accepted.ClusterID, accepted.Message, accepted.URL)
	if accepted.ApprovalID != "" {
		s.Warning("Approval needed", fmt.Sprintf("%s waits for an approval. See %s, or: ocpctl approvals %s", accepted.Name, accepted.URL, accepted.ApprovalID))
	}
	if !waits {
		return s.endWithoutWaiting(ctx, accepted.ClusterID)
	}
	return s.awaitReady(ctx, accepted.ClusterID, accepted.Name, s.Text("reuse") == "pull-request", s.wholeSummary)
}

// createArguments returns the command that asks for the cluster, and its standard input.
func (s *step) createArguments() (args []string, in io.Reader, err error) {
	args = []string{"create", "--name=" + s.clusterName()}
	for _, name := range []string{"version", "region", "ttl", "team"} {
		if value := s.Text(name); value != "" {
			args = append(args, "--"+name+"="+value)
		}
	}
	for _, addon := range s.Lines("add-ons") {
		args = append(args, "--addon="+addon)
	}
	if params := s.Text("params"); params != "" {
		args, in = append(args, "--from-file=-"), strings.NewReader(params)
	}
	args, err = s.addRun(args)
	return args, in, err
}

// addProfile adds a flag and the profile to the command.
func (s *step) addProfile(args []string, flag string) []string {
	if args = append(args, flag); s.Text("profile") != "" {
		args = append(args, "--", s.Text("profile"))
	}
	return args
}

// addRun adds how the cluster belongs to the run. Without the run's token, the server knows of no run.
func (s *step) addRun(args []string) ([]string, error) {
	api, err := s.API()
	if err != nil {
		return nil, err
	}
	if api.Context.Auth == connect.GitHub {
		args = append(args, "--slot="+s.clusterSlot())
	}
	for _, name := range []string{"reuse", "lifetime", "on-ready"} {
		if value := s.Text(name); value != "" && value != "none" {
			args = append(args, "--"+name+"="+value)
		}
	}
	return args, nil
}

// explainConflict adds what to do about a refusal that a workflow can cause.
func (s *step) explainConflict(err error) error {
	if connect.Is(err, http.StatusConflict) && strings.Contains(err.Error(), "Idempotency-Key") {
		return exit.With(exit.Conflict, errors.New("another create-cluster step with the same slot asked for something else. Give one of them a slot or a name of its own"))
	}
	return err
}

// dryRun asks what would happen, and shows the verdict.
func (s *step) dryRun(ctx context.Context, in io.Reader, args []string) error {
	verdict, err := runForAnswer[v1.Verdict](ctx, s, in, s.addProfile(args, "--dry-run")...)
	if verdict.Message == "" { // there is none
		return err
	}
	if shown := s.Summary(verdictSummary(verdict)); shown != nil {
		return shown
	}
	if verdict.Allowed {
		_, _ = fmt.Fprintln(s.log, verdict.Message+" Nothing was created.")
		return s.setOutputs("name", verdict.Name, "price", formatDollars(verdict.HourlyCents))
	}
	refused := &exit.Problem{Title: verdict.Message + " Nothing was created."}
	for _, c := range findFailedChecks(verdict.Checks) {
		refused.Fields = append(refused.Fields, exit.Field{Name: c.Name, Detail: strings.TrimSpace(c.Message + " " + c.Next)})
	}
	return exit.With(exit.Refused, refused)
}

// findFailedChecks returns the checks without parts that refuse a request.
func findFailedChecks(checks []v1.Check) (all []v1.Check) {
	for _, c := range checks {
		if parts := findFailedChecks(c.Checks); len(parts) > 0 {
			all = append(all, parts...)
		} else if c.Result == v1.CheckResultFail {
			all = append(all, c)
		}
	}
	return all
}

// setCluster tells the runner which cluster this step is about.
func (s *step) setCluster(id, name, page string) error {
	err := errors.Join(s.setOutputs("cluster-id", id, "name", name, "page-url", page), s.Export(clusterVariable, id))
	if prefix := s.Text("env-prefix"); prefix != "" {
		err = errors.Join(err, s.Export(prefix+"CLUSTER_ID", id), s.Export(prefix+"CLUSTER_NAME", name))
	}
	return err
}

// endWithoutWaiting ends the step without waiting for the cluster. One that was there before may be ready.
func (s *step) endWithoutWaiting(ctx context.Context, id string) error {
	c, err := runForAnswer[v1.ClusterDetail](ctx, s, nil, "status", "--cluster-id="+id)
	if err != nil {
		return err
	}
	if err := s.setFacts(c.Cluster); err != nil {
		return err
	}
	state := " is being created"
	if c.Status == v1.READY {
		state = " is ready"
		s.Notice("ocpctl create-cluster", c.Name+" existed already and is ready. To use it in another job, give the output cluster-id to wait-cluster there.")
	} else {
		s.Notice("ocpctl create-cluster", c.Name+" is being created, and this job does not wait for it. To use it in another job, give the output cluster-id to wait-cluster there.")
	}
	return s.Summary(s.clusterSummary(c.Cluster, c.Name+state, ""))
}

// setFacts sets the outputs that are known of a cluster at any time.
func (s *step) setFacts(c v1.Cluster) error {
	return s.setOutputs("status", string(c.Status), "price", formatDollars(c.HourlyCents), "expires-at", c.DestroyAt.UTC().Format("2006-01-02T15:04:05Z"))
}

// formatDollars formats a price as a number, for programs.
func formatDollars(cents int) string {
	return strings.NewReplacer("$", "", ",", "").Replace(price.Dollars(int64(cents)))
}
