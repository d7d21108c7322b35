package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var everything = Roles{HooksRole, APIRole, WorkerRole}

// sound is a file that every role starts with.
const sound = `
installation: prod
database_url_ref: file:/run/secrets/database-url
ui_url: https://ocpctl.example.com
github: {app_id: 7, private_key_ref: "file:/run/secrets/key.pem", webhook_secret_ref: "file:/run/secrets/webhook"}
oidc: [{issuer: "https://issuer.example.com", audience: ocpctl}]
artifacts: {bucket: cluster-ops-artifacts}
runner:
  program: /usr/bin/ocpctl-runner
  installers: /opt/installers
  work_dir: /var/lib/ocpctl
  status_url: https://ocpctl.example.com
  status_key_ref: file:/run/secrets/status-key.pem
  pull_secret_ref: file:/run/secrets/pull-secret
repositories:
  - {match: "acme/*", team: platform, owner: maya, cost_center: sandbox, environment: test}
`

// load writes a file and loads it for the roles.
func load(t *testing.T, r Roles, text string) (Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ocpctl.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return Load(path, r)
}

// noStandIns makes the environment one without stand-ins.
func noStandIns(t *testing.T) {
	t.Helper()
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
}

func TestASoundFileLoadsOverTheDefaults(t *testing.T) {
	noStandIns(t)
	cfg, err := load(t, everything, sound+"limits: {verify_gap: 5m}\n")
	require.NoError(t, err)
	require.Equal(t, 5*time.Minute, cfg.Limits.VerifyGap)
	require.Equal(t, Defaults().Limits.Findings, cfg.Limits.Findings)
	require.Equal(t, "127.0.0.1:8081", cfg.Listen.Public)
	require.Equal(t, 24*time.Hour, cfg.Lifecycle().RetryMax)
	require.Equal(t, 3*time.Hour, cfg.FindingLimits().StillFor)
}

func TestEverySecretMayStandInSecretsManager(t *testing.T) {
	noStandIns(t)
	image := "quay.io/openshift-release-dev/ocp-release@sha256:" + strings.Repeat("0f", 32)
	cfg, err := load(t, everything, strings.ReplaceAll(sound, "file:/run/secrets/", "aws-sm:ocpctl/"))
	require.NoError(t, err)
	require.Equal(t, "aws-sm:ocpctl/pull-secret", cfg.Runner.PullSecretRef)
	cfg, err = load(t, everything, strings.Replace(sound, "  work_dir:", `  cloud_credentials_ref: aws-sm:arn:aws:secretsmanager:us-east-1:123456789012:secret:cloud-AbCdEf
  ssh_key_ref: aws-sm:ocpctl/ssh#private
  releases: {"4.20.3": `+image+`}
  work_dir:`, 1))
	require.NoError(t, err)
	require.Equal(t, map[string]string{"4.20.3": image}, cfg.Runner.Releases)
	require.Equal(t, "aws-sm:ocpctl/ssh#private", cfg.Runner.SSHKeyRef)
}

