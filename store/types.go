package store

import (
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Row is a cluster as stored: the card that people see, and fields that no decision depends on.
type Row struct {
	lifecycle.Card
	CostCenter, Environment string
	Source                  string            // the request's entry point, e.g. "pr_label"
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
	CredentialsMode string        `json:"credentialsMode,omitempty"` // Manual or Mint; empty: Mint, from before there was a choice
	ReleaseImage    string        `json:"releaseImage,omitempty"`    // pinned; empty: only the installers' directory
	PullSecretRef   string        `json:"pullSecretRef"`
	SSHKey          string        `json:"sshKey,omitempty"` // public
	SSHKeyRef       string        `json:"sshKeyRef,omitempty"`
	CloudCredsRef   string        `json:"cloudCredentialsRef,omitempty"`
	Account         string        `json:"account,omitempty"`
	Grace           time.Duration `json:"grace"`
	CreateDeadline  time.Duration `json:"createDeadline"`
	DestroyDeadline time.Duration `json:"destroyDeadline"`
	Approval        string        `json:"approval,omitempty"`  // for the comment while it awaits approval: who, by when and why; Markdown
	Approvers       []string      `json:"approvers,omitempty"` // GitHub logins and teams (organization/slug) that may approve it
	Advice          string        `json:"advice,omitempty"`    // policy's warnings, for the comment until it is ready; Markdown
	Mention         []string      `json:"mention,omitempty"`   // when the requester is mentioned, as set in the repository's file
}

// Outputs are a ready cluster's URLs, and references to its credentials.
type Outputs struct {
	APIURL, ConsoleURL                       string
	KubeconfigRef, KubeadminRef, MetadataRef string
}

// Job is a unit of work on a cluster, as people see it.
type Job struct {
	ID, Cluster             string
	Type                    lifecycle.JobType
	Status                  lifecycle.JobStatus
	Attempt                 int
	ErrorCode, ErrorMessage string
	CreatedAt               time.Time
	StartedAt, EndedAt      *time.Time
}

// Delivery is one received webhook or request, stored before it was answered.
type Delivery struct {
	Row        int64
	Source     string // "github" or "slack"
	ID         string // X-GitHub-Delivery, or Slack's trigger or event id
	Event      string // X-GitHub-Event, or Slack's kind
	Topic      string // what it is about, e.g. "owner/name#41"; deliveries of one topic are processed in order of arrival; empty: about nothing
	Body       []byte
	ReceivedAt time.Time

	Installation int64 // of the App; 0: none
	Tries        int   // how often it was tried without success
}

// PullRequest is the newest state seen of a pull request.
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
	Association  string    // of the author with the repository, in GitHub's spelling: NONE, FIRST_TIMER, FIRST_TIME_CONTRIBUTOR, CONTRIBUTOR, COLLABORATOR, MEMBER, OWNER; empty: unknown
	Head, Base   string    // SHA, branch
	HeadRef      string    // branch; empty: the source did not know it, nor Draft and Merged
	RepoID       int64     // GitHub's id of the repository, which a renaming does not change; 0: unknown
	UpdatedAt    time.Time // GitHub's updated_at
	HeadAt       time.Time `json:"-"` // Head was there no later than this, by GitHub's clock; filled by the store
}

// Reply is an answer outside a cluster's own comment, posted once per cause, on a pull request or to a person in Slack.
type Reply struct {
	ID           string // filled by the store
	Cause        string // unique: what it answers, e.g. "comment:123" or "label:acme/shop#41:ocp/nope"
	Thread       string // on GitHub, the answers of one thread share a comment, e.g. those to one comment's lines; empty: a comment of its own
	Installation int64
	Repo         string
	Number       int
	Workspace    string // of Slack: then Channel and Person are set, and the three fields above are not
	Channel      string
	Person       string
	Body         string
	ExternalID   int64 // once posted: the comment's id, or Slack's message timestamp in microseconds; below zero: given up
}

// Subscriber is one place that shows a cluster's state, e.g. a comment or a check.
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
	ShownBody    string     // hash of what was shown; an edit happens only if the text changes
	ShownAt      *time.Time // when text was last sent; nil: never, or unknown
	Muted        bool       // somebody removed it: it is not updated
	Left         bool       // a check on a commit that is no longer the pull request's head
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
