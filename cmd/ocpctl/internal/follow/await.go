package follow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
)

// Goal is what somebody waits for.
type Goal string

// The goals.
const (
	Ready     Goal = "ready"
	Destroyed Goal = "destroyed"
	Scaled    Goal = "scaled"
	Refreshed Goal = "refreshed"
	Asleep    Goal = "asleep"
)

// Goals lists them.
func Goals() []string {
	return []string{string(Ready), string(Destroyed), string(Scaled), string(Refreshed), string(Asleep)}
}

// Target is the cluster to wait for: its id, and its name for people.
type Target struct{ ID, Name string }

// View shows a wait to people.
type View interface {
	Show(State)           // the state changed
	Tick(now time.Time)   // time passed
	Note(text string)     // something else happened
	Close()               // the wait is over
	Every() time.Duration // how often to call Tick; 0: never
}

// Await follows a cluster until the goal is reached, can no longer be reached, or ctx ends. It always returns the last state seen.
// Waiting for an approval counts as waiting; a timeout then has a code of its own.
func Await(ctx context.Context, f *Follower, of Target, goal Goal, view View) (State, error) {
	defer view.Close()
	following, stop := context.WithCancel(ctx)
	states, lost, ended := f.followBeside(following, of.ID)
	finish := func(s State, err error) (State, error) {
		stop()
		<-ended
		return s, err
	}
	ticks, stopTicks := newTicker(view.Every())
	defer stopTicks()
	var last State
	for {
		select {
		case now := <-ticks:
			view.Tick(now)
		case err := <-lost:
			view.Note(Unreachable(err))
		case err := <-ended:
			stop()
			return last, explainEnd(ctx, err, last, of.Name, goal)
		case s := <-states:
			asked := last.NeedsApproval
			last = s
			view.Show(s)
			if goal.isReached(s.Cluster) {
				return finish(last, nil)
			}
			if err := goal.checkHope(s.Cluster, asked); err != nil {
				return finish(last, err)
			}
		}
	}
}

// followBeside follows in the background; only the waiting goroutine shows anything.
func (f *Follower) followBeside(ctx context.Context, id string) (<-chan State, <-chan error, <-chan error) {
	states, lost, ended := make(chan State), make(chan error), make(chan error, 1)
	beside := *f
	beside.Lost = func(err error) {
		select {
		case lost <- err:
		case <-ctx.Done():
		}
	}
	go func() {
		ended <- beside.One(ctx, id, func(s State) bool {
			select {
			case states <- s:
				return false
			case <-ctx.Done():
				return true
			}
		})
	}()
	return states, lost, ended
}

// Unreachable says that the server could not be reached and that it is tried again.
func Unreachable(err error) string {
	why, _, _ := strings.Cut(err.Error(), "\n")
	return "The server cannot be reached; retrying. (" + why + ")"
}

func newTicker(every time.Duration) (<-chan time.Time, func()) {
	if every <= 0 {
		return nil, func() {}
	}
	t := time.NewTicker(every)
	return t.C, t.Stop
}

// explainEnd says how a wait ended that did not reach its goal.
func explainEnd(ctx context.Context, err error, last State, name string, goal Goal) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && last.NeedsApproval:
		return exit.With(exit.Approval, fmt.Errorf("%s is still waiting for approval, until %s. See who can approve: ocpctl approvals --cluster %s",
			name, humanize.Stamp(last.ApproveBy), name))
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return exit.With(exit.TimedOut, fmt.Errorf("timed out: %s is not %s yet. The operation continues; keep waiting with: ocpctl wait %s --for=%s", name, goal, name, goal))
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return err
}

// phaseAsleep is the phase of a cluster that sleeps.
const phaseAsleep = "asleep"

func (g Goal) isReached(c v1.Cluster) bool {
	switch g {
	case Ready:
		return c.Status == v1.READY && c.Desired == v1.Present && c.Usable
	case Asleep:
		return c.Phase == phaseAsleep
	case Destroyed:
		return c.Status == v1.DESTROYED
	case Refreshed:
		return c.Status == v1.READY && !c.Refreshing
	}
	return c.Status == v1.READY && (c.WorkersWanted == nil || c.Workers != nil && *c.Workers == *c.WorkersWanted)
}

// checkHope says why waiting longer is useless, with the next step. A blocked teardown is retried automatically, but only a person can
// remove what blocks it.
func (g Goal) checkHope(c v1.Cluster, asked bool) error {
	if g == Destroyed {
		if c.Phase == "destroy_blocked" || c.Phase == "abandoned" {
			return exit.With(exit.Failed, &exit.Problem{
				Title: fmt.Sprintf("The teardown of %s is blocked: %s", c.Name, humanize.Line(c.Why)), Fields: blockerFields(c),
				Next:  "It is retried automatically. Remove the blockers, or retry now: ocpctl retry " + c.Name + " --reason \"…\"",
				Short: fmt.Sprintf("The teardown of %s is blocked by what is listed above.", c.Name),
			})
		}
		return nil
	}
	if g == Ready && c.Phase == phaseAsleep && c.Sleep.Wanted {
		return exit.With(exit.Failed, &exit.Problem{Title: c.Name + " is asleep, so it will not be ready by itself.", Next: "Wake it: ocpctl wake " + c.Name + " --wait"})
	}
	if g == Asleep && c.Status == v1.READY && !c.Sleep.Wanted {
		return exit.With(exit.Failed, &exit.Problem{Title: fmt.Sprintf("%s is not put to sleep any more: %s", c.Name, humanize.Line(c.Why)), Next: "See: ocpctl explain " + c.ClusterID})
	}
	gone := c.Status == v1.FAILED || c.Status == v1.DESTROYING || c.Status == v1.DESTROYED || c.Desired == v1.Absent
	if !gone {
		return nil
	}
	if asked && c.FailReason == "" && c.ReadyAt.IsZero() {
		return exit.With(exit.Refused, fmt.Errorf("%s was not approved: %s", c.Name, humanize.Line(cmp.Or(c.DesiredWhy, c.Why, "no reason given"))))
	}
	said := &exit.Problem{Title: fmt.Sprintf("%s will not be %s: %s", c.Name, g, humanize.Line(cmp.Or(c.FailMessage, c.DesiredWhy, c.Why, "no reason given")))}
	if c.FailWhose != "" {
		said.Fields = append(said.Fields, exit.Field{Name: "Who can fix it", Detail: humanize.Line(humanize.Whose(c.FailWhose))})
	}
	if c.FailNext != "" {
		said.Fields = append(said.Fields, exit.Field{Name: "Next", Detail: humanize.Line(c.FailNext)})
	}
	if c.FailMessage != "" {
		said.Short = fmt.Sprintf("%s will not be %s: %s.", c.Name, g, cmp.Or(c.FailReason, "it failed"))
	}
	said.Next = "See: ocpctl explain " + c.ClusterID
	return exit.With(exit.Failed, said)
}

func blockerFields(c v1.Cluster) []exit.Field {
	const most = 10
	var out []exit.Field
	for _, b := range c.Blockers[:min(len(c.Blockers), most)] {
		out = append(out, exit.Field{Detail: humanize.Line(b)})
	}
	if more := len(c.Blockers) - most; more > 0 {
		out = append(out, exit.Field{Name: fmt.Sprintf("%d more", more), Detail: "ocpctl status " + c.Name + " lists them"})
	}
	return out
}
