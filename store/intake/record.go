package intake

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/runner/contract"
	"github.com/ocpctl/ocpctl/store"
)

// What identifies something is short and has one spelling.
var (
	checksum = regexp.MustCompile(`^[0-9a-f]{64}$`)
	ccoName  = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,18}[a-z0-9])?$`)
)

// destroyBundle is the archive without which no infraID is recorded: what a teardown restores.
const destroyBundle = "INSTALL_DIR_SNAPSHOT"

// Record is a record as rows. It is a gate: an infraID comes with everything its teardown will need and with an archive
// of its install directory, a ccoctl name with the account and region it is made in.
func Record(r contract.Record) (store.IdentityRow, []store.ArtifactRow, error) {
	var bad Invalid
	i := r.Identity
	required := func(value, field, what string) {
		bad.check(value == "", "identity."+field, "it is empty", what)
	}
	bad.check(i.InfraID == "" && i.CCOName == "", "identity.infraId", "it is empty, and so is identity.ccoName", "the infraID of metadata.json")
	bad.check(i.CCOName != "" && !ccoName.MatchString(i.CCOName), "identity.ccoName", fmt.Sprintf("%q is no name for ccoctl", i.CCOName),
		"at most 20 lower-case letters, digits and dashes, a letter first")
	bad.check(i.InstallerSHA256 != "" && !checksum.MatchString(i.InstallerSHA256), "identity.installerSha256", "it is no checksum", "64 lower-case hex digits")
	required(i.Account, "account", "the account the runner is in")
	required(i.Region, "region", "the region of the install-config")
	if i.InfraID != "" {
		required(i.ClusterUUID, "clusterUuid", "the clusterID of metadata.json")
		required(i.ReleaseDigest, "releaseDigest", "the release image by digest")
		required(i.Metadata, "metadata", "the text of metadata.json")
		bad.snapshots(i.InfraID, r.Snapshots)
	}
	if len(bad) > 0 {
		return store.IdentityRow{}, nil, bad
	}
	return store.IdentityRow{ // field by field, so that neither side can change alone
		InfraID: i.InfraID, ClusterUUID: i.ClusterUUID, CCOName: i.CCOName,
		Account: i.Account, Region: i.Region, ReleaseDigest: i.ReleaseDigest, Metadata: text(i.Metadata), InstallerSHA256: i.InstallerSHA256,
	}, Artifacts(r.Snapshots), nil
}

// snapshots wants at least one archive of the infraID, and every one with its checksum.
func (e *Invalid) snapshots(infraID string, list []contract.Snapshot) {
	found := false
	for n, s := range list {
		found = found || (s.Type == destroyBundle && s.InfraID == infraID)
		e.check(s.Key == "", fmt.Sprintf("snapshots[%d].key", n), "it is empty", "the archive's key in the bucket")
		e.check(!checksum.MatchString(s.SHA256), fmt.Sprintf("snapshots[%d].sha256", n), "it is no checksum", "64 lower-case hex digits")
	}
	e.check(!found, "snapshots", "none is of this infraID", "at least one "+destroyBundle+" of "+infraID)
}

// maxQuotas bounds a demand: an account has a few dozen limits that an install meets, some of them per zone.
const maxQuotas = 200

// Demand is a demand as a row.
func Demand(d contract.Demand) (store.DemandRow, error) {
	var bad Invalid
	bad.check(d.Account == "", "account", "it is empty", "the account the runner is in")
	bad.check(d.Region == "", "region", "it is empty", "the region of the install-config")
	bad.check(len(d.Quotas) > maxQuotas, "quotas", fmt.Sprintf("there are %d", len(d.Quotas)), fmt.Sprintf("at most %d", maxQuotas))
	out := store.DemandRow{Account: text(d.Account), Region: text(d.Region)}
	seen := map[[3]string]bool{}
	for n, q := range d.Quotas {
		bad.quota(fmt.Sprintf("quotas[%d]", n), q)
		key := [3]string{q.Service, q.Code, q.Scope}
		bad.check(seen[key], fmt.Sprintf("quotas[%d]", n), "it is there twice", "each service, code and scope once")
		seen[key] = true
		out.Quotas = append(out.Quotas, lifecycle.Quota{
			Service: q.Service, Code: q.Code, Scope: q.Scope, Name: text(q.Name), Limit: q.Limit, Used: q.Used,
			Need: q.Need, Lasting: q.Lasting, UsedBy: q.UsedBy, Unknown: text(q.Unknown),
		})
	}
	return out, bad.err()
}

func (e *Invalid) quota(at string, q contract.Quota) {
	e.check(q.Service == "", at+".service", "it is empty", "ec2, vpc, …")
	e.check(q.Code == "", at+".code", "it is empty", "the quota's code, L-…")
	for _, number := range []struct {
		name  string
		value int
	}{{"limit", q.Limit}, {"used", q.Used}, {"need", q.Need}, {"lasting", q.Lasting}} {
		e.check(number.value < 0, at+"."+number.name, fmt.Sprintf("%d is below zero", number.value), "0 or more")
	}
	e.check(q.Lasting > q.Need, at+".lasting", fmt.Sprintf("%d is more than what is needed (%d)", q.Lasting, q.Need), "0 to need")
	for _, cluster := range slices.Sorted(maps.Keys(q.UsedBy)) {
		e.check(q.UsedBy[cluster] < 0, at+".usedBy."+cluster, fmt.Sprintf("%d is below zero", q.UsedBy[cluster]), "0 or more")
	}
}
