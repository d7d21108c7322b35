package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
	"github.com/ocpctl/ocpctl/internal/commands"
	"github.com/ocpctl/ocpctl/internal/duration"
)

// onCluster makes a command about one cluster: its first argument, or --cluster-id. After it there must be between least and most
// arguments.
func (a *app) onCluster(c *cobra.Command, least, most int, do func(ctx context.Context, api *connect.API, id string, rest []string) error) *cobra.Command {
	var flag string
	c.Flags().StringVar(&flag, "cluster-id", "", "the cluster's `id` or name, instead of the first argument")
	split := func(args []string) (string, []string) {
		if flag == "" && len(args) > 0 {
			return args[0], args[1:]
		}
		return flag, args
	}
	c.Args = func(cmd *cobra.Command, args []string) error {
		id, rest := split(args)
		if id == "" {
			return exit.Misused("no cluster given. Give its name or id: %s\nocpctl list shows the clusters you may see", usageLine(cmd))
		}
		return checkArgCount(cmd, rest, least, most)
	}
	c.ValidArgsFunction = completeFirst(a.completeClusters)
	c.RunE = a.runWithAPI(func(ctx context.Context, api *connect.API, args []string) error {
		id, rest := split(args)
		return do(ctx, api, id, rest)
	})
	return c
}

// usageLine returns a command's usage line.
func usageLine(cmd *cobra.Command) string { return strings.TrimSuffix(cmd.UseLine(), " [flags]") }

func checkArgCount(cmd *cobra.Command, args []string, least, most int) error {
	switch {
	case len(args) < least:
		return exit.Misused("an argument is missing: %s\nSee: %s --help", usageLine(cmd), cmd.CommandPath())
	case most >= 0 && len(args) > most:
		return exit.Misused("unexpected argument %q: %s\nSee: %s --help", args[most], usageLine(cmd), cmd.CommandPath())
	}
	return nil
}

// rangeArgs returns a range of argument counts for cobra.
func rangeArgs(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error { return checkArgCount(cmd, args, least, most) }
}

// fileFlag is -f, --output: in commands that have it, it names a file instead of the output format.
func fileFlag(c *cobra.Command, into *string, what string) {
	c.Flags().VarP((*file)(into), "output", "f", what)
}

// file is the name of a file to write.
type file string

func (f *file) String() string { return string(*f) }
func (f *file) Type() string   { return "file" }

func (f *file) Set(path string) error {
	if path == "" || table.Format(path).Known() {
		return fmt.Errorf("this flag takes a file to write, and %q is an output format; give ./%s for a file of that name", path, path)
	}
	*f = file(path)
	return nil
}

func reasonFlag(c *cobra.Command, into *string) {
	c.Flags().StringVar(into, "reason", "", optionUsage("destroy", "reason"))
}

// addRequiredReason adds the flag for a reason that must be given.
func addRequiredReason(c *cobra.Command, into *string) {
	reasonFlag(c, into)
	c.PreRunE = func(*cobra.Command, []string) error { return needReason(*into) }
}

// needReason refuses a command without a reason, which others will look for later.
func needReason(reason string) error {
	if strings.TrimSpace(reason) == "" {
		return exit.With(exit.Usage, &exit.Problem{Title: "A reason is required. It is written to the audit trail.", Fields: []exit.Field{
			{Name: "--reason", Detail: "Required.", Accepted: []string{`a sentence, e.g. --reason "INC-1234: what happened"`}},
		}})
	}
	return nil
}

// span is a duration as an argument, or an end as --until.
type span struct {
	For   string
	Until time.Time
}

func readSpan(rest []string, until string) (s span, err error) {
	switch {
	case len(rest) == 1 && until != "":
		return s, exit.Misused("give a duration or --until, not both")
	case len(rest) == 0 && until == "":
		return s, exit.Misused("no duration given. Give %s; or --until %s", duration.Accepted, humanize.Moments)
	case until != "":
		if s.Until, err = humanize.Moment(until); err != nil {
			return s, exit.Misused("--until: %w", err)
		}
		return s, nil
	}
	if s.For, err = humanize.Lifetime(rest[0]); err != nil {
		return s, exit.With(exit.Usage, err)
	}
	return s, nil
}

// askToConfirm asks a person at a terminal; without a terminal it does not ask, and the script's author meant it.
func (a *app) askToConfirm(question string, yes bool) error {
	if yes || !a.InTTY || !a.ErrTTY {
		return nil
	}
	fmt.Fprintf(a.Err, "%s [y/N] ", question)
	answer, err := bufio.NewReader(a.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errors.New("canceled; nothing was done")
}

// waiting are the flags of commands that can wait for the result.
type waiting struct {
	wait    bool
	timeout time.Duration
}

func (w *waiting) addFlags(c *cobra.Command, command string, most time.Duration) {
	c.Flags().BoolVarP(&w.wait, "wait", "w", false, optionUsage(command, "wait"))
	w.addTimeout(c, most)
}

func (w *waiting) addTimeout(c *cobra.Command, most time.Duration) {
	c.Flags().Var((*timeout)(&w.timeout), "timeout", optionUsage("create", "timeout"))
	w.timeout = most
	c.Flags().Lookup("timeout").DefValue = duration.Format(most)
}

// timeout is a duration flag.
type timeout time.Duration

func (t *timeout) String() string { return duration.Typed(time.Duration(*t)) }
func (t *timeout) Type() string   { return "duration" }

func (t *timeout) Set(text string) error {
	d, err := humanize.Timeout(text)
	if err != nil {
		return err
	}
	*t = timeout(d)
	return nil
}

// fromTable fills in what the command table says of a command: how it is typed, its aliases, what it does, and the other words for
// it that are answered with it.
func fromTable(name string, c *cobra.Command) *cobra.Command {
	row := commands.Get(name)
	c.Use, c.Aliases, c.Short, c.SuggestFor = row.Usage(commands.CLI), row.CLI.Aliases, row.CLI.Summary, row.Synonyms
	return c
}

// addTextFlags adds flags that take a text, with what the command table says of a command's options.
func addTextFlags(c *cobra.Command, command string, flags map[string]*string) {
	for name, into := range flags {
		c.Flags().StringVar(into, name, *into, optionUsage(command, name))
	}
}

// optionUsage is what the command table says of a command's option.
func optionUsage(command, option string) string {
	o, known := commands.Get(command).Option(option)
	if !known {
		panic("the command " + command + " has no option " + option) // a mistake in this package
	}
	return o.Summary
}
