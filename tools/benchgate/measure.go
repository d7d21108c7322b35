package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// Units that the gate compares. Benchmarks with a database report the first two with pgtest.MeasureCPU.
const (
	ownUnit      = "cpu-ms/op"
	databaseUnit = "pg-ms/op"
	countUnit    = "allocs/op"
	bytesUnit    = "B/op"
)

var units = []string{ownUnit, databaseUnit, countUnit, bytesUnit}

// processTurns is how many times as many turns the runs have that need no database. They are short, so that several fall in moments
// in which the machine is quiet.
const processTurns = 3

// quantity is what is compared: one unit of one operation of one run of the plan.
type quantity struct {
	run       int
	operation string
	unit      string
}

// samples are what was measured on both sides.
type samples struct{ base, head map[quantity][]float64 }

func newSamples() samples {
	return samples{base: map[quantity][]float64{}, head: map[quantity][]float64{}}
}

// measure does some runs of the plan on both sides by turns, and adds what they cost.
func (g *gate) measure(ctx context.Context, base, head side, runs []int, into samples) error {
	for turn := range processTurns * g.plan.Turns {
		for _, i := range runs {
			if turn >= g.plan.Turns && !g.plan.Runs[i].Process {
				continue
			}
			for _, t := range []struct {
				side side
				into map[quantity][]float64
			}{{base, into.base}, {head, into.head}} {
				costs, err := runOnce(ctx, t.side, g.plan.Runs[i])
				if err != nil {
					return err
				}
				for c, value := range costs {
					q := quantity{i, c.operation, c.unit}
					t.into[q] = append(t.into[q], value)
				}
			}
		}
	}
	return nil
}

type cost struct{ operation, unit string }

// runOnce runs a benchmark in a process of its own. A side that does not have the package returns nothing.
func runOnce(ctx context.Context, s side, r benchRun) (map[cost]float64, error) {
	binary := s.binary(r.Package)
	if _, err := os.Stat(binary); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	cmd := exec.CommandContext(ctx, binary, "-test.run=^$", "-test.bench="+r.Bench, "-test.benchtime="+r.Times, "-test.benchmem")
	cmd.Dir = filepath.Join(s.tree, r.Package)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s in %s: %w\n%s", r.Package, r.Bench, s.tree, err, out.String())
	}
	costs := map[cost]float64{}
	var operations []string
	for reader := benchfmt.NewReader(&out, r.Package); reader.Scan(); {
		result, isResult := reader.Result().(*benchfmt.Result)
		if !isResult {
			continue
		}
		name := operationName(result.Name)
		operations = append(operations, name)
		for _, unit := range units {
			if value, isMeasured := result.Value(unit); isMeasured {
				costs[cost{name, unit}] = value
			}
		}
		if r.Process {
			used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			costs[cost{name, ownUnit}] = used.Seconds() * 1000 / float64(result.Iters)
		}
	}
	if r.Process && len(operations) > 1 {
		return nil, fmt.Errorf("%s %s: the processor time of one process cannot be divided among %s", r.Package, r.Bench, strings.Join(operations, ", "))
	}
	return costs, nil
}

var processors = regexp.MustCompile(`-\d+$`)

// operationName is a benchmark's name without the number of processors.
func operationName(n benchfmt.Name) string { return processors.ReplaceAllString(n.String(), "") }

// leastOf is what an operation costs when nobody disturbs it: other programs only add to it.
func leastOf(values []float64) float64 { return slices.Min(values) }
