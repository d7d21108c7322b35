package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
)

const validateCommand = "validate-catalogue"

// validateCatalogue reads a catalogue's folder as the server would, and prints what it contains or everything that is wrong with it.
func validateCatalogue(args []string, out, errs io.Writer) error {
	flags := flag.NewFlagSet("ocpctl-server "+validateCommand, flag.ContinueOnError)
	flags.SetOutput(errs)
	path := flags.String("config", "", "the server's configuration `file`, whose catalogue.dir is checked; instead of DIR")
	flags.Usage = func() {
		fmt.Fprintf(errs, "Usage: ocpctl-server %[1]s DIR\n       ocpctl-server %[1]s -config FILE\n\nDIR contains the directories profiles, teams, quotas, policies, identities, addons, pools and accounts; see docs/catalogue.md.\n", validateCommand)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if given := *path != ""; flags.NArg() > 1 || given == (flags.NArg() == 1) {
		return fmt.Errorf("give the catalogue's directory or the server's configuration: ocpctl-server %s DIR, or -config FILE", validateCommand)
	}
	dir := flags.Arg(0)
	if *path != "" {
		cfg, err := config.Load(*path, config.Roles{})
		if err != nil {
			return err
		}
		if dir = cfg.Catalogue.Dir; dir == "" {
			return fmt.Errorf("%s has no catalogue.dir, so the server uses its embedded catalogue and there is nothing to check", *path)
		}
	}
	if _, err := os.ReadDir(dir); err != nil {
		return fmt.Errorf("%s is not a catalogue directory: %w", dir, err)
	}
	b, err := catalogue.Load(os.DirFS(dir))
	if err != nil {
		return underFolder(dir, err)
	}
	_, err = fmt.Fprintf(out, "%s is valid: catalogue %s with %s, %s, %s, %s, %s\n", dir, b.Hash, countOf(len(b.Names()), "profile", "profiles"),
		countOf(len(b.Teams), "team", "teams"), countOf(len(b.Quotas), "quota", "quotas"),
		countOf(len(b.Policies), "policy", "policies"), countOf(len(b.Identities), "identity", "identities"))
	for _, doubt := range b.PriceDoubts() {
		fmt.Fprintf(out, "Note: %s\n", doubt)
	}
	return err
}

// underFolder changes the paths of problems so that they can be opened from the current directory.
func underFolder(dir string, err error) error {
	var problems profiles.Problems
	if !errors.As(err, &problems) {
		return fmt.Errorf("%s: %w", dir, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s has %s:", dir, countOf(len(problems), "problem", "problems"))
	for _, p := range problems {
		p.File = filepath.Join(dir, p.File)
		fmt.Fprintf(&b, "\n%s", p)
	}
	return errors.New(b.String())
}

func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
