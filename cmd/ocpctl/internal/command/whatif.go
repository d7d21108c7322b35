package command

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
)

// question is whose request a dry run judges, and from where it comes.
type question struct {
	v1.Question
	workers int
}

// noWorkers means that the number of workers is not asked about.
const noWorkers = -1

func (q *question) addFlags(c *cobra.Command) {
	for _, f := range []struct {
		name string
		into *string
	}{{"as", &q.As}, {"as-role", &q.Role}, {"source", &q.Source}, {"repository", &q.Repository}, {"permission", &q.Permission}} {
		c.Flags().StringVar(f.into, f.name, "", optionUsage("create", f.name))
	}
	c.Flags().BoolVar(&q.Fork, "fork", false, optionUsage("create", "fork"))
	c.Flags().IntVar(&q.workers, "workers", noWorkers, optionUsage("create", "workers"))
}

// check refuses flags of a question outside of one, and completes the request of one.
func (q *question) check(dry bool, w *createInput) error {
	if q.workers != noWorkers {
		q.Workers = &q.workers
	}
	asked := q.Role != "" || q.Source != "" || q.Repository != "" || q.Permission != "" || q.Fork || q.Workers != nil
	switch {
	case q.As != "" && !dry:
		return exit.Misused("--as asks what policy would say to somebody else; give --dry-run with it")
	case q.As == "" && asked:
		return exit.Misused("--as-role, --source, --repository, --permission, --fork and --workers belong to --as; give --as PERSON with --dry-run")
	}
	if q.As != "" && w.file == "" {
		w.Name = cmp.Or(w.Name, "what-if")
	}
	return nil
}

// answer asks what policy would say to the request.
func (q *question) answer(ctx context.Context, a *app, api *connect.API, r v1.CreateRequest) error {
	q.Request = r
	answer, err := connect.Read[v1.QuestionAnswer](api.WhatIf(ctx, q.Question))
	if err != nil {
		return err
	}
	said := answer.Value
	return a.printPreview(answer.Raw, said.Verdict, func(s *table.Screen) {
		s.Linef("%s", humanize.Line(fmt.Sprintf("As %s (%s)", said.Name, strings.Join(append([]string{said.Principal}, said.Roles...), ", "))))
	})
}

func (a *app) newReplayCommand() *cobra.Command {
	return &cobra.Command{
		Use: "what-if DIR", Short: "Show what a changed catalogue would have said to the requests of the last 30 days",
		Long: `Judge the requests of the last 30 days by the catalogue in DIR, and show those whose verdict differs from that of the active
catalogue, by the check that makes the difference, with examples. Nothing is changed. It shows what everybody asked for, so it is for
platform admins and is audited. If the catalogue has problems, they are printed, and the exit code is 1.`,
		Example: "  ocpctl catalog what-if catalogue/",
		Args:    rangeArgs(1, 1),
		RunE: a.runWithCatalogue(func(ctx context.Context, api *connect.API, dir string, files v1.CatalogueFiles) (valid bool, err error) {
			answer, err := connect.Read[v1.CatalogueReplay](api.ReplayCatalogue(ctx, files))
			if err != nil {
				return false, err
			}
			found := answer.Value
			return found.Valid, a.printAnswer(answer.Raw, []string{found.Hash}, func(s *table.Screen) { writeReplay(s, dir, found) })
		}),
	}
}

// changeTexts say what happens to requests, for people.
var changeTexts = map[string]string{"refused": "now refused", "approval": "now need approval", "accepted": "now accepted", "free": "need no approval any more"}

func writeReplay(s *table.Screen, dir string, found v1.CatalogueReplay) {
	if !found.Valid {
		writeProblems(s, dir, found.Problems)
		return
	}
	s.Linef("%s", humanize.Line(found.Headline))
	for _, g := range found.Groups {
		paint := table.Good
		if g.Change == "refused" || g.Change == "approval" {
			paint = table.Warn
		}
		fmt.Fprintf(s.Out, "\n%s\n", s.Painted(humanize.Line(fmt.Sprintf("%s: %s of %s %s", g.Check, humanize.Count(g.Requests, "request"), humanize.Count(g.People, "principal"), changeTexts[g.Change])), paint))
		s.Linef("  %s", humanize.Line("teams "+strings.Join(g.Teams, ", ")+"; profiles "+strings.Join(g.Profiles, ", ")))
		for _, e := range g.Examples {
			s.Linef("  %s", humanize.Line(fmt.Sprintf("%s  %s, %s, team %s: %s", humanize.When(e.At, s.Now), e.Name, e.Profile, e.Team, e.Message)))
		}
	}
	if found.RolesChange {
		s.Linef("Identities or people differ, too. Each request was judged with the roles that its requester had.")
	}
	if len(found.RemovedAccounts) > 0 {
		s.Linef("%s", s.Painted(humanize.Line("Clusters are still in cloud accounts that are removed: "+strings.Join(found.RemovedAccounts, ", ")+". Keep these accounts' credentials until they are gone."), table.Warn))
	}
	if found.Uncounted > 0 {
		s.Linef("For %s, made before usage was recorded, quotas and budgets count as unused.", humanize.Count(found.Uncounted, "request"))
	}
	if found.OlderLeftOut {
		s.Linef("Older requests were left out.")
	}
}
