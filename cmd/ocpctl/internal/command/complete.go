package command

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/follow"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
)

// completeTime limits how long a person waits for completions.
const completeTime = 2 * time.Second

// completer is cobra's type of completion function.
type completer = cobra.CompletionFunc

// flagCompleters are the completions of flags, by the flag's name, or by the names of the command and the flag.
func (a *app) flagCompleters() map[string]completer {
	fixed := func(values []string) completer {
		return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	}
	return map[string]completer{
		"access": fixed(shareLevels), "auth": fixed(connect.Methods()), "create lifetime": fixed(lifetimes), "list status": fixed(clusterStatuses()), "on-ready": fixed(signals),
		"output": fixed(table.Formats()), "reuse": fixed(reuses), "role": fixed(accessRoles()), "run-kind": fixed(runKinds), "summary csv": fixed(summaryTables), "wait for": fixed(follow.Goals()),
		"create account": a.completeCloudAccounts, "base-domain": a.completeDomains, "cluster": a.completeClusters, "cluster-id": a.completeClusters, "context": a.completeContexts, "pool": a.completePools, "profile": a.completeProfiles,
		"region": a.completeRegions, "team": a.completeTeams, "create version": a.completeVersions,
		"share team": cobra.NoFileCompletions, "unshare team": cobra.NoFileCompletions, // it may be a team that you cannot list
		"by": cobra.FixedCompletions(reportGroups, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace),
	}
}

// addCompletions completes the flags of a command and of those below it. A flag that is not in the table has no completions, unless it takes
// a file or a folder, which the shell completes.
func addCompletions(c *cobra.Command, table map[string]completer) {
	add := func(f *pflag.Flag) {
		by, known := table[c.Name()+" "+f.Name]
		if !known {
			by, known = table[f.Name]
		}
		if kind, _ := pflag.UnquoteUsage(f); kind == "file" || kind == "folder" || f.Value.Type() == "bool" {
			return
		}
		if !known {
			by = cobra.NoFileCompletions
		}
		panicOnError(c.RegisterFlagCompletionFunc(f.Name, by))
	}
	c.Flags().VisitAll(add)
	c.PersistentFlags().VisitAll(add)
	for _, below := range c.Commands() {
		addCompletions(below, table)
	}
}

// completeFirst completes only the first argument.
func completeFirst(c completer) completer {
	return func(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c(cmd, args, start)
	}
}

// completeFromServer completes with data from the server. On any error there are no completions and no messages.
func (a *app) completeFromServer(cmd *cobra.Command, start string, get func(ctx context.Context, api *connect.API) []string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completeTime)
	defer cancel()
	api, err := a.connectAPI()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var fit []string
	for _, one := range get(ctx, api) {
		if strings.HasPrefix(one, start) {
			fit = append(fit, one)
		}
	}
	return fit, cobra.ShellCompDirectiveNoFileComp
}

// formatHint is a completion with its description.
func formatHint(value, about string) string {
	return humanize.Line(value) + "\t" + humanize.Line(about)
}

// completeClusters completes names, and ids once the person has begun to type an id.
func (a *app) completeClusters(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromServer(cmd, start, func(ctx context.Context, api *connect.API) (out []string) {
		byID := strings.HasPrefix(start, "clu_")
		params := &v1.ListClustersParams{Live: true, Limit: pageSize, Name: start}
		if byID {
			params.Live, params.Name = false, ""
		}
		answer, err := connect.Read[v1.ClusterPage](api.ListClusters(ctx, params))
		if err != nil {
			return nil
		}
		for _, c := range answer.Value.Items {
			if byID {
				out = append(out, formatHint(c.ClusterID, c.Name+", "+statusCell(c).Text))
			} else {
				out = append(out, formatHint(c.Name, statusCell(c).Text+", "+c.Profile))
			}
		}
		return out
	})
}

// listProfiles gets the profiles; with a name only that one.
func listProfiles(ctx context.Context, api *connect.API, name string) []v1.Profile {
	answer, err := connect.Read[v1.Profiles](api.ListProfiles(ctx))
	if err != nil {
		return nil
	}
	var out []v1.Profile
	for _, p := range answer.Value.Items {
		if name == "" && p.Enabled || p.Name == name {
			out = append(out, p)
		}
	}
	return out
}

func (a *app) completeProfiles(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromServer(cmd, start, func(ctx context.Context, api *connect.API) (out []string) {
		for _, p := range listProfiles(ctx, api, "") {
			out = append(out, formatHint(p.Name, p.DisplayName))
		}
		return out
	})
}

// completeFromProfile completes a value of the profile on the command line, or of any profile.
func (a *app) completeFromProfile(cmd *cobra.Command, args []string, start string, of func(v1.Profile) []string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromServer(cmd, start, func(ctx context.Context, api *connect.API) (out []string) {
		name, seen := "", map[string]bool{}
		if len(args) > 0 {
			name = args[0]
		}
		for _, p := range listProfiles(ctx, api, name) {
			for _, one := range of(p) {
				if !seen[one] {
					seen[one] = true
					out = append(out, humanize.Line(one))
				}
			}
		}
		return out
	})
}

func (a *app) completeRegions(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromProfile(cmd, args, start, func(p v1.Profile) (out []string) {
		for _, r := range p.Regions {
			out = append(out, r.Name)
		}
		return out
	})
}

func (a *app) completeVersions(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromProfile(cmd, args, start, func(p v1.Profile) []string { return p.Versions.Allow })
}

func (a *app) completeDomains(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromProfile(cmd, args, start, func(p v1.Profile) []string { return p.BaseDomains.Allow })
}

func (a *app) completeTeams(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromServer(cmd, start, func(ctx context.Context, api *connect.API) (out []string) {
		answer, err := connect.Read[v1.Teams](api.ListTeams(ctx))
		if err != nil {
			return nil
		}
		for _, t := range answer.Value.Items {
			out = append(out, formatHint(t.Name, t.DisplayName))
		}
		return out
	})
}

func (a *app) completeApprovals(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromServer(cmd, start, func(ctx context.Context, api *connect.API) (out []string) {
		answer, err := connect.Read[v1.ApprovalPage](api.ListApprovals(ctx, &v1.ListApprovalsParams{State: "pending", Limit: pageSize}))
		if err != nil {
			return nil
		}
		for _, one := range answer.Value.Items {
			out = append(out, formatHint(one.ApprovalID, string(one.Kind)+" "+cmp.Or(one.ClusterName, one.ClusterID)))
		}
		return out
	})
}

func (a *app) completeAccounts(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromServer(cmd, start, func(ctx context.Context, api *connect.API) []string {
		answer, err := connect.Read[v1.Me](api.GetMe(ctx))
		if err != nil {
			return nil
		}
		return answer.Value.Accounts
	})
}

func (a *app) completeContexts(_ *cobra.Command, _ []string, start string) (out []string, _ cobra.ShellCompDirective) {
	config, err := connect.Load(connect.Path(a.Env))
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, name := range config.Names() {
		if strings.HasPrefix(name, start) {
			out = append(out, formatHint(name, config.Contexts[name].Server))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
