package command

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/price"
)

func (a *app) newPoolCommand() *cobra.Command {
	c := newGroupCommand("pool", "Pools of ready clusters that wait to be claimed", "",
		a.newSimpleCommand("list", "List the pools of your teams, and those that these may claim from", (*connect.API).ListPools, a.printPools),
		&cobra.Command{
			Use: "show POOL", Short: "Show a pool with the clusters that you may see", Args: rangeArgs(1, 1), ValidArgsFunction: completeFirst(a.completePools),
			RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, args []string) error {
				return a.printPool(api.GetPool(ctx, args[0]))
			}),
		},
		&cobra.Command{
			Use: "advise POOL", Short: "Say how many clusters of a pool should wait and be awake, by the requests of the last 28 days", Args: rangeArgs(1, 1), ValidArgsFunction: completeFirst(a.completePools),
			RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, args []string) error {
				return a.printPoolAdvice(api.AdvisePool(ctx, args[0]))
			}),
		},
		a.newPoolChangeCommand("pause", "Make and replace nothing; what waits can be claimed (platform admins)", ""),
		a.newPoolChangeCommand("resume", "Undo pause and drain (platform admins)", ""),
		a.newPoolChangeCommand("drain", "Destroy what waits, and make nothing; claimed clusters stay (platform admins)", "Drain the pool %s? What waits in it is destroyed."),
		a.newPoolResizeCommand())
	c.Aliases = []string{"pools"}
	return c
}

// newPoolChangeCommand makes a command that does one thing to a pool. question asks for a confirmation; empty: it needs none.
func (a *app) newPoolChangeCommand(action, short, question string) *cobra.Command {
	said := v1.PoolChange{Action: action}
	yes := question == ""
	c := &cobra.Command{
		Use: action + " POOL", Short: short, Args: rangeArgs(1, 1), ValidArgsFunction: completeFirst(a.completePools),
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, args []string) error {
			if !yes {
				if err := a.askToConfirm(fmt.Sprintf(question, args[0]), yes); err != nil {
					return err
				}
			}
			return a.printPool(api.ChangePool(ctx, args[0], said))
		}),
	}
	reasonFlag(c, &said.Reason)
	if question != "" {
		c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	}
	return c
}

// catalogueSize is what resize takes for the catalogue's own size.
const catalogueSize = "default"

func (a *app) newPoolResizeCommand() *cobra.Command {
	said := v1.PoolChange{Action: "resize"}
	c := &cobra.Command{
		Use: "resize POOL SIZE", Short: "Let another number of clusters wait (platform admins)",
		Long:    "Let another number of clusters wait than the catalogue says, at most the pool's max. The size " + catalogueSize + " is the catalogue's again.",
		Example: "  ocpctl pool resize aws-ready 4 --reason \"the workshop on Friday\"\n  ocpctl pool resize aws-ready " + catalogueSize,
		Args:    rangeArgs(2, 2), ValidArgsFunction: completeFirst(a.completePools),
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, args []string) error {
			if args[1] != catalogueSize {
				size, err := strconv.Atoi(args[1])
				if err != nil {
					return exit.With(exit.Usage, &exit.Problem{Title: "The size is not valid.", Fields: []exit.Field{
						{Name: "SIZE", Detail: fmt.Sprintf("%q is not a number.", args[1]), Accepted: []string{"a number up to the pool's max", catalogueSize}},
					}})
				}
				said.Size = &size
			}
			return a.printPool(api.ChangePool(ctx, args[0], said))
		}),
	}
	reasonFlag(c, &said.Reason)
	return c
}

func (a *app) printPools(res *http.Response, err error) error {
	return listOf[v1.Pool]{
		name:  func(p v1.Pool) string { return p.Name },
		heads: []string{"POOL", "PROFILE", "STATE", "SIZE", "WAITING", "ASLEEP", "MAKING", "CLAIMED", "THIS MONTH", "+TEAM", "WHY FEWER"},
		row: func(_ *table.Screen, p v1.Pool) []any {
			return []any{p.Name, p.Profile, poolCell(p), p.Size, p.Waiting, p.Asleep, p.Making, p.Claimed, poolSpending(p), p.Team, p.Why}
		},
		none: "No pools.",
	}.showAnswer(a)(res, err)
}

func poolCell(p v1.Pool) table.Cell {
	cell := table.Cell{Text: string(p.Mode)}
	switch {
	case p.Mode != v1.PoolModeOpen:
		cell.Paint = table.Warn
	case p.Size > 0 && p.Waiting+p.Asleep == 0:
		cell = table.Cell{Text: "empty", Paint: table.Bad}
	default:
		cell.Paint = table.Good
	}
	return cell
}

// poolText says in which pool a cluster waits, or from which it was claimed; empty: it is of none.
func poolText(c v1.Cluster, now time.Time) string {
	switch {
	case c.Pool == "":
		return ""
	case c.ClaimedAt.IsZero():
		return "waits in " + c.Pool + " to be claimed"
	case c.WaitSparedSeconds == 0:
		return "claimed from " + c.Pool
	}
	return fmt.Sprintf("claimed from %s %s; its install had taken %s", c.Pool, humanize.When(c.ClaimedAt, now), duration.Format(fromSeconds(c.WaitSparedSeconds)))
}

