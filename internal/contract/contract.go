// Package contract defines the messages between the server and a runner: plain structs without behaviour.
//
// The runner gets its work as a Spec and reports with Claim, Record, Report and Result, each a POST to
// /api/v1/status/attempts/{id}/claim|reserve|record|access|report|result with the attempt's token as bearer. Every response contains an
// Answer: go on or stop, a renewed token and the lease. The messages contain references to secrets but no secrets, except
// BucketCredentials, which a runner may request at …/bucket-credentials.
package contract

import "time"

// The kinds of attempt: the programs that a runner can run.
const (
	KindCreate  = "create"
	KindDestroy = "destroy"
	KindScale   = "scale"
	// KindConfigure applies a ready cluster's add-ons again.
	KindConfigure = "configure"
	// KindAccess makes and revokes people's access to a ready cluster.
	KindAccess = "access"
	// KindSleep puts a ready cluster to sleep, and KindWake makes it usable again.
	KindSleep = "sleep"
	KindWake  = "wake"
	// KindObserve looks inside a ready cluster for people's requests.
	KindObserve = "observe"
	// KindTag attaches a ready cluster's tags to what was made without them.
	KindTag = "tag"
	// KindInform writes a ready cluster's identity card into it, and reads which of its addresses are to be shown.
	KindInform = "inform"
	// KindPrepare makes a claimed cluster of a pool ready for whoever claimed it.
	KindPrepare = "prepare"
)

// Spec is everything that a runner gets, frozen when its attempt was opened.
type Spec struct {
	Attempt string `json:"attempt"` // id, part of the Status API's path
	Number  int    `json:"number"`  // fences out older runners
	Kind    string `json:"kind"`
	Cluster string `json:"cluster"`
	Job     string `json:"job"`

	// What set the attempt off: the correlation id stands in every log line, and the attempt's trace goes on below the traceparent.
	Correlation string `json:"correlation,omitempty"`
	Traceparent string `json:"traceparent,omitempty"`

	Installation string `json:"installation"` // which installation of ocpctl owns the cluster
	Name         string `json:"name"`
	BaseDomain   string `json:"baseDomain"`
	Platform     string `json:"platform"`
	Provisioner  string `json:"provisioner,omitempty"` // the kind of cluster; empty: the installer's
	Server       string `json:"server,omitempty"`      // address of the API of the hub that the cluster is on; empty: it is on none
	Region       string `json:"region"`
	Version      string `json:"version"`                // OpenShift version, selects <installers>/<version>/openshift-install, ccoctl and oc
	ReleaseImage string `json:"releaseImage,omitempty"` // pinned by digest; programs missing in the directory are extracted from it
	Account      string `json:"account"`                // the expected account id; for a destroy the recorded one; empty: any

	InstallConfig   string            `json:"installConfig,omitempty"` // YAML without pullSecret and sshKey (create)
	Publish         string            `json:"publish,omitempty"`       // the installer's: External or Internal; empty: it is not known
	CredentialsMode string            `json:"credentialsMode"`         // the installer's: Manual (ccoctl, STS) or Mint
	Zones           []string          `json:"zones,omitempty"`
	ShortZones      []string          `json:"shortZones,omitempty"` // had no capacity for an earlier attempt; left out of Zones and InstallConfig if others are left (create)
	Spot            bool              `json:"spot,omitempty"`       // the workers are spot machines (create)
	Tags            map[string]string `json:"tags"`
	WaitedTags      map[string]string `json:"waitedTags,omitempty"` // those before it was claimed from a pool, which may still be on some of it (destroy)
	SSHKey          string            `json:"sshKey,omitempty"`     // public key of the requester; empty: the public half of SSHKeyRef

	// References to secrets, e.g. file:/run/secrets/pull-secret or aws-sm:prod/pull-secret (internal/secret).
	PullSecretRef       string `json:"pullSecretRef,omitempty"`
	SSHKeyRef           string `json:"sshKeyRef,omitempty"`           // private key, with which failed bootstraps are looked into
	CloudCredentialsRef string `json:"cloudCredentialsRef,omitempty"` // the cloud's keys as JSON; empty: the runner's own identity

	CloudRole *CloudRole `json:"cloudRole,omitempty"` // what these keys assume; nil: nothing

	Bucket        string `json:"bucket"`                // artifacts
	KMSKey        string `json:"kmsKey"`                // for destroy bundles and logs; empty: the bucket's default
	OperateKMSKey string `json:"operateKmsKey"`         // for operate bundles
	BucketGrant   bool   `json:"bucketGrant,omitempty"` // the server gives credentials for the bucket; otherwise the runner's own identity is used

	Identities []Identity `json:"identities,omitempty"` // every acknowledged record, oldest first (destroy)
	Snapshots  []Snapshot `json:"snapshots,omitempty"`  // newest first (destroy)

	Scale *Scale `json:"scale,omitempty"` // (scale; sleep and wake in mode workers)
	Power *Power `json:"power,omitempty"` // (sleep, wake)

	Card       *Card  `json:"card,omitempty"`       // (inform, prepare)
	RouteLabel string `json:"routeLabel,omitempty"` // of the Routes that are shown as links, key=value; empty: none is (inform)

	Accepted *Accepted `json:"accepted,omitempty"` // only for the attempt's record in the bucket

	Addons        []Addon `json:"addons,omitempty"`        // the cluster's add-ons, in this order (create, configure; prepare, if it lacks some)
	KubeconfigRef string  `json:"kubeconfigRef,omitempty"` // s3://bucket/key, below operate/ (configure, access, observe, inform, prepare)

	Heartbeat       time.Duration `json:"heartbeat"`
	CreateDeadline  time.Duration `json:"createDeadline"`
	DestroyDeadline time.Duration `json:"destroyDeadline"`
	VerifyGap       time.Duration `json:"verifyGap"`      // minimum time between two passes, and for how long a woken cluster must be well
	SnapshotMaxAge  time.Duration `json:"snapshotMaxAge"` // an older directory whose record is not acknowledged is rendered again
}

