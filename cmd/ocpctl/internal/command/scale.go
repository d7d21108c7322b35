package command

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/follow"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
	"github.com/ocpctl/ocpctl/internal/duration"
)

func (a *app) newScaleCommand() *cobra.Command {
	var replicas int
	var waits waiting
	c := fromTable("scale", &cobra.Command{
		Long:    "Change the number of workers of a ready cluster, within the profile's limits. The control plane is not changed.",
		Example: "  ocpctl scale-workers team-a-smoke-01 --replicas 3 --wait",
	})
	c.Flags().IntVar(&replicas, "replicas", -1, optionUsage("scale", "replicas"))
	c.Flags().Lookup("replicas").DefValue = ""
	waits.addFlags(c, "scale", scaleTime)
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		const form = "a whole number, 0 or more, within the profile's limits"
		switch {
		case !c.Flags().Changed("replicas"):
			return newMissingError("--replicas", form)
		case replicas < 0:
			return exit.With(exit.Usage, &exit.Problem{Title: "The number of workers is not valid.", Fields: []exit.Field{
				{Name: "--replicas", Detail: fmt.Sprintf("%d is negative.", replicas), Accepted: []string{form}}}})
		}
		found, err := connect.Read[v1.ClusterDetail](api.GetCluster(ctx, id))
		if err != nil {
			return err
		}
		answer, err := connect.Read[v1.Accepted](api.ScaleWorkers(ctx, found.Value.ClusterID, nil, v1.Scale{Replicas: replicas}))
		if err != nil {
			return err
		}
		if err := a.printRequestedJob(ctx, api, answer, found.Value.Cluster, follow.Scaled, waits); err != nil || !waits.wait {
			return err
		}
		return a.checkJob(ctx, api, answer.Value.JobID, "the workers were not scaled")
	})
}

// checkJob reports whether the job reached its goal, and if not, what that means: after a job that was given up nothing is requested
// of the cluster any more.
func (a *app) checkJob(ctx context.Context, api *connect.API, job, otherwise string) error {
	answer, err := connect.Read[v1.JobDetail](api.GetJob(ctx, job, &v1.GetJobParams{Lines: 1}))
	if err != nil {
		return err
	}
	if j := answer.Value.Job; j.Status == "FAILED" {
		return exit.With(exit.Failed, fmt.Errorf("%s: %s (%s). Its log: ocpctl logs %s --job %s",
			otherwise, humanize.Line(j.ErrorMessage), humanize.Line(j.ErrorCode), j.ClusterID, j.JobID))
	}
	return nil
}

func (a *app) newJobsCommand() *cobra.Command {
	var params v1.ListJobsParams
	var most int
	c := &cobra.Command{
		Use: "jobs [JOB]", Short: "List jobs of clusters you may see, newest first; or show one with the end of its log",
		Args: rangeArgs(0, 1), ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().StringVar(&params.Cluster, "cluster", "", "filter by `cluster`")
	c.Flags().StringVar(&params.Type, "type", "", "filter by `type`: CREATE, DESTROY, SCALE_WORKERS, CONFIGURE, ACCESS, SLEEP, WAKE, OBSERVE, TAG, JANITOR_DESTROY or ORPHAN_SCAN")
	c.Flags().StringVar(&params.Status, "status", "", "filter by `status`: PENDING, RUNNING, RETRYING, SUCCEEDED or FAILED")
	c.Flags().IntVar(&most, "limit", 50, "show at most this `number`; 0 shows all")
	c.RunE = a.runWithAPI(func(ctx context.Context, api *connect.API, args []string) error {
		if len(args) == 1 {
			return a.printJob(api.GetJob(ctx, args[0], &v1.GetJobParams{}))
		}
		return listOf[v1.Job]{
			name:  func(j v1.Job) string { return j.JobID },
			heads: []string{"JOB", "TYPE", "STATUS", "CLUSTER", "ATTEMPT", "AGE", "ENDED", "ERROR"},
			row: func(s *table.Screen, j v1.Job) []any {
				return []any{j.JobID, j.Type, jobStatus(j), j.ClusterID, j.Attempt, duration.Format(s.Now.Sub(j.CreatedAt)), duration.Away(j.EndedAt, s.Now), j.ErrorCode}
			},
			none: "No jobs.",
		}.showPages(a, most, func(limit int, cursor string) (*http.Response, error) {
			params.Limit, params.Cursor = limit, cursor
			return api.ListJobs(ctx, &params)
		})
	})
	return c
}

func jobStatus(j v1.Job) table.Cell {
	paint := map[string]table.Paint{"SUCCEEDED": table.Good, "FAILED": table.Bad, "RETRYING": table.Warn}[j.Status]
	return table.Cell{Text: j.Status, Paint: paint}
}

func (a *app) printJob(res *http.Response, err error) error {
	return showAnswer(a, func(j v1.JobDetail) []string { return []string{j.JobID} }, func(s *table.Screen, j v1.JobDetail) {
		fmt.Fprintf(s.Out, "%s  %s %s\n", s.Painted(j.JobID, table.Bold), humanize.Line(j.Type), s.Painted(jobStatus(j.Job).Text, jobStatus(j.Job).Paint))
		f := s.Facts()
		f.Add("cluster", j.ClusterID)
		f.Add("attempt", fmt.Sprint(j.Attempt))
		f.Add("requested", humanize.When(j.CreatedAt, s.Now))
		f.Add("began", humanize.When(j.StartedAt, s.Now))
		f.Add("ended", humanize.When(j.EndedAt, s.Now))
		f.Paint("error", j.ErrorMessage, table.Bad)
		f.Add("code", j.ErrorCode)
		f.Write()
		if len(j.Log) > 0 {
			s.Head("Last log lines")
			for _, line := range j.Log {
				s.Linef("%s", line)
			}
		}
	})(res, err)
}