func poolSpending(p v1.Pool) string {
	text := price.Dollars(p.SpentCents)
	if p.MayCostCents != nil {
		text += " of " + price.Dollars(int64(*p.MayCostCents))
	}
	return text
}

func (a *app) printPool(res *http.Response, err error) error {
	return showAnswer(a, func(p v1.PoolDetail) []string { return []string{p.Name} }, func(s *table.Screen, p v1.PoolDetail) {
		state := poolCell(p.Pool)
		fmt.Fprintf(s.Out, "%s  %s\n", s.Painted(humanize.Line(p.Name), table.Bold), s.Painted(state.Text, state.Paint))
		f := s.Facts()
		f.Add("what", p.Description)
		f.Add("profile", p.Profile)
		f.Add("team", p.Team)
		f.Add("who may claim", cmp.Or(strings.Join(p.Teams, ", "), "every team"))
		size := fmt.Sprintf("%d, %d of them awake; at most %d with claimed ones", p.Size, min(p.Running, p.Size), p.Max)
		if p.Resized {
			size += "; an admin changed it"
		}
		f.Add("size", size)
		f.Add("now", fmt.Sprintf("%d waiting, %d asleep, %d being made, %d claimed, %d ending", p.Waiting, p.Asleep+p.Changing, p.Making, p.Claimed, p.Ending))
		f.Add("this month", poolSpending(p.Pool)+" for waiting, by list prices")
		if p.Why != "" {
			f.Paint("why fewer", p.Why, table.Warn)
		}
		if p.ChangedBy != "" {
			f.Add("changed", fmt.Sprintf("%s by %s", humanize.When(p.ChangedAt, s.Now), p.ChangedBy))
		}
		f.Write()
		writeTable(s, "It has no cluster that you may see.", []string{"CLUSTER", "STATE", "OWNER", "TEAM", "MADE", "CLAIMED"}, p.Clusters, func(s *table.Screen, c v1.PoolCluster) []any {
			return []any{c.Name, string(c.State), c.Owner, c.Team, duration.Away(c.AcceptedAt, s.Now), duration.Away(c.ClaimedAt, s.Now)}
		})
	})(res, err)
}

func (a *app) printPoolAdvice(res *http.Response, err error) error {
	return showAnswer(a, func(p v1.PoolAdvice) []string { return []string{p.Name} }, func(s *table.Screen, p v1.PoolAdvice) {
		f := s.Facts()
		f.Add("pool", p.Name)
		f.Add("requests", fmt.Sprintf("%d took one of its clusters, %d got a new cluster although one of these would have fit; since %s", p.Claims, p.Anew, humanize.When(p.Since, s.Now)))
		f.Add("an install takes", duration.Format(fromSeconds(p.InstallSeconds)))
		f.Add("waking takes", duration.Format(fromSeconds(p.WakeSeconds)))
		if p.Claims+p.Anew == 0 {
			f.Add("advice", "none yet: nobody has asked for such a cluster")
			f.Write()
			return
		}
		f.Add("size", fmt.Sprintf("%d; advised: %d, enough on nine of ten days", p.Size, p.AdvisedSize))
		running := fmt.Sprintf("%d now; the table says how many are advised. With runningByClaims: true in its file, the pool follows the table", min(p.Running, p.Size))
		if p.RunningByClaims {
			running = fmt.Sprintf("%d now; the pool follows the table", min(p.Running, p.Size))
		}
		f.Add("awake", running)
		f.Write()
		writeTable(s, "", []string{"HOURS (" + p.Zone + ")", "MON–FRI: REQUESTS", "AWAKE", "SAT, SUN: REQUESTS", "AWAKE"}, joinHours(p.Hours), func(_ *table.Screen, h poolHours) []any {
			return []any{fmt.Sprintf("%02d:00–%02d:00", h.Hour, h.until), h.WorkdayRequests, h.WorkdayRunning, h.WeekendRequests, h.WeekendRunning}
		})
	})(res, err)
}

// poolHours are hours that follow each other, with the same advice.
type poolHours struct {
	v1.PoolHour
	until int
}

func joinHours(all []v1.PoolHour) (out []poolHours) {
	for _, h := range all {
		if last := len(out) - 1; last >= 0 && out[last].WorkdayRunning == h.WorkdayRunning && out[last].WeekendRunning == h.WeekendRunning {
			out[last].WorkdayRequests += h.WorkdayRequests
			out[last].WeekendRequests += h.WeekendRequests
			out[last].until = h.Hour + 1
			continue
		}
		out = append(out, poolHours{h, h.Hour + 1})
	}
	return out
}

func (a *app) completePools(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromServer(cmd, start, func(ctx context.Context, api *connect.API) (out []string) {
		answer, err := connect.Read[v1.Pools](api.ListPools(ctx))
		if err != nil {
			return nil
		}
		for _, p := range answer.Value.Items {
			out = append(out, formatHint(p.Name, fmt.Sprintf("%d of %d wait, %s", p.Waiting+p.Asleep, p.Size, p.Profile)))
		}
		return out
	})
}
