package doctor

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
)

// checkSecrets resolves every reference that the roles resolve themselves. Those for runners are not read, as the server never reads them:
// a file must exist, because local runners read it on this machine.
func (d *doctor) checkSecrets(ctx context.Context, f *findings) {
	c := d.Settings
	hooks, inner, api, worker := []string{config.HooksRole}, []string{config.APIRole, config.WorkerRole}, []string{config.APIRole}, []string{config.WorkerRole}
	for _, s := range []struct {
		field, ref string
		by         []string
	}{
		{"database_url_ref", c.DatabaseURLRef, append(hooks, inner...)},
		{"github.webhook_secret_ref", c.GitHub.WebhookSecretRef, hooks},
		{"github.webhook_secret_next_ref", c.GitHub.WebhookNextRef, hooks},
		{"slack.signing_secret_ref", c.Slack.SigningSecretRef, hooks},
		{"slack.app_token_ref", c.Slack.AppTokenRef, hooks},
		{"github.client_secret_ref", c.GitHub.ClientSecretRef, api},
		{"runner.status_key_ref", c.Runner.StatusKeyRef, inner},
		{"session.key_ref", c.Session.KeyRef, api},
		{"saml.key_ref", c.SAML.KeyRef, api},
		{"metrics.token_ref", c.Metrics.TokenRef, api},
		{"github.private_key_ref", c.GitHub.PrivateKeyRef, worker},
		{"slack.bot_token_ref", c.Slack.BotTokenRef, worker},
	} {
		if s.ref == "" || !d.hasAny(s.by) {
			continue
		}
		if _, err := c.Secret(ctx, s.field, s.ref); err != nil {
			f.fail(s.field, "Store the secret where "+s.field+" ("+c.Origin(s.field)+") points, and let this process read it.", "%s", err)
			continue
		}
		f.ok(s.field, "%s can be read", s.ref)
	}
	if d.Roles.Has(config.WorkerRole) {
		d.forRunners(f, "runner.pull_secret_ref", c.Runner.PullSecretRef)
		for _, platform := range config.Platforms {
			field, ref := c.CredentialsField(platform)
			d.forRunners(f, field, ref)
		}
		d.forRunners(f, "runner.ssh_key_ref", c.Runner.SSHKeyRef)
	}
}

// hasAny reports whether the examined process has one of the roles.
func (d *doctor) hasAny(roles []string) bool {
	return slices.ContainsFunc(roles, d.Roles.Has)
}

// forRunners checks that a file for local runners exists.
func (d *doctor) forRunners(f *findings, field, ref string) {
	path, isFile := strings.CutPrefix(ref, "file:")
	switch {
	case ref == "":
		return
	case !isFile, d.Kubernetes != nil:
		f.skip(field, "only runners read %s", ref)
		return
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		f.fail(field, "Store the secret there: runners on this machine read it.", "%s", err)
	case info.Mode().Perm()&0o077 != 0:
		f.warn(field, "chmod 600 "+path, "%s can be read by other users of this machine (mode %04o)", ref, info.Mode().Perm())
	default:
		f.ok(field, "%s exists; its content is read by runners only", ref)
	}
}
