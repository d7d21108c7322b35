package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/follow"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
)

func (a *app) newWaitCommand() *cobra.Command {
	var goal string
	var waits waiting
	c := &cobra.Command{
		Use: "wait CLUSTER", Short: "Wait until a cluster is ready, destroyed, scaled, refreshed or asleep",
		Long: `Wait until a cluster is ready, destroyed, scaled, refreshed or asleep, show the progress, and then print the cluster.

Time in the queue or waiting for approval counts too. The exit code is 8 if the cluster can no longer reach the goal, 124
if the timeout passes, and 7 if it passes while the cluster waits for an approval. Ctrl-C stops only the waiting.`,
		Example: "  ocpctl wait team-a-smoke-01 --for=ready --timeout 90m",
	}
	c.Flags().StringVar(&goal, "for", string(follow.Ready), "the `goal`: ready, destroyed, scaled, refreshed or asleep")
	waits.addTimeout(c, createTime)
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		if !slices.Contains(follow.Goals(), goal) {
			return exit.With(exit.Usage, &exit.Problem{Title: "Unknown goal.", Fields: []exit.Field{
				{Name: "--for", Detail: fmt.Sprintf("%q is not supported.", goal), Accepted: follow.Goals()},
			}})
		}
		found, err := connect.Read[v1.ClusterDetail](api.GetCluster(ctx, id))
		if err != nil {
			return err
		}
		// By its id from here on: another cluster may get the name once this one is destroyed.
		c := found.Value.Cluster
		if err := a.awaitAndPrint(ctx, api, targetOf(c), follow.Goal(goal), waits.timeout, nil); err != nil {
			return err
		}
		return a.checkNewestJob(ctx, api, c.ClusterID, follow.Goal(goal))
	})
}

// jobsOfGoals are the jobs that lead to a goal, and what it means that one failed. The other goals are reached by their state alone: a
// cluster whose job was given up is not asked to change any more, and looks like one whose job was done.
var jobsOfGoals = map[follow.Goal]struct{ kind, otherwise string }{
	follow.Scaled:    {"SCALE_WORKERS", "the workers were not scaled"},
	follow.Refreshed: {"CONFIGURE", "not all add-ons were installed"},
}

// checkNewestJob reports whether the newest job of the cluster that leads to the goal reached it.
func (a *app) checkNewestJob(ctx context.Context, api *connect.API, cluster string, goal follow.Goal) error {
	of, led := jobsOfGoals[goal]
	if !led {
		return nil
	}
	newest, err := connect.Read[v1.JobPage](api.ListJobs(ctx, &v1.ListJobsParams{Cluster: cluster, Type: of.kind, Limit: 1}))
	if err != nil || len(newest.Value.Items) == 0 {
		return err
	}
	return a.checkJob(ctx, api, newest.Value.Items[0].JobID, of.otherwise)
}

func targetOf(c v1.Cluster) follow.Target { return follow.Target{ID: c.ClusterID, Name: c.Name} }

// awaitAndPrint waits, then prints the cluster's state, whether the goal was reached or not. more adds to the answer for programs
// what the server does not know.
func (a *app) awaitAndPrint(ctx context.Context, api *connect.API, of follow.Target, goal follow.Goal, most time.Duration, more func([]byte) ([]byte, error)) error {
	err := a.awaitGoal(ctx, api, of, goal, most)
	if ctx.Err() != nil || follow.Final(err) {
		return err
	}
	answer, gone := connect.Read[v1.ClusterDetail](api.GetCluster(ctx, of.ID))
	if gone != nil {
		return errors.Join(err, gone)
	}
	if more != nil {
		if answer.Raw, gone = more(answer.Raw); gone != nil {
			return gone
		}
	}
	c := answer.Value.Cluster
	shown := a.printAnswer(answer.Raw, []string{handleOf(c)}, func(s *table.Screen) {
		a.writeCluster(s, c, true)
		if !a.inAction { // its log does not have what is printed here
			err = exit.Shorten(err)
		}
	})
	if shown != nil {
		return shown
	}
	return err
}

// awaitGoal waits and says how to continue if a person interrupts it.
func (a *app) awaitGoal(ctx context.Context, api *connect.API, of follow.Target, goal follow.Goal, most time.Duration) error {
	bounded, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	view := a.newView()
	_, err := follow.Await(bounded, a.newFollower(api, view), of, goal, view)
	if ctx.Err() != nil || errors.Is(err, context.Canceled) {
		again := fmt.Sprintf(" Wait again with: ocpctl wait %s --for=%s", of.Name, goal)
		if a.inAction {
			again = "" // the action says what becomes of it
		}
		a.printNotef("Stopped waiting; %s continues.%s", of.Name, again)
		return exit.Silent(exit.Interrupted)
	}
	return err
}
