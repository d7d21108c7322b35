package command

import (
	"cmp"
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
	c.Flags().StringVar(&params.Type, "type", "", "filter by `type`: CREATE, DESTROY, SCALE_WORKERS, CONFIGURE, ACCESS, SLEEP, WAKE, OBSERVE, TAG, INFORM, PREPARE, OFFHOURS_SCALE_DOWN, OFFHOURS_SCALE_UP, JANITOR_DESTROY or ORPHAN_SCAN")
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

// requestJob asks for a job on a cluster, by its id because its name may become another cluster's, and shows it. It waits for the goal if asked
// to; otherwise says what it means that the job failed nevertheless, and is empty if the goal shows that already.
func (a *app) requestJob(ctx context.Context, api *connect.API, id string, goal follow.Goal, waits waiting, otherwise string, ask func(id string) (*http.Response, error)) error {
	found, err := connect.Read[v1.ClusterDetail](api.GetCluster(ctx, id))
	if err != nil {
		return err
	}
	answer, err := connect.Read[v1.Accepted](ask(found.Value.ClusterID))
	if err != nil {
		return err
	}
	if err := a.printRequestedJob(ctx, api, answer, found.Value.Cluster, goal, waits); err != nil || !waits.wait || otherwise == "" {
		return err
	}
	return a.checkJob(ctx, api, answer.Value.JobID, otherwise)
}

// printRequestedJob shows a requested job, and waits for it if asked to.
func (a *app) printRequestedJob(ctx context.Context, api *connect.API, answer connect.Answer[v1.Accepted], c v1.Cluster, goal follow.Goal, waits waiting) error {
	got := answer.Value
	people := func(s *table.Screen) {
		if goal == follow.Destroyed && isGone(c) {
			fmt.Fprintf(s.Out, "%s is already %s\n", s.Painted(humanize.Line(c.Name), table.Bold), goal)
			f := s.Facts()
			f.Add("gone since", humanize.When(c.ReleasedAt, s.Now))
			f.Add("cluster", c.ClusterID)
			f.Write()
			return
		}
		fmt.Fprintf(s.Out, "%s will be %s\n", s.Painted(humanize.Line(c.Name), table.Bold), goal)
		f := s.Facts()
		f.Add("next", got.Message)
		f.Add("cluster", c.ClusterID)
		f.Add("job", got.JobID)
		f.Add("page", cmp.Or(got.URL, api.Context.Server+"/clusters/"+c.ClusterID))
		f.Add("wait", fmt.Sprintf("ocpctl wait %s --for=%s", waitFor(c, goal), goal))
		f.Write()
	}
	if !waits.wait {
		return a.printAnswer(answer.Raw, []string{handleOf(c)}, people)
	}
	screen := a.newScreen()
	screen.Out, screen.Color = a.Err, a.ErrTTY && a.hasColours()
	people(screen)
	return a.awaitAndPrint(ctx, api, targetOf(c), goal, waits.timeout, nil)
}

// waitFor returns how to refer to a cluster during a wait: the name of a cluster that ends may belong to another one before the wait
// is over.
func waitFor(c v1.Cluster, goal follow.Goal) string {
	if goal == follow.Destroyed {
		return c.ClusterID
	}
	return handleOf(c)
}
