package devstack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/e2e"
	"github.com/ocpctl/ocpctl/devstack/gateway"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/hub"
	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/devstack/kubernetes"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/postgres"
	"github.com/ocpctl/ocpctl/devstack/s3"
	"github.com/ocpctl/ocpctl/devstack/saml"
	"github.com/ocpctl/ocpctl/devstack/slack"
	"github.com/ocpctl/ocpctl/devstack/slack/play"
)

// The demo's fixed secrets. They are public, and the server refuses them outside the demo.
const (
	WebhookSecret = "demo-github-webhook-secret"
	ClientSecret  = "demo-github-client-secret"
	SlackSecret   = "demo-slack-signing-secret"
	SlackToken    = "demo-slack-bot-token"
	SlackAppToken = slack.DefaultAppToken // for Socket Mode
	AccessKey     = "AKIADEMO0000EXAMPLE1"
	SecretKey     = "demo-secret-access-key"
	PullSecret    = `{"auths":{"registry.example.com":{"auth":"ZGVtbzpkZW1vLXB1bGwtc2VjcmV0","email":"demo@example.com"}}}`
	Account       = "123456789012"
	IBMAccount    = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
	IBMKey        = "demo-ibmcloud-api-key"
	CLIKey        = "AKIADEMO0000OCPCTL01" // of an IAM user who may request clusters through the API
	CLISecret     = "demo-cli-secret-access-key"
	CLIUser       = "arn:aws:iam::" + Account + ":user/ocpctl-cli"
	Bucket        = "cluster-ops-artifacts"
)

// Config says where a stack runs and how fast its time is.
type Config struct {
	Dir      string // state; created if missing, otherwise continued
	Bin      string // folder with the programs ocpctl-server, ocpctl-runner and openshift-install
	BasePort int    // first of fifteen consecutive ports; 0: free ones
	Replicas int    // ocpctl-server processes behind a load balancer; 0: one, without a balancer
	Old      string // folder with an older release's programs, catalogue and server.yaml.tmpl: the first server runs them, and starts alone
	// Kubernetes makes runners Jobs of the cluster in Bin/kubernetes (make build-kubernetes), instead of processes of this machine.
	Kubernetes bool
	// SlackSocket makes Slack send everything over Socket Mode, and nothing to the public listener.
	SlackSocket bool
	// Workflows makes the stand-in GitHub execute workflows with act. Source is this repository's folder, whose actions they may use.
	Workflows bool
	Source    string
	// Real is a folder with the real openshift-install and ccoctl (make build-installer), which then make the clusters of the default
	// version. They reach the stand-in clouds by the clouds' own names.
	Real     string
	Pools    bool // the catalogue has pools, whose clusters nobody asked for
	Accounts bool // the catalogue has two accounts of AWS
	Hubs     bool // there is a hub, and the catalogue has a profile of namespaces on it
	Scarce   bool // a region of AWS has no machines, and the catalogue a profile that prefers it: aws-fallback-test
	Breaker  int  // so many creates in a row that fail open a breaker; 0: none ever opens
	OpenID   bool // clusters sign readers in through the pages, which are then at PagesURL alone
	Fast     bool // PostgreSQL does not wait for the disk, and stand-ins keep nothing across a restart: only for tests

	Hour      time.Duration // real length of one hour of a TTL
	Grace     time.Duration // after a pull request was closed or a label removed
	Pace      time.Duration // duration of one mark of the installer
	VerifyGap time.Duration // minimum time between two verification passes
	Lease     time.Duration // a runner's lease
	RetryBase time.Duration // wait after a failed attempt
	LookAgain time.Duration // how soon to decide about a running cluster again

	LeaseGrace  time.Duration // after a lease ended, before its runner counts as gone
	Heartbeat   time.Duration // of a runner without news
	CommentPace time.Duration // minimum time between two changes on GitHub
	Deliveries  time.Duration // how often webhooks that never arrived are requested again

	Looks       time.Duration // the longest time between two looks for links in a cluster; a fast stack has neither links nor identity cards without it
	Scans       time.Duration // how often the account is looked through; a fast stack looks only on request
	OrphanAge   time.Duration // since a scan first saw an orphan, before it is told
	ScanDeletes []string      // classes of orphans that are removed without an approval

	Callers []aws.Caller // more keys in the stand-in AWS, besides the demo's own
	// RunnerPolicy changes the runners' permissions; nil: those of deploy/terraform.
	RunnerPolicy func(policy string) string
	Secrets      Secrets  // those not given are the demo's
	Env          []string // KEY=value, for the server and therefore for runners and installers, after the stack's own
	NoServer     bool     // the server runs elsewhere, and the caller leads Ports.Public and Ports.Private to it
}

