package command

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/price"
)

func (a *app) newScanCommand() *cobra.Command {
	var said v1.ScanRequest
	c := &cobra.Command{
		Use: "scan", Short: "Look through the cloud accounts now for resources that belong to no living cluster", Args: rangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		Long: `Look through the cloud accounts now for resources that belong to no living cluster.

A scan only reads. Accounts are looked through one after another; what is found is listed by "ocpctl admin orphans". It is safe to
repeat: a scan that waits or runs is shown as it is. Only platform admins of all teams may do this.`,
		Example: "  ocpctl admin scan\n  ocpctl admin scan --account 123456789012",
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, _ []string) error {
			return a.printScans(api.StartScans(ctx, said))
		}),
	}
	c.Flags().StringVar(&said.Account, "account", "", "only this cloud `account`")
	reasonFlag(c, &said.Reason)
	return c
}

func (a *app) newScansCommand() *cobra.Command {
	var params v1.ListScansParams
	c := &cobra.Command{
		Use: "scans [SCAN]", Short: "List the scans of cloud accounts, newest first, or show what one read", Args: rangeArgs(0, 1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, args []string) error {
			if len(args) == 1 {
				return a.printScan(api.GetScan(ctx, args[0]))
			}
			return a.printScans(api.ListScans(ctx, &params))
		}),
	}
	c.Flags().StringVar(&params.Account, "account", "", "filter by cloud `account`")
	c.Flags().IntVar(&params.Limit, "limit", 20, "show at most this `number`")
	return c
}

func (a *app) printScan(res *http.Response, err error) error {
	return showAnswer(a, func(one v1.ScanDetail) []string { return []string{one.ScanID} }, func(s *table.Screen, one v1.ScanDetail) {
		f := s.Facts()
		f.Add("scan", one.ScanID)
		f.Add("account", one.Account)
		f.Add("state", one.State)
		f.Add("opened", humanize.When(one.OpenedAt, s.Now))
		f.Add("ended", humanize.When(one.EndedAt, s.Now))
		f.Add("about", cmp.Or(one.Message, one.Trouble))
		f.Add("next", one.Next)
		f.Write()
		writeTable(s, "It has not looked at anything yet.", []string{"PART", "RESOURCES", "CALLS", "COMPLETE", "ERROR"}, one.Parts, func(_ *table.Screen, p v1.ScanPart) []any {
			return []any{p.Name, p.Resources, p.Calls, map[bool]string{true: "yes", false: "no"}[p.Complete], p.Error}
		})
	})(res, err)
}

func (a *app) printScans(res *http.Response, err error) error {
	return listOf[v1.Scan]{
		name:  func(one v1.Scan) string { return one.ScanID },
		heads: []string{"SCAN", "ACCOUNT", "STATE", "OPENED", "ENDED", "RESOURCES", "ABOUT"},
		row: func(s *table.Screen, one v1.Scan) []any {
			return []any{one.ScanID, one.Account, one.State, duration.Away(one.OpenedAt, s.Now), duration.Away(one.EndedAt, s.Now), one.Resources, cmp.Or(one.Message, one.Trouble)}
		},
		none: "No scans.",
	}.showAnswer(a)(res, err)
}

func (a *app) newOrphansCommand() *cobra.Command {
	var params v1.ListOrphansParams
	var most int
	var asCSV bool
	c := &cobra.Command{
		Use: "orphans [ORPHAN]", Short: "List resources in the cloud that belong to no living cluster, or show one group of them", Args: rangeArgs(0, 1), ValidArgsFunction: cobra.NoFileCompletions,
		Long: `List resources in the cloud that belong to no living cluster of this installation, with whom to ask, what they cost and the next step.
With -o wide, each is followed by its resources.`,
		Example: "  ocpctl admin orphans --class released\n  ocpctl admin orphans --team platform --csv",
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, args []string) error {
			if len(args) == 1 {
				return a.printOrphan(api.GetOrphan(ctx, args[0]))
			}
			if asCSV {
				return a.writeOrphansCSV(ctx, api, params)
			}
			return a.listOrphans(most, func(limit int, cursor string) (*http.Response, error) {
				params.Limit, params.Cursor = limit, cursor
				return api.ListOrphans(ctx, &params)
			})
		}),
	}
	f := c.Flags()
	f.StringVar(&params.Class, "class", "", "filter by `class`: released, unrecorded, unknown, owned, nobody or foreign")
	f.StringVar(&params.State, "state", "", "filter by `state`: seen, reported, exempt, approved, removing, kept or gone")
	f.StringVar(&params.Owner, "owner", "", "filter by `owner`")
	f.StringVar(&params.Team, "team", "", "filter by `team`")
	f.StringVar(&params.Account, "account", "", "filter by cloud `account`")
	f.BoolVar(&params.Gone, "gone", false, "include those that are gone")
	f.BoolVar(&asCSV, "csv", false, "write all of them as CSV")
	f.IntVar(&most, "limit", 50, "show at most this `number`; 0 shows all")
	return c
}