func TestWhatCannotBeReadNamesItsLineAndWhatIsAccepted(t *testing.T) {
	noStandIns(t)
	for name, c := range map[string]struct{ text, want string }{
		"unknown field":        {"limits:\n  wak: 3s\n", "line 18: field wak is not supported; did you mean wake?"},
		"unknown at the top":   {"databse_url: x\n", "line 17: field databse_url is not supported; supported here: the fields in docs/configuration.md"},
		"unlike all of many":   {"limits:\n  colour: red\n", "line 18: field colour is not supported; supported here: the fields in docs/configuration.md"},
		"unknown in a list":    {"slack: {colour: x}\n", "line 17: field colour is not supported; supported here: mode, signing_secret_ref, app_token_ref, bot_token_ref, api_url, workspaces, admin_channel, email_domains"},
		"bad duration":         {"limits:\n  wake: soon\n", "line 18: soon is not a duration; give one with a unit, such as 90s, 15m or 3h"},
		"duration of no unit":  {"limits:\n  verify_gap: 180\n", "line 18: 180 is not a duration"},
		"word for a number":    {"limits: {block_after: many}\n", "line 17: many is not a valid int"},
		"field twice":          {"installation: again\n", `line 17: mapping key "installation" already defined at line 2`},
		"two documents":        {"---\ninstallation: other\n", "the file contains more than one YAML document"},
		"not YAML":             {"\tinstallation: x\n", "found character that cannot start any token"},
		"a list for a section": {"limits: [1]\n", "line 17: this is a section; supported in it: the fields in docs/configuration.md"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, everything, sound+c.text)
			require.ErrorContains(t, err, c.want)
			require.Len(t, strings.Split(err.Error(), "\n"), 2, "and nothing that follows from it alone")
		})
	}
	_, err := Load(filepath.Join(t.TempDir(), "none.yaml"), everything)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestEveryErrorIsToldAtOnce(t *testing.T) {
	noStandIns(t)
	_, err := load(t, everything, `
installation: prod
databse_url_ref: file:/x
github: {app_id: -1, private_key_ref: /run/key.pem, api_url: api.github.com, permission: read, forks: allow, max_grace: -1h, look: 0s, run_look: 1s, deliveries: 0s, installations: [7, 0], webhook_secret_next_ref: whsec-x, hook_addresses: [github.com, "::/0"]}
listen: {public: "8081", private: "8081", trusted_proxies: [10.0.0.0/8, 0.0.0.0/0, lb], drain_delay: 1m}
oidc: [{issuer: here, platform: jenkins}]
runner:
  lease: 20s
  heartbeat: 15s
  status_url: "ftp://x"
  cloud_credentials_ref: "env:KEYS"
  ssh_key_ref: /run/ssh-key
  env: {DATABASE_URL: "postgres://x", IBMCLOUD_APIKEY: "CANARY", IC_API_KEY: "CANARY"}
  releases: {"4.20": "quay.io/openshift-release-dev/ocp-release@sha256:0123", "4.20.3": "quay.io/openshift-release-dev/ocp-release:4.20.3-x86_64"}
limits: {wake: 10ms, findings: 0s, retry_base: 1h, retry_max: 1m, block_after: 0, runners: -1, runners_per_region: -2, verify_gap: -1m, use: 1s, warn_before: 0s, look_again: often}
grace: -1h
repositories: [{match: "acme/["}]
artifacts: {runner_role: runner}
saml: {metadata: "ldap://idp", key_ref: pair.pem}
aws: {accounts: [1234], organizations: [acme], sts_endpoints: ["sts.example.com", "https://sts.example.com/x"]}
session: {life: 13h, not_before: soon}
`)
	for _, want := range []string{
		"line 3: field databse_url_ref is not supported; did you mean database_url_ref?",
		"line 15: often is not a duration",
		`runner.cloud_credentials_ref is not a reference; give a reference (file:/path, or aws-sm:<name`,
		`to the keys for AWS: {"aws_access_key_id"`,
		`runner.ssh_key_ref is not a reference; give a reference`,
		`runner.env contains "IBMCLOUD_APIKEY", a credential of IBM Cloud, which runners read only by reference; omit it and set clouds.ibmcloud.credentials_ref`,
		`runner.env contains "IC_API_KEY", a credential of IBM Cloud`,
		`runner.env contains "DATABASE_URL", which is not passed to runners; give AWS_…, IBMCLOUD_… (but no credential), OTEL_EXPORTER_OTLP_… or OTEL_TRACES_… variables`,
		`artifacts.runner_role is "runner"; give the ARN of a role`,
		`runner.releases has the version "4.20"; give a version such as 4.20.3`,
		`runner.releases[4.20] is "quay.io/openshift-release-dev/ocp-release@sha256:0123"; give the release image by digest`,
		`runner.releases[4.20.3] is "quay.io/openshift-release-dev/ocp-release:4.20.3-x86_64"; give the release image by digest`,
		"database_url_ref is empty; the roles hooks, api and worker need a reference (file:/path, or aws-sm:",
		"github.webhook_secret_ref is empty; the role hooks needs a reference (file:/path",
		`github.private_key_ref is not a reference; the role worker needs a reference (file:/path`,
		"github.app_id is -1; the role worker needs the GitHub App's id",
		`github.api_url is "api.github.com"; give http(s)://host`,
		`github.forks is "allow"; give approve or deny, or omit it`,
		`github.permission is "read"; give one of write, maintain, admin, or omit it`,
		"github.max_grace is -1h; give 0s or more",
		"github.look is 0s; give 6s or more",
		"github.run_look is 1s; give 12s or more",
		"github.deliveries is 0s; give 1s or more",
		"github.installations[1] is 0; give the number at the end of the installation's address",
		"github.webhook_secret_next_ref is not a reference; give a reference (file:/path",
		`listen.public is "8081"; give host:port`,
		"listen.public and listen.private are both 8081",
		"listen.trusted_proxies[1] is 0.0.0.0/0, which matches every address; list the networks",
		"listen.drain_delay is 1m; give 0s to 15s",
		`listen.trusted_proxies[2]: "lb" is not a network; give CIDR notation such as 10.0.0.0/8`,
		`github.hook_addresses[0]: "github.com" is not a network`,
		"github.hook_addresses[1] is ::/0, which matches every address",
		`oidc[0].issuer is "here"; give the issuer's https:// address`,
		`oidc[0].platform is "jenkins"; give one of github, kubernetes, gitlab, or omit it`,
		`saml.metadata is "ldap://idp"; give the https:// address`,
		`saml.key_ref is not a reference; give a reference (file:/path`,
		`aws.accounts[0] is "1234"; give an AWS account's 12 digits`,
		`aws.organizations[0] is "acme"; give an AWS organization's id, e.g. o-a1b2c3d4e5`,
		`aws.sts_endpoints[0] is "sts.example.com"; give https://host`,
		`aws.sts_endpoints[1] is "https://sts.example.com/x"; give https://host`,
		"session.key_ref is empty; saml and aws need a reference (file:/path",
		"session.life is 13h; give 5m to 12h",
		`session.not_before is "soon"; give a time like 2026-01-31T12:00:00Z`,
		"artifacts.bucket is empty; the roles api and worker need the name of an S3 bucket",
		"runner.lease is 20s; give at least three times runner.heartbeat (15s)",
		`runner.status_url is "ftp://x"`,
		"limits.wake is 10ms; give 1s or more",
		"limits.findings is 0s; give 1s or more",
		"limits.retry_max is 1m; give 1h or more",
		"limits.runners is -1; give 1 or more, or 0 for no limit", "limits.runners_per_region is -2; give 1 or more, or 0 for no limit",
		"limits.block_after is 0; give 1 or more",
		"limits.verify_gap is -1m; give a duration above zero",
		"limits.use is 1s; give 1m or more",
		"limits.warn_before is 0s; give a duration above zero",
		"grace is -1h; give 0s or more",
		`repositories[0].match is "acme/["; give a glob`,
		"repositories[0].cost_center is empty",
	} {
		require.ErrorContains(t, err, want)
	}
}

