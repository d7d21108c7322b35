package command

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
	"github.com/ocpctl/ocpctl/internal/price"
)

func (a *app) newCatalogCommand() *cobra.Command {
	c := newGroupCommand("catalog", "Profiles, teams, quotas and the catalogue", "",
		a.newProfilesCommand(),
		a.newSimpleCommand("teams", "List the teams you may see, with their budgets", (*connect.API).ListTeams, a.printTeams),
		a.newSimpleCommand("quotas", "List the limits that apply to you and your teams, and their use", (*connect.API).ListQuotas, a.printQuotas),
		a.newSimpleCommand("status", "Show the active catalogue, and why a newer one was rejected", (*connect.API).GetCatalogue, a.printCatalogueState),
		a.newValidateCommand(), a.newReplayCommand())
	c.Aliases = []string{"catalogue"}
	return c
}

// newSimpleCommand makes a command without arguments that makes one call and shows its response.
func (a *app) newSimpleCommand(use, short string, call func(*connect.API, context.Context) (*http.Response, error), show func(*http.Response, error) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: rangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, _ []string) error { return show(call(api, ctx)) }),
	}
}

func (a *app) printTeams(res *http.Response, err error) error {
	return listOf[v1.Team]{
		name:  func(t v1.Team) string { return t.Name },
		heads: []string{"TEAM", "COST CENTERS", "ENVIRONMENTS", "BUDGET/MONTH", "SPENT", "COMMITTED", "+OWNER", "+WEIGHT"},
		row: func(_ *table.Screen, team v1.Team) []any {
			budget := ""
			if team.BudgetCents > 0 {
				budget = price.Dollars(team.BudgetCents)
			}
			return []any{team.Name, strings.Join(team.CostCenters, ", "), strings.Join(team.Environments, ", "), budget, budgetCell(team),
				price.Dollars(team.CommittedCents), team.Owner, team.Weight}
		},
		none: "You are in no team.",
	}.showAnswer(a)(res, err)
}

// budgetCell warns if a budget is nearly used up.
func budgetCell(team v1.Team) table.Cell {
	cell := table.Cell{Text: price.Dollars(team.SpentCents)}
	switch spent := team.SpentCents + team.CommittedCents; {
	case team.BudgetCents > 0 && spent >= team.BudgetCents:
		cell.Paint = table.Bad
	case team.BudgetCents > 0 && spent*10 >= team.BudgetCents*8:
		cell.Paint = table.Warn
	}
	return cell
}

func (a *app) printQuotas(res *http.Response, err error) error {
	return listOf[v1.Quota]{
		name:  func(q v1.Quota) string { return q.Name },
		heads: []string{"QUOTA", "FOR", "LIVE", "CREATING", "NODE HOURS/MONTH", "WAITING", "COHORT"},
		row: func(_ *table.Screen, q v1.Quota) []any {
			waiting := ""
			if q.Waiting > 0 {
				waiting = fmt.Sprint(q.Waiting)
			}
			return []any{q.Name, strings.TrimSpace(string(q.Scope) + " " + q.Key), quotaCell(q.Live), quotaCell(q.Creating), quotaCell(q.NodeHours), waiting, cohortText(q.Cohort)}
		},
		none: "No limit applies to you.",
	}.showAnswer(a)(res, err)
}

func cohortText(c v1.CohortShare) string {
	if c.Name == "" {
		return ""
	}
	return fmt.Sprintf("%s: %d guaranteed, %d borrowed, %d lent", c.Name, c.Guaranteed, c.Borrowed, c.Lent)
}

func quotaCell(u v1.Used) table.Cell {
	switch {
	case u.Most == 0 && u.Used == 0:
		return table.Cell{}
	case float64(u.Used) >= float64(u.Most):
		return table.Cell{Text: fmt.Sprintf("%.4g of %d", u.Used, u.Most), Paint: table.Bad}
	}
	return table.Cell{Text: fmt.Sprintf("%.4g of %d", u.Used, u.Most)}
}

