package trial

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Options bound a matrix.
type Options struct {
	Time  time.Duration // begin no further round after it; 0: until every cell was struck
	Cells int           // at most so many; 0: all
	Seed  uint64        // chooses the order, and who is wanted
	Only  string        // names one cell; or the part before or after its slash
	Width int           // clusters in flight at once; 0: 16
}

// Matrix strikes clusters at the boundaries of their lives, round after round, prints the table and returns an error
// unless every cell was struck and converged. A round is one strike and many clusters, each held at a boundary of its own.
func Matrix(ctx context.Context, t *Trial, o Options) error {
	began := time.Now()
	if o.Width == 0 {
		o.Width = 16
	}
	bounds, err := t.survey(ctx)
	if err != nil {
		return fmt.Errorf("a life nobody disturbs: %w", err)
	}
	waiting := o.cells(bounds)
	total := 0
	for _, cells := range waiting {
		total += len(cells)
	}
	t.say("crash matrix, seed %d: %d boundaries × %d strikes; one undisturbed life took %.1f s", o.Seed, len(bounds), len(strikes()), time.Since(began).Seconds())
	if total == 0 {
		return fmt.Errorf("no cell is called %q; a name is BOUNDARY/STRIKE, such as create@12/runner-killed", o.Only)
	}
	var done []*cell
	for turn := 0; len(done) < total; turn++ {
		if ctx.Err() != nil {
			break
		}
		if o.Time > 0 && time.Since(began) > o.Time {
			break
		}
		i := turn % len(waiting)
		n := min(o.Width, len(waiting[i]))
		if o.Cells > 0 {
			n = min(n, (o.Cells+len(waiting)-1)/len(waiting), o.Cells-len(done))
			if n <= 0 && len(done) >= o.Cells {
				break
			}
		}
		if n <= 0 {
			continue
		}
		cells := waiting[i][:n]
		waiting[i] = waiting[i][n:]
		if err := t.round(ctx, cells); err != nil {
			return err
		}
		done = append(done, cells...)
		t.say("  round %d, %s: %s (%.0f s in all)", turn+1, cells[0].strike.words, verdict(cells), time.Since(began).Seconds())
	}
	return t.report(o, done, total, time.Since(began))
}

// cells are all cells in the order of their turn, by strike: shuffled, and then every group once before any comes again.
func (o Options) cells(bounds []boundary) [][]*cell {
	rng := rand.New(rand.NewPCG(o.Seed, 0)) //nolint:gosec // an order, not a secret
	var out [][]*cell
	for _, s := range strikes() {
		var cells []*cell
		for _, b := range bounds {
			c := &cell{boundary: b, strike: s}
			c.wanted = decided(o.Seed, c.name())
			if o.Only == "" || o.Only == c.name() || o.Only == c.ID || o.Only == c.key {
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

// round strikes its cells together. Its error means that the trial itself cannot go on; what became of a cell is in it.
func (t *Trial) round(ctx context.Context, cells []*cell) error {
	// What is held at a call of the Status API or of S3 must not be held for long, so those come last.
	of := func(want func(*cell) bool) []*cell {
		return slices.DeleteFunc(slices.Clone(cells), func(c *cell) bool { return !want(c) })
	}
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

// strikeAll strikes what stands at its boundary, lets it go, and ends the strike. What never came there is let go too.
func (t *Trial) strikeAll(ctx context.Context, cells []*cell) error {
	s := cells[0].strike
	if s.each != nil {
		t.eachOf(cells, func(c *cell) error {
			err := s.each(ctx, t, c.pr)
			c.struck = err == nil
			return err
		})
		return letGo(cells)
	}
	if err := s.begin(ctx, t); err != nil {
		return fmt.Errorf("%s: %w", s.words, errors.Join(err, s.end(ctx, t)))
	}
	t.eachOf(cells, func(c *cell) error {
		if c.struck = c.pin.held(); !c.struck {
			return errors.New("it left its boundary before it was struck")
		}
		return nil
	})
	err := errors.Join(letGo(cells), sleep(ctx, s.lasts))
	if e := s.end(ctx, t); e != nil {
		err = errors.Join(err, fmt.Errorf("end of %s: %w", s.words, e))
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

// eachOf does something with every cell that is well so far, all at once.
func (t *Trial) eachOf(cells []*cell, do func(*cell) error) {
	var all sync.WaitGroup
	for _, c := range cells {
		if c.err != nil {
			continue
		}
		all.Go(func() {
			began := time.Now()
			c.err = do(c)
			c.took += time.Since(began)
		})
	}
	all.Wait()
}
