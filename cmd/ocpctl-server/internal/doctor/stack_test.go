package doctor_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/doctor"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/binaries"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/devstack/slack"
)

// clinic is a demo stack that can be examined.
type clinic struct {
	*devstack.Stack
	t *testing.T
}

// built builds the programs that the stack runs.
func built(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	require.NoError(t, binaries.Build(t.Context(), dir, slices.Concat(binaries.Product, binaries.Tools)...))
	return dir
}

func start(t *testing.T) *clinic {
	t.Helper()
	dir := pgtest.TempDir(t)
	require.NoError(t, pgtest.Prepare(t.Context(), filepath.Join(dir, "postgres")))
	h, err := devstack.Start(t.Context(), devstack.Config{Dir: dir, Bin: built(t), Fast: true, Hour: time.Minute, Pace: 10 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Stop()) })
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "AWS_") || strings.HasPrefix(name, "OCPCTL_") {
			t.Setenv(name, "")
			require.NoError(t, os.Unsetenv(name)) // and set again after the test
		}
	}
	for _, pair := range cloud(t, h) {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	require.NoError(t, h.GitHub.Label(41, "question", "maya")) // so that there is a webhook
	require.Eventually(t, func() bool {
		all := h.GitHub.Deliveries()
		return len(all) > 0 && all[len(all)-1].State == github.Delivered
	}, 10*time.Second, 10*time.Millisecond)
	return &clinic{h, t}
}

// cloud returns the variables with which people run the server's commands against the stack.
func cloud(t *testing.T, h *devstack.Stack) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(h.Dir, "server.env"))
	require.NoError(t, err)
	return strings.Fields(string(raw))
}

// config returns the stack's own configuration, as its server reads it.
func (c *clinic) config() doctor.Config {
	c.t.Helper()
	roles, err := config.ParseRoles("hooks,api,worker")
	require.NoError(c.t, err)
	loaded, err := config.Read(filepath.Join(c.Dir, "server.yaml"), os.Environ(), roles)
	require.NoError(c.t, err)
	return doctor.Config{Settings: loaded, Roles: roles}
}

// examine runs the doctor and returns its results by check.
func (c *clinic) examine(cfg doctor.Config) (results map[string][]doctor.Result, failed int) {
	c.t.Helper()
	results = map[string][]doctor.Result{}
	failed = doctor.Run(c.t.Context(), cfg, func(r doctor.Result) {
		require.NotEmpty(c.t, r.Found, r.Check)
		if r.Status == doctor.Fail || r.Status == doctor.Warn {
			require.NotEmpty(c.t, r.Next, "%s says nothing about the next step", r.Check)
		}
		require.NotContains(c.t, r.Found+r.Next, devstack.SecretKey)
		require.NotContains(c.t, r.Found+r.Next, devstack.SlackToken)
		results[r.Check] = append(results[r.Check], r)
	})
	return results, failed
}

