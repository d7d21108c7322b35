package intake

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
)

// Identifiers are short and have exactly one spelling.
var (
	checksum = regexp.MustCompile(`^[0-9a-f]{64}$`)
	digest   = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

	plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,63}$`) // a service, a quota's code, a zone, an account
	plainPod  = regexp.MustCompile(`^[!-~]{1,200}$`)
)

// destroyBundle is the archive without which no infraID is recorded: a teardown restores it.
const destroyBundle = "INSTALL_DIR_SNAPSHOT"

// Record converts a record to rows. It is a gate: an infraID needs everything that its teardown needs and an archive of its install
// directory; a ccoctl name needs its account and region. Every name must derive from the attempt's own cluster, and the metadata for
// a teardown is built here, never taken from the runner. The store compares account and region with the cluster's own.
func Record(r contract.Record, of Scope) (attempts.IdentityRow, []attempts.ArtifactRow, error) {
	var bad Invalid
	i := r.Identity
	bad.check(i.InfraID == "" && i.CCOName == "", "identity.infraId", "it is empty, and so is identity.ccoName", "the infraID of metadata.json")
	bad.check(i.CCOName != "" && i.CCOName != of.CCOName(), "identity.ccoName", fmt.Sprintf("%.80q is not this attempt's name for ccoctl", i.CCOName), of.CCOName())
	bad.check(i.InstallerSHA256 != "" && !checksum.MatchString(i.InstallerSHA256), "identity.installerSha256", "it is not a checksum", "64 lowercase hex digits")
	bad.check(i.ReleaseDigest != "" && !digest.MatchString(i.ReleaseDigest), "identity.releaseDigest", "it is not a digest", "sha256: and 64 lowercase hex digits")
	bad.check(i.ResourceGroupID != "" && (i.CCOName == "" || !names.IsResourceGroupID(i.ResourceGroupID)), "identity.resourceGroupId",
		fmt.Sprintf("%.80q is not the id of a resource group that was made under identity.ccoName", i.ResourceGroupID), "32 lowercase hex digits, on IBM Cloud")
	bad.check(!plainName.MatchString(i.Account), "identity.account", fmt.Sprintf("%.80q is not an account id", i.Account), "the account the runner is in")
	bad.check(i.Region != of.Region, "identity.region", fmt.Sprintf("%.80q is not the cluster's region", i.Region), of.Region)
	bad.snapshots(r.Snapshots, of)
	out := attempts.IdentityRow{ // field by field, so that a change of one side is noticed
		InfraID: i.InfraID, ClusterUUID: i.ClusterUUID, CCOName: i.CCOName,
		Account: i.Account, Region: i.Region, ReleaseDigest: i.ReleaseDigest, InstallerSHA256: i.InstallerSHA256, ResourceGroupID: i.ResourceGroupID,
	}
	if i.InfraID != "" {
		bad.infraID(r, of)
		out.Metadata = string(of.MetadataJSON(namesOf(i)))
	}
	if len(bad) > 0 {
		return attempts.IdentityRow{}, nil, bad
	}
	return out, artifactRows(r.Snapshots), nil
}

func namesOf(i contract.Identity) names.Identity {
	return names.Identity{InfraID: i.InfraID, ClusterUUID: i.ClusterUUID, CCOName: i.CCOName, Account: i.Account}
}

// infraID requires everything that a teardown of the infraID needs, and refuses another cluster's values.
func (e *Invalid) infraID(r contract.Record, of Scope) {
	i := r.Identity
	e.check(!of.IsInfraID(i.InfraID), "identity.infraId", fmt.Sprintf("%.80q is not an infraID of this cluster", i.InfraID), of.InfraIDPrefix()+"xxxxx")
	e.check(!names.IsClusterUUID(i.ClusterUUID), "identity.clusterUuid", fmt.Sprintf("%.80q is not a cluster UUID", i.ClusterUUID), "the clusterID of metadata.json")
	e.check(of.Platform == names.IBMCloud && i.ResourceGroupID == "", "identity.resourceGroupId", "it is empty", "the id of the resource group: no count could prove that it is gone")
	e.check(i.ReleaseDigest == "", "identity.releaseDigest", "it is empty", "the release image by digest")
	if err := of.CheckMetadata([]byte(i.Metadata), namesOf(i)); err != nil {
		e.check(true, "identity.metadata", err.Error(), string(of.MetadataJSON(namesOf(i))))
	}
	missing := of.Missing([]byte(i.Metadata))
	e.check(len(missing) > 0, "identity.metadata", "it has no "+strings.Join(missing, " and no "), "a document with which a destroyer finds everything")
	found := slices.ContainsFunc(r.Snapshots, func(s contract.Snapshot) bool { return s.Type == destroyBundle && s.InfraID == i.InfraID })
	e.check(!found, "snapshots", "none is for this infraID", "at least one "+destroyBundle+" of "+i.InfraID)
}

// maxQuotas limits a demand: an install touches a few dozen limits of an account, some of them per zone.
const maxQuotas = 200

// Demand converts a demand to a row.
func Demand(d contract.Demand, of Scope) (attempts.CapacityDemand, error) {
	var bad Invalid
	bad.check(!plainName.MatchString(d.Account), "account", fmt.Sprintf("%.80q is not an account id", d.Account), "the account the runner is in")
	bad.check(d.Region != of.Region, "region", fmt.Sprintf("%.80q is not the cluster's region", d.Region), of.Region)
	return attempts.CapacityDemand{Account: d.Account, Region: d.Region, Quotas: bad.quotas("quotas", d.Quotas)}, bad.err()
}

// quotas converts measured quotas.
func (e *Invalid) quotas(at string, measured []contract.Quota) (out []lifecycle.Quota) {
	e.check(len(measured) > maxQuotas, at, fmt.Sprintf("there are %d", len(measured)), fmt.Sprintf("at most %d", maxQuotas))
	seen := map[[3]string]bool{}
	for n, q := range measured {
		e.quota(fmt.Sprintf("%s[%d]", at, n), q)
		key := [3]string{q.Service, q.Code, q.Scope}
		e.check(seen[key], fmt.Sprintf("%s[%d]", at, n), "it appears twice", "each service, code and scope once")
		seen[key] = true
		out = append(out, lifecycle.Quota{
			Service: q.Service, Code: q.Code, Scope: q.Scope, Name: text(q.Name), Limit: q.Limit, Used: q.Used,
			Need: q.Need, Lasting: q.Lasting, UsedBy: keysAsText(q.UsedBy), UsedIn: keysAsText(q.UsedIn), Unknown: text(q.Unknown),
		})
	}
	return out
}

// keysAsText removes NUL from the keys, which are tag values and names that anybody may have set.
func keysAsText(counts map[string]int) map[string]int {
	if counts == nil {
		return nil
	}
	out := make(map[string]int, len(counts))
	for key, n := range counts {
		out[text(key)] += n
	}
	return out
}

func (e *Invalid) quota(at string, q contract.Quota) {
	e.check(!plainName.MatchString(q.Service), at+".service", fmt.Sprintf("%.40q is not a service", q.Service), "ec2, vpc, …")
	e.check(!plainName.MatchString(q.Code), at+".code", fmt.Sprintf("%.40q is not a quota code", q.Code), "the quota's code, L-…")
	e.check(q.Scope != "" && !plainName.MatchString(q.Scope), at+".scope", fmt.Sprintf("%.40q is not a zone", q.Scope), "a zone, for a limit per zone")
	for _, number := range []struct {
		name  string
		value int
	}{{"limit", q.Limit}, {"used", q.Used}, {"need", q.Need}, {"lasting", q.Lasting}} {
		e.check(number.value < 0, at+"."+number.name, fmt.Sprintf("%d is negative", number.value), "0 or more")
	}
	e.check(q.Lasting > q.Need, at+".lasting", fmt.Sprintf("%d is more than need (%d)", q.Lasting, q.Need), "0 to need")
	e.shares(at+".usedBy.", q.UsedBy)
	e.shares(at+".usedIn.", q.UsedIn)
}

func (e *Invalid) shares(at string, used map[string]int) {
	for _, of := range slices.Sorted(maps.Keys(used)) {
		e.check(used[of] < 0, at+of, fmt.Sprintf("%d is negative", used[of]), "0 or more")
	}
}
