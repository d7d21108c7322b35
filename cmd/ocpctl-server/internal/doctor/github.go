package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/deploy"
)

// hookPath is the path of the public listener that takes GitHub's webhooks.
const hookPath = "/webhooks/github"

// appManifest is what the App should be.
type appManifest struct {
	Permissions map[string]string `yaml:"default_permissions"`
	Events      []string          `yaml:"default_events"`
}

// checkGitHub checks the App: its key, permissions, events, installations and webhook.
func (d *doctor) checkGitHub(ctx context.Context, f *findings) {
	c := d.Settings.GitHub
	key, ok := d.resolveSecret(ctx, f, "app", "github.private_key_ref", c.PrivateKeyRef)
	if !ok {
		return
	}
	client, err := github.New(github.Config{AppID: c.AppID, PrivateKey: []byte(key.Reveal()), BaseURL: c.APIURL, Pace: -1, Settling: -1})
	if err != nil {
		f.fail("app", "Store the App's private key (PEM) where github.private_key_ref points.", "%s", err)
		return
	}
	app, err := client.App(ctx)
	switch {
	case errors.Is(err, github.ErrRefused):
		f.fail("app", fmt.Sprintf("Check that github.app_id (%s) and github.private_key_ref are of the same App, and this machine's clock.", d.Settings.Origin("github.app_id")),
			"GitHub refuses the key for the App %d: %s", c.AppID, err)
		return
	case err != nil:
		f.fail("app", "Check that this machine reaches "+c.APIURL+".", "%s", err)
		return
	}
	f.ok("app", "the key belongs to the App %s (%d) of %s", app.Slug, c.AppID, app.Owner)
	d.checkClock(f, "GitHub", app.Clock, time.Second)
	var wanted appManifest
	if err := yaml.Unmarshal(deploy.GitHubApp, &wanted); err != nil {
		f.fail("permissions", "Report this as a bug.", "%s", err)
		return
	}
	checkPermissions(f, wanted, app)
	checkEvents(f, wanted, app)
	d.checkOwners(ctx, f, app)
	d.checkInstallations(ctx, f, client, wanted)
	d.checkWebhook(ctx, f, client)
	d.checkDelivery(ctx, f, client)
}

// spare is what an App can do without.
type spare struct{ without, next string }

var sparePermissions = map[string]spare{
	"merge_queues: read": {"GitHub does not let it subscribe to the event merge_group", "Add it if branches with the required check have a merge queue; otherwise nothing."},
	"members: read":      {"GitHub teams cannot be read", "Add it if the catalogue's identities name GitHub teams; otherwise nothing."},
	"actions: read":      {"the end of a workflow run is not noticed, so its clusters end by their time to live, and a job that waits for an environment ocp/<profile> is rejected", "Add it if workflows create clusters or environments are to wait for them; otherwise nothing."},
}

var spareEvents = map[string]spare{
	"pull_request_review":         {"commands in reviews are not read", "Select it if commands in reviews are to be read; otherwise nothing."},
	"pull_request_review_comment": {"commands in comments at a line are not read", "Select it if commands at lines are to be read; otherwise nothing."},

	"workflow_run": {"the end of a workflow run is noticed by asking, every github.run_look", "Select it for an end within seconds; leave it out in a very busy organization."},
	"workflow_job": {"the end of a job is noticed by asking, every github.run_look", "Select it for an end within seconds; leave it out in a very busy organization."},

	"merge_group":                {"commits in merge queues are found only when ocpctl looks for them, every few minutes", "Select it if branches with the required check have a merge queue; otherwise nothing."},
	"deployment_protection_rule": {"a job that waits for an environment ocp/<profile> waits in vain", "Select it if environments are to wait for clusters; otherwise nothing."},
}

// optional are permissions beyond those of deploy/github-app.yaml that something uses.
var optional = []string{"contents: write"} // to start workflows when a cluster is ready (on-ready: dispatch), and to propose changes of the catalogue