// Secrets are the values that must never leak. A test that searches for them sets its own.
type Secrets struct {
	Webhook, Slack string
	GitHubClient   string // the App's client secret
	SlackBot       string // the bot's token
	SlackApp       string // the app's, for Socket Mode
	Pull           string // pull secret, JSON
	CloudKey       string // secret of AccessKey
	RunnerKey      string // secret of RunnerKey
	ScanKey        string // secret of ScanKey
	IBMKey         string // API key of IBM Cloud
}

// Stack is a running stack.
type Stack struct {
	Config
	Ports     Ports
	PG        *postgres.Server
	S3        *s3.Server
	S3Cut     *Cut // between S3 and everything else
	Status    *Cut // between runners and the Status API
	GitHubCut *Cut // between GitHub's API and everything else; webhooks take another path
	AWS       *aws.Server
	IBMCloud  *ibmcloud.Server
	Hub       *hub.Hub // nil without Hubs
	GitHub    *github.Server
	Slack     *slack.Server
	OIDC      *oidc.Issuer
	SAML      *saml.Provider
	Kube      *kubernetes.Server // nil without Kubernetes
	Gateway   *gateway.Server    // the way of real programs to the clouds; nil without them
	s3In      map[string]int     // ports of S3 in other regions, for real programs
	regional  []*s3.Server       // at these ports
	Servers   []*Server          // at least one; all have every role
	balancers []*Cut             // before the servers, if there are several
	front     *httptest.Server   // terminates TLS before the pages; nil: they have none
}

// Start starts the stand-ins and the server in the order of their dependencies. On an error it stops what it started.
func Start(ctx context.Context, cfg Config) (h *Stack, err error) {
	h = &Stack{Config: cfg.withDefaults()}
	if h.Dir, err = filepath.Abs(cfg.Dir); err != nil {
		return nil, err
	}
	if h.Bin, err = filepath.Abs(cfg.Bin); err != nil {
		return nil, err
	}
	if h.Ports, err = choosePorts(cfg.BasePort); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Stop())
			h = nil
		}
	}()
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"the servers' ports", h.placeServers},
		{"the pages' TLS", h.startFront},                 // its address is in the configuration
		{"the gateway of real programs", h.startGateway}, // likewise
		{"the stand-in hub", h.startHub},                 // its credentials are a secret
		{"folders and secrets", h.layOut},
		{"Kubernetes", h.startKubernetes},
		{"PostgreSQL", h.startPostgres},
		{"S3", h.startS3},
		{"the stand-in AWS", h.startAWS},
		{"the stand-in IBM Cloud", h.startIBMCloud},
		{"the OIDC issuer", h.startOIDC},
		{"the identity provider", h.startSAML},
		{"the stand-in GitHub", h.startGitHub},
		{"the stand-in Slack", h.startSlack},
		{"the line to the Status API", h.startStatus},
		{"the load balancers", h.startBalancers},
		{"ocpctl-server", h.startFirst},
		{"the proof of the cloud accounts", h.awaitProofs},
	} {
		if err := step.run(ctx); err != nil {
			return h, fmt.Errorf("start %s: %w", step.name, err)
		}
	}
	return h, nil
}

func (c Config) withDefaults() Config {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	set(&c.Hour, time.Hour)
	set(&c.Grace, 15*time.Second)
	set(&c.Pace, 400*time.Millisecond)
	set(&c.VerifyGap, 2*time.Second)
	set(&c.Lease, 20*time.Second)
	set(&c.RetryBase, 2*time.Second)
	set(&c.LookAgain, 2*time.Second)
	set(&c.LeaseGrace, 5*time.Second)
	set(&c.Heartbeat, time.Second)
	set(&c.CommentPace, 10*time.Millisecond)
	set(&c.Deliveries, 5*time.Minute)
	set(&c.OrphanAge, time.Minute)
	if !c.Fast {
		set(&c.Scans, 10*time.Minute)
		set(&c.Looks, time.Minute)
	}
	c.Secrets.Webhook = cmp.Or(c.Secrets.Webhook, WebhookSecret)
	c.Secrets.GitHubClient = cmp.Or(c.Secrets.GitHubClient, ClientSecret)
	c.Secrets.Slack = cmp.Or(c.Secrets.Slack, SlackSecret)
	c.Secrets.SlackBot = cmp.Or(c.Secrets.SlackBot, SlackToken)
	c.Secrets.SlackApp = cmp.Or(c.Secrets.SlackApp, SlackAppToken)
	c.Secrets.Pull = cmp.Or(c.Secrets.Pull, PullSecret)
	c.Secrets.CloudKey = cmp.Or(c.Secrets.CloudKey, SecretKey)
	c.Secrets.RunnerKey = cmp.Or(c.Secrets.RunnerKey, RunnerSecret)
	c.Secrets.ScanKey = cmp.Or(c.Secrets.ScanKey, ScanSecret)
	c.Secrets.IBMKey = cmp.Or(c.Secrets.IBMKey, IBMKey)
	return c
}

