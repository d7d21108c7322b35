// Package config is the server's configuration: its fields, their defaults, and what is wrong with their values.
//
// It reads the file and the environment, resolves secrets when asked, and starts nothing. It must never put a secret into an error:
// a field that ends in _ref is not quoted.
package config

import (
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/internal/dispatch/kubernetes"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/lifecycle/breaker"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// Config is the server's configuration. Durations are Go durations ("15m"); *_ref are references to secrets ("file:/path",
// "aws-sm:name"). deploy/ocpctl.yaml lists every field.
type Config struct {
	Installation string `yaml:"installation"` // short name of this control plane, unique in the cloud account: the tag InstallationId
	Demo         bool   `yaml:"demo"`         // allows stand-ins, addresses without TLS and demo secrets; never set it elsewhere

	DatabaseURLRef string `yaml:"database_url_ref"` // reference to a postgres:// URL
	Listen         Listen `yaml:"listen"`           // the two listeners
	UIURL          string `yaml:"ui_url"`           // https address of the private listener for people; the name of this installation for proofs

	API          API           `yaml:"api"`          // limits of the API for each principal
	Catalogue    Catalogue     `yaml:"catalogue"`    // profiles, teams, quotas and rules
	GitHub       GitHub        `yaml:"github"`       // the GitHub App, and how it is used
	Slack        Slack         `yaml:"slack"`        // the Slack app
	Reports      Reports       `yaml:"reports"`      // what is reported without being asked for
	OIDC         []Issuer      `yaml:"oidc"`         // trusted issuers of bearer tokens
	Tekton       []Tekton      `yaml:"tekton"`       // Kubernetes clusters whose PipelineRuns are watched
	SAML         SAML          `yaml:"saml"`         // sign-in to the pages
	AWS          AWS           `yaml:"aws"`          // sign-in with AWS identities
	Session      Session       `yaml:"session"`      // people's sessions
	Console      Console       `yaml:"console"`      // how people sign in to the consoles of clusters
	Metrics      Metrics       `yaml:"metrics"`      // who reads which
	Artifacts    Artifacts     `yaml:"artifacts"`    // the bucket for installer state
	Runner       Runner        `yaml:"runner"`       // how runners are started, and what they get
	Bill         Bill          `yaml:"bill"`         // what the cloud billed
	Account      string        `yaml:"account"`      // the AWS account for clusters; empty: clouds.aws.account
	Clouds       Clouds        `yaml:"clouds"`       // accounts and keys by platform
	Scan         Scan          `yaml:"scan"`         // cloud accounts that are looked through for orphans
	ClusterInfo  ClusterInfo   `yaml:"cluster_info"` // what a ready cluster says about itself, and which of its addresses are shown
	Limits       Limits        `yaml:"limits"`       // time limits of the controller
	Hour         time.Duration `yaml:"hour"`         // real length of one hour of a time to live; 1h outside the demo
	Grace        time.Duration `yaml:"grace"`        // after a pull request was closed or a label removed; 0: the profile's
	Features     Features      `yaml:"features"`     // parts that are being built
	Repositories []Repository  `yaml:"repositories"` // who pays for the clusters of a repository; the first match applies
}

type Listen struct {
	Public  string `yaml:"public"`  // webhooks only
	Private string `yaml:"private"` // API, Status API, pages, metrics
	Runners string `yaml:"runners"` // only the Status API, with TLS; empty: none
	Probes  string `yaml:"probes"`  // only /healthz, /readyz and the process's metrics; empty: none

	RunnersCertFile string `yaml:"runners_cert_file"` // certificates (PEM) of listen.runners, its own first
	RunnersKeyFile  string `yaml:"runners_key_file"`  // the key (PEM) of its certificate

	DrainDelay time.Duration `yaml:"drain_delay"` // how long a stopping server still accepts requests while /readyz answers 503; at most 15s

	TrustedProxies []string `yaml:"trusted_proxies"` // networks whose X-Forwarded-For is trusted; empty: none
}

type API struct {
	Rate    float64       `yaml:"rate"`    // requests per second of one principal; more are answered 429
	Burst   int           `yaml:"burst"`   // how many at once
	Timeout time.Duration `yaml:"timeout"` // of one request, except streams
}

type Catalogue struct {
	Dir    string        `yaml:"dir"`    // folder of the catalogue; empty: the embedded one
	Reload time.Duration `yaml:"reload"` // how often it is checked for changes

	Repository string `yaml:"repository"` // on GitHub, owner/name, where its files are edited: pull requests there are checked, and changes proposed; empty: neither
	Path       string `yaml:"path"`       // of the catalogue's folder in that repository; empty: the whole repository
}

type GitHub struct {
	AppID            int64         `yaml:"app_id"`                  // the App's number
	PrivateKeyRef    string        `yaml:"private_key_ref"`         // reference to the App's private key (PEM)
	WebhookSecretRef string        `yaml:"webhook_secret_ref"`      // reference to the App's webhook secret
	WebhookNextRef   string        `yaml:"webhook_secret_next_ref"` // valid too while the secret is being replaced
	ClientID         string        `yaml:"client_id"`               // the App's client id: people prove on GitHub that an account is theirs; empty: the account types a code
	ClientSecretRef  string        `yaml:"client_secret_ref"`       // reference to a client secret of the App; with client_id
	APIURL           string        `yaml:"api_url"`                 // base URL of the API
	Pace             time.Duration `yaml:"pace"`                    // minimum time between two writes in one installation
	PerMinute        int           `yaml:"per_minute"`              // most writes per minute, of all processes together
	PerHour          int           `yaml:"per_hour"`                // the same per hour

	ReservePercent int `yaml:"reserve_percent"` // percent of each limit kept for reads that decisions depend on

	Installations []int64       `yaml:"installations"`  // the App's installations that are accepted; empty: all
	HookAddresses []string      `yaml:"hook_addresses"` // networks from which webhooks are accepted; empty: all
	Progress      time.Duration `yaml:"progress"`       // how often a check shows progress
	Look          time.Duration `yaml:"look"`           // how often the pull request of a wanted cluster is polled
	RunLook       time.Duration `yaml:"run_look"`       // how often the workflow run of a wanted cluster is asked about
	Deliveries    time.Duration `yaml:"deliveries"`     // how often GitHub is asked for deliveries that never arrived

	Permission string        `yaml:"permission"` // needed to have clusters: write, maintain or admin; empty: write
	Forks      string        `yaml:"forks"`      // approve: a person of the team approves the head commit; deny: never, whatever a repository's file says; empty: approve
	MaxGrace   time.Duration `yaml:"max_grace"`  // longest grace period that a repository's file may set; 0: the one that applies without a file
}

// GitHub's write limits for an App.
// https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
const (
	githubPerMinute = 80
	githubPerHour   = 500
	githubPoints    = 900 // per minute; a read costs one, a write five
)

func (g GitHub) WritePace() outbox.Pace {
	return outbox.Pace{Every: g.Pace, PerMinute: g.PerMinute, PerHour: g.PerHour}
}

// Reserve returns the reserve for the GitHub client, for which zero means its own default and a negative number none.
func (g GitHub) Reserve() int {
	if g.ReservePercent == 0 {
		return -1
	}
	return g.ReservePercent
}

// ProofURL is the page to which GitHub sends people back after they proved that an account is theirs (package web).
func (c Config) ProofURL() string { return strings.TrimSuffix(c.UIURL, "/") + "/links/github" }

// points returns how many of GitHub's points may be used per minute: a server that may write more may also use more of them.
func (g GitHub) Points() int {
	return githubPoints * max(g.PerMinute, githubPerMinute) / githubPerMinute
}

type Issuer struct {
	Issuer   string `yaml:"issuer"`   // its https:// address
	Audience string `yaml:"audience"` // that tokens must have; empty: ui_url
	Platform string `yaml:"platform"` // what it gives tokens to: github, kubernetes or gitlab; empty: what its address shows
	CAFile   string `yaml:"ca_file"`  // CA certificates for its TLS certificate; empty: the machine's
	Roles    bool   `yaml:"roles"`    // the claim ocpctl_role of its tokens counts; refused for issuers of pipelines' tokens
}

// RoleIssuers lists the issuers whose tokens may name their holder's role.
func (c Config) RoleIssuers() (issuers []string) {
	for _, issuer := range c.OIDC {
		if issuer.Roles {
			issuers = append(issuers, issuer.Issuer)
		}
	}
	return issuers
}

// GitHubIssuers lists the issuers that are configured as those of GitHub Actions.
func (c Config) GitHubIssuers() (issuers []string) {
	for _, issuer := range c.OIDC {
		if issuer.Platform == string(profiles.IssuerGitHub) {
			issuers = append(issuers, issuer.Issuer)
		}
	}
	return issuers
}

// JobIssuer returns the configured issuer of the tokens of a GitHub's jobs; empty: none is. An enterprise can have one of its own.
func (c Config) JobIssuer(site string) string {
	for _, issuer := range c.OIDC {
		of := profiles.GitHubOf(issuer.Issuer)
		if of == site && site != "" || of == "" && issuer.Platform == string(profiles.IssuerGitHub) {
			return issuer.Issuer
		}
	}
	return ""
}

// Tekton is a Kubernetes cluster with Tekton. Clusters that its PipelineRuns asked for end with them.
type Tekton struct {
	Issuer   string `yaml:"issuer"`    // of its service accounts' tokens, one of oidc
	APIURL   string `yaml:"api_url"`   // base URL of its API
	TokenRef string `yaml:"token_ref"` // reference to the token of a service account that may get PipelineRuns
	CAFile   string `yaml:"ca_file"`   // CA certificates for its API; empty: the machine's
}

// SAML configures the sign-in to the pages; without metadata nobody can sign in.
type SAML struct {
	Name     string `yaml:"name"`      // name of the identity provider, for people
	Metadata string `yaml:"metadata"`  // its URL, or a file; empty: nobody can sign in to the pages
	EntityID string `yaml:"entity_id"` // our entity id; empty: <ui_url>/saml/metadata
	KeyRef   string `yaml:"key_ref"`   // signs requests: RSA or ECDSA key and certificate, PEM
}

// AWS says which AWS identities can sign in to the API; without accounts and organizations none can.
type AWS struct {
	Accounts      []string `yaml:"accounts"`      // their identities may sign in; with organizations too, both lists must allow an account
	Organizations []string `yaml:"organizations"` // their accounts' identities may sign in
	STSEndpoints  []string `yaml:"sts_endpoints"` // besides AWS's own
}

func (a AWS) On() bool { return len(a.Accounts) > 0 || len(a.Organizations) > 0 }

// Session configures the sessions of people and AWS identities.
type Session struct {
	KeyRef    string        `yaml:"key_ref"`    // Ed25519 private key (PKCS#8 PEM) that signs sessions; not the status key
	Life      time.Duration `yaml:"life"`       // how long a person's session lasts, 5m to 12h
	NotBefore string        `yaml:"not_before"` // sessions from before this time (2026-01-31T12:00:00Z) have ended
}

// The ways to sign in to a cluster's console.
const (
	ConsoleAccounts = "accounts"
	ConsoleOpenID   = "openid"
)

// Console configures how people sign in to the consoles of clusters.
type Console struct {
	SignIn string `yaml:"sign_in"` // accounts: with an account of the cluster's own; openid: with the sign-in to the pages, for which clusters must reach ui_url
	CAFile string `yaml:"ca_file"` // with openid, CA certificates (PEM) with which clusters verify ui_url; empty: those that OpenShift trusts
}

// Metrics configures who reads metrics with names of teams and profiles.
type Metrics struct {
	TokenRef string `yaml:"token_ref"` // the bearer token for metrics with names of teams and profiles; empty: nobody gets them
}

type Artifacts struct {
	Bucket        string `yaml:"bucket"`          // its name
	KMSKey        string `yaml:"kms_key"`         // key for what teardowns need; empty: the bucket's default
	OperateKMSKey string `yaml:"operate_kms_key"` // key for what opens clusters; empty: the bucket's default
	RunnerRole    string `yaml:"runner_role"`     // role assumed for each attempt, restricted to its part of the bucket

	Retention time.Duration `yaml:"retention"` // how long the archives, logs and counts of a teardown are kept after it; 30 to 90 days
}

type Runner struct {
	Dispatch      string              `yaml:"dispatch"`              // process or kubernetes
	Kubernetes    kubernetes.Settings `yaml:"kubernetes"`            // with dispatch kubernetes
	Program       string              `yaml:"program"`               // path of ocpctl-runner
	Installers    string              `yaml:"installers"`            // <installers>/<version>/{openshift-install,ccoctl,oc}
	Releases      map[string]string   `yaml:"releases"`              // version → release image by digest, for versions missing in the directory
	WorkDir       string              `yaml:"work_dir"`              // holds one directory per attempt
	Env           map[string]string   `yaml:"env"`                   // environment of runners: AWS_…, IBMCLOUD_… (no credential), OTEL_…, OCPCTL_PERMISSIONS_BOUNDARY, OCPCTL_IMAGE_CACHE, proxies, PATH …
	StatusURL     string              `yaml:"status_url"`            // URL of the Status API for runners
	StatusCAFile  string              `yaml:"status_ca_file"`        // CA certificates (PEM) with which runners verify it; empty: the runner's machine's
	StatusPlain   bool                `yaml:"status_plain_http"`     // status_url may be http on another machine: whoever reads the network sees tokens and bucket credentials
	StatusKeyRef  string              `yaml:"status_key_ref"`        // Ed25519 private key (PKCS#8 PEM) that signs the tokens of attempts
	PullSecretRef string              `yaml:"pull_secret_ref"`       // reference to the pull secret, which runners resolve
	CloudCredsRef string              `yaml:"cloud_credentials_ref"` // the keys for AWS as JSON; empty: clouds.aws.credentials_ref
	SSHKey        string              `yaml:"ssh_key"`               // public key
	SSHKeyRef     string              `yaml:"ssh_key_ref"`           // private key without a passphrase, which collects logs from failed bootstrap machines
	Lease         time.Duration       `yaml:"lease"`                 // a runner that cannot renew it stops its installer
	Heartbeat     time.Duration       `yaml:"heartbeat"`             // how often a runner renews its lease
}

type Limits struct {
	LaunchPatience time.Duration `yaml:"launch_patience"`     // how long an attempt may remain unclaimed; keep it above 6m, or the alert OcpctlRunnerNotStarting never fires
	LeaseGrace     time.Duration `yaml:"lease_grace"`         // after the end of a lease, before its runner counts as gone
	LookAgain      time.Duration `yaml:"look_again"`          // how soon a cluster with a running attempt is checked again; four times that while its runner is seen at work
	RetryBase      time.Duration `yaml:"retry_base"`          // first wait between attempts
	RetryMax       time.Duration `yaml:"retry_max"`           // longest wait between attempts
	BlockAfter     int           `yaml:"block_after"`         // failed teardowns in a row before destroy_blocked
	VerifyGap      time.Duration `yaml:"verify_gap"`          // least time between the two clean passes
	WarnBefore     time.Duration `yaml:"warn_before"`         // READY becomes expiring this long before the end
	Runners        int           `yaml:"runners"`             // how many runners run at once, in the whole installation; 0: no limit
	PerAccount     int           `yaml:"runners_per_account"` // likewise in each cloud account
	PerRegion      int           `yaml:"runners_per_region"`  // likewise in each region of an account
	LetPast        time.Duration `yaml:"let_past"`            // how long the front of the queue for capacity may hold up clusters that need less
	Use            time.Duration `yaml:"use"`                 // the longest turn of a pipeline's run on a cluster
	Access         time.Duration `yaml:"access"`              // how long a kubeconfig may be valid
	Wake           time.Duration `yaml:"wake"`                // how often clusters that are due are looked for
	Findings       time.Duration `yaml:"findings"`            // how often everything is checked for findings
	Keep           time.Duration `yaml:"keep"`                // how long logs, reports, processed deliveries and orphans that are gone are kept; reported orphans: two years; proofs of destruction: forever
	OverdueAfter   time.Duration `yaml:"overdue_after"`       // past its end, before a cluster that is not being destroyed is a finding
	UnlookedAfter  time.Duration `yaml:"unlooked_after"`      // past its wake-up time, before a cluster that nobody processed is a finding
	UsageHalfLife  time.Duration `yaml:"usage_half_life"`     // among equal clusters that wait, that of the team which used less comes first; what was used this long ago counts half; 0s: usage decides nothing
	BreakerAfter   int           `yaml:"breaker_after"`       // creates in a row that fail for one reason before others wait there; 0: none ever waits for that
	BreakerPause   time.Duration `yaml:"breaker_pause"`       // then until one is tried; doubled after each that fails
	BreakerMost    time.Duration `yaml:"breaker_most"`        // the longest such pause
	StillAfter     time.Duration `yaml:"still_after"`         // without a change, before an install or teardown is a finding
}

type Repository struct {
	Match       string `yaml:"match"`       // glob over owner/name; a repository without a match gets no clusters
	Team        string `yaml:"team"`        // tag of its clusters
	Owner       string `yaml:"owner"`       // tag of its clusters
	CostCenter  string `yaml:"cost_center"` // tag of its clusters
	Environment string `yaml:"environment"` // tag of its clusters
}

// ClusterInfo is about what stands in a ready cluster for its users, and what of theirs is shown outside.
type ClusterInfo struct {
	Every      time.Duration `yaml:"every"`       // the longest time between two looks for links, each by a runner; 0: clusters have neither links nor an identity card
	RouteLabel string        `yaml:"route_label"` // Routes with this label are shown as links; empty: none is
}

// defaults are the values of settings that a file omits.
func Defaults() Config {
	return Config{
		Listen:    Listen{Public: "127.0.0.1:8081", Private: "127.0.0.1:8080", DrainDelay: 5 * time.Second},
		Catalogue: Catalogue{Reload: 15 * time.Second},
		GitHub: GitHub{APIURL: github.DefaultBaseURL, Pace: time.Second, PerMinute: githubPerMinute, PerHour: githubPerHour, Progress: 5 * time.Minute, Look: 3 * time.Minute, RunLook: 2 * time.Minute, Deliveries: 5 * time.Minute,
			ReservePercent: 20, Permission: policy.Permissions[0], Forks: profiles.ForksApprove},
		Slack:     Slack{Mode: SlackHTTP, APIURL: slack.DefaultBaseURL},
		Reports:   Reports{Weekly: WeeklyReport{Enabled: true, Weekday: "monday", Hour: 8, Zone: "UTC"}},
		Runner:    Runner{Dispatch: DispatchProcess, Kubernetes: kubernetes.Defaults(), Lease: 15 * time.Minute, Heartbeat: 15 * time.Second},
		Artifacts: Artifacts{Retention: 60 * 24 * time.Hour},
		SAML:      SAML{Name: "AWS IAM Identity Center"},
		Session:   Session{Life: 8 * time.Hour},
		Console:   Console{SignIn: ConsoleAccounts},
		API:       API{Rate: 20, Burst: 60, Timeout: 30 * time.Second},
		Scan:      Scan{Every: 6 * time.Hour, MinAge: 30 * time.Minute, MinSights: 2, CallsPerSecond: 5},
		Hour:      time.Hour,
		Bill:      Bill{Every: 6 * time.Hour},

		ClusterInfo: ClusterInfo{Every: 30 * time.Minute, RouteLabel: "ocpctl/show=true"},
		Limits: Limits{
			LaunchPatience: 10 * time.Minute, LeaseGrace: 2 * time.Minute, LookAgain: 15 * time.Second,
			RetryBase: 30 * time.Second, RetryMax: 24 * time.Hour, BlockAfter: 3, VerifyGap: 3 * time.Minute,
			WarnBefore: time.Hour, LetPast: 30 * time.Minute, Use: 6 * time.Hour, Access: 24 * time.Hour, Runners: 50, Wake: 5 * time.Second,
			Findings: 5 * time.Minute, Keep: 30 * 24 * time.Hour, OverdueAfter: 10 * time.Minute, UnlookedAfter: 5 * time.Minute, StillAfter: 3 * time.Hour,
			UsageHalfLife: 7 * 24 * time.Hour, BreakerAfter: 3, BreakerPause: 10 * time.Minute, BreakerMost: 2 * time.Hour,
		},
	}
}

func (c Config) Lifecycle() lifecycle.Limits {
	l := c.Limits
	return lifecycle.Limits{
		LaunchPatience: l.LaunchPatience, LeaseGrace: l.LeaseGrace, LookAgain: l.LookAgain, RetryBase: l.RetryBase,
		RetryMax: l.RetryMax, BlockAfter: l.BlockAfter, VerifyGap: l.VerifyGap, WarnBefore: l.WarnBefore, LetPast: l.LetPast, UsageHalfLife: l.UsageHalfLife, InformEvery: c.ClusterInfo.Every,
		Runners: lifecycle.RunnerCaps{All: l.Runners, Account: l.PerAccount, Region: l.PerRegion},
	}
}

// Breaker returns when failing creates have others wait.
func (c Config) Breaker() breaker.Limits {
	return breaker.Limits{After: c.Limits.BreakerAfter, Pause: c.Limits.BreakerPause, Most: c.Limits.BreakerMost}
}

// FindingLimits returns the limits of findings and orphans.
func (c Config) FindingLimits() lifecycle.FindingLimits {
	l := c.Limits
	return lifecycle.FindingLimits{
		MinAge: c.Scan.MinAge, MinSights: c.Scan.MinSights, EndMargin: l.OverdueAfter, WakeMargin: l.UnlookedAfter, StillFor: l.StillAfter,
	}
}