// broken are the changes after which a check says what is wrong.
var broken = []struct {
	name  string
	apply func(t *testing.T, c *clinic, cfg *doctor.Config)
	want  map[string]string // check → part of what was found; the check must fail
}{
	{"S3 is cut off", func(t *testing.T, c *clinic, _ *doctor.Config) {
		c.S3Cut.Off()
		t.Cleanup(c.S3Cut.On)
	}, map[string]string{"s3.bucket": "request send failed"}},
	{"a bucket that does not exist", func(_ *testing.T, _ *clinic, cfg *doctor.Config) {
		cfg.Settings.Artifacts.Bucket = "another-bucket"
	}, map[string]string{"s3.bucket": "the bucket another-bucket does not exist"}},
	{"a role that cannot be assumed", func(_ *testing.T, _ *clinic, cfg *doctor.Config) {
		cfg.Settings.Artifacts.RunnerRole = "arn:aws:iam::123456789012:role/another"
	}, map[string]string{"s3.runner-role": "not authorized to perform: sts:AssumeRole"}},
	{"the key of another App", func(t *testing.T, _ *clinic, cfg *doctor.Config) {
		cfg.Settings.GitHub.PrivateKeyRef = "file:" + rsaKey(t)
	}, map[string]string{"github.app": "GitHub refuses the key for the App 4242"}},
	{"an App with too little", func(t *testing.T, c *clinic, _ *doctor.Config) {
		less := github.Registered()
		less.Permissions["checks"] = "read"
		delete(less.Permissions, "deployments")
		less.Events = slices.DeleteFunc(less.Events, func(e string) bool { return e == "check_run" })
		c.GitHub.SetManifest(less)
		t.Cleanup(func() { c.GitHub.SetManifest(github.Registered()) })
	}, map[string]string{
		"github.permissions": "the App lacks checks: write and deployments: write", "github.events": "GitHub does not send check_run",
		"github.installations": "has not accepted checks: write and deployments: write",
	}},
	{"an installation that is suspended", func(t *testing.T, c *clinic, _ *doctor.Config) {
		require.NoError(t, c.GitHub.Suspend("maya"))
		t.Cleanup(func() { require.NoError(t, c.GitHub.Unsuspend("maya")) })
	}, map[string]string{"github.installations": "is suspended"}},
	{"an installation that is none", func(_ *testing.T, _ *clinic, cfg *doctor.Config) {
		cfg.Settings.GitHub.Installations = []int64{7}
	}, map[string]string{"github.installations": "the App has no installation 7"}},
	{"webhooks to another path", func(t *testing.T, c *clinic, _ *doctor.Config) {
		webhook(t, c, c.PublicURL()+"/hooks", c.Secrets.Webhook)
	}, map[string]string{"github.webhook": "the public listener takes them at", "github.delivery": "webhooks are not stored: sent again, it was answered 404"}},
	{"webhooks with another secret", func(t *testing.T, c *clinic, _ *doctor.Config) {
		webhook(t, c, c.PublicURL()+"/webhooks/github", "guessed")
	}, map[string]string{"github.delivery": "refuses GitHub's signature"}},
	{"webhooks to nobody", func(t *testing.T, c *clinic, _ *doctor.Config) {
		webhook(t, c, "http://127.0.0.1:1/webhooks/github", c.Secrets.Webhook)
	}, map[string]string{"github.delivery": "GitHub does not reach the public listener"}},
	{"webhooks without a secret", func(t *testing.T, c *clinic, cfg *doctor.Config) {
		cfg.ReadOnly = true
		webhook(t, c, c.PublicURL()+"/webhooks/github", "")
	}, map[string]string{"github.webhook": "no webhook secret"}},
	{"a clock that is ten minutes ahead", func(_ *testing.T, _ *clinic, cfg *doctor.Config) {
		cfg.Now = func() time.Time { return time.Now().Add(10 * time.Minute) }
	}, map[string]string{
		"database.clock": "ahead of the database's", "github.clock": "ahead of GitHub's", "account.clock": "ahead of AWS's",
	}},
	{"a Slack token that is none", func(t *testing.T, _ *clinic, cfg *doctor.Config) {
		cfg.Settings.Slack.BotTokenRef = "file:" + file(t, "demo-guessed")
	}, map[string]string{"slack.app": "the bot token is not valid"}},
	{"a Slack app without a scope", func(t *testing.T, _ *clinic, _ *doctor.Config) {
		all := slack.Scopes
		slack.Scopes = []string{"commands", "chat:write"}
		t.Cleanup(func() { slack.Scopes = all })
	}, map[string]string{"slack.scopes": "users:read and users:read.email"}},
	{"an app token that is none", func(t *testing.T, _ *clinic, cfg *doctor.Config) {
		cfg.Settings.Slack.Mode, cfg.Settings.Slack.AppTokenRef = config.SlackSocket, "file:"+file(t, "demo-guessed")
	}, map[string]string{"slack.socket": "Slack opens no connection for the app token"}},
	{"another Slack workspace", func(_ *testing.T, _ *clinic, cfg *doctor.Config) {
		cfg.Settings.Slack.Workspaces = []string{"T000OTHER"}
	}, map[string]string{"slack.workspace": "T0DEMOACME are not accepted"}},
	{"the wrong account", func(_ *testing.T, _ *clinic, cfg *doctor.Config) {
		cfg.Settings.Account, cfg.Settings.Runner.CloudCredsRef, cfg.Settings.Runner.Env = "210987654321", "", nil
	}, map[string]string{"account.account": "account is 210987654321, and runners would work with this process's identity, which is in 123456789012"}},
	{"credentials that AWS does not know", func(t *testing.T, _ *clinic, _ *doctor.Config) {
		t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file(t, "[default]\naws_access_key_id = AKIAOTHER\naws_secret_access_key = other"))
	}, map[string]string{"account.identity": "InvalidClientTokenId"}},
	{"a catalogue for another zone", func(t *testing.T, c *clinic, cfg *doctor.Config) {
		dir := filepath.Join(t.TempDir(), "catalogue")
		require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(c.Dir, "catalogue"))))
		path := filepath.Join(dir, "profiles", "aws-minimal-test.yaml")
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		raw = bytes.ReplaceAll(bytes.ReplaceAll(raw, []byte("labs.example.com"), []byte("labs.example.org")), []byte("4.20.1"), []byte("4.20.99"))
		require.NoError(t, os.WriteFile(path, raw, 0o600))
		cfg.Settings.Catalogue.Dir = dir
	}, map[string]string{"account.zones": "no public hosted zone for labs.example.org", "runner.installers": "4.20.99 lacks openshift-install, ccoctl and oc"}},
	{"a catalogue that is not valid", func(t *testing.T, _ *clinic, cfg *doctor.Config) {
		cfg.Settings.Catalogue.Dir = t.TempDir()
	}, map[string]string{"configuration.catalogue": "profiles"}},
	{"no runner", func(_ *testing.T, c *clinic, cfg *doctor.Config) {
		cfg.Settings.Runner.Program, cfg.Settings.Runner.WorkDir = "/none/ocpctl-runner", filepath.Join(c.Dir, "server.yaml")
	}, map[string]string{"runner.program": "no such file", "runner.work-dir": "is not a directory"}},
	{"no way to the Status API", func(t *testing.T, c *clinic, _ *doctor.Config) {
		c.Status.Off()
		t.Cleanup(c.Status.On)
	}, map[string]string{"runner.status-url": "healthz"}},
	{"no database", func(t *testing.T, _ *clinic, cfg *doctor.Config) {
		cfg.Settings.DatabaseURLRef = "file:" + file(t, "postgres://nobody:hunter2@127.0.0.1:1/none")
	}, map[string]string{"database.connection": "reach the database"}},
	{"a pool that does not fit", func(t *testing.T, c *clinic, cfg *doctor.Config) {
		cfg.Settings.DatabaseURLRef = "file:" + file(t, c.DatabaseURL()+"&pool_max_conns=5000")
	}, map[string]string{"database.connections": "one process opens up to 5000 connections"}},
	{"a secret that is gone", func(_ *testing.T, _ *clinic, cfg *doctor.Config) {
		cfg.Settings.GitHub.WebhookSecretRef, cfg.Settings.Runner.PullSecretRef = "file:/none/webhook", "file:/none/pull-secret"
	}, map[string]string{"secrets.github.webhook_secret_ref": "no such file", "secrets.runner.pull_secret_ref": "no such file"}},
	{"keys that are none", func(t *testing.T, _ *clinic, cfg *doctor.Config) {
		cfg.Settings.Session.KeyRef, cfg.Settings.SAML.KeyRef = "file:"+file(t, "hello"), "file:"+rsaKey(t)
	}, map[string]string{"identity.session-key": "session.key_ref", "identity.saml-key": "want an RSA or ECDSA key"}},
	{"providers that are none", func(_ *testing.T, c *clinic, cfg *doctor.Config) {
		cfg.Settings.SAML.Metadata = c.GitHub.URL()
		cfg.Settings.OIDC[0].Issuer = strings.Replace(cfg.Settings.OIDC[0].Issuer, "127.0.0.1", "localhost", 1)
	}, map[string]string{"identity.saml": "metadata", "identity.oidc[0]": "so its tokens are refused"}},
	{"an address of other programs", func(t *testing.T, c *clinic, cfg *doctor.Config) {
		other, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { _ = other.Close() })
		go func() {
			for conn, err := other.Accept(); err == nil; conn, err = other.Accept() {
				_ = conn.Close()
			}
		}()
		cfg.Settings.Listen.Public, cfg.Settings.UIURL = other.Addr().String(), c.Slack.URL()
	}, map[string]string{"listeners.public": "is used by another program", "ui.address": "healthz answers 404"}},
}

