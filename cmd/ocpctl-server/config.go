package main

import (
	"time"

	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
)

// config is the server's file. Durations are Go durations ("15m"); *_ref are references to secrets ("file:/path", "aws-sm:name").
// docs/configuration.md explains every field.
type config struct {
	Installation string `yaml:"installation"` // tells two control planes in one cloud account apart
	Demo         bool   `yaml:"demo"`         // permits stand-ins and demo secrets; never set it elsewhere

	DatabaseURLRef string       `yaml:"database_url_ref"`
	Listen         listenConfig `yaml:"listen"`
	UIURL          string       `yaml:"ui_url"` // where people reach the private listener

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
	Account      string             `yaml:"account"` // the cloud account clusters live in; empty: any
	Limits       limitsConfig       `yaml:"limits"`
	Hour         time.Duration      `yaml:"hour"`  // how long an hour of a TTL lasts; 1h outside the demo
	Grace        time.Duration      `yaml:"grace"` // after a PR closed or a label went; 0: the profile's
	Repositories []repositoryConfig `yaml:"repositories"`
}

type listenConfig struct {
	Public  string `yaml:"public"`  // webhooks only
	Private string `yaml:"private"` // API, Status API, pages, metrics

	TrustedProxies []string `yaml:"trusted_proxies"` // networks whose X-Forwarded-For is believed; empty: nobody's
}

type apiConfig struct {
	Rate    float64       `yaml:"rate"`    // requests a second that one principal may send
	Burst   int           `yaml:"burst"`   // and so many at once
	Timeout time.Duration `yaml:"timeout"` // of one request, but of streams
}

type catalogueConfig struct {
	Dir    string        `yaml:"dir"`    // folder of profiles, teams, quotas, policies, identities; empty: the embedded ones
	Reload time.Duration `yaml:"reload"` // how often it is looked at for changes
}

type githubConfig struct {
	AppID            int64         `yaml:"app_id"`
	PrivateKeyRef    string        `yaml:"private_key_ref"`
	WebhookSecretRef string        `yaml:"webhook_secret_ref"`
	WebhookNextRef   string        `yaml:"webhook_secret_next_ref"` // holds beside it while one takes the other's place
	APIURL           string        `yaml:"api_url"`
	Pace             time.Duration `yaml:"pace"`       // least time between two contents created in one installation
	PerMinute        int           `yaml:"per_minute"` // and the most of them, for all processes together
	PerHour          int           `yaml:"per_hour"`

	ReservePercent *int `yaml:"reserve_percent"` // of each limit, kept for reads that decide; nil: 20

	Installations []int64       `yaml:"installations"`  // of the App that are listened to; empty: all
	HookAddresses []string      `yaml:"hook_addresses"` // networks that webhooks are taken from; empty: all
	Progress      time.Duration `yaml:"progress"`       // how often a check tells of progress alone
	Look          time.Duration `yaml:"look"`           // how often a wanted cluster's pull request is looked at unasked
	Deliveries    time.Duration `yaml:"deliveries"`     // how often it is read which webhooks never came

	Permission string        `yaml:"permission"` // that it takes to have clusters: write, maintain or admin; empty: write
	Forks      string        `yaml:"forks"`      // approve or deny; empty: approve
	MaxGrace   time.Duration `yaml:"max_grace"`  // that a repository's own file may give; 0: what it would be without
}

// What GitHub lets an App write.
// https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
const (
	githubPerMinute = 80
	githubPerHour   = 500
	githubPoints    = 900 // a minute; a read is one, a write five
)

func (g githubConfig) pace() store.Pace {
	return store.Pace{Every: g.Pace, PerMinute: g.PerMinute, PerHour: g.PerHour}
}

// reserve is the reserve as the wire takes it, for which zero is the default.
func (g githubConfig) reserve() int {
	switch {
	case g.ReservePercent == nil:
		return 0
	case *g.ReservePercent == 0:
		return -1
	}
	return *g.ReservePercent
}

// points are what may be spent of GitHub's points in a minute: a server that takes more writes takes more of them, too.
func (g githubConfig) points() int {
	return githubPoints * max(g.PerMinute, githubPerMinute) / githubPerMinute
}

