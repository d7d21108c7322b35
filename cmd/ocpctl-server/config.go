package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// config is the server's file. Durations are Go durations ("15m"); *_ref are references to secrets ("file:/path").
// docs/configuration.md explains every field.
type config struct {
	Installation string `yaml:"installation"` // tells two control planes in one cloud account apart
	Demo         bool   `yaml:"demo"`         // permits stand-ins and demo secrets; never set it elsewhere

	DatabaseURLRef string       `yaml:"database_url_ref"`
	Listen         listenConfig `yaml:"listen"`
	UIURL          string       `yaml:"ui_url"` // where people reach the private listener

	GitHub       githubConfig       `yaml:"github"`
	Slack        slackConfig        `yaml:"slack"`
	OIDC         []issuerConfig     `yaml:"oidc"`
	Artifacts    artifactsConfig    `yaml:"artifacts"`
	Runner       runnerConfig       `yaml:"runner"`
	Account      string             `yaml:"account"` // the cloud account clusters live in; empty: any
	Limits       limitsConfig       `yaml:"limits"`
	Hour         time.Duration      `yaml:"hour"`  // how long an hour of a TTL lasts; 1h outside the demo
	Grace        time.Duration      `yaml:"grace"` // after a PR closed or a label went; 0: the profile's
	Repositories []repositoryConfig `yaml:"repositories"`
}

type listenConfig struct {
	Public  string `yaml:"public"`  // webhooks only
	Private string `yaml:"private"` // API, Status API, pages, metrics
}

type githubConfig struct {
	AppID            int64         `yaml:"app_id"`
	PrivateKeyRef    string        `yaml:"private_key_ref"`
	WebhookSecretRef string        `yaml:"webhook_secret_ref"`
	APIURL           string        `yaml:"api_url"`
	Pace             time.Duration `yaml:"pace"` // least time between two contents created in one installation
}

type slackConfig struct {
	SigningSecretRef string `yaml:"signing_secret_ref"`
}

type issuerConfig struct {
	Issuer   string `yaml:"issuer"`
	Audience string `yaml:"audience"`
}

type artifactsConfig struct {
	Bucket        string `yaml:"bucket"`
	KMSKey        string `yaml:"kms_key"`
	OperateKMSKey string `yaml:"operate_kms_key"`
}

type runnerConfig struct {
	Program       string        `yaml:"program"`
	Installers    string        `yaml:"installers"` // <installers>/<version>/openshift-install
	WorkDir       string        `yaml:"work_dir"`
	StatusURL     string        `yaml:"status_url"`     // where runners reach the Status API
	StatusKeyRef  string        `yaml:"status_key_ref"` // Ed25519 private key, PKCS#8 PEM
	PullSecretRef string        `yaml:"pull_secret_ref"`
	SSHKey        string        `yaml:"ssh_key"`
	Lease         time.Duration `yaml:"lease"`
	Heartbeat     time.Duration `yaml:"heartbeat"`
}

type limitsConfig struct {
	LaunchPatience time.Duration `yaml:"launch_patience"`
	LeaseGrace     time.Duration `yaml:"lease_grace"`
	LookAgain      time.Duration `yaml:"look_again"`
	RetryBase      time.Duration `yaml:"retry_base"`
	RetryMax       time.Duration `yaml:"retry_max"`
	BlockAfter     int           `yaml:"block_after"`
	VerifyGap      time.Duration `yaml:"verify_gap"`
	WarnBefore     time.Duration `yaml:"warn_before"`
	Wake           time.Duration `yaml:"wake"`
}

type repositoryConfig struct {
	Match       string `yaml:"match"` // glob over owner/name
	Team        string `yaml:"team"`
	Owner       string `yaml:"owner"`
	CostCenter  string `yaml:"cost_center"`
	Environment string `yaml:"environment"`
}

// defaults are what a file need not say.
func defaults() config {
	return config{
		Listen: listenConfig{Public: "127.0.0.1:8081", Private: "127.0.0.1:8080"},
		GitHub: githubConfig{APIURL: "https://api.github.com/", Pace: time.Second},
		Runner: runnerConfig{Lease: 15 * time.Minute, Heartbeat: 15 * time.Second},
		Hour:   time.Hour,
		Limits: limitsConfig{
			LaunchPatience: 10 * time.Minute, LeaseGrace: 2 * time.Minute, LookAgain: 15 * time.Second,
			RetryBase: 30 * time.Second, RetryMax: 24 * time.Hour, BlockAfter: 3, VerifyGap: 3 * time.Minute,
			WarnBefore: time.Hour, Wake: 5 * time.Second,
		},
	}
}

