// Package contract is what the server and a runner say to each other: plain structs, no behaviour.
//
// The runner learns its work from Spec and tells what happened through Claim, Record, Report and Result, each a POST
// to /api/v1/status/attempts/{id}/claim|reserve|record|report|result with the attempt's token as bearer. Every answer
// holds an Answer: go on or stop, a renewed token and the lease. The contract holds no secret, only references to secrets,
// but for BucketCredentials, which a runner may ask for at …/bucket-credentials.
package contract

import "time"

// Kind of an attempt: the programs a runner can run.
const (
	KindCreate  = "create"
	KindDestroy = "destroy"
	KindScale   = "scale"
	// KindConfigure brings a ready cluster's add-ons anew.
	KindConfigure = "configure"
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
	Version      string `json:"version"`                // OpenShift version, picks <installers>/<version>/openshift-install, ccoctl and oc
	ReleaseImage string `json:"releaseImage,omitempty"` // pinned by digest; the tools are extracted from it where the directory has none
	Account      string `json:"account"`                // the account id to find; on destroy the recorded one; empty: any

	InstallConfig   string            `json:"installConfig,omitempty"` // YAML without pullSecret and sshKey (create)
	CredentialsMode string            `json:"credentialsMode"`         // the installer's: Manual (ccoctl, STS) or Mint
	Zones           []string          `json:"zones,omitempty"`
	Tags            map[string]string `json:"tags"`
	SSHKey          string            `json:"sshKey,omitempty"` // public key of the requester; empty: the public half of SSHKeyRef

	// References to secrets, e.g. file:/run/secrets/pull-secret or aws-sm:prod/pull-secret (internal/secret).
	PullSecretRef       string `json:"pullSecretRef,omitempty"`
	SSHKeyRef           string `json:"sshKeyRef,omitempty"`           // private key, with which failed bootstraps are looked into
	CloudCredentialsRef string `json:"cloudCredentialsRef,omitempty"` // the cloud's keys as JSON; empty: the runner's own identity

	Bucket        string `json:"bucket"`                // artifacts
	KMSKey        string `json:"kmsKey"`                // for destroy bundles and logs; empty: the bucket's default
	OperateKMSKey string `json:"operateKmsKey"`         // for operate bundles
	BucketGrant   bool   `json:"bucketGrant,omitempty"` // the server gives credentials for the bucket; else the runner's own identity has to do

	Identities []Identity `json:"identities,omitempty"` // every record ever acknowledged, oldest first (destroy)
	Snapshots  []Snapshot `json:"snapshots,omitempty"`  // newest first (destroy)

	Scale *Scale `json:"scale,omitempty"` // (scale)

	Addons        []Addon `json:"addons,omitempty"`        // what the cluster gets beside OpenShift, in this order (create, configure)
	KubeconfigRef string  `json:"kubeconfigRef,omitempty"` // s3://bucket/key, below operate/ (configure)

	Heartbeat       time.Duration `json:"heartbeat"`
	CreateDeadline  time.Duration `json:"createDeadline"`
	DestroyDeadline time.Duration `json:"destroyDeadline"`
	VerifyGap       time.Duration `json:"verifyGap"`      // least time between two passes
	SnapshotMaxAge  time.Duration `json:"snapshotMaxAge"` // older before its record is acknowledged: render again
}

// Scale is what a scale attempt is to reach. It makes nothing under a name of its own and records nothing.
type Scale struct {
	Workers       int    `json:"workers"`       // how many are wanted
	Usual         int    `json:"usual"`         // the profile's; with 0 the control plane takes workloads anyway
	KubeconfigRef string `json:"kubeconfigRef"` // s3://bucket/key, below operate/
}

// Addon is one thing a cluster gets beside OpenShift. It holds no secret.
type Addon struct {
	Name      string      `json:"name"`
	Manifests string      `json:"manifests"` // a JSON List of Kubernetes objects
	Waits     []AddonWait `json:"waits,omitempty"`
}

// AddonWait is one condition that an add-on is there by, as oc wait asks for it.
type AddonWait struct {
	Kind      string        `json:"kind"`
	Name      string        `json:"name"`
	Namespace string        `json:"namespace,omitempty"`
	Condition string        `json:"condition"`
	Timeout   time.Duration `json:"timeout"`
}

// AddonState tells what became of one add-on.
type AddonState struct {
	Name    string `json:"name"`
	There   bool   `json:"there"`  // applied, and every condition seen
	Reason  string `json:"reason"` // one word, e.g. Applied, ApplyRefused, NotReady
	Message string `json:"message"`
	Next    string `json:"next,omitempty"` // what to do about it
}

