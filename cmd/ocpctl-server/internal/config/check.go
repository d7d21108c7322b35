package config

import (
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app/hooks"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/internal/source"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// check returns everything that is wrong for a process with these roles, each with the field and what would be accepted. Settings
// that only other roles need may be missing.
func (c Config) checkConfig(r Roles) []error {
	bad := append(c.checkNeeds(r), c.checkSlack(r)...)
	bad = append(bad, c.checkRunner()...)
	bad = append(bad, c.checkClouds(r)...)
	bad = append(bad, c.checkAddresses(r)...)
	bad = append(bad, c.checkIdentity()...)
	bad = append(bad, c.checkTekton()...)
	bad = append(bad, c.Reports.Weekly.checkReport()...)
	bad = append(bad, c.checkDurations()...)
	bad = append(bad, c.GitHub.checkGitHub()...)
	bad = append(bad, c.Bill.checkBill()...)
	bad = append(bad, c.Scan.checkScan()...)
	bad = append(bad, c.checkRepositories()...)
	bad = append(bad, c.checkFeatures()...)
	if !c.Demo {
		bad = append(bad, c.checkReal()...)
	}
	return bad
}

// checkNeeds checks what the roles cannot do without.
func (c Config) checkNeeds(r Roles) []error {
	const a = "a reference (" + secret.References + ") to "
	every, inner, worker := Roles{HooksRole, APIRole, WorkerRole}, Roles{APIRole, WorkerRole}, Roles{WorkerRole}
	local := worker // what only local runners need
	if c.Runner.Dispatch == DispatchKubernetes {
		local = nil
	}
	var bad []error
	for _, need := range []struct {
		field, value string
		by           Roles
		accepted     string
	}{
		{"database_url_ref", c.DatabaseURLRef, every, a + "a postgres:// URL"},
		{"installation", c.Installation, inner, "a short name of this control plane, e.g. prod"},
		{"github.webhook_secret_ref", c.GitHub.WebhookSecretRef, Roles{HooksRole}, a + "the App's webhook secret"},
		{"ui_url", c.UIURL, inner, "the address of the private listener for people, e.g. https://ocpctl.example.com"},
		{"artifacts.bucket", c.Artifacts.Bucket, inner, "the name of an S3 bucket"},
		{"runner.status_key_ref", c.Runner.StatusKeyRef, inner, a + "an Ed25519 key (PKCS#8 PEM)"},
		{"runner.pull_secret_ref", c.Runner.PullSecretRef, inner, a + "the pull secret, as runners read it"},
		{"github.private_key_ref", c.GitHub.PrivateKeyRef, worker, a + "the App's private key (PEM)"},
		{"runner.program", c.Runner.Program, local, "the path of ocpctl-runner"},
		{"runner.installers", c.Runner.Installers, local, "a directory of <version>/openshift-install, ccoctl and oc"},
		{"runner.work_dir", c.Runner.WorkDir, local, "a directory for attempts"},
		{"runner.status_url", c.Runner.StatusURL, worker, "the address of the private listener for runners"},
	} {
		by := r.commonRoles(need.by)
		switch {
		case len(by) == 0:
		case need.value == "":
			bad = append(bad, fmt.Errorf("%s is empty; %s %s", need.field, by.describeNeed(), need.accepted))
		case strings.HasSuffix(need.field, "_ref") && !isRef(need.value):
			bad = append(bad, fmt.Errorf("%s is not a reference; %s %s", need.field, by.describeNeed(), need.accepted))
		}
	}
	if r.Has(WorkerRole) && c.GitHub.AppID <= 0 {
		bad = append(bad, fmt.Errorf("github.app_id is %d; the role worker needs the GitHub App's id", c.GitHub.AppID))
	}
	return bad
}

func isRef(ref string) bool { return secret.Check(ref) == nil }

// checkAddresses checks the addresses to listen on and to call.
func (c Config) checkAddresses(r Roles) []error {
	var bad []error
	for _, l := range []struct{ role, field, addr string }{
		{HooksRole, "listen.public", c.Listen.Public}, {APIRole, "listen.private", c.Listen.Private},
	} {
		if _, port, err := net.SplitHostPort(l.addr); r.Has(l.role) && (err != nil || port == "") {
			bad = append(bad, fmt.Errorf("%s is %q; give host:port", l.field, l.addr))
		}
	}
	if p := c.Listen.Probes; p != "" {
		if _, port, err := net.SplitHostPort(p); err != nil || port == "" || p == c.Listen.Public || p == c.Listen.Private || p == c.Listen.Runners {
			bad = append(bad, fmt.Errorf("listen.probes is %q; give a host:port that no other listener has, or omit it", p))
		}
	}
	bad = append(bad, c.Listen.checkRunners(r)...)
	if c.Listen.Public == c.Listen.Private && !strings.HasSuffix(c.Listen.Public, ":0") {
		bad = append(bad, fmt.Errorf("listen.public and listen.private are both %s; the private listener must not be reachable at the public address",
			c.Listen.Public))
	}
	bad = append(bad, checkNetworks("listen.trusted_proxies", c.Listen.TrustedProxies)...)
	for _, a := range []struct{ field, url string }{
		{"ui_url", c.UIURL}, {"github.api_url", c.GitHub.APIURL}, {"slack.api_url", c.Slack.APIURL}, {"runner.status_url", c.Runner.StatusURL},
	} {
		switch {
		case a.url == "":
		case strings.ContainsAny(a.url, "#?@ "):
			bad = append(bad, fmt.Errorf("%s must be only an address; give http(s)://host without a query, fragment or password", a.field))
		case !isURL(a.url, "http", "https"):
			bad = append(bad, fmt.Errorf("%s is %q; give http(s)://host", a.field, a.url))
		}
	}
	return bad
}

// checkNetworks checks a list of networks.
func checkNetworks(field string, list []string) []error {
	var bad []error
	for i, text := range list {
		networks, err := source.Parse([]string{text})
		switch {
		case err != nil:
			bad = append(bad, fmt.Errorf("%s[%d]: %w", field, i, err))
		case networks[0].Bits() == 0:
			bad = append(bad, fmt.Errorf("%s[%d] is %s, which matches every address; list the networks, or omit the list", field, i, text))
		}
	}
	return bad
}

// Networks parses a list that checkNetworks accepted.
func Networks(list []string) source.Networks {
	out, _ := source.Parse(list)
	return out
}

func isURL(raw string, schemes ...string) bool {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return false
	}
	return slices.Contains(schemes, u.Scheme)
}