// splitSpare separates what an App can do without from what it needs.
func splitSpare(missing []string, known map[string]spare) (needed, spares []string) {
	for _, one := range missing {
		if _, ok := known[one]; ok {
			spares = append(spares, one)
		} else {
			needed = append(needed, one)
		}
	}
	return needed, spares
}

// checkPermissions compares the App's permissions with deploy/github-app.yaml.
func checkPermissions(f *findings, wanted appManifest, app github.App) {
	missing, extra := comparePermissions(wanted.Permissions, app.Permissions)
	extra = slices.DeleteFunc(extra, func(one string) bool { return slices.Contains(optional, one) })
	missing, spare := splitSpare(missing, sparePermissions)
	for _, one := range spare {
		f.warn("permissions", sparePermissions[one].next, "the App lacks %s: %s", one, sparePermissions[one].without)
	}
	switch {
	case len(missing) > 0:
		f.fail("permissions", "Add them on the App's page, under Permissions & events; each installation's owner must then accept them.", "the App lacks %s", joinWords(missing))
	case len(spare) > 0:
	case len(extra) > 0:
		f.warn("permissions", "Remove what no other program needs.", "the App has more than it needs: %s", joinWords(extra))
	default:
		f.ok("permissions", "exactly those of deploy/github-app.yaml")
	}
}

// checkOwners checks what people prove with that an account is theirs. GitHub does not tell the App's callback URLs.
func (d *doctor) checkOwners(ctx context.Context, f *findings, app github.App) {
	const check = "account-proof"
	c := d.Settings.GitHub
	switch {
	case c.ClientID == "":
		f.skip(check, "github.client_id is not set: people type a code to link an account")
		return
	case c.ClientID != app.ClientID:
		f.fail(check, "Set github.client_id ("+d.Settings.Origin("github.client_id")+") to "+app.ClientID+".", "github.client_id is not the App's")
		return
	}
	key, ok := d.resolveSecret(ctx, f, check, "github.client_secret_ref", c.ClientSecretRef)
	if !ok {
		return
	}
	owners, err := github.NewOwners(c.ClientID, key, c.APIURL, d.Settings.ProofURL())
	if err == nil {
		err = owners.Check(ctx)
	}
	switch {
	case errors.Is(err, github.ErrRefused):
		f.fail(check, "Generate a client secret on the App's page, and store it where github.client_secret_ref points.", "GitHub refuses the client secret: %s", err)
	case err != nil:
		f.fail(check, "Check that this machine reaches "+github.Site(c.APIURL)+".", "%s", err)
	default:
		f.ok(check, "GitHub accepts the client secret; the App's page must list the callback URL %s", owners.Callback())
	}
}

