package main

import (
	"context"
	"fmt"
	"math"
)

// A range is the worst difference seen between equal sides times margin, at least the least percentage of its unit.
const margin = 1.5

var leastPercent = map[string]float64{ownUnit: 20, databaseUnit: 25, countUnit: 2, bytesUnit: 3}

// calibrate compares the working tree with itself several times, as compare does, and writes the ranges that follow from the noise.
func (g *gate) calibrate(ctx context.Context, repeats int) error {
	both, err := g.build(ctx, "head", g.root)
	if err != nil {
		return err
	}
	worst := map[quantity]float64{}
	for n := range repeats {
		s := newSamples()
		if err := g.measure(ctx, both, both, g.chosen, s); err != nil {
			return err
		}
		for _, c := range compareSamples(g.plan, s) {
			worst[c.quantity] = max(worst[c.quantity], differencePercent(c))
		}
		fmt.Fprintf(g.out, "%d of %d comparisons of the working tree with itself are done.\n", n+1, repeats)
	}
	setRanges(&g.plan, g.chosen, worst)
	return writeRanges(g.planPath, g.plan)
}

// differencePercent is the difference in whichever direction.
func differencePercent(c comparison) float64 {
	less := min(c.base, c.head)
	if less <= 0 {
		return 0
	}
	return 100 * (max(c.base, c.head)/less - 1)
}

// setRanges replaces the ranges of the runs that were measured.
func setRanges(p *plan, measured []int, worst map[quantity]float64) {
	for _, i := range measured {
		p.Runs[i].Ranges = map[string]percents{}
	}
	for q, percent := range worst {
		ranges := p.Runs[q.run].Ranges
		if ranges[q.operation] == nil {
			ranges[q.operation] = percents{}
		}
		ranges[q.operation][q.unit] = math.Ceil(max(leastPercent[q.unit], margin*percent))
	}
}