func (a *app) printCatalogueState(res *http.Response, err error) error {
	return showAnswer(a, func(c v1.CatalogueState) []string { return []string{c.Hash} }, func(s *table.Screen, c v1.CatalogueState) {
		f := s.Facts()
		f.Add("active", c.Hash)
		f.Add("loaded", humanize.When(c.LoadedAt, s.Now))
		f.Add("source", cmp.Or(sources[c.Source], c.Source))
		f.Add("contains", strings.Join([]string{humanize.Count(c.Profiles, "profile"), humanize.Count(c.Teams, "team"), humanize.Count(c.Quotas, "quota"), humanize.Count(c.Policies, "policy"), humanize.Count(c.Identities, "identity")}, ", "))
		f.Paint("rejected", c.Problem, table.Bad)
		f.Write()
	})(res, err)
}

// sources describe where a catalogue comes from.
var sources = map[string]string{"embedded": "built into the server", "directory": "the server's catalogue.dir"}

func (a *app) newValidateCommand() *cobra.Command {
	return &cobra.Command{
		Use: "validate DIR", Short: "Check a catalogue directory with the server; nothing is changed",
		Long: `Check a catalogue directory with the server: profiles, teams, quotas, policies, identities, add-ons, pools and accounts. Nothing is changed.
It prints a line for each problem, with the file, the line and what is accepted, and the exit code is then 1.`,
		Args: rangeArgs(1, 1),
		RunE: a.runWithCatalogue(func(ctx context.Context, api *connect.API, dir string, files v1.CatalogueFiles) (valid bool, err error) {
			answer, err := connect.Read[v1.CatalogueProblems](api.ValidateCatalogue(ctx, files))
			if err != nil {
				return false, err
			}
			found := answer.Value
			var names []string
			for _, p := range found.Problems {
				names = append(names, p.File)
			}
			return found.Valid, a.printAnswer(answer.Raw, names, func(s *table.Screen) {
				writeProblems(s, dir, found.Problems)
				if found.Valid {
					s.Linef("Valid: %s, hash %s", humanize.Count(len(files.Files), "file"), humanize.Line(found.Hash))
				}
			})
		}),
	}
}

// runWithCatalogue returns a command's function. It reads the catalogue in the directory that is the argument, and has judge ask the server about
// it. If the catalogue is not valid, the exit code is 1.
func (a *app) runWithCatalogue(judge func(ctx context.Context, api *connect.API, dir string, files v1.CatalogueFiles) (valid bool, err error)) func(*cobra.Command, []string) error {
	return a.runCommand(func(ctx context.Context, args []string) error {
		files, err := readCatalogueFiles(args[0])
		if err != nil {
			return err
		}
		api, err := a.connectAPI()
		if err != nil {
			return err
		}
		valid, err := judge(ctx, api, args[0], v1.CatalogueFiles{Files: files})
		if err == nil && !valid {
			return exit.Silent(exit.Other)
		}
		return err
	})
}

func writeProblems(s *table.Screen, dir string, problems []v1.CatalogueProblem) {
	for _, p := range problems {
		s.Linef("%s", humanize.Line(fmt.Sprintf("%s:%d: %s", filepath.Join(dir, p.File), p.Line, strings.TrimPrefix(p.Field+": "+p.Detail, ": "))))
	}
}

// readCatalogueFiles reads the YAML files of a catalogue's folders. It includes misplaced ones, so that the server can say that it would
// not read them.
func readCatalogueFiles(dir string) (map[string]string, error) {
	folders, err := os.ReadDir(dir)
	if err != nil {
		return nil, exit.Misused("%s is not a catalogue: %w", dir, err)
	}
	files := map[string]string{}
	for _, folder := range folders {
		at, err := os.Stat(filepath.Join(dir, folder.Name())) // it may be a link to a folder
		if err != nil || !at.IsDir() || strings.HasPrefix(folder.Name(), ".") {
			continue
		}
		inside, err := os.ReadDir(filepath.Join(dir, folder.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the catalogue: %w", err)
		}
		for _, e := range inside {
			kind := strings.ToLower(filepath.Ext(e.Name()))
			if e.IsDir() || strings.HasPrefix(e.Name(), ".") || kind != ".yaml" && kind != ".yml" {
				continue
			}
			raw, err := os.ReadFile(filepath.Join(dir, folder.Name(), e.Name()))
			if err != nil {
				return nil, fmt.Errorf("read the catalogue: %w", err)
			}
			files[path.Join(folder.Name(), e.Name())] = string(raw)
		}
	}
	if len(files) == 0 {
		return nil, exit.Misused("%s is not a catalogue: it has no profiles/*.yaml", dir)
	}
	return files, nil
}
