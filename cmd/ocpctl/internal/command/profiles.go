package command

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/price"
)

func (a *app) newProfilesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "profiles [PROFILE]", Short: "List the profiles with limits and prices, or show one", Args: rangeArgs(0, 1), ValidArgsFunction: completeFirst(a.completeProfiles),
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, args []string) error {
			if len(args) == 1 {
				return a.printProfile(api.GetProfile(ctx, args[0]))
			}
			return listOf[v1.Profile]{
				name:  func(p v1.Profile) string { return p.Name },
				heads: []string{"PROFILE", "WHAT", "MACHINES", "VERSION", "REGION", "PRICE/H", "LIFETIME", "MAXIMUM", "+WHEN FULL"},
				row: func(_ *table.Screen, p v1.Profile) []any {
					region, price := defaultRegion(p)
					return []any{profileCell(p), p.DisplayName, describeMachines(p), p.Versions.Default, region, price, duration.Format(fromSeconds(p.DefaultTTLSeconds)),
						duration.Format(fromSeconds(p.MaxTTLSeconds)), p.WhenFull}
				},
				none: "No profiles.",
			}.showAnswer(a)(api.ListProfiles(ctx))
		}),
	}
}

func profileCell(p v1.Profile) table.Cell {
	switch {
	case !p.Enabled:
		return table.Cell{Text: p.Name + " (off)", Paint: table.Faint}
	case p.Default:
		return table.Cell{Text: p.Name + " (default)"}
	case p.AdminOnly:
		return table.Cell{Text: p.Name + " (admins)"}
	}
	return table.Cell{Text: p.Name}
}

func describeMachines(p v1.Profile) string {
	if p.ControlPlane.Replicas == 0 && p.Workers.Replicas == 0 {
		return "none of its own"
	}
	if p.ControlPlane.Replicas == 0 {
		return fmt.Sprintf("%d nodes on a hub", p.Workers.Replicas)
	}
	if p.Workers.Replicas == 0 {
		return fmt.Sprintf("%d %s", p.ControlPlane.Replicas, p.ControlPlane.InstanceType)
	}
	return fmt.Sprintf("%d %s + %d %s", p.ControlPlane.Replicas, p.ControlPlane.InstanceType, p.Workers.Replicas, p.Workers.InstanceType)
}

func defaultRegion(p v1.Profile) (name, cost string) {
	for _, r := range p.Regions {
		if r.Default || name == "" {
			name, cost = r.Name, price.Dollars(int64(r.HourlyCents))
		}
	}
	return name, cost
}

func (a *app) printProfile(res *http.Response, err error) error {
	return showAnswer(a, func(p v1.Profile) []string { return []string{p.Name} }, func(s *table.Screen, p v1.Profile) {
		fmt.Fprintf(s.Out, "%s  %s\n", s.Painted(humanize.Line(p.Name), table.Bold), humanize.Line(p.DisplayName))
		f := s.Facts()
		f.Add("what", p.Description)
		if !p.Enabled {
			f.Paint("off", cmp.Or(p.DisabledReason, "no reason given"), table.Warn)
		}
		f.Add("platform", price.PlatformText(p.Platform))
		f.Add("machines", describeMachines(p))
		if p.Workers.Most > 0 {
			f.Add("workers", fmt.Sprintf("%d to %d with scale-workers", p.Workers.Least, p.Workers.Most))
		}
		f.Add("versions", formatAllowList(p.Versions))
		f.Add("base domains", formatAllowList(p.BaseDomains))
		f.Add("lifetime", fmt.Sprintf("%s, at most %s", duration.Format(fromSeconds(p.DefaultTTLSeconds)), duration.Format(fromSeconds(p.MaxTTLSeconds))))
		if p.GraceSeconds > 0 {
			f.Add("grace", duration.Format(fromSeconds(p.GraceSeconds))+" after its pull request is closed")
		}
		if p.RunGraceSeconds > 0 {
			f.Add("run grace", duration.Format(fromSeconds(p.RunGraceSeconds))+" after its pipeline's run failed")
		}
		f.Add("when full", map[v1.ProfileWhenFull]string{v1.ProfileWhenFullWait: "a request waits in the queue", v1.ProfileWhenFullRefuse: "a request is refused"}[p.WhenFull])
		if p.AdminOnly {
			f.Add("who", "platform admins only")
		}
		f.Write()
		s.Head("Regions, prices as of " + cmp.Or(p.PricesAsOf, "an unknown day"))
		writeTable(s, "None.", []string{"REGION", "ZONES", "PRICE/H"}, p.Regions, func(_ *table.Screen, r v1.ProfileRegion) []any {
			name := r.Name
			if r.Default {
				name += " (default)"
			}
			return []any{name, strings.Join(r.Zones, ", "), price.Dollars(int64(r.HourlyCents))}
		})
	})(res, err)
}

func formatAllowList(l v1.AllowList) string {
	var out []string
	for _, one := range l.Allow {
		if one == l.Default {
			one += " (default)"
		}
		out = append(out, one)
	}
	return strings.Join(out, ", ")
}
