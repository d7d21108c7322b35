// Package contract is what the server and a runner say to each other: plain structs, no behaviour.
//
// The runner learns its work from Spec and tells what happened through Claim, Record, Report and Result, each a POST
// to /api/v1/status/attempts/{id}/claim|record|report|result with the attempt's token as bearer. Every answer is an
// Answer: go on or stop, a renewed token and the lease. The contract holds no secret, only references to secrets.
package contract

import "time"

// Kind of an attempt: the two programs a runner can run.
const (
	KindCreate  = "create"
	KindDestroy = "destroy"
)

// Spec is the whole of what a runner is told, frozen when its attempt was opened.
type Spec struct {
	Attempt string `json:"attempt"` // id, the path element of the Status API
	Number  int    `json:"number"`  // the fence
	Kind    string `json:"kind"`
	Cluster string `json:"cluster"`
	Job     string `json:"job"`

	Installation string `json:"installation"` // which control plane owns the cluster
	Name         string `json:"name"`
	BaseDomain   string `json:"baseDomain"`
	Platform     string `json:"platform"`
	Region       string `json:"region"`
	Version      string `json:"version"` // OpenShift version, picks <installers>/<version>/openshift-install
	Account      string `json:"account"` // the account id to find; on destroy the recorded one; empty: any

	InstallConfig string            `json:"installConfig,omitempty"` // YAML without pullSecret and sshKey (create)
	Zones         []string          `json:"zones,omitempty"`
	Tags          map[string]string `json:"tags"`
	PullSecretRef string            `json:"pullSecretRef,omitempty"` // a reference, e.g. file:/run/secrets/pull-secret
	SSHKey        string            `json:"sshKey,omitempty"`        // public key

	Bucket        string `json:"bucket"`        // artifacts
	KMSKey        string `json:"kmsKey"`        // for destroy bundles and logs; empty: the bucket's default
	OperateKMSKey string `json:"operateKmsKey"` // for operate bundles

	Identities []Identity `json:"identities,omitempty"` // every record ever acknowledged, oldest first (destroy)
	Snapshots  []Snapshot `json:"snapshots,omitempty"`  // newest first (destroy)

	Heartbeat       time.Duration `json:"heartbeat"`
	CreateDeadline  time.Duration `json:"createDeadline"`
	DestroyDeadline time.Duration `json:"destroyDeadline"`
	VerifyGap       time.Duration `json:"verifyGap"`      // least time between two passes
	SnapshotMaxAge  time.Duration `json:"snapshotMaxAge"` // older before its record is acknowledged: render again
}

// Identity is what was acknowledged before anything was created under it. Written once.
type Identity struct {
	InfraID       string `json:"infraId"`
	ClusterUUID   string `json:"clusterUuid"` // the installer's clusterID
	CCOName       string `json:"ccoName,omitempty"`
	Account       string `json:"account"`
	Region        string `json:"region"`
	ReleaseDigest string `json:"releaseDigest"`
	Metadata      string `json:"metadata,omitempty"` // metadata.json, which holds no secret
}

// Snapshot is one immutable archive of an install directory in the bucket.
type Snapshot struct {
	Type        string    `json:"type"` // INSTALL_DIR_SNAPSHOT (destroy bundle) or AUTH_BUNDLE (operate bundle)
	Key         string    `json:"key"`  // of the archive
	ManifestKey string    `json:"manifestKey"`
	SHA256      string    `json:"sha256"` // of the archive, lower-case hex
	Size        int64     `json:"size"`
	InfraID     string    `json:"infraId"`
	TakenAt     time.Time `json:"takenAt"`
}

// Claim asks for the attempt. The first pod wins; any other is answered 409 and must end.
type Claim struct {
	Pod string `json:"pod"` // pod uid, or host:pid:start-time for a local process
}

// Claimed answers a claim.
type Claimed struct {
	Spec   Spec   `json:"spec"`
	Answer Answer `json:"answer"`
}

// Answer is the server's word on everything a runner says.
type Answer struct {
	Stop       string        `json:"stop,omitempty"` // why to stop; empty: go on
	Token      string        `json:"token"`          // use this one from now on
	LeaseUntil time.Time     `json:"leaseUntil"`     // the server's clock; for words only
	Lease      time.Duration `json:"lease"`          // measure this from the answer's arrival, monotonically
}

// Record asks the server to remember identity before anything is created. Only an Answer without Stop permits it.
type Record struct {
	Identity  Identity   `json:"identity"`
	Snapshots []Snapshot `json:"snapshots"`
}

// Report tells progress. Seq rises by one per attempt; a repeated seq changes nothing.
type Report struct {
	Seq       int        `json:"seq"`
	Phase     string     `json:"phase"` // lifecycle phase name
	Percent   int        `json:"percent"`
	Step      string     `json:"step,omitempty"`    // words for people
	Account   string     `json:"account,omitempty"` // as preflight saw it
	Log       string     `json:"log,omitempty"`     // redacted lines, newline-terminated
	Snapshots []Snapshot `json:"snapshots,omitempty"`
	Pass      *Pass      `json:"pass,omitempty"`
	ToolExit  *ToolExit  `json:"toolExit,omitempty"`
}

// ToolExit tells that the installer's process ended.
type ToolExit struct {
	Code int       `json:"code"` // -1: killed by a signal
	At   time.Time `json:"at"`
}

// Pass is one verification: what was asked, what came back, whether the positive control held.
type Pass struct {
	Number     int        `json:"number"` // 1, 2, … within the attempt
	Account    string     `json:"account"`
	Identities []string   `json:"identities"` // infraIDs and ccoctl names looked for
	Control    string     `json:"control"`    // what the positive control saw; empty: it failed
	Queries    []Query    `json:"queries"`
	Leftovers  []Leftover `json:"leftovers"` // empty and every query answered and the control held: clean
	Clean      bool       `json:"clean"`
}

// Query is one question a pass asked the cloud.
type Query struct {
	Service string    `json:"service"` // ec2, route53 …
	Call    string    `json:"call"`    // DescribeVpcs …
	Region  string    `json:"region"`
	Asked   string    `json:"asked"` // filter or name
	At      time.Time `json:"at"`
	Count   int       `json:"count"`
	Err     string    `json:"err,omitempty"` // refused or unanswered: a finding, never an empty list
}

// Leftover is one thing that is still there, or one question that was refused.
type Leftover struct {
	Type string `json:"type"` // vpc, hosted-zone, bucket, refused-query …
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	Free string `json:"free"` // who can free it and how, in words
}

// Result ends the attempt.
type Result struct {
	Outcome   string   `json:"outcome"`           // succeeded | failed | stopped | waiting
	Reason    string   `json:"reason,omitempty"`  // one word, e.g. InstallFailed, WrongAccount, LeftoversFound
	Message   string   `json:"message,omitempty"` // for people, with the next step
	Retryable bool     `json:"retryable,omitempty"`
	Outputs   *Outputs `json:"outputs,omitempty"` // of a succeeded create
}

// Outputs are where the cluster is. Credentials are references, never values.
type Outputs struct {
	APIURL        string `json:"apiUrl"`
	ConsoleURL    string `json:"consoleUrl"`
	KubeconfigRef string `json:"kubeconfigRef"` // s3://bucket/key
	KubeadminRef  string `json:"kubeadminRef"`  // s3://bucket/key
	MetadataRef   string `json:"metadataRef"`   // s3://bucket/key
}

// Problem is an application/problem+json body (RFC 9457), as the Status API answers errors.
type Problem struct {
	Type   string `json:"type,omitempty"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
}
