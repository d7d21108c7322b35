// Package cloud holds the plain types that the runner and the clouds share. It makes no calls.
package cloud

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
)

// ErrCredentials says that the cloud does not accept the runner's credentials: they are unknown or wrong, and retrying does not help.
var ErrCredentials = errors.New("the cloud does not accept the runner's credentials")

// ErrCredentialsExpired says that the runner's credentials were valid and have expired. The next attempt gets new ones.
var ErrCredentialsExpired = errors.New("the runner's credentials have expired")

// Target is one cluster, as a cloud has to search for it.
type Target struct {
	Region       string
	Name         string
	BaseDomain   string
	Cluster      string            // the cluster's id, the value of the ClusterId tag
	Installation string            // which installation of ocpctl owns it, the value of the InstallationId tag
	Account      string            // the expected account; empty: any
	Publish      string            // contract.PublishExternal or contract.PublishInternal; empty: it is not known
	Tags         map[string]string // the cluster's tags, as they were accepted
	WaitedTags   map[string]string // those before it was claimed from a pool; nil: it was not
	Accepted     time.Time         // when the cluster was accepted: what is older is not the cluster's; zero: it is not known
	Everywhere   bool              // also looks by tag where the cluster was not recorded, in every region of the account

	Identities []contract.Identity // every identity ever recorded, oldest first
}

// AgeMark says that a resource made at this time is older than the cluster: it is somebody else's, whatever its tags, its name or its place say.
// Empty: it may be the cluster's, or the time is not known.
func (t Target) AgeMark(made time.Time) string {
	if !contract.IsOlder(made, t.Accepted) {
		return ""
	}
	return "made at " + made.UTC().Format(time.RFC3339) + ", before the cluster was accepted"
}

// Domain is the DNS name below which everything of the cluster lives, without a final dot.
func (t Target) Domain() string { return t.Name + "." + t.BaseDomain }

// Regions returns the target's region and every recorded one.
func (t Target) Regions() (regions []string) {
	add := func(region string) {
		if region != "" && !slices.Contains(regions, region) {
			regions = append(regions, region)
		}
	}
	add(t.Region)
	for _, id := range t.Identities {
		add(id.Region)
	}
	return regions
}

// NewestIdentity returns the infraID and the region of the cluster that was installed last: the earlier ones are gone, as a count has shown.
func (t Target) NewestIdentity() (infraID, region string) {
	for _, id := range t.Identities {
		if id.InfraID != "" {
			infraID, region = id.InfraID, id.Region
		}
	}
	return infraID, cmp.Or(region, t.Region)
}

// RecordedAccount returns the account in which the cluster was recorded, or got if none was recorded. One that differs from got takes
// precedence, so that a single mismatch is noticed.
func (t Target) RecordedAccount(got string) string {
	if t.Account != "" && t.Account != got {
		return t.Account
	}
	for _, id := range t.Identities {
		if id.Account != "" && id.Account != got {
			return id.Account
		}
	}
	return got
}

// Machine is one machine of a running cluster.
type Machine struct {
	ID           string
	Name         string
	ControlPlane bool
	Spot         bool   // the cloud may end it, and cannot stop it
	State        string // one of the states below, or another one on the way to one of them
	Type, Zone   string
	Trouble      string    // why the cloud could not start it when it was last asked to, in the cloud's words; empty: it says nothing
	Started      time.Time // when it was last started; zero: the cloud does not tell
	Ours         bool      // it has the tags of the cluster and of this installation
}

// The states in which a machine stays.
const (
	MachineRunning = "running"
	MachineStopped = "stopped"
)

// Contested is a resource that a teardown of the target would delete, and that may be somebody else's.
type Contested struct {
	ID   string // ARN, or id if it has none
	Mark string // what says so: a tag that is not the target's, e.g. kubernetes.io/cluster/shop-x7k2p=owned, or its age; of a mention, where it is
	// Mention: it has no mark of the target, and only mentions it in its name; or it is a DNS record of the target's domain that leads elsewhere, or
	// is older than the target.
	// Nothing but a destroyer that goes by parts of names takes it.
	Mention bool
}

// Plan is what an install will create, as far as quotas count it.
type Plan struct {
	Zones    []string
	Machines []Machines
}

// Machines are instances of one type.
type Machines struct {
	Type      string
	Lasting   int // remain as long as the cluster exists
	Transient int // are deleted before it is ready: the bootstrap machine
	Spot      bool
}

// Problem is one finding of preflight. Block is set only for a proven shortfall: a query that the cloud did not answer is a warning.
type Problem struct {
	Code    string // one word, e.g. WrongAccount, ZoneMissing
	Message string // what is wrong, for people
	Next    string // what to do about it
	Whose   string // whose problem it is: one of contract's Whose values
	Block   bool
}

// NameInUse combines everything that is taken into one problem; none if nothing is taken.
func NameInUse(taken []string, text, next string) []Problem {
	if len(taken) == 0 {
		return nil
	}
	slices.Sort(taken)
	return []Problem{{
		Code: "NameInUse", Block: true, Whose: contract.WhoseUser, Next: next,
		Message: fmt.Sprintf("%s (%s)", text, strings.Join(slices.Compact(taken), ", ")),
	}}
}