func TestOnlyTheDemoMayHaveStandIns(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		env  map[string]string
		want string // empty: accepted
	}{
		"nothing of the demo":    {text: ""},
		"a VPC endpoint":         {env: map[string]string{"AWS_ENDPOINT_URL_S3": "https://bucket.vpce-1.s3.us-east-1.vpce.amazonaws.com"}},
		"a stand-in cloud":       {env: map[string]string{"AWS_ENDPOINT_URL": "http://127.0.0.1:8085"}, want: "AWS_ENDPOINT_URL is http://127.0.0.1:8085, a stand-in on this machine"},
		"a stand-in S3":          {env: map[string]string{"AWS_ENDPOINT_URL_S3": "http://localhost:8084"}, want: "AWS_ENDPOINT_URL_S3 is"},
		"one service alone":      {env: map[string]string{"AWS_ENDPOINT_URL_EC2": "https://[::1]:8085"}, want: "AWS_ENDPOINT_URL_EC2 is"},
		"a name of this machine": {env: map[string]string{"AWS_ENDPOINT_URL_STS": "http://sts.localhost."}, want: "AWS_ENDPOINT_URL_STS is"},
		"an open endpoint":       {env: map[string]string{"AWS_ENDPOINT_URL": "http://10.0.0.7"}, want: "AWS_ENDPOINT_URL is http://10.0.0.7; outside the demo give an https:// address"},
		"a demo credential":      {env: map[string]string{"AWS_SECRET_ACCESS_KEY": "demo-secret-access-key"}, want: "AWS_SECRET_ACCESS_KEY is a publicly known secret of the demo"},
		"a stand-in GitHub":      {text: "github: {app_id: 7, private_key_ref: 'file:/k', webhook_secret_ref: 'file:/w', api_url: 'http://127.0.0.1:8082/'}", want: "github.api_url is http://127.0.0.1:8082/, a stand-in"},
		"a stand-in Slack":       {text: "slack: {api_url: 'http://127.0.0.1:8083/api/'}", want: "slack.api_url is http://127.0.0.1:8083/api/, a stand-in"},
		"Slack in the open":      {text: "slack: {api_url: 'http://slack.example.com/api/'}", want: "slack.api_url is http://slack.example.com/api/; outside the demo give an https:// address"},
		"a stand-in issuer":      {text: "oidc: [{issuer: 'http://0.0.0.0:8087', audience: ocpctl}]", want: "oidc[0].issuer is http://0.0.0.0:8087, a stand-in"},
		"a stand-in provider":    {text: "saml: {metadata: 'http://127.0.0.1:8083/metadata'}\nsession: {key_ref: 'file:/s'}", want: "saml.metadata is http://127.0.0.1:8083/metadata, a stand-in"},
		"an open provider":       {text: "saml: {metadata: 'http://idp.example.com/metadata'}\nsession: {key_ref: 'file:/s'}", want: "saml.metadata is http://idp.example.com/metadata; outside the demo give an https:// address"},
		"a provider in a file":   {text: "saml: {metadata: /etc/ocpctl/idp.xml}\nsession: {key_ref: 'file:/s'}"},
		"a stand-in STS":         {text: "aws: {accounts: ['123456789012'], sts_endpoints: ['http://127.0.0.1:8085']}\nsession: {key_ref: 'file:/s'}", want: "aws.sts_endpoints[0] is http://127.0.0.1:8085, a stand-in"},
		"pages in the open":      {text: "ui_url: http://ocpctl.example.com", want: "ui_url is http://ocpctl.example.com; outside the demo give an https:// address"},
		"a verification gap":     {text: "limits: {verify_gap: 59s}", want: "limits.verify_gap is 59s; outside the demo give 1m or more"},
		"a short hour":           {text: "hour: 15s", want: "hour is 15s; outside the demo an hour lasts 1h"},
		"a grace too short":      {text: "limits: {lease_grace: 5s}", want: "limits.lease_grace is 5s; outside the demo give 1m30s or more"},
		"deliveries forgotten":   {text: "limits: {keep: 2h}", want: "limits.keep is 2h; outside the demo give 168h or more"},
	} {
		t.Run(name, func(t *testing.T) {
			noStandIns(t)
			for key, value := range c.env {
				t.Setenv(key, value)
			}
			text := replaced(sound, c.text)
			_, err := load(t, everything, text)
			if c.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.want)
			}
			_, err = load(t, everything, text+"\ndemo: true\n")
			require.NoError(t, err, "the demo may")
		})
	}
}