func (l limitsConfig) lifecycle() lifecycle.Limits {
	return lifecycle.Limits{
		LaunchPatience: l.LaunchPatience, LeaseGrace: l.LeaseGrace, LookAgain: l.LookAgain, RetryBase: l.RetryBase,
		RetryMax: l.RetryMax, BlockAfter: l.BlockAfter, VerifyGap: l.VerifyGap, WarnBefore: l.WarnBefore,
	}
}

// loadConfig reads the file strictly: an unknown field or a bad value names its line.
func loadConfig(path string) (config, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return config{}, fmt.Errorf("read the configuration: %w", err)
	}
	cfg := defaults()
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	if err := dec.Decode(&cfg); err != nil {
		return config{}, fmt.Errorf("%s: %w", path, err)
	}
	if err := errors.Join(cfg.check()...); err != nil {
		return config{}, fmt.Errorf("%s:\n%w", path, err)
	}
	return cfg, nil
}

// check returns everything that is wrong, each with the field and what would be accepted.
func (c config) check() []error {
	var bad []error
	need := func(field, value, accepted string) {
		if value == "" {
			bad = append(bad, fmt.Errorf("%s is empty; give %s", field, accepted))
		}
	}
	need("installation", c.Installation, "a short name of this control plane, e.g. prod")
	need("database_url_ref", c.DatabaseURLRef, "file:/path of a file with a postgres:// URL")
	need("github.webhook_secret_ref", c.GitHub.WebhookSecretRef, "file:/path of the App's webhook secret")
	need("artifacts.bucket", c.Artifacts.Bucket, "the name of an S3 bucket")
	for _, d := range []struct {
		field string
		value time.Duration
	}{
		{"hour", c.Hour}, {"runner.lease", c.Runner.Lease}, {"runner.heartbeat", c.Runner.Heartbeat},
		{"limits.launch_patience", c.Limits.LaunchPatience}, {"limits.look_again", c.Limits.LookAgain},
		{"limits.retry_base", c.Limits.RetryBase}, {"limits.retry_max", c.Limits.RetryMax},
		{"limits.verify_gap", c.Limits.VerifyGap}, {"limits.wake", c.Limits.Wake},
	} {
		if d.value <= 0 {
			bad = append(bad, fmt.Errorf("%s is %s; give a duration above zero", d.field, d.value))
		}
	}
	if c.Limits.BlockAfter < 1 {
		bad = append(bad, fmt.Errorf("limits.block_after is %d; give 1 or more", c.Limits.BlockAfter))
	}
	if !c.Demo {
		bad = append(bad, c.checkReal()...)
	}
	return bad
}

// checkReal refuses what only the demo may have.
func (c config) checkReal() []error {
	var bad []error
	if c.Hour != time.Hour {
		bad = append(bad, fmt.Errorf("hour is %s; outside the demo an hour lasts 1h", c.Hour))
	}
	if c.Limits.VerifyGap < time.Minute {
		bad = append(bad, fmt.Errorf("limits.verify_gap is %s; outside the demo give 1m or more", c.Limits.VerifyGap))
	}
	for field, raw := range map[string]string{
		"github.api_url": c.GitHub.APIURL, "AWS_ENDPOINT_URL": os.Getenv("AWS_ENDPOINT_URL"),
		"AWS_ENDPOINT_URL_S3": os.Getenv("AWS_ENDPOINT_URL_S3"),
	} {
		if loopback(raw) {
			bad = append(bad, fmt.Errorf("%s is %s, a stand-in on this machine; only a file with demo: true may use it", field, raw))
		}
	}
	for _, issuer := range c.OIDC {
		if loopback(issuer.Issuer) {
			bad = append(bad, fmt.Errorf("oidc issuer %s is a stand-in on this machine; only a file with demo: true may trust it", issuer.Issuer))
		}
	}
	return bad
}

// refuseDemoSecret guards against a demo's well-known secret reaching a real server.
func (c config) refuseDemoSecret(field, value string) error {
	if !c.Demo && strings.HasPrefix(value, "demo-") {
		return fmt.Errorf("%s holds a secret of the demo, which everybody knows; set a real one", field)
	}
	return nil
}

func loopback(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || raw == "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || (ip != nil && ip.IsLoopback())
}