// routeLabel matches a label of a Kubernetes object: an optional prefix, a name and a value.
var routeLabel = regexp.MustCompile(`^([a-z0-9.-]{1,253}/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?=[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$`)

// checkDurations refuses durations that would stop the server's loops or make them spin.
func (c Config) checkDurations() []error {
	var bad []error
	l := c.Limits
	for _, d := range []struct {
		field        string
		value, least time.Duration
	}{
		{"api.timeout", c.API.Timeout, time.Second}, {"hour", c.Hour, 1}, {"grace", c.Grace, 0}, {"github.pace", c.GitHub.Pace, 0}, {"github.max_grace", c.GitHub.MaxGrace, 0},
		{"github.progress", c.GitHub.Progress, time.Second}, {"github.look", c.GitHub.Look, hooks.LeastLook}, {"github.run_look", c.GitHub.RunLook, hooks.LeastRunLook}, {"github.deliveries", c.GitHub.Deliveries, time.Second},
		{"artifacts.retention", c.Artifacts.Retention, time.Hour}, {"cluster_info.every", c.ClusterInfo.Every, 0},
		{"catalogue.reload", c.Catalogue.Reload, time.Second},
		{"runner.lease", c.Runner.Lease, time.Second}, {"runner.heartbeat", c.Runner.Heartbeat, 1},
		{"limits.launch_patience", l.LaunchPatience, 1}, {"limits.lease_grace", l.LeaseGrace, 1}, {"limits.look_again", l.LookAgain, 1},
		{"limits.retry_base", l.RetryBase, 1}, {"limits.retry_max", l.RetryMax, l.RetryBase},
		{"limits.verify_gap", l.VerifyGap, 1}, {"limits.warn_before", l.WarnBefore, 1}, {"limits.let_past", l.LetPast, 1}, {"limits.use", l.Use, time.Minute},
		{"limits.access", l.Access, profiles.LeastAccess}, {"limits.wake", l.Wake, time.Second}, {"limits.findings", l.Findings, time.Second}, {"limits.keep", l.Keep, time.Hour},
		{"limits.overdue_after", l.OverdueAfter, 1}, {"limits.unlooked_after", l.UnlookedAfter, 1}, {"limits.still_after", l.StillAfter, 1},
		{"limits.usage_half_life", l.UsageHalfLife, 0}, {"limits.breaker_pause", l.BreakerPause, 1}, {"limits.breaker_most", l.BreakerMost, l.BreakerPause},
	} {
		switch {
		case d.value >= d.least:
		case d.least == 1:
			bad = append(bad, fmt.Errorf("%s is %s; give a duration above zero", d.field, duration.Typed(d.value)))
		default:
			bad = append(bad, fmt.Errorf("%s is %s; give %s or more", d.field, duration.Typed(d.value), duration.Typed(d.least)))
		}
	}
	if d := c.Listen.DrainDelay; d < 0 || d > mostDrainDelay {
		bad = append(bad, fmt.Errorf("listen.drain_delay is %s; give 0s to %s, so that a graceful stop takes less than a minute", duration.Typed(d), duration.Typed(mostDrainDelay)))
	}
	if c.Runner.Lease < 3*c.Runner.Heartbeat {
		bad = append(bad, fmt.Errorf("runner.lease is %s; give at least three times runner.heartbeat (%s), so that a lost response does not end an installation",
			duration.Typed(c.Runner.Lease), duration.Typed(c.Runner.Heartbeat)))
	}
	if c.API.Rate <= 0 || c.API.Burst < 1 {
		bad = append(bad, fmt.Errorf("api.rate is %g and api.burst is %d; give a rate above 0 and a burst of 1 or more", c.API.Rate, c.API.Burst))
	}
	for _, n := range []struct {
		field string
		value int
	}{{"limits.runners", l.Runners}, {"limits.runners_per_account", l.PerAccount}, {"limits.runners_per_region", l.PerRegion}, {"limits.breaker_after", l.BreakerAfter}} {
		if n.value < 0 {
			bad = append(bad, fmt.Errorf("%s is %d; give 1 or more, or 0 for no limit", n.field, n.value))
		}
	}
	if label := c.ClusterInfo.RouteLabel; label != "" && !routeLabel.MatchString(label) {
		bad = append(bad, fmt.Errorf("cluster_info.route_label is %q; give a label as key=value, e.g. ocpctl/show=true, or leave it empty", label))
	}
	if l.BlockAfter < 1 {
		bad = append(bad, fmt.Errorf("limits.block_after is %d; give 1 or more", l.BlockAfter))
	}
	return bad
}

