package main

import (
	"time"

	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// config is the server's configuration file. Durations are Go durations ("15m"); *_ref are references to secrets ("file:/path",
// "aws-sm:name"). docs/configuration.md explains every field.
type config struct {
	Installation string `yaml:"installation"` // distinguishes installations that share a cloud account
	Demo         bool   `yaml:"demo"`         // allows stand-ins and demo secrets; never set it elsewhere

	DatabaseURLRef string       `yaml:"database_url_ref"`
	Listen         listenConfig `yaml:"listen"`
	UIURL          string       `yaml:"ui_url"` // public URL of the private listener

	API          apiConfig          `yaml:"api"`
	Catalogue    catalogueConfig    `yaml:"catalogue"`
	GitHub       githubConfig       `yaml:"github"`
	Slack        slackConfig        `yaml:"slack"`
	OIDC         []issuerConfig     `yaml:"oidc"`
	SAML         samlConfig         `yaml:"saml"`
	AWS          awsConfig          `yaml:"aws"`
	Session      sessionConfig      `yaml:"session"`
	Artifacts    artifactsConfig    `yaml:"artifacts"`
	Runner       runnerConfig       `yaml:"runner"`
	Account      string             `yaml:"account"` // the cloud account for clusters; empty: any
	Limits       limitsConfig       `yaml:"limits"`
	Hour         time.Duration      `yaml:"hour"`  // real length of one hour of a TTL; 1h outside the demo
	Grace        time.Duration      `yaml:"grace"` // after a pull request was closed or a label removed; 0: the profile's
	Repositories []repositoryConfig `yaml:"repositories"`
}

type listenConfig struct {
	Public  string `yaml:"public"`  // webhooks only
	Private string `yaml:"private"` // API, Status API, pages, metrics

	TrustedProxies []string `yaml:"trusted_proxies"` // networks whose X-Forwarded-For is trusted; empty: none

	DrainDelay time.Duration `yaml:"drain_delay"` // between "not ready" and the end of the listeners
}

type apiConfig struct {
	Rate    float64       `yaml:"rate"`    // requests per second of one principal
	Burst   int           `yaml:"burst"`   // burst of requests
	Timeout time.Duration `yaml:"timeout"` // of one request, except streams
}

type catalogueConfig struct {
	Dir    string        `yaml:"dir"`    // folder of the catalogue; empty: the embedded one
	Reload time.Duration `yaml:"reload"` // how often it is checked for changes
}

type githubConfig struct {
	AppID            int64         `yaml:"app_id"`
	PrivateKeyRef    string        `yaml:"private_key_ref"`
	WebhookSecretRef string        `yaml:"webhook_secret_ref"`
	WebhookNextRef   string        `yaml:"webhook_secret_next_ref"` // valid too while the secret is being replaced
	APIURL           string        `yaml:"api_url"`
	Pace             time.Duration `yaml:"pace"`       // minimum time between two writes that create content in one installation
	PerMinute        int           `yaml:"per_minute"` // the maximum of such writes per minute, for all processes together
	PerHour          int           `yaml:"per_hour"`

	ReservePercent *int `yaml:"reserve_percent"` // percent of each limit kept for reads that decisions depend on; nil: 20

	Installations []int64       `yaml:"installations"`  // installations of the App that this server handles; empty: all
	HookAddresses []string      `yaml:"hook_addresses"` // networks from which webhooks are accepted; empty: all
	Progress      time.Duration `yaml:"progress"`       // how often a check shows progress
	Look          time.Duration `yaml:"look"`           // how often the pull request of a wanted cluster is polled
	Deliveries    time.Duration `yaml:"deliveries"`     // how often GitHub is asked for deliveries that never arrived

	Permission string        `yaml:"permission"` // needed to have clusters: write, maintain or admin; empty: write
	Forks      string        `yaml:"forks"`      // approve or deny; empty: approve
	MaxGrace   time.Duration `yaml:"max_grace"`  // longest grace period that a repository's file may set; 0: the one that applies without a file
}

// GitHub's write limits for an App.
// https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
const (
	githubPerMinute = 80
	githubPerHour   = 500
	githubPoints    = 900 // per minute; a read costs one, a write five
)

func (g githubConfig) pace() outbox.Pace {
	return outbox.Pace{Every: g.Pace, PerMinute: g.PerMinute, PerHour: g.PerHour}
}

// reserve returns the reserve for the GitHub client, for which zero means the default.
func (g githubConfig) reserve() int {
	switch {
	case g.ReservePercent == nil:
		return 0
	case *g.ReservePercent == 0:
		return -1
	}
	return *g.ReservePercent
}

// points returns how many of GitHub's points may be used per minute: a server that may write more may also use more of them.
func (g githubConfig) points() int {
	return githubPoints * max(g.PerMinute, githubPerMinute) / githubPerMinute
}

// slackConfig is the Slack app; without a signing secret Slack's requests are not accepted.
type slackConfig struct {
	SigningSecretRef string `yaml:"signing_secret_ref"`
	BotTokenRef      string `yaml:"bot_token_ref"` // for answers; see docs/slack.md
	APIURL           string `yaml:"api_url"`

	Workspaces []string `yaml:"workspaces"` // workspaces that this server handles, by id; empty: all that sign with the secret
}

type issuerConfig struct {
	Issuer   string `yaml:"issuer"`
	Audience string `yaml:"audience"`
	CAFile   string `yaml:"ca_file"` // CA certificates for its TLS certificate; empty: the machine's
}

// samlConfig configures the sign-in to the pages; without metadata nobody can sign in.
type samlConfig struct {
	Name     string `yaml:"name"`      // name of the identity provider, for people
	Metadata string `yaml:"metadata"`  // its URL, or a file
	EntityID string `yaml:"entity_id"` // our entity id; empty: <ui_url>/saml/metadata
	KeyRef   string `yaml:"key_ref"`   // signs requests: RSA or ECDSA key and certificate, PEM
}

// awsConfig says which AWS identities can sign in to the API; without accounts and organizations none can.
type awsConfig struct {
	Accounts      []string `yaml:"accounts"`
	Organizations []string `yaml:"organizations"`
	STSEndpoints  []string `yaml:"sts_endpoints"` // besides AWS's own
}

func (a awsConfig) on() bool { return len(a.Accounts) > 0 || len(a.Organizations) > 0 }

// sessionConfig configures the sessions of people and AWS identities.
type sessionConfig struct {
	KeyRef    string        `yaml:"key_ref"` // Ed25519, PKCS#8 PEM
	Life      time.Duration `yaml:"life"`
	NotBefore string        `yaml:"not_before"` // earlier sessions have ended
}

type artifactsConfig struct {
	Bucket        string `yaml:"bucket"`
	KMSKey        string `yaml:"kms_key"`
	OperateKMSKey string `yaml:"operate_kms_key"`
	RunnerRole    string `yaml:"runner_role"` // role assumed for each attempt, restricted to its part of the bucket

	Retention time.Duration `yaml:"retention"` // how long a cluster's archives and logs are kept after its end
}

type runnerConfig struct {
	Program       string            `yaml:"program"`
	Installers    string            `yaml:"installers"` // <installers>/<version>/{openshift-install,ccoctl,oc}
	Releases      map[string]string `yaml:"releases"`   // version → release image by digest, for versions missing in the directory
	WorkDir       string            `yaml:"work_dir"`
	Env           map[string]string `yaml:"env"`            // added to the environment variables that runners get from the server
	StatusURL     string            `yaml:"status_url"`     // URL of the Status API for runners
	StatusKeyRef  string            `yaml:"status_key_ref"` // Ed25519 private key, PKCS#8 PEM
	PullSecretRef string            `yaml:"pull_secret_ref"`
	CloudCredsRef string            `yaml:"cloud_credentials_ref"` // the cloud's keys as JSON; empty: the runner's own identity
	SSHKey        string            `yaml:"ssh_key"`               // public key
	SSHKeyRef     string            `yaml:"ssh_key_ref"`           // private key, for access to failed bootstrap machines
	Lease         time.Duration     `yaml:"lease"`
	Heartbeat     time.Duration     `yaml:"heartbeat"`
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
	LetPast        time.Duration `yaml:"let_past"` // how long the front of the queue for capacity may hold up clusters that need less
	Wake           time.Duration `yaml:"wake"`
	Sweep          time.Duration `yaml:"sweep"`
	Keep           time.Duration `yaml:"keep"`           // how long logs, reports and processed deliveries are kept
	OverdueAfter   time.Duration `yaml:"overdue_after"`  // past its end, before a cluster that is not being destroyed is a finding
	UnlookedAfter  time.Duration `yaml:"unlooked_after"` // past its wake-up time, before a cluster that nobody processed is a finding
	StillAfter     time.Duration `yaml:"still_after"`    // without a change, before an install or teardown is a finding
}

type repositoryConfig struct {
	Match       string `yaml:"match"` // glob over owner/name
	Team        string `yaml:"team"`
	Owner       string `yaml:"owner"`
	CostCenter  string `yaml:"cost_center"`
	Environment string `yaml:"environment"`
}

// defaults are the values of settings that a file omits.
func defaults() config {
	return config{
		Listen:    listenConfig{Public: "127.0.0.1:8081", Private: "127.0.0.1:8080", DrainDelay: 5 * time.Second},
		Catalogue: catalogueConfig{Reload: 15 * time.Second},
		GitHub:    githubConfig{APIURL: github.DefaultBaseURL, Pace: time.Second, PerMinute: githubPerMinute, PerHour: githubPerHour, Progress: 5 * time.Minute, Look: 3 * time.Minute, Deliveries: 5 * time.Minute},
		Slack:     slackConfig{APIURL: slack.DefaultBaseURL},
		Runner:    runnerConfig{Lease: 15 * time.Minute, Heartbeat: 15 * time.Second},
		Artifacts: artifactsConfig{Retention: 60 * 24 * time.Hour},
		SAML:      samlConfig{Name: "AWS IAM Identity Center"},
		Session:   sessionConfig{Life: 8 * time.Hour},
		API:       apiConfig{Rate: 20, Burst: 60, Timeout: 30 * time.Second},
		Hour:      time.Hour,
		Limits: limitsConfig{
			LaunchPatience: 10 * time.Minute, LeaseGrace: 2 * time.Minute, LookAgain: 15 * time.Second,
			RetryBase: 30 * time.Second, RetryMax: 24 * time.Hour, BlockAfter: 3, VerifyGap: 3 * time.Minute,
			WarnBefore: time.Hour, LetPast: 30 * time.Minute, Wake: 5 * time.Second,
			Sweep: 5 * time.Minute, Keep: 30 * 24 * time.Hour, OverdueAfter: 10 * time.Minute, UnlookedAfter: 5 * time.Minute, StillAfter: 3 * time.Hour,
		},
	}
}

func (l limitsConfig) lifecycle() lifecycle.Limits {
	return lifecycle.Limits{
		LaunchPatience: l.LaunchPatience, LeaseGrace: l.LeaseGrace, LookAgain: l.LookAgain, RetryBase: l.RetryBase,
		RetryMax: l.RetryMax, BlockAfter: l.BlockAfter, VerifyGap: l.VerifyGap, WarnBefore: l.WarnBefore, LetPast: l.LetPast,
	}
}

// sweeps returns the limits of a sweep. The limits for orphans become settings once clouds are searched for orphans.
func (l limitsConfig) sweeps() lifecycle.SweepLimits {
	return lifecycle.SweepLimits{
		MinAge: time.Hour, MinSights: 3, EndMargin: l.OverdueAfter, WakeMargin: l.UnlookedAfter, StillFor: l.StillAfter,
	}
}
