package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Options are the options of a matrix.
type Options struct {
	Time  time.Duration // start no new round after this time; 0: until every cell was struck
	Cells int           // maximum number; 0: all
	Seed  uint64        // determines the order, and which clusters stay wanted
	Only  string        // names of cells, the parts before or after their slash, or phases, separated by commas; empty: all
	Width int           // concurrent clusters; 0: 16
}

// Matrix injects faults at the steps of clusters' lives, round after round, prints the table and returns an error unless every cell
// was struck and converged. A round is one fault and many clusters, each held at a boundary of its own.
func Matrix(ctx context.Context, t *Run, o Options) (err error) {
	defer must.Catch(&err)
	began := time.Now()
	if o.Width == 0 {
		o.Width = 16
	}
	must.Do(t.openGates())
	bounds, err := t.survey(ctx)
	must.Wrap(err, "lives nobody disturbs")
	struck := strikesOn(t.clouds[0])
	queues := o.cells(o.named(bounds), struck)
	total := 0
	for _, q := range queues {
		total += len(q)
	}
	t.say("crash matrix, seed %d: %d boundaries × %d strikes; three undisturbed lives took %.1f s", o.Seed, len(bounds), len(struck), time.Since(began).Seconds())
	must.FailIf(total == 0, "no cell is called %q; a name is BOUNDARY/STRIKE, such as create@12/runner-killed, and a phase is one such as destroying", o.Only)
	if o.Cells > 0 {
		total = min(total, o.Cells)
	}
	var done []*cell
	for turn := 0; len(done) < total && ctx.Err() == nil && (o.Time == 0 || time.Since(began) < o.Time); turn++ {
		q := &queues[turn%len(queues)]
		width := min(o.Width, (total+len(queues)-1)/len(queues), total-len(done))
		cells := take(q, width)
		if len(cells) == 0 {
			continue
		}
		must.Do(t.round(ctx, cells))
		for _, c := range cells {
			if c.missed && c.err == nil && !c.again {
				*q = append(*q, &cell{boundary: c.boundary, strike: c.strike, wanted: c.wanted, whole: c.whole, again: true})
				continue
			}
			done = append(done, c)
		}
		t.say("  %4.0f s  %s: %s", time.Since(began).Seconds(), cells[0].strike.text, verdict(cells))
	}
	return t.report(o, done, time.Since(began))
}

// wants reports whether a cell is among those that were requested.
func (o Options) wants(c *cell) bool {
	phase, _, _ := strings.Cut(c.Group, " ")
	return o.Only == "" || slices.ContainsFunc(strings.Split(o.Only, ","), func(name string) bool {
		return slices.Contains([]string{c.name(), c.ID, c.key, phase}, name)
	})
}

// named adds boundaries that were requested by name but not seen in this survey: lives differ by a write or two.
func (o Options) named(bounds []boundary) []boundary {
	for name := range strings.SplitSeq(o.Only, ",") {
		id, _, _ := strings.Cut(name, "/")
		command, n, ok := strings.Cut(id, "@")
		writes, err := strconv.Atoi(n)
		job, phase := phaseOf(command)
		if ok && err == nil && job != "" && !slices.ContainsFunc(bounds, func(b boundary) bool { return b.ID == id }) {
			bounds = append(bounds, boundary{ID: id, Job: job, Group: phase, Text: "after write " + n, arm: heldTool(command, writes)})
		}
	}
	return bounds
}

// take removes the next cells from a queue. Few of them are held at calls, because those cannot wait long for the others.
func take(queue *[]*cell, n int) []*cell {
	var out, rest []*cell
	short := 0
	for _, c := range *queue {
		if len(out) == n || c.short() && short >= max(1, n/3) {
			rest = append(rest, c)
			continue
		}
		if out = append(out, c); c.short() {
			short++
		}
	}
	*queue = rest
	return out
}