// checkGitHub checks which webhooks are accepted and how much is written to GitHub.
func (g GitHub) checkGitHub() []error {
	bad := checkNetworks("github.hook_addresses", g.HookAddresses)
	if g.WebhookNextRef != "" && !isRef(g.WebhookNextRef) { // it is not quoted: it may be the secret itself
		bad = append(bad, fmt.Errorf("github.webhook_secret_next_ref is not a reference; give a reference (%s) to the next webhook secret, or omit it",
			secret.References))
	}
	switch {
	case (g.ClientID == "") != (g.ClientSecretRef == ""):
		bad = append(bad, fmt.Errorf("github.client_id and github.client_secret_ref belong together; give both, or omit both"))
	case g.ClientSecretRef != "" && !isRef(g.ClientSecretRef):
		bad = append(bad, fmt.Errorf("github.client_secret_ref is not a reference; give a reference (%s) to a client secret of the App, or omit it and github.client_id",
			secret.References))
	}
	for i, id := range g.Installations {
		if id <= 0 {
			bad = append(bad, fmt.Errorf("github.installations[%d] is %d; give the number at the end of the installation's address on GitHub, or omit the list", i, id))
		}
	}
	for _, m := range []struct {
		field      string
		most, real int
	}{{"github.per_minute", g.PerMinute, githubPerMinute}, {"github.per_hour", g.PerHour, githubPerHour}} {
		switch {
		case m.most < 1:
			bad = append(bad, fmt.Errorf("%s is %d; give 1 or more", m.field, m.most))
		case m.most > m.real && strings.TrimSuffix(g.APIURL, "/")+"/" == github.DefaultBaseURL:
			bad = append(bad, fmt.Errorf("%s is %d; give at most %d, which is the limit of %s; a GitHub Enterprise Server may allow more",
				m.field, m.most, m.real, g.APIURL))
		}
	}
	if p := g.ReservePercent; p < 0 || p > 90 {
		bad = append(bad, fmt.Errorf("github.reserve_percent is %d; give a number from 0 to 90, or omit it for 20", p))
	}
	if g.PerHour < g.PerMinute {
		bad = append(bad, fmt.Errorf("github.per_hour is %d and github.per_minute is %d; per_hour must be at least per_minute", g.PerHour, g.PerMinute))
	}
	return bad
}

// repositoryName is how GitHub names a repository with its owner.
var repositoryName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}$`)

func (c Config) checkRepositories() []error {
	var bad []error
	if name := c.Catalogue.Repository; name != "" && !repositoryName.MatchString(name) {
		bad = append(bad, fmt.Errorf("catalogue.repository is %q; give owner/name, e.g. acme/catalogue, or omit it", name))
	}
	if folder := c.Catalogue.Path; folder != "" && (c.Catalogue.Repository == "" || !fs.ValidPath(strings.Trim(folder, "/"))) {
		bad = append(bad, fmt.Errorf("catalogue.path is %q; give a folder of catalogue.repository without .., e.g. catalogue, or omit it", folder))
	}
	if f := c.GitHub.Forks; f != "" && f != profiles.ForksApprove && f != profiles.ForksDeny {
		bad = append(bad, fmt.Errorf("github.forks is %q; give %s or %s, or omit it", f, profiles.ForksApprove, profiles.ForksDeny))
	}
	if p := c.GitHub.Permission; p != "" && !slices.Contains(policy.Permissions, p) {
		bad = append(bad, fmt.Errorf("github.permission is %q; give one of %s, or omit it", p, strings.Join(policy.Permissions, ", ")))
	}
	for i, r := range c.Repositories {
		if _, err := path.Match(r.Match, ""); err != nil || r.Match == "" {
			bad = append(bad, fmt.Errorf("repositories[%d].match is %q; give a glob over owner/name, e.g. acme/*", i, r.Match))
		}
		for _, f := range []struct{ field, value string }{
			{"team", r.Team}, {"owner", r.Owner}, {"cost_center", r.CostCenter}, {"environment", r.Environment},
		} {
			if f.value == "" {
				bad = append(bad, fmt.Errorf("repositories[%d].%s is empty; every cluster carries it as a tag", i, f.field))
			}
		}
	}
	return bad
}
