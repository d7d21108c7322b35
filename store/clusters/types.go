package clusters

import (
	"encoding/json"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// Row is a cluster as stored: the card that people see, and fields that no decision depends on.
type Row struct {
	lifecycle.Card
	CostCenter, Environment string
	Source                  string            // the request's entry point, e.g. "pr_label"
	HoldSource              string            // of the request that set the hold; empty: nothing is held, or an older release set it
	PR                      *PRRef            // nil: not from a pull request
	Tags                    map[string]string // effective: ours and the user's
	Spec                    Spec
	ListAsleep              *int              // list price of an hour asleep at acceptance, US cents; nil: not known
	WorkerMicros            *int              // what each worker adds to the list price, millionths of a dollar; nil: not known
	OnDemandCents           *int              // list price of an hour without spot machines, US cents; nil: it was to have none
	Outputs                 *Outputs          // nil until a create succeeded
	Account                 string            // the catalogue's name of the cloud account in which it is; empty: the installation's own
	Exclusive               bool              // nobody else's cluster is made in the account as long as it lives
	Priority                int               // who waits with a higher one comes first
	PoolDigest              string            // of what the clusters of its pool were made from then; empty: it is of none
	WaitedTags              map[string]string // its tags before it was claimed from a pool; nil: it was not
	MadeAt                  time.Time         // accepted as it was made: for a claimed cluster, as its pool's
}

// HubNamespace returns the namespace that the cluster is on its hub; empty: it is on none. The earlier ones are gone, as a count has shown.
func (row Row) HubNamespace() string {
	if row.Spec.Server == "" || len(row.Identities) == 0 {
		return ""
	}
	return row.Identities[len(row.Identities)-1]
}

// PRRef names a pull request.
type PRRef struct {
	Installation int64  `json:"installation"`
	Repo         string `json:"repo"` // owner/name
	Number       int    `json:"number"`
	Head         string `json:"head"` // SHA at acceptance
}

// Spec is what was frozen at acceptance. It holds no secret.
type Spec struct {
	InstallConfig   string              `json:"installConfig"` // YAML without pullSecret and sshKey
	Zones           []string            `json:"zones"`
	SpareZones      []string            `json:"spareZones,omitempty"`
	CredentialsMode string              `json:"credentialsMode,omitempty"` // Manual or Mint; empty: Mint, from before there was a choice
	ReleaseImage    string              `json:"releaseImage,omitempty"`    // pinned; empty: only the installers' directory
	PullSecretRef   string              `json:"pullSecretRef"`
	SSHKey          string              `json:"sshKey,omitempty"` // public
	SSHKeyRef       string              `json:"sshKeyRef,omitempty"`
	CloudCredsRef   string              `json:"cloudCredentialsRef,omitempty"`
	Account         string              `json:"account,omitempty"`         // the cloud's id of it
	ServiceAccounts map[string]string   `json:"serviceAccounts,omitempty"` // of the account, by kind of runner; empty: the installation's
	Server          string              `json:"server,omitempty"`          // address of the API of the hub that the cluster is on; empty: it is on none
	CloudRole       *contract.CloudRole `json:"cloudRole,omitempty"`       // what the credentials assume; nil: nothing
	Grace           time.Duration       `json:"grace"`
	RunGrace        time.Duration       `json:"runGrace,omitempty"`   // after a failed run, see lifecycle.GraceAfter
	AccessMost      time.Duration       `json:"accessMost,omitempty"` // how long a kubeconfig may be valid; zero: as the installation says
	CreateDeadline  time.Duration       `json:"createDeadline"`
	DestroyDeadline time.Duration       `json:"destroyDeadline"`
	Approval        string              `json:"approval,omitempty"`       // for the comment while it awaits approval: who, by when and why; Markdown
	Approvers       []string            `json:"approvers,omitempty"`      // GitHub logins, accounts (github:id/number) and teams (organization/slug) that may approve it
	Advice          string              `json:"advice,omitempty"`         // policy's warnings, for the comment until it is ready; Markdown
	Mention         []string            `json:"mention,omitempty"`        // when the requester is mentioned, as set in the repository's file
	OffHoursChosen  *bool               `json:"offHoursChosen,omitempty"` // whether its request said that it sleeps outside working hours; nil: it did not say
	RegionUsual     bool                `json:"regionUsual,omitempty"`    // no region was named, so that a cluster in its place may be made in another
	Notify          map[string][]string `json:"notify,omitempty"`         // channels in Slack, by id, and the events that they hear of, as set in that file
}

// Outputs are a ready cluster's URLs, and references to its credentials.
type Outputs struct {
	APIURL, ConsoleURL                       string
	KubeconfigRef, KubeadminRef, MetadataRef string
}

// Reply is an answer outside a cluster's own comment, posted once per cause, on a pull request or to a person in Slack.
type Reply struct {
	ID           string // filled by the store
	Cause        string // unique: what it answers, e.g. "comment:123" or "label:acme/shop#41:ocp/nope"
	Thread       string // on GitHub, the answers of one thread share a comment, e.g. those to one comment's lines; empty: a comment of its own. In Slack, the timestamp of the message in whose thread it stands, in microseconds; empty: in none
	Installation int64
	Repo         string
	Number       int
	Workspace    string // of Slack: then Channel and Person are set, and the three fields above are not
	Channel      string
	Person       string
	Body         string          // in GitHub's Markdown; with Blocks in Slack's markup
	Blocks       json.RawMessage // in Slack: a JSON array of Block Kit's blocks, which may be empty; nil: Body is Markdown. No secret is in them
	ExternalID   int64           // once posted: the comment's id, or Slack's message timestamp in microseconds; below zero: given up

	Final bool // once posted: its comment says no more, because a link was removed from the stored text, or a newer answer made it outdated. Filled by the store

	Pressed *Pressed `db:"-"` // what the notice shows from now on whose button is answered; nil: it is no such answer. Written with the reply, not kept in it
}

// Pressed is what a notice in Slack shows once a button in it was pressed.
type Pressed struct {
	Notice string          // id
	Facts  json.RawMessage // an object whose fields replace those of the notice, or add to them
}

// EndKind names a reversible end.
type EndKind string

// The reversible ends.
const (
	EndPRClosed     EndKind = "pr_closed"
	EndLabelRemoved EndKind = "label_removed"
	EndRunFinished  EndKind = "run_finished" // only store/runs sets and lifts it
)

// Addon is a set of Kubernetes objects that a cluster gets in addition to OpenShift, frozen at its acceptance. It holds no secret.
type Addon struct {
	Name      string
	Manifests string      // a JSON List of Kubernetes objects
	Waits     []AddonWait // the conditions that show it is in place
}

// AddonWait is one condition that must hold before an add-on counts as in place.
type AddonWait struct {
	Kind      string        `json:"kind"`
	Name      string        `json:"name"`
	Namespace string        `json:"namespace,omitempty"`
	Condition string        `json:"condition"`
	Timeout   time.Duration `json:"timeout"`
}

// AddonCondition is the prefix of an add-on's condition type; the add-on's name follows.
const AddonCondition = "AddonApplied/"

// Condition is one observed fact about a cluster.
type Condition struct {
	Type, Status, Reason, Message string // Status is True, False or Unknown
	At                            time.Time
}

func (r Row) Repo() string {
	if r.PR == nil {
		return ""
	}
	return r.PR.Repo
}

// The kinds of subscribers.
const (
	KindComment    = "github_comment"
	KindCheck      = "github_check"
	KindDeployment = "github_deployment"
	KindLabel      = "github_label" // the profile's label, if a label asked for the cluster

	KindSlackMessage = "slack_message" // where the cluster was asked for in Slack
	KindSlackThread  = "slack_thread"  // the thread below that message
)

// SlackPlace is where in Slack a cluster is shown: the channel in which a person asked for it.
type SlackPlace struct{ Workspace, Channel, Person string }
