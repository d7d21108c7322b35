package command

import (
	"bufio"
	"cmp"
	"context"
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
		Use: "scans [SCAN]", Short: "List the looks through cloud accounts, newest first, or show what one looked at", Args: rangeArgs(0, 1), ValidArgsFunction: cobra.NoFileCompletions,
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
