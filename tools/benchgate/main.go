// Command benchgate compares what operations cost in the working tree with what they cost in an older commit, by turns in one run:
// processor time of the Go process and of PostgreSQL, and allocations. It fails if one costs more than its range in ranges.yaml.
// It also measures those ranges, and writes docs/performance.md. Start it with make bench-gate, bench-gate-calibrate or performance.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "benchgate:", err)
		stop()
		os.Exit(1)
	}
}

// gate is one run of the command.
type gate struct {
	root     string // the working tree
	work     string // where binaries and the older commit are put
	planPath string
	plan     plan
	chosen   []int // runs of the plan
	out      io.Writer
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("say what to do: compare, calibrate or page")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	root := flags.String("root", ".", "the working tree")
	planPath := flags.String("plan", "tools/benchgate/ranges.yaml", "what to run, below the working tree")
	ref := flags.String("base", "", "the commit to compare with (default: the last tag; without one, where this branch left main, or the commit before)")
	repeats := flags.Int("repeats", 5, "how often calibrate compares the working tree with itself")
	only := flags.String("only", "", "do the runs alone whose package and benchmark match this regular expression")
	from := flags.String("from", "", "the output of benchmarks to write the page from, instead of running them")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	tree, err := filepath.Abs(*root)
	if err != nil {
		return err
	}
	g := &gate{root: tree, work: filepath.Join(tree, ".demo", "bench"), planPath: filepath.Join(tree, *planPath), out: out}
	if args[0] == "page" {
		return g.writePage(ctx, *from)
	}
	if g.plan, err = readPlan(g.planPath); err != nil {
		return err
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	for i, r := range g.plan.Runs {
		if wanted.MatchString(r.Package + " " + r.Bench) {
			g.chosen = append(g.chosen, i)
		}
	}
	switch args[0] {
	case "compare":
		return g.compare(ctx, *ref)
	case "calibrate":
		return g.calibrate(ctx, *repeats)
	default:
		return fmt.Errorf("there is no %q; say compare, calibrate or page", args[0])
	}
}
