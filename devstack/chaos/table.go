package chaos

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

func verdict(cells []*cell) string {
	good := 0
	var missed []string
	for _, c := range cells {
		switch {
		case c.err == nil && c.missed:
			missed = append(missed, c.name())
		case c.err == nil:
			good++
		}
	}
	if len(missed) > 0 {
		return fmt.Sprintf("%d of %d converged; past their boundary, to come again: %s", good, len(cells), strings.Join(missed, " "))
	}
	return fmt.Sprintf("%d of %d converged", good, len(cells))
}

// tally is one field of the table.
type tally struct{ struck, converged int }

func (c *tally) String() string {
	if c == nil {
		return "·"
	}
	return fmt.Sprintf("%d/%d", c.converged, c.struck)
}

// order is the order of the table's rows, as in a cluster's life.
var order = []string{
	"create preflight", "create claiming", "create rendering", "create recording", "create installing", "create configuring",
	"destroy restoring", "destroy destroying", "destroy ccoctl", "destroy verifying",
}

func rank(row string) int {
	i := slices.IndexFunc(order, func(o string) bool { return strings.HasPrefix(row, o) })
	if i < 0 {
		return len(order)
	}
	return i
}

// report prints the table and, for every failure, how to repeat it.
func (t *Run) report(o Options, done []*cell, took time.Duration) (err error) {
	defer must.Catch(&err)
	fields := map[string]map[string]*tally{}
	var bad, missed []*cell
	var sum tally
	for _, c := range done {
		if c.missed && c.err == nil {
			missed = append(missed, c)
			continue
		}
		row := c.Job + " " + c.Group
		if fields[row] == nil {
			fields[row] = map[string]*tally{}
		}
		f := fields[row][c.key]
		if f == nil {
			f = &tally{}
			fields[row][c.key] = f
		}
		if c.struck {
			f.struck++
			sum.struck++
		}
		if c.err == nil {
			f.converged++
			sum.converged++
		} else {
			bad = append(bad, c)
		}
	}
	t.table(fields)
	t.say("\n%d cells struck in %.0f s, %d converged: ready where wanted, then released with two clean counts and nothing left in the stand-ins.",
		sum.struck, took.Seconds(), sum.converged)
	for _, c := range missed {
		t.say("not struck: %s went past its boundary twice (%s); its life went on and left nothing", c.name(), c.Text)
	}
	for _, c := range bad {
		t.say("\nFAILED %s (%s, %s; %s)\n  %v\n  again: make chaos %sSEED=%d CELL=%s", c.name(), c.Job, c.Text, desired(c.wanted), c.err, t.variables(), o.Seed, c.name())
	}
	must.FailIf(len(bad) > 0, "%d of %d cells did not converge", len(bad), len(done))
	if left := t.Left(""); len(left) > 0 {
		return fmt.Errorf("%d things are left in the cloud that belong to no cell, the first is %s", len(left), left[0])
	}
	must.FailIf(sum.struck == 0, "nothing was struck")
	return nil
}

// variables are those of make that the run has.
func (t *Run) variables() string {
	out := "CLOUD=" + t.clouds[0] + " "
	if t.Real != "" {
		out += "INSTALLER=real "
	}
	return out
}

func desired(wanted bool) string {
	if wanted {
		return "wanted"
	}
	return "unwanted"
}

// table prints converged/struck for every phase and fault.
func (t *Run) table(fields map[string]map[string]*tally) {
	rows := make([]string, 0, len(fields))
	width := len("converged/struck")
	for row := range fields {
		rows = append(rows, row)
		width = max(width, len(row))
	}
	slices.SortFunc(rows, func(a, b string) int { return cmp.Or(rank(a)-rank(b), strings.Compare(a, b)) })
	var head strings.Builder
	fmt.Fprintf(&head, "\n%-*s", width, "converged/struck")
	for _, s := range strikesOn(t.clouds[0]) {
		fmt.Fprintf(&head, " │ %s", s.text)
	}
	t.say("%s", head.String())
	for _, row := range rows {
		var line strings.Builder
		fmt.Fprintf(&line, "%-*s", width, row)
		for _, s := range strikesOn(t.clouds[0]) {
			fmt.Fprintf(&line, " │ %*s", len([]rune(s.text)), fields[row][s.key])
		}
		t.say("%s", line.String())
	}
}
