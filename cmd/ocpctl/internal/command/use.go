package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/follow"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
	"github.com/ocpctl/ocpctl/internal/duration"
)

const (
	turnTime  = time.Hour       // how long use waits by default
	turnEvery = 5 * time.Second // how often it asks
)

func (a *app) newUseCommand() *cobra.Command {
	var wait bool
	most := timeout(turnTime)
	var named runInput
	c := fromTable("use", &cobra.Command{
		Long: `Ask for the exclusive turn of the pipeline run in which this command runs, on a cluster that several runs share. Turns are
granted in the order in which they were asked for. Asking again returns the same turn.

A turn ends with ocpctl release, with the run or the job, with the cluster, or after the server's limit. With --wait the
command returns when the turn is granted; if the timeout passes, its position in the queue is kept.`,
		Example: "  ocpctl use pr41-shop --wait --timeout 30m",
	})
	c.Flags().BoolVar(&wait, "wait", false, optionUsage("use", "wait"))
	c.Flags().Var(&most, "timeout", optionUsage("use", "timeout"))
	named.addFlags(c)
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		of, err := named.readTurnRun(a.Env)
		if err != nil {
			return err
		}
		turn, err := connect.Read[v1.Use](api.AskUse(ctx, id, v1.UseRequest{Kind: v1.UseRequestKind(of.kind), Name: of.name, UID: of.uid}))
		if err != nil {
			return err
		}
		if wait {
			turn, err = a.awaitTurn(ctx, api, turn, time.Duration(most))
		}
		if ctx.Err() != nil {
			return err
		}
		return errors.Join(a.printAnswer(turn.Raw, []string{turn.Value.ID}, func(s *table.Screen) { turnFacts(s, turn.Value) }), err)
	})
}

// awaitTurn asks for a turn until it is granted or over.
func (a *app) awaitTurn(ctx context.Context, api *connect.API, turn connect.Answer[v1.Use], most time.Duration) (connect.Answer[v1.Use], error) {
	bounded, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	place, lost := 0, false
	for {
		use := turn.Value
		switch use.State {
		case v1.UseStateGranted:
			return turn, nil
		case v1.UseStateReleased:
			return turn, exit.With(exit.Failed, fmt.Errorf("the turn ended before it was granted: %s", use.Why))
		}
		if use.Position != place {
			place = use.Position
			a.printNotef("Waiting for the turn on the cluster: %s ahead%s.", humanize.Count(place, "run"), firstAhead(use))
		}
		switch err := a.Sleep(bounded, turnEvery); {
		case ctx.Err() != nil:
			a.printNotef("Stopped waiting; the position in the queue is kept. Leave it with: ocpctl release %s", use.ClusterID)
			return turn, exit.Silent(exit.Interrupted)
		case err != nil:
			return turn, exit.With(exit.TimedOut, fmt.Errorf("the turn was not granted within %s; the position in the queue is kept. Leave it with: ocpctl release %s", duration.Format(most), use.ClusterID))
		}
		next, err := connect.Read[v1.Use](api.GetUse(ctx, use.ClusterID, use.ID))
		switch {
		case err == nil:
			turn, lost = next, false
		case ctx.Err() == nil && follow.Final(err):
			return turn, err
		case ctx.Err() == nil && !lost:
			a.printNotef("%s", follow.Unreachable(err))
			lost = true
		}
	}
}

// firstAhead names the run that has the turn.
func firstAhead(u v1.Use) string {
	if len(u.Ahead) == 0 || u.Ahead[0].Run == "" {
		return ""
	}
	return ", " + u.Ahead[0].Run + " first"
}

func turnFacts(s *table.Screen, u v1.Use) {
	f := s.Facts()
	f.Add("turn", u.ID)
	paint := table.Good
	if u.State != v1.UseStateGranted {
		paint = table.Warn
	}
	f.Paint("state", string(u.State), paint)
	if u.Position > 0 {
		f.Paint("ahead", humanize.Count(u.Position, "run")+firstAhead(u), table.Warn)
	}
	f.Add("run", u.Run)
	f.Add("since", humanize.When(u.GrantedAt, s.Now))
	f.Add("why", humanize.Line(u.Why))
	f.Write()
}

func (a *app) newReleaseCommand() *cobra.Command {
	var turn string
	var named runInput
	c := fromTable("release", &cobra.Command{
		Long: `End the turn that the pipeline run and job asked for in which this command runs, or leave the queue for it. Without a turn it
does nothing. With --use it ends the turn of any run, if you may destroy the cluster.`,
		Example: "  ocpctl release pr41-shop",
	})
	c.Flags().StringVar(&turn, "use", "", optionUsage("release", "use"))
	named.addFlags(c)
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		of, err := named.readTurnRun(a.Env)
		if err != nil {
			return err
		}
		turns := []string{turn}
		if turn == "" {
			if turns, err = ownTurns(ctx, api, id, of); err != nil {
				return err
			}
		}
		if len(turns) == 0 {
			a.printNotef("This run has no turn on %s.", id)
			return nil
		}
		for _, one := range turns {
			answer, err := connect.Read[v1.Use](api.ReleaseUse(ctx, id, one))
			if err != nil {
				return err
			}
			if err := a.printAnswer(answer.Raw, []string{one}, func(s *table.Screen) { turnFacts(s, answer.Value) }); err != nil {
				return err
			}
		}
		return nil
	})
}

// ownTurns lists the turns on a cluster that this run and job have or wait for.
func ownTurns(ctx context.Context, api *connect.API, id string, of runInput) (turns []string, err error) {
	all, err := connect.Read[v1.Uses](api.ListUses(ctx, id, &v1.ListUsesParams{RunKind: v1.ListUsesParamsRunKind(of.kind), RunName: of.name, RunUID: of.uid}))
	if err != nil {
		return nil, err
	}
	for _, u := range all.Value.Items {
		if u.Mine && u.State != v1.UseStateReleased {
			turns = append(turns, u.ID)
		}
	}
	return turns, nil
}
