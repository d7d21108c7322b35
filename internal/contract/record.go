package contract

import "time"

// AttemptRecord is what the bucket knows of an attempt without a database. The runner stores one before it creates or deletes anything,
// and another one with the identity in each destroy bundle. It contains no secret.
type AttemptRecord struct {
	Attempt      string `json:"attempt"`
	Number       int    `json:"number"`
	Kind         string `json:"kind"`
	Cluster      string `json:"cluster"`
	Installation string `json:"installation"`
	Name         string `json:"name"`
	BaseDomain   string `json:"baseDomain"`
	Platform     string `json:"platform"`
	Region       string `json:"region"`
	Version      string `json:"version"`
	Account      string `json:"account"` // as the cloud reported it; empty: it was not asked yet

	CredentialsMode string            `json:"credentialsMode"`
	DestroyDeadline time.Duration     `json:"destroyDeadline"`
	Tags            map[string]string `json:"tags"`
	Accepted        *Accepted         `json:"accepted,omitempty"`

	Identity   *Identity  `json:"identity,omitempty"`   // once the install directory was rendered
	RenderedAt *time.Time `json:"renderedAt,omitempty"` // when that was
}

// Accepted is what was accepted of a cluster besides what its runner works with.
type Accepted struct {
	At          time.Time `json:"at"` // zero: nothing recorded it
	Profile     string    `json:"profile"`
	Generation  int       `json:"generation"`
	RequestedBy string    `json:"requestedBy"` // principal id
	Source      string    `json:"source"`      // the entry point, e.g. pr_label
	HourlyCents int       `json:"hourlyCents"`
	Nodes       int       `json:"nodes"`

	Workers      *int `json:"workers,omitempty"` // the profile's number
	WorkersLeast *int `json:"workersLeast,omitempty"`
	WorkersMost  *int `json:"workersMost,omitempty"`

	SleepMode   string `json:"sleepMode,omitempty"`   // how it may be put to sleep; empty: not at all
	AsleepCents *int   `json:"asleepCents,omitempty"` // per hour

	WorkerMicros *int `json:"workerMicros,omitempty"` // of HourlyCents, what each worker adds, in millionths of a dollar

	PullRequest *PullRequest `json:"pullRequest,omitempty"`

	// The catalogue's name of the cloud account, and the credentials with which it was made there; empty: the installation's.
	Account             string            `json:"account,omitempty"`
	Provisioner         string            `json:"provisioner,omitempty"` // empty: the installer's
	Server              string            `json:"server,omitempty"`      // of its hub; empty: it is on none
	Exclusive           bool              `json:"exclusive,omitempty"`   // nobody else's cluster is made in the account as long as it lives
	CloudCredentialsRef string            `json:"cloudCredentialsRef,omitempty"`
	ServiceAccounts     map[string]string `json:"serviceAccounts,omitempty"`
	CloudRole           *CloudRole        `json:"cloudRole,omitempty"`
}

// PullRequest is the pull request that a cluster was accepted for.
type PullRequest struct {
	Installation int64  `json:"installation"` // of the GitHub App
	Repo         string `json:"repo"`         // owner/name
	Number       int    `json:"number"`
	Head         string `json:"head"`
}