func TestTheDemoIsSoundAndWhateverBreaksIsNamed(t *testing.T) {
	c := start(t)
	results, failed := c.examine(c.config())
	require.Zero(t, failed, "%v", results)
	for check, want := range map[string]doctor.Status{
		"configuration.valid": doctor.OK, "configuration.demo": doctor.Warn, "configuration.catalogue": doctor.OK, "secrets.database_url_ref": doctor.OK,
		"secrets.runner.pull_secret_ref": doctor.OK, "database.schema": doctor.OK, "database.clock": doctor.OK, "database.privileges": doctor.OK,
		"listeners.public": doctor.OK, "listeners.private": doctor.OK, "s3.bucket": doctor.OK, "s3.versioning": doctor.OK,
		"s3.write": doctor.OK, "s3.runner-role": doctor.OK, "identity.oidc[0]": doctor.OK, "identity.saml": doctor.OK,
		"identity.session-key": doctor.OK, "identity.status-key": doctor.OK, "ui.address": doctor.OK, "github.app": doctor.OK,
		"github.clock": doctor.OK, "github.permissions": doctor.OK, "github.events": doctor.OK, "github.installations": doctor.OK, "github.rate-limit": doctor.OK,
		"github.webhook": doctor.OK, "github.delivery": doctor.OK, "slack.app": doctor.OK, "slack.scopes": doctor.OK, "slack.workspace": doctor.Warn,
		"account.identity": doctor.OK, "account.account": doctor.OK, "account.clock": doctor.OK, "account.regions": doctor.OK, "account.zones": doctor.OK,
		"runner.program": doctor.OK, "runner.installers": doctor.OK, "runner.status-url": doctor.OK, "kubernetes.access": doctor.Skipped,
	} {
		require.NotEmpty(t, results[check], check)
		require.Equal(t, want, results[check][0].Status, "%+v", results[check])
	}
	left, err := c.S3.Client().ListObjectVersions(t.Context(), &s3.ListObjectVersionsInput{Bucket: aws.String(devstack.Bucket)})
	require.NoError(t, err)
	require.Empty(t, left.Versions, "the probes are gone in every version")
	require.Empty(t, left.DeleteMarkers)
	command := exec.CommandContext(t.Context(), filepath.Join(c.Bin, "ocpctl-server"), "doctor", "-config", filepath.Join(c.Dir, "server.yaml"))
	command.Env = append(cloud(t, c.Stack), "PATH="+os.Getenv("PATH"))
	out, err := command.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Regexp(t, `\n\d+ ok, 2 warn, 0 fail, \d+ skipped\n$`, string(out))
	for _, b := range broken {
		t.Run(b.name, func(t *testing.T) {
			cfg := c.config()
			b.apply(t, c, &cfg)
			results, failed := c.examine(cfg)
			require.Positive(t, failed)
			for check, found := range b.want {
				i := slices.IndexFunc(results[check], func(r doctor.Result) bool { return r.Status == doctor.Fail })
				require.GreaterOrEqual(t, i, 0, "%s does not fail: %+v", check, results[check])
				require.Contains(t, results[check][i].Found, found)
				require.NotContains(t, results[check][i].Found, "hunter2")
			}
		})
	}
	_, failed = c.examine(c.config())
	require.Zero(t, failed, "whatever was broken is whole again")
}

func webhook(t *testing.T, c *clinic, url, secret string) {
	c.GitHub.SetWebhook(url, secret)
	t.Cleanup(func() { c.GitHub.SetWebhook(c.PublicURL()+"/webhooks/github", c.Secrets.Webhook) })
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte(text+"\n"), 0o600))
	return path
}

func rsaKey(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	return file(t, string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})))
}
