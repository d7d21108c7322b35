package command

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/follow"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/progress"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/filter"
	"github.com/ocpctl/ocpctl/internal/price"
)

// pageSize is the largest possible page.
const pageSize = 500

func (a *app) newListCommand() *cobra.Command {
	var params v1.ListClustersParams
	var all, watch bool
	var most int
	c := fromTable("list", &cobra.Command{
		Long: "List the clusters you may see, newest first. Clusters that are gone are included only with --all, or if the filter names a state.\n\n" +
			"An install that failed and was cleaned up is listed for 24 hours.\n\n" + filterHelp,
		Example: "  ocpctl list owner:me ends:<2h\n  ocpctl list mine failed created:yesterday\n  ocpctl list --status READY,CREATING -o name\n  ocpctl list -- -team:platform sort:ends\n  ocpctl list --watch",
		Args:    cobra.ArbitraryArgs, ValidArgsFunction: completeFilter,
		RunE: a.runCommand(func(ctx context.Context, args []string) error {
			params.Live, params.Filter = !all, strings.Join(args, " ")
			for i, status := range params.Status {
				params.Status[i] = strings.ToUpper(status)
			}
			if most < 0 {
				return exit.Misused("--limit must be 0 or more; 0 shows all")
			}
			if watch {
				return a.watchClusters(ctx, params)
			}
			return a.listClusters(ctx, params, most)
		}),
	})
	f := c.Flags()
	f.StringSliceVar(&params.Status, "status", nil, optionUsage("list", "status"))
	f.StringVar(&params.Team, "team", "", "filter by `team`")
	f.StringVar(&params.Owner, "owner", "", "filter by `owner`")
	f.StringVar(&params.Profile, "profile", "", "filter by `profile`")
	addTextFlags(c, "list", map[string]*string{"platform": &params.Platform, "run": &params.Run, "name": &params.Name})
	f.BoolVarP(&all, "all", "a", false, optionUsage("list", "all"))
	f.BoolVarP(&watch, "watch", "w", false, optionUsage("list", "watch"))
	f.IntVar(&most, "limit", 0, optionUsage("list", "limit"))
	return c
}

// filterHelp says what a filter may contain.
var filterHelp = "A filter is words and conditions. Conditions: " + strings.Join(filterKeys(), ", ") + ". Several values are separated by commas, quotes keep words together, " +
	"and a dash before a condition excludes what it selects (put -- before a first dash). Times are as in <2h, >3d, today, yesterday or 2026-11-28."

func filterKeys() (keys []string) {
	for _, key := range filter.Keys {
		keys = append(keys, string(key)+":")
	}
	return keys
}

// completeFilter completes a word of a filter: a key, or a value of a key that has fixed ones.
func completeFilter(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	key, _, hasKey := strings.Cut(start, ":")
	if !hasKey {
		return append(filterKeys(), append([]string{"mine"}, filter.Statuses...)...), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	var out []string
	for _, value := range filter.ValuesOf(filter.Key(key)) {
		out = append(out, filter.Format(filter.Key(key), value))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

func clusterStatuses() []string {
	return []string{string(v1.PENDING), string(v1.CREATING), string(v1.READY), string(v1.DESTROYING), string(v1.DESTROYED), string(v1.FAILED)}
}

func (a *app) listClusters(ctx context.Context, params v1.ListClustersParams, most int) error {
	api, err := a.connectAPI()
	if err != nil {
		return err
	}
	none := "No clusters. Create one with: ocpctl create --name …"
	if params.Filter != "" {
		none = "No cluster matches " + humanize.Line(params.Filter) + "."
	}
	return listOf[v1.Cluster]{name: handleOf, heads: clusterHeads(), row: clusterRow, none: none}.showPages(a, most, func(limit int, cursor string) (*http.Response, error) {
		params.Limit, params.Cursor = limit, cursor
		return api.ListClusters(ctx, &params)
	})
}

func clusterHeads() []string {
	return []string{"NAME", "STATUS", "PROFILE", "VERSION", "REGION", "TEAM", "OWNER", "AGE", "ENDS", "+SLEEPS", "+PULL REQUEST", "+RUN", "+PRICE/H", "+SPENT", "+ID"}
}

func clusterRow(s *table.Screen, c v1.Cluster) []any {
	return []any{c.Name, statusCell(c), c.Profile, c.Version, c.Region, c.Team, c.Owner, duration.Format(s.Now.Sub(c.AcceptedAt)), describeEnd(c, s.Now), humanize.Sleeps(c, s.Now),
		pullRequest(c), humanize.Line(cmp.Or(c.Run.URL, c.Run.Name)), price.Dollars(int64(c.HourlyCents)), humanize.Spent(c, s.Now), c.ClusterID}
}

// watchClusters prints a row for each change. Filters that the server does not apply to a stream are applied here; a cluster that was
// shown is shown once more when it is destroyed.
func (a *app) watchClusters(ctx context.Context, params v1.ListClustersParams) error {
	api, err := a.connectAPI()
	if err != nil {
		return err
	}
	t, headed, shown := a.newScreen().Columns(clusterHeads()...), false, map[string]string{}
	t.SetMinWidths(21, 28, 16, 7, 9, 12, 12, 10) // for later rows: the longest name, a status with its phase and percentage
	f := a.newFollower(api, &progress.Lines{Out: a.Err, Now: a.Now})
	return f.Many(ctx, params.Filter, func(state follow.State) {
		last, before := shown[state.ClusterID]
		if last == string(state.Raw) || !before && !isWanted(state.Cluster, params) {
			return // after a reconnect the current state comes again
		}
		shown[state.ClusterID] = string(state.Raw)
		if !isWanted(state.Cluster, params) {
			delete(shown, state.ClusterID)
		}
		_ = a.printOne(state.Raw, []string{handleOf(state.Cluster)}, func(s *table.Screen) {
			t.Row(clusterRow(s, state.Cluster)...)
			if headed {
				t.WriteRows()
				return
			}
			t.Write("")
			headed = true
		})
	})
}

// isOfRun reports whether a cluster belongs to a run, given by its id, its key or any address below its page.
func isOfRun(c v1.Cluster, run string) bool {
	return run == "" || c.Run.ID == run || c.Run.Key == run || c.Run.URL != "" && (c.Run.URL == run || strings.HasPrefix(run, c.Run.URL+"/"))
}

func isWanted(c v1.Cluster, p v1.ListClustersParams) bool {
	same := func(want, have string) bool { return want == "" || want == have }
	return (len(p.Status) == 0 || slices.Contains(p.Status, string(c.Status))) && same(p.Team, c.Team) && same(p.Owner, c.Owner) &&
		same(p.Profile, c.Profile) && same(p.Platform, c.Platform) && isOfRun(c, p.Run) && strings.HasPrefix(c.Name, p.Name) && (!p.Live || c.ReleasedAt.IsZero())
}