func (h *Stack) startPostgres(ctx context.Context) (err error) {
	h.PG, err = postgres.Start(ctx, postgres.Config{Dir: h.path("postgres"), Port: h.Ports.Postgres, Fast: h.Fast})
	return err
}

// KillPostgres kills the database. What was committed is there again after StartPostgres.
func (h *Stack) KillPostgres() error { return h.PG.Kill() }

// StartPostgres starts the database again with the same data and port.
func (h *Stack) StartPostgres(ctx context.Context) error { return h.startPostgres(ctx) }

// startS3 starts S3 behind a Cut.
func (h *Stack) startS3(ctx context.Context) (err error) {
	defer must.Catch(&err)
	policy := must.Get(h.runnerPolicy())
	scans := must.Get(scanPolicy())
	h.S3 = must.Get(s3.Start(ctx, s3.Config{
		Dir: h.path("s3"), Port: h.Ports.S3Behind, AccessKey: AccessKey, SecretKey: h.Secrets.CloudKey, Buckets: []string{Bucket},
		Accounts: []s3.Account{
			{AccessKey: RunnerKey, SecretKey: h.Secrets.RunnerKey, ARN: RunnerUser, Policy: policy},
			{AccessKey: ScanKey, SecretKey: h.Secrets.ScanKey, ARN: ScanUser, Policy: scans},
			{AccessKey: SecondKey, SecretKey: SecondSecret, ARN: SecondUser, Policy: `{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["*"], "Resource": ["*"]}]}`},
		},
	}))
	must.Do(h.S3.KeepVersions(ctx, Bucket))
	h.S3Cut = must.Get(StartCut(addr(h.Ports.S3), addr(h.Ports.S3Behind)))
	return h.startRegions(ctx)
}

// startStatus puts a Cut between runners and the server; people's connections do not go through it.
func (h *Stack) startStatus(context.Context) (err error) {
	h.Status, err = StartCut(addr(h.Ports.Status), addr(h.Ports.Private))
	return err
}

// state returns where a stand-in keeps its state for a restart; a fast stack is never restarted.
func (h *Stack) state(name string) string {
	if h.Fast {
		return ""
	}
	return h.path(name)
}

func (h *Stack) startOIDC(ctx context.Context) (err error) {
	h.OIDC, err = oidc.Start(ctx, oidc.Config{Addr: addr(h.Ports.OIDC), Dir: h.path("oidc")})
	if err != nil {
		return err
	}
	return h.OIDC.WriteTokens(h.path("tokens"))
}

func (h *Stack) startSAML(ctx context.Context) (err error) {
	h.SAML, err = saml.Start(ctx, saml.Config{Addr: addr(h.Ports.SAML), Dir: h.path("saml"), Home: h.PrivateURL()})
	return err
}

// startGitHub starts the stand-in behind a Cut.
func (h *Stack) startGitHub(ctx context.Context) (err error) {
	defer must.Catch(&err)
	engine := must.Get(h.workflows())
	h.GitHub = must.Get(github.Start(ctx, github.Config{
		Addr: addr(h.Ports.GitHubBehind), URL: "http://" + addr(h.Ports.GitHub), WebhookURL: h.PublicURL() + "/webhooks/github", WebhookSecret: h.Secrets.Webhook,
		SlackURL: "http://" + addr(h.Ports.Slack), ClientSecret: h.Secrets.GitHubClient, CallbackURL: h.PrivateURL() + "/links/github",
		StatePath: h.state("github.json"), KeyPath: h.path("github-app.pem"), IssuerDir: h.path("actions-oidc"), Engine: engine,
	}))
	// Workflows may be started by a dispatch, and changes of the catalogue proposed. Each takes one permission more than the App must have.
	app := github.Registered()
	app.Permissions["contents"] = "write"
	h.GitHub.SetManifest(app)
	must.Do(h.holdCatalogue())
	h.GitHubCut, err = StartCut(addr(h.Ports.GitHub), addr(h.Ports.GitHubBehind))
	return err
}

