package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ocpctl/ocpctl/internal/price/list"
	"github.com/ocpctl/ocpctl/profiles"
)

const pricesCommand = "refresh-prices"

// repeated is a flag that can be given several times.
type repeated []string

func (n *repeated) String() string { return strings.Join(*n, ",") }

func (n *repeated) Set(value string) error {
	*n = append(*n, value)
	return nil
}

// refreshPrices takes prices from AWS's offer files into a catalogue's price list, and prints what changed.
func refreshPrices(args []string, out, errs io.Writer) error {
	flags := flag.NewFlagSet("ocpctl-server "+pricesCommand, flag.ContinueOnError)
	flags.SetOutput(errs)
	to := flags.String("list", "", "price `file` to refresh, prices/aws.yaml in a catalogue's directory; the built-in one is its start if there is none")
	var regions, instances repeated
	flags.Var(&regions, "region", "also prices of this `region`; can be repeated")
	flags.Var(&instances, "instance", "also prices of this instance `type`, in every region; can be repeated")
	flags.Usage = func() {
		fmt.Fprintf(errs, "Usage: ocpctl-server %s -list FILE OFFER [OFFER]\n\nEach OFFER is an offer file of AWS, JSON or CSV; docs/costs.md says where they are.\n\n", pricesCommand)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *to == "" || flags.NArg() == 0 {
		return fmt.Errorf("give the price list and one or more offer files: ocpctl-server %s -list FILE OFFER [OFFER]", pricesCommand)
	}
	l, err := priceList(*to)
	if err != nil {
		return err
	}
	l = l.With(regions, instances)
	for _, name := range flags.Args() {
		var changes []list.Change
		if l, changes, err = refreshFrom(l, name); err != nil {
			return err
		}
		for _, c := range changes {
			fmt.Fprintln(out, c)
		}
		fmt.Fprintf(out, "%s: %s\n", name, countOf(len(changes), "changed price", "changed prices"))
	}
	if missing := l.Missing(); len(missing) > 0 {
		fmt.Fprintf(out, "No price yet of %s.\n", strings.Join(missing, ", "))
	}
	raw, err := l.Format()
	if err != nil {
		return err
	}
	return replaceFile(*to, raw)
}

func priceList(name string) (list.List, error) {
	raw, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		raw, err = fs.ReadFile(profiles.EmbeddedFiles(), "prices/aws.yaml")
	}
	if err != nil {
		return list.List{}, fmt.Errorf("read the price list: %w", err)
	}
	l, err := list.Parse(raw)
	if err != nil {
		return list.List{}, fmt.Errorf("%s: %w", name, err)
	}
	return l, nil
}

func refreshFrom(l list.List, name string) (list.List, []list.Change, error) {
	in, err := os.Open(name)
	if err != nil {
		return l, nil, fmt.Errorf("open the offer file: %w", err)
	}
	defer in.Close()
	l, changes, err := l.Refresh(in)
	if err != nil {
		return l, nil, fmt.Errorf("%s: %w", name, err)
	}
	return l, changes, nil
}

// replaceFile writes a file whole or not at all.
func replaceFile(name string, raw []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	part := name + ".part"
	if err := os.WriteFile(part, raw, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return os.Rename(part, name)
}
