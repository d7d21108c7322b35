package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/runner/installer"
)

const renderCommand = "render-install-config"

// mask is printed in place of the pull secret.
const mask = "***"

// renderInstallConfig prints the install-config that a runner would give openshift-install for a create request: judged by policy, frozen by the
// service, completed by the runner's own code. It calls neither cloud nor database.
func renderInstallConfig(args []string, in io.Reader, out, errs io.Writer) error {
	flags := flag.NewFlagSet("ocpctl-server "+renderCommand, flag.ContinueOnError)
	flags.SetOutput(errs)
	request := flags.String("request", "", "a `file` with the create request, JSON or YAML as in POST /api/v1/clusters; - is standard input")
	pull := flags.String("pull-secret", "", "a `file` with the pull secret to insert; without it, the secret is masked")
	path := flags.String("config", "", "the server's configuration `file`, for the catalogue, the installation's name, SSH key and time scale; default: built-in values")
	role := flags.String("role", string(policy.Requester), "the role to check the request with: requester, platform_admin or auditor")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *request == "" || flags.NArg() > 0 {
		return errors.New("give --request FILE, or --request - for standard input, and no other arguments")
	}
	if !slices.Contains([]policy.Role{policy.Requester, policy.PlatformAdmin, policy.Auditor}, policy.Role(*role)) {
		return fmt.Errorf("--role is %q; give %s, %s or %s", *role, policy.Requester, policy.PlatformAdmin, policy.Auditor)
	}
	cfg := config.Defaults()
	cfg.Installation = "ocpctl"
	if *path != "" {
		var err error
		if cfg, err = config.Load(*path, config.Roles{}); err != nil {
			return err
		}
	}
	asked, err := readRequest(*request, in)
	if err != nil {
		return err
	}
	config, notes, err := fullInstallConfig(cfg, asked, policy.Role(*role), *pull)
	if err != nil {
		return inFields(*request, err)
	}
	for _, note := range notes {
		fmt.Fprintln(errs, "note:", note)
	}
	_, err = out.Write(config)
	return err
}

func readRequest(path string, in io.Reader) (app.CreateRequest, error) {
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return app.CreateRequest{}, fmt.Errorf("read the request: %w", err)
		}
		defer file.Close()
		in = file
	}
	return app.ReadCreateRequest(in), nil
}

// fullInstallConfig returns the whole install-config, with the pull secret from a file or the mask.
func fullInstallConfig(c config.Config, asked app.CreateRequest, role policy.Role, pullFile string) ([]byte, []string, error) {
	terms, err := catalogue.Read(catalogue.Config{Dir: c.Catalogue.Dir, GitHubIssuers: c.GitHubIssuers(), RoleIssuers: c.RoleIssuers(), Off: c.Features.PlatformsOff()})
	if err != nil {
		return nil, nil, underFolder(c.Catalogue.Dir, err)
	}
	service := app.New(app.Config{
		Catalogue: func() catalogue.Catalogue { return terms }, Policy: policy.Settings{Hour: c.Hour, Grace: c.Grace, UsageDecays: c.Limits.UsageHalfLife > 0, Installation: c.Installation},
		Installs: app.Installs{SSHKey: c.Runner.SSHKey},
	})
	who := policy.As("cli", asked.Owner, role)
	row, notes, err := service.Draft(who, asked, time.Now())
	if err != nil {
		return nil, nil, err
	}
	pasted := installer.Pasted{PullSecret: secret.New(mask), SSHKey: row.Spec.SSHKey}
	if pullFile != "" {
		raw, err := os.ReadFile(pullFile)
		if err != nil {
			return nil, nil, fmt.Errorf("read the pull secret: %w", err)
		}
		pasted.PullSecret = secret.New(strings.TrimSpace(string(raw)))
	}
	config, err := installer.Paste(row.Spec.InstallConfig, pasted)
	if err != nil {
		return nil, nil, err
	}
	if err := checkAddedFields(config, pullFile != "", len(notes) == 0); err != nil {
		return nil, nil, err
	}
	return config, notes, nil
}

// checkAddedFields checks the added fields as strictly as the frozen ones, except those that are only placeholders.
func checkAddedFields(config []byte, pull, key bool) error {
	var problems profiles.Problems
	if !errors.As(profiles.Strict(config), &problems) {
		return nil
	}
	var left profiles.Problems
	for _, p := range problems {
		if p.Field == "pullSecret" && !pull || p.Field == "sshKey" && !key {
			continue
		}
		left = append(left, p)
	}
	if len(left) == 0 {
		return nil
	}
	return left
}

// inFields returns everything that is wrong with a request, one line for each field.
func inFields(path string, err error) error {
	var said *app.Error
	if !errors.As(err, &said) || len(said.Fields) == 0 {
		return err
	}
	if path == "-" {
		path = "the request"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", path, said.Message)
	for _, f := range said.Fields {
		fmt.Fprintf(&b, "\n  %s: %s", f.Name, f.Detail)
		if len(f.Accept) > 0 {
			fmt.Fprintf(&b, " Accepted: %s.", strings.TrimSuffix(strings.Join(f.Accept, ", "), "."))
		}
	}
	return errors.New(b.String())
}
