package store

import (
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Row is a cluster as the store holds it: the card people see and everything else no decision rests on.
type Row struct {
	lifecycle.Card
	CostCenter, Environment string
	Door                    string            // where the wish came in, e.g. "pr_label"
	PR                      *PRRef            // nil: not from a pull request
	Tags                    map[string]string // effective: ours and the user's
	Spec                    Spec
	Outputs                 *Outputs // nil until a create succeeded
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
	InstallConfig   string        `json:"installConfig"` // YAML without pullSecret and sshKey
	Zones           []string      `json:"zones"`
	CredentialsMode string        `json:"credentialsMode,omitempty"` // Manual or Mint; empty: Mint, of before there was a choice
	ReleaseImage    string        `json:"releaseImage,omitempty"`    // pinned; empty: the installers' directory alone
	PullSecretRef   string        `json:"pullSecretRef"`
	SSHKey          string        `json:"sshKey,omitempty"` // public
	SSHKeyRef       string        `json:"sshKeyRef,omitempty"`
	CloudCredsRef   string        `json:"cloudCredentialsRef,omitempty"`
	Account         string        `json:"account,omitempty"`
	Grace           time.Duration `json:"grace"`
	CreateDeadline  time.Duration `json:"createDeadline"`
	DestroyDeadline time.Duration `json:"destroyDeadline"`
	Approval        string        `json:"approval,omitempty"`  // for its comment while it waits for an approval: who, by when and why; Markdown
	Approvers       []string      `json:"approvers,omitempty"` // logins and teams (organization/slug) of GitHub that may approve it
	Advice          string        `json:"advice,omitempty"`    // for its comment until it is ready: policy's warnings; Markdown
	Mention         []string      `json:"mention,omitempty"`   // when the requester is called by name, as the repository's file said
}

// Outputs are where a ready cluster is; credentials are references.
type Outputs struct {
	APIURL, ConsoleURL                       string
	KubeconfigRef, KubeadminRef, MetadataRef string
}

// Job is one line of the public record of work.
type Job struct {
	ID, Cluster             string
	Type                    lifecycle.JobType
	Status                  lifecycle.JobStatus
	Attempt                 int
	ErrorCode, ErrorMessage string
	CreatedAt               time.Time
	StartedAt, EndedAt      *time.Time
}

// Delivery is one webhook or request received and stored before it was answered.
type Delivery struct {
	Row        int64
	Source     string // "github" or "slack"
	ID         string // X-GitHub-Delivery, or Slack's trigger or event id
	Event      string // X-GitHub-Event, or Slack's kind
	Topic      string // what it is about, e.g. "owner/name#41"; deliveries of one topic are worked in order of arrival; empty: of nothing
	Body       []byte
	ReceivedAt time.Time

	Installation int64 // of the App, which it came from; 0: from none
	Tries        int   // how often it was tried without success
}

// PullRequest is the newest state of a pull request that was seen.
type PullRequest struct {
	Installation int64
	Repo         string // owner/name
	Number       int
	Open         bool
	Draft        bool
	Merged       bool
	Fork         bool
	Labels       []string
	Author       string
	Association  string    // of the author with the repository, in GitHub's spelling: NONE, FIRST_TIMER, FIRST_TIME_CONTRIBUTOR, CONTRIBUTOR, COLLABORATOR, MEMBER, OWNER; empty: not known
	Head, Base   string    // SHA, branch
	HeadRef      string    // branch; empty: whoever told of it knew little, and nothing of Draft and Merged
	RepoID       int64     // GitHub's number of the repository, which no renaming changes; 0: not known
	UpdatedAt    time.Time // GitHub's updated_at
	HeadAt       time.Time `json:"-"` // by GitHub's clock, Head was there no later than this; filled by the store
}

// Reply is an answer without a cluster's own comment, posted once per cause, on a pull request or to a person in Slack.
type Reply struct {
	ID           string // filled by the store
	Cause        string // unique: what it answers, e.g. "comment:123" or "label:acme/shop#41:ocp/nope"
	Thread       string // answers of one thread stand in one comment on GitHub, e.g. those to one comment's lines; empty: it stands alone
	Installation int64
	Repo         string
	Number       int
	Workspace    string // of Slack: then Channel and Person are given, and none of the three above
	Channel      string
	Person       string
	Body         string
	ExternalID   int64 // once posted: the comment's id, or Slack's timestamp of the message in microseconds; below zero: given up
}

// Subscriber is a place that shows a cluster.
type Subscriber struct {
	ID           string
	Cluster      string
	Kind         string // one of the kinds, e.g. KindComment
	Installation int64
	Repo         string
	Number       int
	Head         string
	ExternalID   int64 // 0 until first posted
	ShownVersion int64
	ShownBody    string     // hash of what was shown; an edit happens only when the words change
	ShownAt      *time.Time // when words were last sent; nil: never, or not known
	Muted        bool       // somebody took it away: it is left alone
	Left         bool       // a check on a commit that the pull request moved on from
}

// EndKind names a reversible end.
type EndKind string

// The reversible ends.
const (
	EndPRClosed     EndKind = "pr_closed"
	EndLabelRemoved EndKind = "label_removed"
	EndRunFinished  EndKind = "run_finished"
)

// LaunchSpec is what the controller needs to start an open attempt.
type LaunchSpec struct {
	Attempt    string
	Number     int
	Kind       lifecycle.Kind
	Cluster    string
	Job        string
	Token      string // token id (jti) of the attempt's JWT
	Open       bool
	Claimed    bool
	LeaseUntil time.Time
}
