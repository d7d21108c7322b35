package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
)

// labelsTime is enough for a dozen labels at one write per second, besides the server's other writes there.
const labelsTime = 3 * time.Minute

// labelsEvery is how often the server is asked for the result.
const labelsEvery = time.Second

func (a *app) newLabelsCommand() *cobra.Command {
	var later bool
	var reason, key string
	var waits waiting
	c := &cobra.Command{
		Use: "labels OWNER/REPO", Short: "Create ocpctl's labels in a repository, with colors and descriptions",
		Long: `Create ocpctl's labels in a repository, with colors and descriptions, and show which were created, changed or already
correct.

Only platform admins of all teams may do this. Other labels are not touched. Run the command again after the catalogue has
changed or if you are not sure of the result; it is safe to repeat.`,
		Example: "  ocpctl admin labels acme/shop",
		Args:    rangeArgs(1, 1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, args []string) error {
			params := v1.EnsureLabelsParams{IdempotencyKey: cmp.Or(key, a.UUID())}
			answer, err := connect.Read[v1.Labels](api.EnsureLabels(ctx, &params, v1.LabelsRequest{Repository: args[0], Reason: reason}))
			if err != nil {
				return err
			}
			if later {
				return a.printLabels(answer)
			}
			return a.awaitLabels(ctx, api, answer, waits.timeout)
		}),
	}
	waits.addTimeout(c, labelsTime)
	c.Flags().BoolVar(&later, "no-wait", false, "do not wait until GitHub has them")
	c.Flags().StringVar(&key, "idempotency-key", "", "idempotency `key` of this request; repeating it does not start a second one")
	reasonFlag(c, &reason)
	return c
}

// awaitLabels polls until it is done, and prints the result.
func (a *app) awaitLabels(ctx context.Context, api *connect.API, answer connect.Answer[v1.Labels], most time.Duration) (err error) {
	bounded, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for answer.Value.State == v1.LabelsStateWaiting {
		if err = a.Sleep(bounded, labelsEvery); err == nil {
			answer, err = connect.Read[v1.Labels](api.GetLabels(bounded, answer.Value.ID))
		}
		if err != nil {
			return explainUnawaited(ctx, err)
		}
	}
	if err := a.printLabels(answer); err != nil {
		return err
	}
	if answer.Value.State == v1.LabelsStateFailed {
		return exit.With(exit.Failed, fmt.Errorf("not all labels of %s were created. Fix the problem in the note and run the command again", answer.Value.Repository))
	}
	return nil
}

// explainUnawaited says how to continue if the wait was interrupted.
func explainUnawaited(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return exit.With(exit.Interrupted, errors.New("interrupted; the labels are still being created. Run the command again to see the result"))
	case errors.Is(err, context.DeadlineExceeded):
		return exit.With(exit.TimedOut, errors.New("timed out; not all labels are created yet. The server's log shows GitHub's answer in the line \"update delayed\". "+
			"The server keeps trying; run the command again to see the result"))
	}
	return err
}

func (a *app) printLabels(answer connect.Answer[v1.Labels]) error {
	l := answer.Value
	return a.printAnswer(answer.Raw, []string{l.ID}, func(s *table.Screen) {
		paint := map[v1.LabelsState]table.Paint{v1.LabelsStateDone: table.Good, v1.LabelsStateFailed: table.Bad}[l.State]
		fmt.Fprintf(s.Out, "labels of %s  %s\n", s.Painted(humanize.Line(l.Repository), table.Bold), s.Painted(string(l.State), paint))
		f := s.Facts()
		f.Add("note", l.Note)
		f.Add("requested", humanize.When(l.AskedAt, s.Now))
		f.Add("ended", humanize.When(l.DoneAt, s.Now))
		f.Write()
	})
}