func (a *app) printOrphan(res *http.Response, err error) error {
	return showAnswer(a, func(o v1.OrphanDetail) []string { return []string{o.OrphanID} }, func(s *table.Screen, o v1.OrphanDetail) {
		f := s.Facts()
		f.Add("orphan", o.OrphanID)
		f.Add("class", o.Class)
		f.Add("state", o.State+": "+o.StateWhy)
		f.Add("why", o.Why)
		f.Add("ask", cmp.Or(o.Owner, o.Team))
		f.Add("account", o.Account)
		f.Add("first seen", humanize.When(o.FirstSeenAt, s.Now))
		f.Add("next", o.Next)
		f.Write()
		writeTable(s, "Nothing of it is left.", []string{"RESOURCE", "TYPE", "REGION", "NAME", "SEEN"}, o.Parts, func(s *table.Screen, p v1.OrphanPart) []any {
			return []any{p.ID, p.Type, p.Region, p.Name, duration.Away(p.FirstSeenAt, s.Now)}
		})
	})(res, err)
}

func (a *app) listOrphans(most int, get func(limit int, cursor string) (*http.Response, error)) error {
	return listOf[v1.Orphan]{
		name:  func(o v1.Orphan) string { return o.OrphanID },
		heads: []string{"ORPHAN", "CLASS", "STATE", "NAME", "ASK", "RESOURCES", "AN HOUR", "SO FAR", "SEEN", "+WHY", "NEXT"},
		row: func(s *table.Screen, o v1.Orphan) []any {
			hour, cost := "unknown", "unknown"
			if o.HourlyCents != nil {
				hour, cost = price.Dollars(int64(*o.HourlyCents+0.5)), price.Dollars(*o.CostCents)
			}
			return []any{o.OrphanID, o.Class, o.State, cmp.Or(o.Identity, o.ClusterTag, o.Place), cmp.Or(o.Owner, o.Team), o.Resources, hour, cost,
				duration.Away(o.FirstSeenAt, s.Now), o.Why, o.Next}
		},
		none: "No orphans.",
		after: func(s *table.Screen, all []v1.Orphan) {
			for _, o := range all {
				if s.Wide {
					writeParagraphs(s, "Resources of "+o.OrphanID, o.Evidence)
				}
			}
		},
	}.showPages(a, most, get)
}

// writeOrphansCSV writes every page, with one head.
func (a *app) writeOrphansCSV(ctx context.Context, api *connect.API, params v1.ListOrphansParams) error {
	params.Format, params.Limit = "csv", 500
	for first := true; ; first = false {
		res, err := api.ListOrphans(ctx, &params)
		next := ""
		if err == nil {
			next = nextCursor(res.Header.Get("Link"))
		}
		body, err := connect.Stream(res, err)
		if err != nil {
			return err
		}
		lines := bufio.NewReader(body)
		if !first {
			_, err = lines.ReadString('\n')
		}
		if err == nil {
			err = a.writeStream(lines)
		}
		if closed := body.Close(); err == nil || err == io.EOF {
			err = closed
		}
		if err != nil || next == "" {
			return err
		}
		params.Cursor = next
	}
}

// nextCursor returns the cursor in a Link header; empty: this is the last page.
func nextCursor(link string) string {
	address, _, _ := strings.Cut(strings.TrimPrefix(link, "<"), ">")
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Query().Get("cursor")
}

// mostOrphans is how many orphans the server takes in one request.
const mostOrphans = 100