// slackConfig is the Slack app; without a signing secret nobody comes from there.
type slackConfig struct {
	SigningSecretRef string `yaml:"signing_secret_ref"`
	BotTokenRef      string `yaml:"bot_token_ref"` // answers with it; see docs/slack.md
	APIURL           string `yaml:"api_url"`

	Workspaces []string `yaml:"workspaces"` // that are listened to, by id; empty: all that sign with the secret
}

type issuerConfig struct {
	Issuer   string `yaml:"issuer"`
	Audience string `yaml:"audience"`
	CAFile   string `yaml:"ca_file"` // whom its TLS certificate is from; empty: the machine's
}

// samlConfig is where people sign in to the pages; without metadata nobody does.
type samlConfig struct {
	Name     string `yaml:"name"`      // of the identity provider, for people
	Metadata string `yaml:"metadata"`  // its address, or a file
	EntityID string `yaml:"entity_id"` // who we are to it; empty: <ui_url>/saml/metadata
	KeyRef   string `yaml:"key_ref"`   // signs requests: RSA or ECDSA key and certificate, PEM
}

// awsConfig is whose AWS identities sign in to the API; without accounts and organizations nobody's do.
type awsConfig struct {
	Accounts      []string `yaml:"accounts"`
	Organizations []string `yaml:"organizations"`
	STSEndpoints  []string `yaml:"sts_endpoints"` // beside AWS's own
}

func (a awsConfig) on() bool { return len(a.Accounts) > 0 || len(a.Organizations) > 0 }

// sessionConfig is about what people and AWS identities are given.
type sessionConfig struct {
	KeyRef    string        `yaml:"key_ref"` // Ed25519, PKCS#8 PEM
	Life      time.Duration `yaml:"life"`
	NotBefore string        `yaml:"not_before"` // sessions from before it have ended
}

type artifactsConfig struct {
	Bucket        string `yaml:"bucket"`
	KMSKey        string `yaml:"kms_key"`
	OperateKMSKey string `yaml:"operate_kms_key"`
	RunnerRole    string `yaml:"runner_role"` // assumed for each attempt, narrowed to its part of the bucket

	Retention time.Duration `yaml:"retention"` // how long the archives and logs of a cluster stay after its end
}

type runnerConfig struct {
	Program       string            `yaml:"program"`
	Installers    string            `yaml:"installers"` // <installers>/<version>/{openshift-install,ccoctl,oc}
	Releases      map[string]string `yaml:"releases"`   // version → release image by digest, for what the directory lacks
	WorkDir       string            `yaml:"work_dir"`
	Env           map[string]string `yaml:"env"`            // beside what runners get of the server's environment
	StatusURL     string            `yaml:"status_url"`     // where runners reach the Status API
	StatusKeyRef  string            `yaml:"status_key_ref"` // Ed25519 private key, PKCS#8 PEM
	PullSecretRef string            `yaml:"pull_secret_ref"`
	CloudCredsRef string            `yaml:"cloud_credentials_ref"` // the cloud's keys as JSON; empty: the runner's own identity
	SSHKey        string            `yaml:"ssh_key"`               // public
	SSHKeyRef     string            `yaml:"ssh_key_ref"`           // private, to look into failed bootstraps with
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
	LetPast        time.Duration `yaml:"let_past"` // how long the front of the line for room holds up what needs less
	Wake           time.Duration `yaml:"wake"`
	Sweep          time.Duration `yaml:"sweep"`
	Keep           time.Duration `yaml:"keep"`           // how long logs, reports and worked deliveries stay
	OverdueAfter   time.Duration `yaml:"overdue_after"`  // past its end, before a cluster that is not going is a finding
	UnlookedAfter  time.Duration `yaml:"unlooked_after"` // past its wake-up time, before a cluster nobody looked at is one
	StillAfter     time.Duration `yaml:"still_after"`    // without a move, before an install or a teardown is one
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
		Listen:    listenConfig{Public: "127.0.0.1:8081", Private: "127.0.0.1:8080"},
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

// sweeps are the limits of a sweep. Those of orphans become settings with the look into the clouds that finds them.
func (l limitsConfig) sweeps() lifecycle.SweepLimits {
	return lifecycle.SweepLimits{
		MinAge: time.Hour, MinSights: 3, EndMargin: l.OverdueAfter, WakeMargin: l.UnlookedAfter, StillFor: l.StillAfter,
	}
}