// cells returns all cells in their order, by fault: shuffled, and then each group once before any comes again.
func (o Options) cells(bounds []boundary, strikes []strike) [][]*cell {
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	var out [][]*cell
	for _, s := range strikes {
		var cells []*cell
		for _, b := range bounds {
			c := &cell{boundary: b, strike: s}
			c.wanted, c.whole = coin(o.Seed, "wanted "+c.name())%4 != 0, coin(o.Seed, "whole "+c.name())%2 == 0
			if o.wants(c) {
				cells = append(cells, c)
			}
		}
		rng.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
		turn, drawn := map[*cell]int{}, map[string]int{}
		for _, c := range cells {
			turn[c] = drawn[c.Job+c.Group]
			drawn[c.Job+c.Group]++
		}
		slices.SortStableFunc(cells, func(a, b *cell) int { return turn[a] - turn[b] })
		if len(cells) > 0 {
			out = append(out, cells)
		}
	}
	return out
}

// round runs its cells. An error means that the matrix cannot continue; the results are in the cells.
func (t *Run) round(ctx context.Context, cells []*cell) error {
	if cells[0].each != nil { // others are not affected, so each cell runs on its own
		t.eachOf(cells, func(c *cell) error { return c.alone(ctx, t) })
		return nil
	}
	of := func(want func(*cell) bool) []*cell {
		return slices.DeleteFunc(slices.Clone(cells), func(c *cell) bool { return !want(c) })
	}
	// A call of the Status API or S3 must not be held for long, so these cells come last.
	late := func(c *cell) bool { return c.short() && c.Job == creating }
	place := func(c *cell) error { return c.place(ctx, t) }
	hold := func(c *cell) error { return c.hold(ctx, t) }
	t.eachOf(of(func(c *cell) bool { return !late(c) }), place)
	t.eachOf(of(func(c *cell) bool { return !c.short() }), hold)
	t.eachOf(of(late), place)
	t.eachOf(of((*cell).short), hold)
	if err := t.strikeAll(ctx, cells); err != nil {
		return err
	}
	t.eachOf(cells, func(c *cell) error { return c.converge(ctx, t) })
	return nil
}

// alone runs a cell whose fault affects nobody else.
func (c *cell) alone(ctx context.Context, t *Run) error {
	if err := c.place(ctx, t); err != nil {
		return errors.Join(err, letGo([]*cell{c}))
	}
	err := c.hold(ctx, t)
	if err == nil && !c.missed {
		err = c.each(ctx, t, c)
		c.struck = err == nil
	}
	if err = errors.Join(err, letGo([]*cell{c})); err != nil {
		return err
	}
	return c.converge(ctx, t)
}

// strikeAll injects the fault for the cells at their boundaries, releases them, and ends the fault. Cells that never got there are
// released too.
func (t *Run) strikeAll(ctx context.Context, cells []*cell) error {
	s := cells[0].strike
	standing := map[*cell]bool{}
	for _, c := range cells {
		standing[c] = c.err == nil && !c.missed && c.stands(t)
	}
	if err := s.begin(ctx, t); err != nil {
		return fmt.Errorf("%s: %w", s.text, errors.Join(err, s.end(ctx, t)))
	}
	for _, c := range cells {
		c.struck = standing[c]
		c.missed = c.err == nil && !c.struck
	}
	err := letGo(cells)
	if s.meanwhile != nil {
		err = errors.Join(err, s.meanwhile(ctx, t, cells))
	}
	err = errors.Join(err, sleep(ctx, s.lasts))
	if e := s.end(ctx, t); e != nil {
		err = errors.Join(err, fmt.Errorf("end of %s: %w", s.text, e))
	}
	return err
}

// letGo releases everything that is held.
func letGo(cells []*cell) error {
	var errs []error
	for _, c := range cells {
		if c.pin.release != nil {
			errs = append(errs, c.pin.release())
		}
	}
	return errors.Join(errs...)
}

// eachOf runs a function for every cell without a failure so far, concurrently.
func (t *Run) eachOf(cells []*cell, do func(*cell) error) {
	var all sync.WaitGroup
	for _, c := range cells {
		if c.err == nil {
			all.Go(func() { c.err = do(c) })
		}
	}
	all.Wait()
}