func (h *Stack) startSlack(ctx context.Context) (err error) {
	h.Slack, err = slack.Start(ctx, slack.Config{
		Addr: addr(h.Ports.Slack), CommandURL: h.PublicURL() + "/webhooks/slack", SigningSecret: h.Secrets.Slack, Token: h.Secrets.SlackBot,
		AppToken: h.Secrets.SlackApp, Socket: h.SlackSocket, StatePath: h.state("slack.json"), Pages: play.Handler,
		Beside: h.GitHub.URL() + "/playground",
		Limits: !h.Fast, Retries: []time.Duration{0, 5 * time.Second, 30 * time.Second},
	})
	return err
}

// Stop stops everything gracefully: runners first, so that they can still report to the server, then the server, then the rest.
func (h *Stack) Stop() error {
	var errs []error
	if h.started() {
		// Twice: until it stops, the server may start another runner, to clean up after one that was stopped.
		errs = append(errs, h.StopRunners(), h.StopServer(), h.StopRunners())
	}
	if h.Kube != nil {
		errs = append(errs, h.Kube.Stop())
	}
	if h.Status != nil {
		errs = append(errs, h.Status.Stop())
	}
	if h.front != nil {
		h.front.Close()
	}
	for _, b := range h.balancers {
		errs = append(errs, b.Stop())
	}
	if h.GitHubCut != nil {
		errs = append(errs, h.GitHubCut.Stop())
	}
	if h.GitHub != nil {
		errs = append(errs, h.GitHub.Stop())
	}
	if h.Slack != nil {
		errs = append(errs, h.Slack.Stop())
	}
	if h.OIDC != nil {
		errs = append(errs, h.OIDC.Stop())
	}
	if h.SAML != nil {
		errs = append(errs, h.SAML.Stop())
	}
	if h.AWS != nil {
		errs = append(errs, h.AWS.Stop())
	}
	if h.IBMCloud != nil {
		errs = append(errs, h.IBMCloud.Stop())
	}
	if h.Hub != nil {
		errs = append(errs, h.Hub.Stop())
	}
	if h.Gateway != nil {
		errs = append(errs, h.Gateway.Stop())
	}
	for _, server := range h.regional {
		errs = append(errs, server.Stop())
	}
	if h.S3Cut != nil {
		errs = append(errs, h.S3Cut.Stop())
	}
	if h.S3 != nil {
		errs = append(errs, h.S3.Stop())
	}
	if h.PG != nil {
		errs = append(errs, h.PG.Stop())
	}
	return errors.Join(errs...)
}

// PublicURL is the URL of the public listener.
func (h *Stack) PublicURL() string { return "http://" + addr(h.Ports.Public) }

// PrivateURL is the URL of the listener for API and pages.
func (h *Stack) PrivateURL() string { return "http://" + addr(h.Ports.Private) }

// StatusURL is the URL of the Status API for runners: the private listener, behind a Cut.
func (h *Stack) StatusURL() string { return "http://" + addr(h.Ports.Status) }

// DatabaseURL is the URL of the server's database.
func (h *Stack) DatabaseURL() string { return h.PG.URL("postgres") }

// Places returns what an end-to-end test needs to know about the stack.
func (h *Stack) Places() (e2e.Places, error) {
	requester, err := h.Token("requester")
	if err != nil {
		return e2e.Places{}, err
	}
	auditor, err := h.Token("auditor")
	return e2e.Places{
		Public: h.PublicURL(), Private: h.PrivateURL(), GitHub: h.GitHub.URL(), Slack: h.Slack.URL(), AWS: h.AWS.URL(),
		WebhookSecret: h.Secrets.Webhook, SlackSecret: h.Secrets.Slack, Requester: requester, Auditor: auditor, Hour: h.Hour, Grace: h.Grace,
		Program: filepath.Join(h.Bin, "ocpctl"), AWSKey: CLIKey, AWSSecret: CLISecret, Workflows: h.Workflows,
	}, err
}

// Token returns a bearer token of the issuer: "requester", "admin", "auditor", "github-actions" or "kubernetes".
func (h *Stack) Token(who string) (string, error) {
	raw, err := os.ReadFile(h.path("tokens", who+".jwt"))
	return strings.TrimSpace(string(raw)), err
}

func (h *Stack) path(parts ...string) string {
	return filepath.Join(append([]string{h.Dir}, parts...)...)
}