// CloudRole is a role of AWS in an account that is not the installation's, which lets only whoever names the external id assume it.
type CloudRole struct {
	ARN        string `json:"arn"`
	ExternalID string `json:"externalId"` // of the account; it is no secret
}

// The values of Publish: who can reach a cluster, and which DNS names it.
const (
	PublishExternal = "External"
	PublishInternal = "Internal"
)

// Scale is the goal of a scale attempt. It creates nothing under a name of its own and records nothing.
type Scale struct {
	Workers       int    `json:"workers"`       // requested number
	Usual         int    `json:"usual"`         // the profile's number; with 0 the control plane always accepts workloads
	KubeconfigRef string `json:"kubeconfigRef"` // s3://bucket/key, below operate/
}

// The ways in which a cluster sleeps.
const (
	PowerWorkers = "workers" // its workers are removed, the control plane runs on
	PowerStopped = "stopped" // all its machines are stopped
)

// Power is how a cluster is put to sleep or woken. Neither creates anything under a name of its own, and nothing is recorded.
type Power struct {
	Mode          string `json:"mode"`          // one of the ways above
	KubeconfigRef string `json:"kubeconfigRef"` // s3://bucket/key, below operate/
	ControlPlane  int    `json:"controlPlane"`  // how many machines its control plane was installed with; 0: it is not known
}

// Card is what a cluster says about itself to everybody who uses it. It contains no secret.
type Card struct {
	Owner       string        `json:"owner"`
	Team        string        `json:"team"`
	PullRequest string        `json:"pullRequest,omitempty"` // its address
	Ends        time.Time     `json:"ends"`                  // at the latest, as things stand
	UnusedFor   time.Duration `json:"unusedFor,omitempty"`   // it ends earlier if nobody uses it for that long; zero: it does not
	Page        string        `json:"page,omitempty"`        // where it can be extended
}

// Link is the address of something that runs in the cluster, as a user of the cluster gave it.
type Link struct {
	Title string `json:"title,omitempty"`
	URL   string `json:"url"`
}

// Addon is something that a cluster gets besides OpenShift. It contains no secret.
type Addon struct {
	Name      string      `json:"name"`
	Manifests string      `json:"manifests"` // a JSON List of Kubernetes objects
	Waits     []AddonWait `json:"waits,omitempty"`
}

// AddonWait is a condition that must hold for the add-on to count as installed, in the form that oc wait takes.
type AddonWait struct {
	Kind      string        `json:"kind"`
	Name      string        `json:"name"`
	Namespace string        `json:"namespace,omitempty"`
	Condition string        `json:"condition"`
	Timeout   time.Duration `json:"timeout"`
}

