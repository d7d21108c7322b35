package attack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// attack is one attempt to break a rule.
type attack struct {
	name  string // side/what; docs/threat-model.md refers to attacks by it
	who   string // the attacker
	tried string // short description for the table
	short bool   // part of the short form, which make check includes
	play  func(ctx context.Context, t *target) (result, error)
}

// result is the result of an attack. A play that returns an error could not be played.
type result struct {
	through  bool
	evidence string
}

func held(format string, args ...any) (result, error) {
	return result{evidence: fmt.Sprintf(format, args...)}, nil
}

func through(format string, args ...any) (result, error) {
	return result{through: true, evidence: fmt.Sprintf(format, args...)}, nil
}

// broken is how a play ends that broke a rule; it says how.
type broken string

func (b broken) Error() string { return string(b) }

// throughIf ends a play as through does, if a condition holds.
func throughIf(holds bool, format string, args ...any) {
	if holds {
		must.Do(broken(fmt.Sprintf(format, args...)))
	}
}

// side is the attacks of one kind of attacker, played one after the other.
type side struct {
	name    string
	alone   bool // it would disturb others, so it is played after them
	attacks []attack
}

// sides lists all attacks. Those that are alone come last, in the order in which they are played.
func sides() []side {
	return []side{
		{name: "runner", attacks: runnerAttacks()},
		{name: "matrix", attacks: matrixAttacks()},
		{name: "stranger", attacks: strangerAttacks()},
		{name: "identity", attacks: identityAttacks()},
		{name: "person", attacks: personAttacks()},
		{name: "access", attacks: slices.Concat(accessAttacks(), consoleAttacks())},
		{name: "link", alone: true, attacks: linkAttacks()},
		{name: "hostile", attacks: hostileAttacks()},
		{name: "pull", alone: true, attacks: pullAttacks()},
		{name: "mail", alone: true, attacks: mailAttacks()},
		{name: "name", alone: true, attacks: nameAttacks()},
		{name: "markup", alone: true, attacks: markupAttacks()},
		{name: "config", alone: true, attacks: configAttacks()},
		{name: "archive", attacks: archiveAttacks()},
		{name: "webhook", alone: true, attacks: webhookAttacks()},
		{name: "flood", alone: true, attacks: floodAttacks()},
		{name: "secret", alone: true, attacks: secretAttacks()},
		{name: "aftermath", alone: true, attacks: aftermathAttacks()},
	}
}

// Names lists the names of all attacks, for documents that refer to them.
func Names() []string {
	var names []string
	for _, s := range sides() {
		for _, a := range s.attacks {
			names = append(names, a.name)
		}
	}
	return names
}

// Config says where the attacked demo runs and which attacks are played.
type Config struct {
	Dir   string    // state of the demo; created if missing, and must not be used by anything else
	Bin   string    // folder with the programs
	Out   io.Writer // for the table
	Short bool      // only the attacks of the short form
	Only  string    // only attacks whose name has this prefix; empty: all
}

// playTime limits one attack.
const playTime = 3 * time.Minute

// outcome is one line of the table.
type outcome struct {
	attack
	result
	err  error
	took time.Duration
}

// Run starts a separate demo, plays the attacks, prints the table, and stops the demo. It returns an error if an attack succeeded or
// could not be played.
func Run(ctx context.Context, c Config) (err error) {
	began := time.Now()
	wanted := c.wanted()
	if len(wanted) == 0 {
		return fmt.Errorf("no attack is named %q; the names are %s", c.Only, strings.Join(Names(), ", "))
	}
	t, err := start(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.stop()) }()
	started := time.Since(began)
	outcomes := play(ctx, t, wanted)
	return report(c.Out, outcomes, started, time.Since(began))
}

// wanted returns the sides with the attacks to play.
func (c Config) wanted() []side {
	var out []side
	for _, s := range sides() {
		s.attacks = slices.DeleteFunc(s.attacks, func(a attack) bool {
			return c.Short && !a.short || !strings.HasPrefix(a.name, c.Only)
		})
		if len(s.attacks) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// play plays the sides concurrently, and then those that are alone.
func play(ctx context.Context, t *target, wanted []side) []outcome {
	outcomes := make([][]outcome, len(wanted))
	var together sync.WaitGroup
	for i, s := range wanted {
		if !s.alone {
			together.Go(func() { outcomes[i] = s.play(ctx, t) })
		}
	}
	together.Wait()
	for i, s := range wanted {
		if s.alone {
			outcomes[i] = s.play(ctx, t)
		}
	}
	return slices.Concat(outcomes...)
}

// try plays the attack until the first error, or until it broke a rule.
func (a attack) try(ctx context.Context, t *target) (result, error) {
	r, err := func() (r result, err error) {
		defer must.Catch(&err)
		return a.play(ctx, t)
	}()
	if how := broken(""); errors.As(err, &how) {
		return through("%s", how)
	}
	return r, err
}

func (s side) play(ctx context.Context, t *target) (out []outcome) {
	t = t.beside()
	for _, a := range s.attacks {
		if ctx.Err() != nil {
			return out
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(ctx, playTime)
		r, err := a.try(ctx, t)
		cancel()
		o := outcome{attack: a, result: r, err: err, took: time.Since(began)}
		t.say("%-11s %s", o.verdict(), a.name)
		out = append(out, o)
	}
	return out
}

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
