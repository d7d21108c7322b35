package github

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// PullRequest is a pull request of one of the demo's repositories.
type PullRequest struct {
	Number      int        `json:"number"`
	Title       string     `json:"title"`
	Body        string     `json:"body"`
	Author      string     `json:"author"`
	Association string     `json:"association,omitempty"` // of the author; empty: computed from the repository
	HeadOwner   string     `json:"headOwner"`             // Org, or the fork's owner
	HeadRef     string     `json:"headRef"`
	HeadSHA     string     `json:"headSha"`
	Base        string     `json:"base,omitempty"` // branch; empty: main
	BaseSHA     string     `json:"baseSha"`        // of the base when it was opened
	Pushes      int        `json:"pushes"`
	Open        bool       `json:"open"`
	Draft       bool       `json:"draft"`
	Locked      bool       `json:"locked,omitempty"` // its conversation
	Merged      bool       `json:"merged"`
	MergedBy    string     `json:"mergedBy,omitempty"`
	MergeSHA    string     `json:"mergeSha,omitempty"`
	BranchGone  bool       `json:"branchGone"` // the branch was deleted
	Labels      []string   `json:"labels"`
	Labelings   []Labeling `json:"labelings,omitempty"` // who added which label when, oldest first
	Changed     int        `json:"-"`                   // files
	CreatedAt   time.Time  `json:"createdAt"`
	UpdatedAt   time.Time  `json:"updatedAt"` // whole seconds, as GitHub gives them
	ClosedAt    *time.Time `json:"closedAt,omitempty"`
}

// Fork reports whether the head is in another repository.
func (p PullRequest) Fork() bool { return p.HeadOwner != Org }

// Has reports whether the label is set; GitHub ignores case in label names.
func (p PullRequest) Has(label string) bool {
	return slices.ContainsFunc(p.Labels, func(l string) bool { return strings.EqualFold(l, label) })
}

func (p PullRequest) association() string { return cmp.Or(p.Association, association(p.Author)) }

// Labeling is one addition of a label.
type Labeling struct {
	Label string    `json:"label"`
	By    string    `json:"by"`
	At    time.Time `json:"at"`
}

// Comment is a comment in a pull request's conversation.
type Comment struct {
	ID          int64               `json:"id"`
	Number      int                 `json:"number"` // of the pull request
	Author      string              `json:"author"`
	Association string              `json:"association,omitempty"` // of the author; empty: computed
	Body        string              `json:"body"`
	CreatedAt   time.Time           `json:"createdAt"`
	UpdatedAt   time.Time           `json:"updatedAt"`
	Edits       int                 `json:"edits"`
	Reactions   map[string][]string `json:"reactions,omitempty"` // content → logins
	ByApp       bool                `json:"byApp,omitempty"`     // an App wrote it with the author's token
	Minimized   string              `json:"minimized,omitempty"` // why it is minimized, as GraphQL spells it: outdated; empty: it is not
}

func copyComment(c *Comment) Comment {
	out := *c
	out.Reactions = maps.Clone(c.Reactions)
	return out
}

// Check is a check run.
type Check struct {
	ID          int64         `json:"id"`
	Head        string        `json:"head"` // SHA
	Name        string        `json:"name"`
	ExternalID  string        `json:"externalId"`
	DetailsURL  string        `json:"detailsUrl"`
	Status      string        `json:"status"`     // queued, in_progress, completed
	Conclusion  string        `json:"conclusion"` // when completed
	Title       string        `json:"title"`
	Summary     string        `json:"summary"`
	Text        string        `json:"text"`
	Annotations []Annotation  `json:"annotations,omitempty"`
	Actions     []CheckAction `json:"actions,omitempty"` // buttons
	StartedAt   time.Time     `json:"startedAt"`
	CompletedAt *time.Time    `json:"completedAt,omitempty"`
}

// Annotation is a check run's annotation of a file's lines, in GitHub's own spelling.
type Annotation struct {
	Path        string `json:"path"`
	StartLine   int    `json:"start_line"`
	EndLine     int    `json:"end_line"`
	StartColumn *int   `json:"start_column"`
	EndColumn   *int   `json:"end_column"`
	Level       string `json:"annotation_level"` // notice, warning, failure
	Title       string `json:"title"`
	Message     string `json:"message"`
	RawDetails  string `json:"raw_details"`
}

// CheckAction is a button of a check run, in GitHub's own spelling.
type CheckAction struct {
	Label       string `json:"label"`
	Description string `json:"description"`
	Identifier  string `json:"identifier"`
}

// Deployment is a deployment with its statuses, oldest first.
type Deployment struct {
	ID          int64              `json:"id"`
	SHA         string             `json:"sha"`
	Ref         string             `json:"ref"`
	Task        string             `json:"task"`
	Environment string             `json:"environment"`
	Description string             `json:"description"`
	Payload     any                `json:"payload"`
	Transient   bool               `json:"transient"`
	Production  bool               `json:"production"`
	Creator     string             `json:"creator"`
	CreatedAt   time.Time          `json:"createdAt"`
	UpdatedAt   time.Time          `json:"updatedAt"`
	Statuses    []DeploymentStatus `json:"statuses"`
}

// State returns the newest status, as GitHub shows it; a deployment begins as pending.
func (d Deployment) State() string {
	if len(d.Statuses) == 0 {
		return "pending"
	}
	return d.Statuses[len(d.Statuses)-1].State
}

// DeploymentStatus is one of a deployment's statuses.
type DeploymentStatus struct {
	ID             int64     `json:"id"`
	State          string    `json:"state"`
	Description    string    `json:"description"`
	Environment    string    `json:"environment"`
	EnvironmentURL string    `json:"environmentUrl"`
	LogURL         string    `json:"logUrl"`
	Creator        string    `json:"creator"`
	CreatedAt      time.Time `json:"createdAt"`
}