// AddonState is the result for one add-on.
type AddonState struct {
	Name    string `json:"name"`
	There   bool   `json:"there"`  // applied, and every condition was seen
	Reason  string `json:"reason"` // one word, e.g. Applied, ApplyRefused, NotReady
	Message string `json:"message"`
	Next    string `json:"next,omitempty"` // what to do about it
}

// Identity is what was acknowledged before anything was created under it. It is written once.
type Identity struct {
	InfraID       string `json:"infraId"`
	ClusterUUID   string `json:"clusterUuid"`       // the installer's clusterID
	CCOName       string `json:"ccoName,omitempty"` // --name of ccoctl: at most 20 characters, lower case, recorded before it runs
	Account       string `json:"account"`
	Region        string `json:"region"`
	ReleaseDigest string `json:"releaseDigest"`
	Metadata      string `json:"metadata,omitempty"` // metadata.json, which contains no secret; in a Spec it is built by the server

	InstallerSHA256 string `json:"installerSha256,omitempty"` // of the openshift-install that renders it, lowercase hex; the same program destroys it
	ResourceGroupID string `json:"resourceGroupId,omitempty"` // of the group called CCOName (IBM Cloud), recorded before anything is created in it
}

// Snapshot is one immutable archive of an install directory in the bucket.
type Snapshot struct {
	Type        string    `json:"type"` // INSTALL_DIR_SNAPSHOT (destroy bundle) or AUTH_BUNDLE (operate bundle)
	Key         string    `json:"key"`  // of the archive
	ManifestKey string    `json:"manifestKey"`
	SHA256      string    `json:"sha256"` // of the archive, lowercase hex
	Size        int64     `json:"size"`
	InfraID     string    `json:"infraId"`
	TakenAt     time.Time `json:"takenAt"`
}

// Claim requests the attempt. The first pod gets it; any other gets 409 and must end.
type Claim struct {
	Pod string `json:"pod"` // pod uid, or host:pid:start-time for a local process
}

// Claimed is the response to a claim.
type Claimed struct {
	Spec   Spec   `json:"spec"`
	Answer Answer `json:"answer"`
}

// Answer is part of every response to a runner.
type Answer struct {
	Stop       string        `json:"stop,omitempty"`   // why to stop; empty: go on
	Token      string        `json:"token"`            // to be used from now on
	LeaseUntil time.Time     `json:"leaseUntil"`       // on the server's clock; only for display
	Lease      time.Duration `json:"lease"`            // to be measured from the response's arrival, on the monotonic clock
	Access     int           `json:"access,omitempty"` // number of the newest request for access, for a runner that can meet it beside its own work
}

// BucketCredentials give access to the attempt's part of the bucket, and nothing else. They are requested again before they expire.
type BucketCredentials struct {
	AccessKeyID     string    `json:"accessKeyId"`
	SecretAccessKey string    `json:"secretAccessKey"`
	SessionToken    string    `json:"sessionToken"`
	ExpiresAt       time.Time `json:"expiresAt"`
}

// Demand contains what an install needs and what preflight measured, and asks the server to reserve it. The server decides under a
// lock per account and region, so that installs that begin together do not all count on the same capacity.
type Demand struct {
	Account string  `json:"account"`
	Region  string  `json:"region"`
	Quotas  []Quota `json:"quotas"`
}

// Quota is one limit of an account and region with its current usage.
type Quota struct {
	Service string `json:"service"`         // ec2, vpc
	Code    string `json:"code"`            // L-0263D0A3
	Scope   string `json:"scope,omitempty"` // the zone, for a limit per zone
	Name    string `json:"name"`            // for people: "Elastic IP addresses"
	Limit   int    `json:"limit"`           // meaningless when Unknown
	Used    int    `json:"used"`            // by everybody, including us
	Need    int    `json:"need"`            // at most, during the install
	Lasting int    `json:"lasting"`         // the part of Need that remains once it is ready

	UsedBy  map[string]int `json:"usedBy,omitempty"`  // the part of Used, by the ClusterId tag: of their reservations, this much already exists
	UsedIn  map[string]int `json:"usedIn,omitempty"`  // the part of Used without that tag, by the name of its resource group: on IBM Cloud a cluster has no tags before it is installed
	Unknown string         `json:"unknown,omitempty"` // why limit or usage could not be queried; such a quota never blocks

	Denied bool `json:"-"` // it is Unknown because a permission is missing; only the runner needs it
}

