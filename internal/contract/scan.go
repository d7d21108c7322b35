package contract

import "time"

// KindScan is the program that looks through a whole cloud account. It belongs to no cluster and to no attempt: it claims a scan at
// /api/v1/status/scans/{id}/claim and reports to …/report and …/result. It reads, and changes nothing.
const KindScan = "scan"

// KindProve is a scan with Proof set: it finds out whether clusters can be made in an account, with the credentials that make them.
const KindProve = "prove"

// ScanSpec is everything that a scan's runner gets.
type ScanSpec struct {
	Scan         string `json:"scan"` // id, part of the Status API's path
	Installation string `json:"installation"`
	Platform     string `json:"platform"`
	Account      string `json:"account"` // the expected account id; another one ends the scan
	HomeRegion   string `json:"homeRegion"`

	Regions             []string `json:"regions,omitempty"`     // only these; empty: every region that the account has enabled
	BaseDomains         []string `json:"baseDomains,omitempty"` // records below them are listed
	CloudCredentialsRef string   `json:"cloudCredentialsRef,omitempty"`

	CloudRole *CloudRole `json:"cloudRole,omitempty"` // what these keys assume; nil: nothing

	// Done are the parts that an earlier runner of this scan has already reported; they are not asked for again.
	Done []string `json:"done,omitempty"`

	// Plans are the clusters for which the account's limits are measured, after everything was listed.
	Plans []ScanPlan `json:"plans,omitempty"`

	// Proof: nothing is listed. The runner looks for what would keep clusters of the plans from being made, and says so in the result.
	Proof bool `json:"proof,omitempty"`

	CallsPerSecond int           `json:"callsPerSecond"` // at most, in each service and region
	Heartbeat      time.Duration `json:"heartbeat"`

	Correlation string `json:"correlation,omitempty"`
	Traceparent string `json:"traceparent,omitempty"`
}

// ScanPlan is a cluster that could be made.
type ScanPlan struct {
	Profile       string   `json:"profile"`
	Region        string   `json:"region"`
	Zones         []string `json:"zones"`
	InstallConfig string   `json:"installConfig"`  // YAML; only its machines and zones count
	Spot          bool     `json:"spot,omitempty"` // the workers are spot machines
}

// ClaimedScan is the response to the claim of a scan.
type ClaimedScan struct {
	Spec   ScanSpec `json:"spec"`
	Answer Answer   `json:"answer"`
}

// ScanReport reports a part of a scan. Seq rises by one per runner; a repeated seq changes nothing. An empty report is a heartbeat.
type ScanReport struct {
	Seq  int       `json:"seq"`
	Part *ScanPart `json:"part,omitempty"`
	Room *ScanRoom `json:"room,omitempty"`
}

// ScanRoom is what the account's limits are for one plan. A limit that was not answered says so.
type ScanRoom struct {
	Profile string  `json:"profile"`
	Region  string  `json:"region"`
	Quotas  []Quota `json:"quotas"`
}

// ScanPart is what one service showed in one region: all of it, or one page of many. Only a part that was answered completely says that
// something is no longer there.
type ScanPart struct {
	Name      string         `json:"name"` // <region>/<service>, e.g. us-east-1/ec2; global services: global/iam
	Resources []SeenResource `json:"resources"`
	Last      bool           `json:"last"`          // no more pages follow
	Calls     int            `json:"calls"`         // made since the last report of this part
	Err       string         `json:"err,omitempty"` // why it is incomplete; only with Last. Such a part proves nothing
}

// SeenResource is a resource that may belong to a cluster: it has a cluster's tag (tagkey.OfCluster), or a name as the installer or ccoctl
// give it, or it belongs to such a resource.
type SeenResource struct {
	ID     string            `json:"id"`   // ARN or CRN; without one type/id: record/<zone>/<name>/<record type>
	Type   string            `json:"type"` // vpc, instance, hosted-zone, record, role … as in Leftover
	Region string            `json:"region,omitempty"`
	Name   string            `json:"name,omitempty"`
	Within string            `json:"within,omitempty"` // id of what it is a part of: its VPC, its zone, its resource group
	Tags   map[string]string `json:"tags,omitempty"`   // on IBM Cloud, whose tags are single texts, as they would be on AWS
	MadeAt time.Time         `json:"madeAt,omitzero"`  // the cloud's time of creation, if it tells one

	// What its price depends on: an instance's type ("m6i.large", "m6i.large spot"), a volume's kind and GiB ("gp3 120"), a snapshot's GiB
	// ("120"), an image's or a bucket's ("3"), a load balancer's kind ("network", "application", "gateway", "classic"), an endpoint's ("Interface", "Gateway"), service and kind
	// of what only the tagging API lists ("rds db"). Of a zone: "public" or "private", and for an untagged one of the installer also its
	// caller reference, which begins with the infraID.
	Detail string `json:"detail,omitempty"`

	Stopped bool `json:"stopped,omitempty"`

	// TaggedLater: what makes it cannot give it the cluster's tags, so a runner attaches them afterwards. False: it has them from the
	// beginning, or never.
	TaggedLater bool `json:"taggedLater,omitempty"`
}

// ScanResult ends a scan.
type ScanResult struct {
	Outcome string         `json:"outcome"` // succeeded | failed | stopped
	Reason  string         `json:"reason,omitempty"`
	Message string         `json:"message,omitempty"`
	Next    string         `json:"next,omitempty"`
	Regions []string       `json:"regions"`         // that were looked through
	Calls   map[string]int `json:"calls,omitempty"` // by service
	Slowed  int            `json:"slowed"`          // calls that the cloud throttled

	Proof string `json:"proof,omitempty"` // one of the values below; empty: it was no proof, or nothing was found out
}

// What a proof found out about an account.
const (
	ProofProven  = "proven"
	ProofLacking = "lacking" // something is missing without which an install may still succeed, such as a permission to read
	ProofRefused = "refused" // every install would fail
)
