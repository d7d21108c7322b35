// Package progress shows a wait: one line that is redrawn on a terminal, otherwise a line for each change.
package progress

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/follow"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/internal/duration"
)

// Lines writes a line for each change, for logs.
type Lines struct {
	Out   io.Writer
	Now   func() time.Time
	last  string
	phase string
}

// Show writes what changed; a new expected time alone is not a change.
func (l *Lines) Show(s follow.State) {
	text := strings.Join(describeParts(s.Cluster), "  ")
	if text == l.last {
		return
	}
	l.last = text
	if note := describeFailedTry(l.phase, s.Cluster); note != "" {
		l.Note(note)
	}
	l.phase = s.Phase
	fmt.Fprintf(l.Out, "%s  %s%s\n", l.Now().UTC().Format("15:04:05"), text, describeArrival(s.Cluster, l.Now()))
}

// Note writes it.
func (l *Lines) Note(text string) {
	fmt.Fprintf(l.Out, "%s  %s\n", l.Now().UTC().Format("15:04:05"), humanize.Line(text))
}

// Tick does nothing: a log needs no line when nothing happened.
func (l *Lines) Tick(time.Time) {}

// Every returns 0, so Tick is never called.
func (l *Lines) Every() time.Duration { return 0 }

// Close does nothing.
func (l *Lines) Close() {}

// describeParts returns the parts of a state that matter.
func describeParts(c v1.Cluster) []string {
	out := []string{c.Name, Status(c)}
	moving := c.Status == v1.CREATING || c.Status == v1.DESTROYING || c.Status == v1.PENDING
	if moving && c.Progress.Percent > 0 {
		out = append(out, fmt.Sprintf("%d %%", c.Progress.Percent))
	}
	switch {
	case c.NeedsApproval:
		out = append(out, "waiting for approval")
	case c.Position > 0:
		out = append(out, fmt.Sprintf("number %d in the queue", c.Position))
	case moving && c.Progress.Step != "":
		out = append(out, humanize.Line(c.Progress.Step))
	}
	return out
}

// cleaning is the phase after a try that failed, before the next one.
const cleaning = "cleaning"

// describeFailedTry says that a try failed, why, and what follows, when that is news after an earlier phase; otherwise it is empty.
func describeFailedTry(before string, c v1.Cluster) string {
	if c.Status != v1.CREATING || c.Phase != cleaning || before == cleaning {
		return ""
	}
	return c.Name + ": " + c.Why
}

// Status returns a cluster's status, with the phase if that says more.
func Status(c v1.Cluster) string {
	if strings.EqualFold(string(c.Status), c.Phase) || c.Phase == "released" || c.Phase == "" {
		return string(c.Status)
	}
	return string(c.Status) + " " + humanize.Plain(c.Phase)
}

// describeArrival says when the goal is expected, from the server's estimate.
func describeArrival(c v1.Cluster, now time.Time) string {
	switch eta, late := c.Progress.Eta, c.Progress.Late; {
	case eta.After(now):
		return "  done in about " + duration.Format(eta.Sub(now))
	case late.After(now):
		return "  slower than usual; 90 % are done in " + duration.Format(late.Sub(now))
	}
	return ""
}

// Bar is one line on a terminal.
type Bar struct {
	Out   io.Writer
	Now   func() time.Time
	Width func() int
	Since time.Time
	state follow.State
	turn  int
}

const (
	cells   = 10
	erase   = "\r\x1b[K"
	spinner = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
)

// Show draws the new state.
func (b *Bar) Show(s follow.State) {
	note := describeFailedTry(b.state.Phase, s.Cluster)
	if b.state = s; note != "" {
		b.Note(note)
		return
	}
	b.drawLine(b.Now())
}

// Tick draws the elapsed time.
func (b *Bar) Tick(now time.Time) {
	b.turn++
	b.drawLine(now)
}

// Every is short enough to look alive.
func (b *Bar) Every() time.Duration { return 250 * time.Millisecond }

// Note writes a line above the bar.
func (b *Bar) Note(text string) {
	fmt.Fprintf(b.Out, "%s%s\n", erase, humanize.Line(text))
	b.drawLine(b.Now())
}

// Close removes the bar; the result is printed elsewhere.
func (b *Bar) Close() { fmt.Fprint(b.Out, erase) }

func (b *Bar) drawLine(now time.Time) {
	if b.state.ClusterID == "" {
		return
	}
	percent := min(max(b.state.Progress.Percent, 0), 100)
	full := percent * cells / 100
	turns := []rune(spinner)
	parts := describeParts(b.state.Cluster)
	at := min(len(parts), 3) // name, status and percentage come first, and what is cut on a narrow terminal is the step
	text := fmt.Sprintf("%c %s%s  %s%s  %s", turns[b.turn%len(turns)], strings.Repeat("█", full), strings.Repeat("░", cells-full),
		strings.Join(parts[:at], "  "), describeArrival(b.state.Cluster, now), strings.Join(append([]string{duration.Format(now.Sub(b.Since))}, parts[at:]...), "  "))
	fmt.Fprint(b.Out, erase+cutText(text, b.Width()-1))
}

// cutText keeps a text on one line, because a wrapped line cannot be redrawn.
func cutText(text string, width int) string {
	if width <= 1 || utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "…"
}