// Reservation is the response to a Demand.
type Reservation struct {
	Answer   Answer `json:"answer"`
	Wait     string `json:"wait,omitempty"`     // why there is no capacity now, for people; empty: it is reserved, go on
	Position int    `json:"position,omitempty"` // position in the queue while it waits; 1 is next
	Never    string `json:"never,omitempty"`    // why it would not even fit into an empty account
}

// Record asks the server to store an identity before anything is created. Only an Answer without Stop permits that.
type Record struct {
	Identity  Identity   `json:"identity"`
	Snapshots []Snapshot `json:"snapshots"`
}

// Report reports progress. Seq rises by one per attempt; a repeated seq changes nothing.
type Report struct {
	Seq       int        `json:"seq"`
	Phase     string     `json:"phase"` // lifecycle phase name
	Percent   int        `json:"percent"`
	Step      string     `json:"step,omitempty"`    // text for people
	Account   string     `json:"account,omitempty"` // as seen by preflight
	Log       string     `json:"log,omitempty"`     // redacted lines, newline-terminated
	Snapshots []Snapshot `json:"snapshots,omitempty"`
	Pass      *Pass      `json:"pass,omitempty"`
	ToolExit  *ToolExit  `json:"toolExit,omitempty"`

	Addons []AddonState  `json:"addons,omitempty"` // states of add-ons since the last report
	Access []AccessState `json:"access,omitempty"` // … and of access

	// ReplacedAt is when a kubeconfig and a kubeadmin password were stored that replace those of the install, as in Outputs; zero: none were (prepare).
	ReplacedAt time.Time `json:"replacedAt,omitzero"`
}

// ToolExit reports that the installer's process ended; for a teardown, the last of its tools.
type ToolExit struct {
	Code int       `json:"code"` // -1: killed by a signal; 127: the program was missing
	At   time.Time `json:"at"`
}

// Result ends the attempt.
type Result struct {
	Outcome   string   `json:"outcome"`           // succeeded | failed | stopped | waiting
	Reason    string   `json:"reason,omitempty"`  // one word, e.g. VPCLimitExceeded, WrongAccount, LeftoversFound
	Message   string   `json:"message,omitempty"` // what happened, for people
	Line      string   `json:"line,omitempty"`    // the line of the log by which a failure was recognized, redacted, as it was logged
	Whose     string   `json:"whose,omitempty"`   // whose problem it is: one of the Whose values
	Zone      string   `json:"zone,omitempty"`    // of a create that failed: which of the spec's zones had no capacity; empty: that was not it, or it is not known
	Next      string   `json:"next,omitempty"`    // what to do about it, for people
	Retryable bool     `json:"retryable,omitempty"`
	Outputs   *Outputs `json:"outputs,omitempty"` // of a succeeded create
	Workers   *int     `json:"workers,omitempty"` // of a scale: number of ready workers, if they could be counted
	Addons    *int     `json:"addons,omitempty"`  // of a create, configure or prepare: number of installed add-ons
	Asleep    *bool    `json:"asleep,omitempty"`  // of a sleep or wake: whether the cluster was seen asleep, or awake; of a sleep that failed, false if all of it still runs

	Links *[]Link `json:"links,omitempty"` // of an inform that succeeded: what is to be shown, in a stable order; absent: nobody looked

	LastUse time.Time `json:"lastUse,omitzero"` // of an observe that succeeded: the newest hour, in UTC, in which a person sent requests to the API; absent: none of the last 24
}

// Whose problem a failure is.
const (
	WhoseUser      = "user"      // the requester: the request cannot be met as it is
	WhoseQuota     = "quota"     // whoever owns the account's limits
	WhoseCloud     = "cloud"     // the cloud itself; waiting helps
	WhoseInstaller = "installer" // the installer or the release
	WhoseOurs      = "ocpctl"    // this installation's administrators: credentials, secrets, images, ocpctl itself
)

// Outputs contain the cluster's URLs and when its credentials were stored. The server builds the references to them from that time,
// the cluster and the attempt, so that a runner cannot name another cluster's objects.
type Outputs struct {
	APIURL     string    `json:"apiUrl"`     // https, a host below <name>.<baseDomain>
	ConsoleURL string    `json:"consoleUrl"` // https, a host below <name>.<baseDomain>
	StoredAt   time.Time `json:"storedAt"`   // the time in the keys of kubeconfig, kubeadmin-password and metadata.json
}

// Problem is an application/problem+json body (RFC 9457), the Status API's form of errors.
type Problem struct {
	Type   string `json:"type,omitempty"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
}
