package doctor

import (
	"context"
	"strings"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
)

// reportInvalid reports what is wrong with the configuration, one result for each line.
func (d *doctor) reportInvalid(_ context.Context, f *findings) {
	head, rest, several := strings.Cut(d.Invalid.Error(), "\n")
	if !several {
		rest = head
	}
	for line := range strings.SplitSeq(rest, "\n") {
		f.fail("valid", "Correct the field; docs/configuration.md explains it. The other checks run once the configuration is valid.", "%s", line)
	}
}

// checkConfiguration reports for which roles the configuration is valid, and whether the catalogue is.
func (d *doctor) checkConfiguration(_ context.Context, f *findings) {
	f.ok("valid", "valid for the roles %s", joinWords(d.Roles))
	if d.Settings.Demo {
		f.warn("demo", "Set demo: false for anything but a demo.", "demo is true: stand-ins, plain http and publicly known secrets are accepted")
	}
	if !d.hasAny([]string{config.APIRole, config.WorkerRole}) {
		return
	}
	where := d.Settings.Catalogue.Dir
	if where == "" {
		where = "the built-in catalogue"
	}
	found, err := d.loadCatalogue()
	if err != nil {
		f.fail("catalogue", "Correct the files; ocpctl-server validate-catalogue DIR checks them. Until then nothing new is allowed.", "%s: %s", where, err)
		return
	}
	f.ok("catalogue", "%s is valid: %s enabled, %s", where, countOf(len(listEnabled(found)), "profile", "profiles"), countOf(len(found.Teams), "team", "teams"))
}

func (d *doctor) loadCatalogue() (catalogue.Catalogue, error) {
	c := d.Settings.Config
	return catalogue.Read(catalogue.Config{Dir: c.Catalogue.Dir, GitHubIssuers: c.GitHubIssuers(), RoleIssuers: c.RoleIssuers(), Off: c.Features.PlatformsOff()})
}

// listEnabled lists the profiles that can be requested.
func listEnabled(c catalogue.Catalogue) (list []profiles.Profile) {
	for _, name := range c.Names() {
		if p, ok := c.Get(name); ok && p.Enabled {
			list = append(list, p)
		}
	}
	return list
}