// comparePermissions lists the permissions that are missing or too low, and those that are not needed or too high, as "issues: write".
func comparePermissions(wanted, have map[string]string) (missing, extra []string) {
	levels := []string{"", "read", "write", "admin"}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if slices.Index(levels, have[name]) < slices.Index(levels, wanted[name]) {
			missing = append(missing, name+": "+wanted[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if slices.Index(levels, have[name]) > slices.Index(levels, wanted[name]) {
			extra = append(extra, name+": "+have[name])
		}
	}
	return missing, extra
}

func checkEvents(f *findings, wanted appManifest, app github.App) {
	missing, spares := splitSpare(slices.DeleteFunc(slices.Clone(wanted.Events), func(e string) bool { return slices.Contains(app.Events, e) }), spareEvents)
	for _, one := range spares {
		f.warn("events", spareEvents[one].next, "GitHub does not send %s: %s", one, spareEvents[one].without)
	}
	switch {
	case len(missing) > 0:
		f.fail("events", "Select them on the App's page, under Permissions & events.", "GitHub does not send %s", joinWords(missing))
	case len(spares) == 0:
		f.ok("events", "every event of deploy/github-app.yaml is sent")
	}
}

// checkInstallations checks that the App is installed where it is accepted, with the permissions that it asks for.
func (d *doctor) checkInstallations(ctx context.Context, f *findings, client *github.Client, wanted appManifest) {
	list, err := client.Installations(ctx)
	if err != nil {
		f.fail("installations", "Check that this machine reaches "+d.Settings.GitHub.APIURL+".", "%s", err)
		return
	}
	accepted := d.Settings.GitHub.Installations
	for _, id := range accepted {
		if !slices.ContainsFunc(list, func(in github.Installed) bool { return in.ID == id }) {
			f.fail("installations", "Correct github.installations ("+d.Settings.Origin("github.installations")+"), or install the App there again.",
				"the App has no installation %d", id)
		}
	}
	used := 0
	for _, in := range list {
		if len(accepted) > 0 && !slices.Contains(accepted, in.ID) {
			f.skip("installations", "%s (%d) is not in github.installations, so its webhooks are not stored", in.Account, in.ID)
			continue
		}
		used++
		missing, _ := comparePermissions(wanted.Permissions, in.Permissions)
		missing, _ = splitSpare(missing, sparePermissions) // what it can do without is reported above
		switch {
		case in.Suspended:
			f.fail("installations", "An owner of "+in.Account+" can lift that in its settings, under GitHub Apps.", "the installation in %s (%d) is suspended", in.Account, in.ID)
		case len(missing) > 0:
			f.fail("installations", "An owner of "+in.Account+" accepts them in its settings, under GitHub Apps.",
				"%s (%d) has not accepted %s", in.Account, in.ID, joinWords(missing))
		default:
			f.ok("installations", "%s (%d) has accepted every permission", in.Account, in.ID)
			d.rateLimit(ctx, f, client, in)
		}
	}
	if used == 0 {
		f.fail("installations", "Install the App in an organization, and list its number in github.installations.", "the App is installed nowhere that is accepted")
	}
}

// rateLimit reports what is left of an installation's calls.
func (d *doctor) rateLimit(ctx context.Context, f *findings, client *github.Client, in github.Installed) {
	b, err := client.RateLimit(ctx, in.ID)
	switch {
	case err != nil:
		f.fail("rate-limit", "Check that this machine reaches "+d.Settings.GitHub.APIURL+".", "%s", err)
	case b.Remaining*100 <= b.Allowed*d.Settings.GitHub.ReservePercent:
		f.warn("rate-limit", "See the runbook GitHub's limits.", "%s has %d of %d calls left until %s, which is within the reserve", in.Account, b.Remaining, b.Allowed,
			b.ResetsAt.Format("15:04 UTC"))
	default:
		f.ok("rate-limit", "%s has %d of %d calls left", in.Account, b.Remaining, b.Allowed)
	}
}

// checkWebhook checks where GitHub sends webhooks. Which host leads to the public listener cannot be known here: delivery finds out.
func (d *doctor) checkWebhook(ctx context.Context, f *findings, client *github.Client) {
	hook, err := client.Webhook(ctx)
	if err != nil {
		f.fail("webhook", "Check that this machine reaches "+d.Settings.GitHub.APIURL+".", "%s", err)
		return
	}
	const page = "Correct it on the App's page, under Webhook."
	u, err := url.Parse(hook.URL)
	switch {
	case hook.URL == "":
		f.fail("webhook", page+" It is the public listener's address and "+hookPath+".", "the App has no webhook address")
	case err != nil || u.Path != hookPath:
		f.fail("webhook", page, "webhooks go to %s; the public listener takes them at https://<its address>%s", hook.URL, hookPath)
	case u.Scheme != "https" && !d.Settings.Demo:
		f.fail("webhook", page, "webhooks go to %s without TLS", hook.URL)
	case !hook.Secret:
		f.fail("webhook", page+" It is the secret that github.webhook_secret_ref names.", "the App has no webhook secret, so every webhook is refused")
	case hook.ContentType != "json":
		f.fail("webhook", page, "the content type of webhooks is %q; want json", hook.ContentType)
	case hook.Insecure:
		f.fail("webhook", page, "GitHub does not verify the certificate of %s", hook.URL)
	default:
		f.ok("webhook", "webhooks go to %s, signed", strings.TrimSuffix(hook.URL, "/"))
	}
}