func TestRunnersCallTheServerAndTheBucketWithTLS(t *testing.T) {
	const address = "status_url: https://ocpctl.example.com"
	require.Contains(t, sound, address)
	for name, c := range map[string]struct{ runner, want string }{
		"an address without TLS":    {"status_url: http://ocpctl.example.com", "runner.status_url is http://ocpctl.example.com; outside the demo give an https:// address"},
		"one that a person allowed": {"status_url: http://ocpctl.example.com\n  status_plain_http: true", ""},
		"one on this machine":       {"status_url: http://127.0.0.1:8080", ""},
		"a bucket without TLS":      {address + "\n  env: {AWS_ENDPOINT_URL_S3: 'http://minio.example.com'}", "runner.env.AWS_ENDPOINT_URL_S3 is http://minio.example.com; outside the demo give an https:// address"},
		"a bucket of one's own":     {address + "\n  env: {AWS_ENDPOINT_URL_S3: 'https://minio.example.com'}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			noStandIns(t)
			_, err := load(t, everything, strings.Replace(sound, address, c.runner, 1))
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestTheReserveReachesTheWireAsItIsGiven(t *testing.T) {
	for text, want := range map[string]int{"": 20, "reserve_percent: 0": -1, "reserve_percent: 35": 35} {
		noStandIns(t)
		cfg, err := load(t, everything, replaced(sound, "github: {app_id: 7, private_key_ref: 'file:/k', webhook_secret_ref: 'file:/w', "+text+"}"))
		require.NoError(t, err)
		require.Equal(t, want, cfg.GitHub.Reserve(), text)
		require.Equal(t, 900, cfg.GitHub.Points())
	}
}

func TestAPaceThatIsNoneIsRefusedInWords(t *testing.T) {
	const app = "github: {app_id: 7, private_key_ref: 'file:/k', webhook_secret_ref: 'file:/w', "
	for name, c := range map[string]struct{ rest, want string }{
		"GitHub's own":             {"per_minute: 80, per_hour: 500}", ""},
		"slower":                   {"pace: 2s, per_minute: 10, per_hour: 100}", ""},
		"none":                     {"per_minute: 0}", "github.per_minute is 0; give 1 or more"},
		"less than none":           {"per_hour: -1}", "github.per_hour is -1; give 1 or more"},
		"faster than GitHub lets":  {"per_hour: 5000}", "github.per_hour is 5000; give at most 500, which is the limit of https://api.github.com/"},
		"a server of one's own":    {"api_url: 'https://github.example.com/api/v3/', per_minute: 600, per_hour: 5000}", ""},
		"an hour below its minute": {"per_minute: 60, per_hour: 30}", "github.per_hour is 30 and github.per_minute is 60; per_hour must be at least per_minute"},
		"no number":                {"per_minute: fast}", "fast is not a valid int"},
		"no reserve":               {"reserve_percent: 0}", ""},
		"a greater reserve":        {"reserve_percent: 90}", ""},
		"nothing but a reserve":    {"reserve_percent: 100}", "github.reserve_percent is 100; give a number from 0 to 90, or omit it for 20"},
	} {
		t.Run(name, func(t *testing.T) {
			noStandIns(t)
			_, err := load(t, everything, replaced(sound, app+c.rest))
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

// replaced puts one line in the place of the section of the same name.
func replaced(text, line string) string {
	key, _, _ := strings.Cut(line, ":")
	var kept []string
	for l := range strings.SplitSeq(text, "\n") {
		if line == "" || !strings.HasPrefix(l, key+":") {
			kept = append(kept, l)
		}
	}
	return strings.Join(append(kept, line), "\n")
}

func TestASecretOfTheDemoStaysInTheDemo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	for _, c := range []struct {
		demo        bool
		value, want string
	}{
		{true, "demo-github-webhook-secret", ""},
		{false, "demo-github-webhook-secret", "github.webhook_secret_ref is a publicly known secret of the demo"},
		{false, "s3cr3t", ""},
		{true, "", "is empty"},
	} {
		require.NoError(t, os.WriteFile(path, []byte(c.value+"\n"), 0o600))
		found, err := Config{Demo: c.demo}.Secret(t.Context(), "github.webhook_secret_ref", "file:"+path)
		if c.want != "" {
			require.ErrorContains(t, err, c.want)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.value, found.Reveal())
	}
	_, err := Config{}.Secret(t.Context(), "database_url_ref", "env:URL")
	require.ErrorContains(t, err, `database_url_ref: secret reference "env:URL": want file:/path`)
}

func TestARoleDemandsOnlyWhatItNeeds(t *testing.T) {
	noStandIns(t)
	for name, c := range map[string]struct {
		roles Roles
		text  string
		want  []string // every error
	}{
		"hooks": {Roles{HooksRole}, "database_url_ref: file:/db\ngithub: {webhook_secret_ref: 'file:/w'}", nil},
		"api": {Roles{APIRole}, "installation: prod\ndatabase_url_ref: file:/db\nui_url: https://x\nartifacts: {bucket: b}\n" +
			"runner: {status_key_ref: 'file:/k', pull_secret_ref: 'file:/p'}", nil},
		"hooks that listen to Slack":           {Roles{HooksRole}, "database_url_ref: file:/db\ngithub: {webhook_secret_ref: 'file:/w'}\nslack: {signing_secret_ref: 'file:/s'}", nil},
		"a worker that cannot answer in Slack": {everything, sound + "slack: {signing_secret_ref: 'file:/s'}", []string{"slack.signing_secret_ref is set but slack.bot_token_ref is empty; the role worker needs"}},
		"a worker that can":                    {everything, sound + "slack: {signing_secret_ref: 'file:/s', bot_token_ref: 'aws-sm:ocpctl/slack#bot'}", nil},
		"secrets of Slack in the file":         {everything, sound + "slack: {signing_secret_ref: abc, bot_token_ref: xoxb-1}", []string{"slack.signing_secret_ref is not a reference; give a reference", "slack.bot_token_ref is not a reference; give a reference"}},
		"no workspaces of Slack":               {everything, sound + "slack: {workspaces: [acme.slack.com]}", []string{`slack.workspaces[0] is "acme.slack.com"; give a workspace's id, such as T012AB3CD, or omit the list`}},
		"a bot that hears nothing":             {everything, sound + "slack: {bot_token_ref: 'file:/b'}", []string{"slack.bot_token_ref is set but slack.signing_secret_ref is empty; the role hooks needs"}},
		"another mode of Slack":                {everything, sound + "slack: {mode: websocket}", []string{`slack.mode is "websocket"; give http (Slack calls the public listener) or socket`}},
		"a socket without its tokens":          {everything, sound + "slack: {mode: socket}", []string{"slack.mode is socket but slack.app_token_ref is empty; the role hooks needs", "slack.mode is socket but slack.bot_token_ref is empty; the role worker needs"}},
		"a socket":                             {everything, sound + "slack: {mode: socket, app_token_ref: 'file:/a', bot_token_ref: 'file:/b'}", nil},
		"a socket's token for http":            {Roles{HooksRole}, "database_url_ref: file:/db\ngithub: {webhook_secret_ref: 'file:/w'}\nslack: {app_token_ref: 'file:/a'}", []string{"slack.app_token_ref is set but slack.mode is http"}},
		"a socket's token in the file":         {everything, sound + "slack: {mode: socket, app_token_ref: xapp-1, bot_token_ref: 'file:/b'}", []string{"slack.app_token_ref is not a reference"}},
		"an admin channel by its name":         {everything, sound + "slack: {admin_channel: '#admins'}", []string{`slack.admin_channel is "#admins"; give the channel's id`}},
		"a weekly report at no time": {everything, sound + "reports: {weekly: {channel: '#week', weekday: someday, hour: 24, zone: Middle/Earth}}", []string{
			`reports.weekly.channel is "#week"; give the channel's id`, `reports.weekly.weekday is "someday"; give a day in English`, "reports.weekly.hour is 24; give an hour from 0 to 23", `reports.weekly.zone is "Middle/Earth"; give the name of a time zone`}},
		"a weekly report in a zone":  {everything, sound + "reports: {weekly: {channel: C012AB3CD, weekday: Friday, hour: 0, zone: Europe/Berlin}}", nil},
		"an odd label of Routes":     {everything, sound + "cluster_info: {route_label: ocpctl/show}", []string{`cluster_info.route_label is "ocpctl/show"; give a label as key=value`}},
		"no label of Routes":         {everything, sound + "cluster_info: {every: 0s, route_label: ''}", nil},
		"the machine's zone":         {everything, sound + "reports: {weekly: {zone: Local}}", []string{`reports.weekly.zone is "Local"`}},
		"domains that are addresses": {everything, sound + "slack: {email_domains: [example.com, '@acme.example', EXAMPLE.com]}", []string{`slack.email_domains[1] is "@acme.example"`, `slack.email_domains[2] is "EXAMPLE.com"`}},
		"hooks without a secret":     {Roles{HooksRole}, "database_url_ref: file:/db", []string{"github.webhook_secret_ref is empty; the role hooks needs"}},
		"worker where hooks stands": {Roles{WorkerRole}, "installation: prod\ndatabase_url_ref: file:/db\nui_url: https://x\nartifacts: {bucket: b}\n" +
			"runner: {status_key_ref: 'file:/k', pull_secret_ref: 'file:/p'}", []string{
			"github.private_key_ref is empty; the role worker needs", "runner.program is empty; the role worker needs",
			"runner.installers is empty; the role worker needs", "runner.work_dir is empty; the role worker needs",
			"runner.status_url is empty; the role worker needs", "github.app_id is 0; the role worker needs",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, c.roles, c.text)
			if len(c.want) == 0 {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			lines := strings.Split(err.Error(), "\n")[1:]
			require.Len(t, lines, len(c.want), err.Error())
			for i, want := range c.want {
				require.Contains(t, lines[i], want)
			}
		})
	}
}

func TestRolesAreParsed(t *testing.T) {
	for list, want := range map[string]Roles{
		"hooks,api,worker":   {HooksRole, APIRole, WorkerRole},
		" api , hooks ":      {APIRole, HooksRole},
		"worker,worker,":     {WorkerRole},
		"":                   nil,
		" , ":                nil,
		"hooks,web":          nil,
		"Hooks":              nil,
		"hooks;api":          nil,
		"hooks,api,worker,x": nil,
	} {
		got, err := ParseRoles(list)
		require.Equal(t, want, got, list)
		require.Equal(t, want == nil, err != nil, fmt.Sprint(list, err))
	}
}

func TestAnAddressHoldsNoPassword(t *testing.T) {
	c := Defaults()
	c.GitHub.APIURL = "https://me:hunter2@ghe.example.com/"
	bad := errors.Join(c.checkAddresses(everything)...)
	require.ErrorContains(t, bad, "github.api_url must be only an address")
	require.NotContains(t, bad.Error(), "hunter2")
}

func TestWhoSaysWhoSomebodyIsIsCheckedTogether(t *testing.T) {
	noStandIns(t)
	for name, c := range map[string]struct{ text, want string }{
		"whole": {"saml: {metadata: 'https://idp.example.com/m', key_ref: 'file:/pair.pem'}\naws: {accounts: [123456789012], organizations: [o-a1b2c3d4e5]}\n" +
			"session: {key_ref: 'aws-sm:ocpctl/session', life: 12h, not_before: 2026-01-31T12:00:00Z}\n", ""},
		"sessions without a key":      {"aws: {accounts: ['123456789012']}\n", "session.key_ref is empty; saml and aws need"},
		"a key for two things":        {"session: {key_ref: 'file:/run/secrets/status-key.pem'}\n", "session.key_ref is runner.status_key_ref; use a separate key"},
		"a key that is none":          {"session: {key_ref: session.pem}\n", `session.key_ref is not a reference; give a reference`},
		"endpoints for nobody":        {"aws: {sts_endpoints: ['https://sts.example.com']}\n", "aws.accounts and aws.organizations are empty"},
		"an entity without metadata":  {"saml: {entity_id: x}\n", "saml.metadata is empty"},
		"an issuer with a subject":    {"oidc: [{issuer: 'https://ocpctl.example.org/#maya', audience: ocpctl}]", "oidc[0].issuer contains # ? @"},
		"our own address as a server": {"oidc: [{issuer: 'https://ocpctl.example.com', audience: ocpctl}]", "oidc[0].issuer is ui_url"},
	} {
		t.Run(name, func(t *testing.T) {
			text := sound + c.text
			if strings.HasPrefix(c.text, "oidc:") {
				text = replaced(sound, c.text)
			}
			_, err := load(t, everything, text)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			require.Len(t, strings.Split(err.Error(), "\n"), 2, err.Error())
		})
	}
}

// onKubernetes is sound with runners in Jobs, and without what only local runners need.
var onKubernetes = strings.NewReplacer("  program: /usr/bin/ocpctl-runner\n  installers: /opt/installers\n  work_dir: /var/lib/ocpctl\n", `  dispatch: kubernetes
  kubernetes:
    namespace: ocpctl-runners
    image: quay.io/example/ocpctl-runner:1.4.0
    service_accounts: {create: ocpctl-runner-create, destroy: ocpctl-runner-destroy}
    resources: {ibmcloud: {requests: {memory: 4Gi}, limits: {memory: 8Gi}}}
    deadlines: {create: 6h}
`).Replace(sound)

func TestRunnersInJobsNeedNoProgramsOnTheServer(t *testing.T) {
	noStandIns(t)
	cfg, err := load(t, everything, onKubernetes)
	require.NoError(t, err)
	require.Equal(t, "ocpctl-runners", cfg.Runner.Kubernetes.Namespace)
	require.Equal(t, "8Gi", cfg.Runner.Kubernetes.Resources["ibmcloud"].Limits["memory"])
	local, err := load(t, everything, sound)
	require.NoError(t, err)
	require.Equal(t, DispatchProcess, local.Runner.Dispatch)

	for change, want := range map[string]string{
		"dispatch: kubernetes→dispatch: pods":          `runner.dispatch is "pods"; give process for runners on the server's own machine, or kubernetes`,
		"namespace: ocpctl-runners→namespace: Runners": `runner.kubernetes.namespace is "Runners"; give the namespace`,
		"memory: 8Gi→memory: lots":                     `runner.kubernetes.resources.ibmcloud.limits.memory is "lots"; give an amount above zero`,
		"{create: 6h}→{create: 6m}":                    "runner.kubernetes.deadlines.create is 6m; give 2h or more",
		"image: quay→picture: quay":                    "field picture is not supported; ",
		"{requests: {memory: 4Gi}→{requires: {a: 4Gi}": "field requires is not supported; did you mean requests?",
	} {
		from, to, _ := strings.Cut(change, "→")
		_, err := load(t, everything, strings.Replace(onKubernetes, from, to, 1))
		require.ErrorContains(t, err, want)
	}
}
