package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// comparison is one quantity on both sides.
type comparison struct {
	quantity
	base, head float64
	percent    float64 // more than base
	most       float64 // percent that are noise
	isRanged   bool
}

func (c comparison) costsMore() bool { return c.isRanged && c.percent > c.most }

// compare is the gate.
func (g *gate) compare(ctx context.Context, asked string) error {
	commit, how, err := g.chooseBase(ctx, asked)
	if err != nil {
		return err
	}
	began := time.Now()
	fmt.Fprintf(g.out, "The working tree is compared with %.12s (%s).\n", commit, how)
	tree, err := g.exportBase(ctx, commit)
	defer os.RemoveAll(tree)
	if err != nil {
		return err
	}
	base, err := g.build(ctx, "base", tree)
	if err != nil {
		return err
	}
	head, err := g.build(ctx, "head", g.root)
	if err != nil {
		return err
	}
	fmt.Fprintf(g.out, "Both are built (%s).\n", time.Since(began).Round(time.Second))
	s := newSamples()
	if err := g.measure(ctx, base, head, g.chosen, s); err != nil {
		return err
	}
	if again := runsThatCostMore(g.plan, s); len(again) > 0 {
		fmt.Fprintf(g.out, "%d of %d runs seem to cost more and are measured again.\n", len(again), len(g.chosen))
		if err := g.measure(ctx, base, head, again, s); err != nil {
			return err
		}
	}
	err = g.report(s)
	fmt.Fprintf(g.out, "It took %s.\n", time.Since(began).Round(time.Second))
	return err
}

// compareSamples compares what was measured on both sides.
func compareSamples(p plan, s samples) (all []comparison) {
	for q, base := range s.base {
		head, isThere := s.head[q]
		if !isThere {
			continue
		}
		c := comparison{quantity: q, base: leastOf(base), head: leastOf(head)}
		if c.base > 0 {
			c.percent = 100 * (c.head/c.base - 1)
		} else if c.head > 0 {
			c.percent = 100
		}
		c.most, c.isRanged = p.Runs[q.run].Ranges[q.operation][q.unit]
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b comparison) int {
		return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.operation, b.operation), cmp.Compare(slices.Index(units, a.unit), slices.Index(units, b.unit)))
	})
	return all
}

func runsThatCostMore(p plan, s samples) (runs []int) {
	for _, c := range compareSamples(p, s) {
		if c.costsMore() && !slices.Contains(runs, c.run) {
			runs = append(runs, c.run)
		}
	}
	return runs
}

// report prints what was compared. The error names the operations that cost more than their range.
func (g *gate) report(s samples) error {
	table := tabwriter.NewWriter(g.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "operation\tunit\tbase\tnow\tchange\tmost")
	var operations, problems []string
	more := map[string][]comparison{}
	for _, c := range compareSamples(g.plan, s) {
		name := fullName(g.plan.Runs[c.run], c.operation)
		if !slices.Contains(operations, name) {
			operations = append(operations, name)
		}
		fmt.Fprintf(table, "%s\t%s\t%.4g\t%.4g\t%+.0f %%\t%.0f %%\n", name, c.unit, c.base, c.head, c.percent, c.most)
		switch reason, isAccepted := g.plan.Accepted[name]; {
		case !c.isRanged:
			problems = append(problems, fmt.Sprintf("%s has no range for %s. Run: make bench-gate-calibrate", name, c.unit))
		case c.costsMore() && isAccepted:
			fmt.Fprintf(table, "\t\t\taccepted: %s\n", reason)
		case c.costsMore():
			more[name] = append(more[name], c)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, line := range onlyOnOneSide(g.plan, s) {
		fmt.Fprintln(g.out, line)
	}
	fmt.Fprintf(g.out, "%d operations were compared.\n", len(operations))
	for _, name := range operations {
		if cs := more[name]; len(cs) > 0 {
			problems = append(problems, explainCost(g.plan.Runs[cs[0].run], name, cs))
		}
	}
	switch {
	case len(problems) > 0:
		return errors.New(strings.Join(problems, "\n"))
	case len(operations) == 0:
		return errors.New("nothing was compared")
	}
	return nil
}

// explainCost says what an operation costs more and what to run next.
func explainCost(r benchRun, name string, more []comparison) string {
	text, profile := name+" costs more than in the base:", "-memprofile"
	for _, c := range more {
		text += fmt.Sprintf("\n  %.4g %s, and %.4g in the base (%+.0f %%, at most %+.0f %% is noise)", c.head, c.unit, c.base, c.percent, c.most)
		if c.unit == ownUnit || c.unit == databaseUnit {
			profile = "-cpuprofile"
		}
	}
	return text + fmt.Sprintf(`
  Look where it goes: go test %s -run '^$' -bench '%s' -benchtime %s %s /tmp/cost.out && go tool pprof -top /tmp/cost.out
  If it is worth its cost, write the operation and the reason below "accepted" in tools/benchgate/ranges.yaml.`, r.Package, r.Bench, r.Times, profile)
}

// onlyOnOneSide are lines about quantities that cannot be compared.
func onlyOnOneSide(p plan, s samples) (lines []string) {
	for _, side := range []struct {
		here, there map[quantity][]float64
		what        string
	}{{s.head, s.base, "is new"}, {s.base, s.head, "is gone"}} {
		missing := map[string][]string{}
		for q := range side.here {
			if _, isThere := side.there[q]; !isThere {
				name := fullName(p.Runs[q.run], q.operation)
				missing[name] = append(missing[name], q.unit)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(missing)) {
			slices.Sort(missing[name])
			lines = append(lines, fmt.Sprintf("%s %s: not compared (%s).", name, side.what, strings.Join(missing[name], ", ")))
		}
	}
	return lines
}

func fullName(r benchRun, operation string) string {
	return strings.TrimPrefix(r.Package, "./") + " " + operation
}