// newOrphanActCommands are the commands that decide about orphans.
func (a *app) newOrphanActCommands() []*cobra.Command {
	return []*cobra.Command{a.newOrphanApproveCommand(), a.newOrphanExemptCommand()}
}

func (a *app) newOrphanApproveCommand() *cobra.Command {
	var reason string
	var dry, yes bool
	c := &cobra.Command{
		Use: "approve ORPHAN...", Short: "Approve the removal of orphans (platform admins)",
		Long: `Approve the removal of orphans, all or none. The teardown of the orphan's own cluster removes it, and counts what is left.

With --dry-run nothing is changed, and you see what the teardown would delete, by which calls and names, and what it would leave.
Resources of another installation, of a person or of nobody known are never removed.`,
		Example: `  ocpctl admin orphans approve orp_01J8Z --dry-run
  ocpctl admin orphans approve orp_01J8Z orp_01J90 --reason "INC-1234: leaks of Friday"`,
		Args: rangeArgs(1, mostOrphans), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runCommand(func(ctx context.Context, args []string) error {
			if !dry {
				if err := needReason(reason); err != nil {
					return err
				}
			}
			api, err := a.connectAPI()
			if err != nil {
				return err
			}
			if !dry {
				if err := a.askToConfirm(fmt.Sprintf("Approve the removal of %s? Its resources are deleted.", humanize.Count(len(args), "orphan")), yes); err != nil {
					return err
				}
			}
			return showAnswer(a, func(v1.RemovalPlans) []string { return args }, func(s *table.Screen, plans v1.RemovalPlans) {
				for _, p := range plans.Items {
					a.writeRemovalPlan(s, p, dry)
				}
			})(api.ApproveOrphans(ctx, v1.OrphanApproval{Ids: args, Reason: reason, DryRun: dry}))
		}),
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "show what would be deleted, and change nothing")
	reasonFlag(c, &reason)
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	return c
}

// writeRemovalPlan shows how one orphan is removed.
func (a *app) writeRemovalPlan(s *table.Screen, p v1.RemovalPlan, dry bool) {
	state, paint := "approved", table.Good
	switch {
	case p.Refused != "":
		state, paint = "cannot be removed", table.Bad
	case dry:
		state, paint = "would be removed", table.Bold
	}
	fmt.Fprintf(s.Out, "%s  %s\n", s.Painted(humanize.Line(p.Orphan), table.Bold), s.Painted(state, paint))
	f := s.Facts()
	f.Add("class", p.Class)
	f.Add("cluster", strings.TrimSpace(p.ClusterName+" "+p.ClusterID))
	f.Add("why not", p.Refused)
	f.Add("waits", p.Waits)
	f.Add("doubt", p.Doubt)
	f.Add("new names", strings.Join(p.Names, ", "))
	f.Write()
	var calls []string
	for _, call := range p.Calls {
		calls = append(calls, call.What+": "+call.Call)
	}
	writeParagraphs(s, "The teardown", calls)
	writeParagraphs(s, "It deletes", listRemovals(p.Removed))
	writeParagraphs(s, "It leaves", listRemovals(p.Kept))
}

func listRemovals(of []v1.RemovalResource) (lines []string) {
	for _, r := range of {
		lines = append(lines, fmt.Sprintf("%s (%s)", r.ID, r.Why))
	}
	return lines
}

func (a *app) newOrphanExemptCommand() *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "exempt ORPHAN...", Short: "Let orphans stay, and report them no more (platform admins)",
		Long:    "Let orphans stay, all or none, and report them no more. An approval whose removal has not begun is taken back.",
		Example: `  ocpctl admin orphans exempt orp_01J8Z --reason "the network team keeps this VPC"`,
		Args:    rangeArgs(1, mostOrphans), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, args []string) error {
			return showAnswer(a, func(e v1.ExemptOrphans) []string { return e.Ids }, func(s *table.Screen, e v1.ExemptOrphans) {
				s.Linef("Exempt: %s", humanize.Line(strings.Join(e.Ids, ", ")))
			})(api.ExemptOrphans(ctx, v1.OrphanExemption{Ids: args, Reason: reason}))
		}),
	}
	addRequiredReason(c, &reason)
	return c
}
