package attack

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// verdict returns the word for a result in the table.
func (o outcome) verdict() string {
	switch {
	case o.err != nil:
		return "BROKEN"
	case o.through:
		return "GOT THROUGH"
	}
	return "held"
}

// describe returns the evidence, or why the attack could not be played, on one line.
func (o outcome) describe() string {
	text := o.evidence
	if o.err != nil {
		text = o.err.Error()
	}
	return strings.Join(strings.Fields(text), " ")
}

// report prints the table and returns an error unless every attack was held.
func report(w io.Writer, outcomes []outcome, started, took time.Duration) error {
	rows := [][]string{{"attack", "who", "what was tried", "result", "s", "evidence"}}
	var through, broken []string
	for _, o := range outcomes {
		rows = append(rows, []string{o.name, o.who, o.tried, o.verdict(), fmt.Sprintf("%.1f", o.took.Seconds()), o.describe()})
		switch o.verdict() {
		case "GOT THROUGH":
			through = append(through, o.name)
		case "BROKEN":
			broken = append(broken, o.name)
		}
	}
	fmt.Fprintln(w)
	printTable(w, rows)
	fmt.Fprintf(w, "\n%d attacks in %.0f s (%.0f s of them to start the demo): %d held, %d got through, %d could not be played.\n",
		len(outcomes), took.Seconds(), started.Seconds(), len(outcomes)-len(through)-len(broken), len(through), len(broken))
	switch {
	case len(outcomes) == 0:
		return fmt.Errorf("no attack was played")
	case len(through) > 0:
		return fmt.Errorf("%d of %d attacks got through: %s", len(through), len(outcomes), strings.Join(append(through, broken...), ", "))
	case len(broken) > 0:
		return fmt.Errorf("%d of %d attacks could not be played: %s", len(broken), len(outcomes), strings.Join(broken, ", "))
	}
	return nil
}

// printTable aligns all columns but the last, which may be long.
func printTable(w io.Writer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)) + " │ ")
			}
		}
		fmt.Fprintln(w, line.String())
	}
}
