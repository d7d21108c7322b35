package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/profiles"
)

// The tags the control plane sets on every resource. The first nine are required of every cluster.
const (
	tagManagedBy    = "ManagedBy"
	tagClusterID    = "ClusterId"
	tagClusterName  = "ClusterName"
	tagOwner        = "Owner"
	tagTeam         = "Team"
	tagCostCenter   = "CostCenter"
	tagEnvironment  = "Environment"
	tagTTLExpiry    = "TTLExpiry"
	tagRequestID    = "RequestId"
	tagInstallation = "InstallationId"
)

// ourTags is how many tags EffectiveTags adds to the user's.
const ourTags = 10

// reservedTags cannot be set by people, in whatever case: two tags that differ by case alone would deceive a report.
var reservedTags = []string{
	tagManagedBy, tagClusterID, tagClusterName, tagOwner, tagTeam, tagCostCenter, tagEnvironment, tagTTLExpiry, tagRequestID,
	tagInstallation, "Platform", "Profile",
}

// ManagedBy is the value of the ManagedBy tag, by which every resource of ours is found.
const ManagedBy = "cluster-control-plane"

// EffectiveTags are the tags every resource of the cluster carries: the nine required ones, InstallationId, and the
// user's own, which never override ours. TTLExpiry is the profile's maximum, because tags cannot change after the install.
func EffectiveTags(_ Request, g Grant, clusterID, jobID string, acceptedAt time.Time, installation string) map[string]string {
	tags := maps.Clone(g.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	maps.Copy(tags, map[string]string{
		tagManagedBy:    ManagedBy,
		tagClusterID:    clusterID,
		tagClusterName:  g.Name,
		tagOwner:        g.Ownership.Owner,
		tagTeam:         g.Ownership.Team,
		tagCostCenter:   g.Ownership.CostCenter,
		tagEnvironment:  g.Ownership.Environment,
		tagTTLExpiry:    acceptedAt.Add(g.MaxTTL).UTC().Format(time.RFC3339),
		tagRequestID:    jobID,
		tagInstallation: installation,
	})
	return tags
}

// checkTags judges the user's own tags, with a check for each that is wrong.
func checkTags(r Request, p profiles.Profile, known bool) Check {
	var checks []Check
	refuse := func(name, asked, accept, words, next string) {
		checks = append(checks, Check{Name: name, Result: Fail, Asked: asked, Accept: accept, Words: words, Next: next})
	}
	if known && !p.AllowUserTags && len(r.Tags) > 0 {
		refuse("allowed", strings.Join(slices.Sorted(maps.Keys(r.Tags)), ", "), "none", fmt.Sprintf("Profile %s takes no tags of your own.", p.Name), "Leave the tags out.")
	}
	if most := profiles.MaxTags - ourTags; len(r.Tags) > most {
		refuse("number", fmt.Sprintf("%d tags", len(r.Tags)), fmt.Sprintf("at most %d", most),
			fmt.Sprintf("A cluster carries at most %d tags of your own beside our %d.", most, ourTags), fmt.Sprintf("Leave out %d of them.", len(r.Tags)-most))
	}
	for _, key := range slices.Sorted(maps.Keys(r.Tags)) {
		reserved := slices.IndexFunc(reservedTags, func(ours string) bool { return strings.EqualFold(ours, key) })
		if reserved >= 0 {
			refuse(key, key, "any other key", fmt.Sprintf("The tag %s is set by the control plane and cannot be chosen.", reservedTags[reserved]), "Leave it out, or choose another key.")
			continue
		}
		if problem := profiles.TagProblem(key, r.Tags[key]); problem != "" {
			refuse(key, key+"="+r.Tags[key], "a tag that AWS and the installer take", fmt.Sprintf("The tag %q: %s.", key, problem), "Choose another key or value.")
		}
	}
	own := fmt.Sprintf("%d tags", len(r.Tags))
	switch len(r.Tags) {
	case 0:
		own = "No tags"
	case 1:
		own = "1 tag"
	}
	all := whole("tags", fmt.Sprintf("%s of your own beside our %d.", own, ourTags), checks)
	all.Asked = fmt.Sprintf("%d", len(r.Tags))
	return all
}