// Identity is what was acknowledged before anything was created under it. Written once.
type Identity struct {
	InfraID       string `json:"infraId"`
	ClusterUUID   string `json:"clusterUuid"`       // the installer's clusterID
	CCOName       string `json:"ccoName,omitempty"` // --name of ccoctl: at most 20 characters, lower case, recorded before it runs
	Account       string `json:"account"`
	Region        string `json:"region"`
	ReleaseDigest string `json:"releaseDigest"`
	Metadata      string `json:"metadata,omitempty"` // metadata.json, which holds no secret; in a Spec it is the server's own

	InstallerSHA256 string `json:"installerSha256,omitempty"` // of the openshift-install that renders it, lower-case hex; the same one destroys it
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

// BucketCredentials reach the part of the bucket that the attempt works in, and nothing else. They are asked for again
// before they expire.
type BucketCredentials struct {
	AccessKeyID     string    `json:"accessKeyId"`
	SecretAccessKey string    `json:"secretAccessKey"`
	SessionToken    string    `json:"sessionToken"`
	ExpiresAt       time.Time `json:"expiresAt"`
}

// Demand tells what an install needs and what preflight measured, and asks the server to set it aside. The server
// answers under a lock per account and region, so that installs that begin together do not all count on the same room.
type Demand struct {
	Account string  `json:"account"`
	Region  string  `json:"region"`
	Quotas  []Quota `json:"quotas"`
}

// Quota is one limit of an account and region with its live usage (openshift.md §7).
type Quota struct {
	Service string `json:"service"`         // ec2, vpc
	Code    string `json:"code"`            // L-0263D0A3
	Scope   string `json:"scope,omitempty"` // the zone, for a limit per zone
	Name    string `json:"name"`            // for people: "Elastic IP addresses"
	Limit   int    `json:"limit"`           // meaningless when Unknown
	Used    int    `json:"used"`            // everybody's, ours included
	Need    int    `json:"need"`            // at most, while it installs
	Lasting int    `json:"lasting"`         // of Need, what stays once it is ready

	UsedBy  map[string]int `json:"usedBy,omitempty"`  // of Used, by the ClusterId tag: what was set aside for these already exists
	Unknown string         `json:"unknown,omitempty"` // why limit or usage could not be looked up; such a quota never blocks
}

// Reservation answers a Demand.
type Reservation struct {
	Answer   Answer `json:"answer"`
	Wait     string `json:"wait,omitempty"`     // why there is no room now, for people; empty: it is set aside, go on
	Position int    `json:"position,omitempty"` // place in line while it waits; 1 is next
	Never    string `json:"never,omitempty"`    // why it would not even fit into an empty account
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

	Addons []AddonState `json:"addons,omitempty"` // what became of add-ons since the report before
}

// ToolExit tells that the installer's process ended; of a teardown, that the last of its tools did.
type ToolExit struct {
	Code int       `json:"code"` // -1: killed by a signal; 127: there was none to run
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
	Reason    string   `json:"reason,omitempty"`  // one word, e.g. VPCLimitExceeded, WrongAccount, LeftoversFound
	Message   string   `json:"message,omitempty"` // what happened, for people
	Whose     string   `json:"whose,omitempty"`   // whose problem it is: one of the Whose values
	Next      string   `json:"next,omitempty"`    // what to do about it, for people
	Retryable bool     `json:"retryable,omitempty"`
	Outputs   *Outputs `json:"outputs,omitempty"` // of a succeeded create
	Workers   *int     `json:"workers,omitempty"` // of a scale, how many are ready, where it could count them
	Addons    *int     `json:"addons,omitempty"`  // of a create or configure, how many add-ons are there
}

// Whose problem a failure is.
const (
	WhoseUser      = "user"      // who asked: the wish cannot be met as it stands
	WhoseQuota     = "quota"     // who owns the account's limits
	WhoseCloud     = "cloud"     // the cloud's own trouble; waiting helps
	WhoseInstaller = "installer" // the installer or the release
	WhoseOurs      = "ocpctl"    // this installation's administrators: credentials, secrets, images, ocpctl itself
)

// Outputs say where the cluster is and when its credentials were stored. The server builds the references to them from
// that moment, the cluster and the attempt, so that a runner cannot name another cluster's objects.
type Outputs struct {
	APIURL     string    `json:"apiUrl"`     // https, a host below <name>.<baseDomain>
	ConsoleURL string    `json:"consoleUrl"` // https, a host below <name>.<baseDomain>
	StoredAt   time.Time `json:"storedAt"`   // the moment in the keys of kubeconfig, kubeadmin-password and metadata.json
}

// Problem is an application/problem+json body (RFC 9457), as the Status API answers errors.
type Problem struct {
	Type   string `json:"type,omitempty"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
}
