// Package names derives the names of one cluster's resources and checks every name that a runner reports against them.
//
// A runner holds cloud credentials and may be hostile or faulty, so nothing that it reports may point at another cluster.
// The server checks with this package before it stores a report, and the runner checks again before it deletes anything
// by a name. The package is pure: it asks no cloud and no database.
package names

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/tagkey"
)

// Scope is what the server knows of an attempt without its runner. Everything that the runner reports must lie within it.
type Scope struct {
	Platform     string // AWS or IBMCloud
	Installation string // id of the control plane
	Cluster      string // id
	Attempt      int    // number within the cluster
	Name         string
	BaseDomain   string
	Region       string
	Server       string // address of the API of the hub that the cluster is on; empty: it has an API of its own
}

// Domain is the DNS name below which everything of the cluster lives, without a final dot.
func (s Scope) Domain() string { return s.Name + "." + s.BaseDomain }

// The installer builds an infraID from at most 21 characters of the cluster's name, a dash, and five random characters
// (openshift/installer pkg/asset/installconfig/clusterid.go).
const infraIDNamePart = 21

var (
	notInInfraID   = regexp.MustCompile(`[^A-Za-z0-9-]`)
	repeatedDashes = regexp.MustCompile(`-{2,}`)
	randomPart     = regexp.MustCompile(`^[a-z0-9]{5}$`)
	plainUUID      = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

// InfraIDPrefix is the part of the infraID that follows from the cluster's name, with its final dash.
func (s Scope) InfraIDPrefix() string {
	base := repeatedDashes.ReplaceAllString(notInInfraID.ReplaceAllString(s.Name, "-"), "-")
	if len(base) > infraIDNamePart {
		base = base[:infraIDNamePart]
	}
	return strings.TrimRight(base, "-") + "-"
}

// IsInfraID reports whether the installer could have made this infraID for the cluster.
func (s Scope) IsInfraID(infraID string) bool {
	random, ok := strings.CutPrefix(infraID, s.InfraIDPrefix())
	return ok && randomPart.MatchString(random)
}

// NewInfraID returns a name that nobody has yet, of the installer's form.
func (s Scope) NewInfraID() string { return s.InfraIDPrefix() + strings.ToLower(rand.Text()[:5]) }

// NewUUID returns a random UUID (RFC 9562, version 4).
func NewUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// IsClusterUUID reports whether id is spelt like the clusterID that the installer makes.
func IsClusterUUID(id string) bool { return plainUUID.MatchString(id) }

// ccoctl names a role <name>-<namespace>-<secret> and cuts it to 64 characters. With at most 20 characters for the name,
// the longest of these role names stays unique.
const (
	ccoNamePart = 9
	ccoHashPart = 10
)

// CCOName is the --name that ccoctl is run with for this attempt: the same however often it is asked for, and no other attempt's of any
// installation. On IBM Cloud it is also the name of the cluster's resource group.
func (s Scope) CCOName() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", s.Installation, s.Cluster, s.Attempt))
	hash := strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:ccoHashPart]
	return strings.TrimRight(s.Name[:min(len(s.Name), ccoNamePart)], "-") + "-" + hash
}

// IsCCOName reports whether the name is the CCOName of this attempt or an earlier one of the cluster. The names are a hash of the
// installation, the cluster and the attempt, so nobody else has them.
func (s Scope) IsCCOName(name string) bool {
	for s.Attempt = max(s.Attempt, 1); s.Attempt > 0; s.Attempt-- {
		if s.CCOName() == name {
			return true
		}
	}
	return false
}

// CCONamesIn returns ccoctl's names that the tags of a resource of this cluster tell: what ccoctl made has its name as a tag, and the runner
// tags the roles with the cluster. Nobody else can have such a name, so a tag with it cannot lead to another's resources.
func (s Scope) CCONamesIn(tags map[string]string) (all []string) {
	if s.Cluster == "" || tags[tagkey.ClusterID] != s.Cluster {
		return nil
	}
	s.Attempt = MostAttempts
	for key, value := range tags {
		if name, ok := strings.CutPrefix(key, tagkey.CloudCredential); ok && value == tagkey.Owned && s.IsCCOName(name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}
