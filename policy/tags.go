package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/profiles"
)

// ourTags is how many tags EffectiveTags adds to the user's.
const ourTags = 10

// ManagedBy is the value of the ManagedBy tag, by which all resources of ocpctl are found.
const ManagedBy = tagkey.ControlPlaneName

// EffectiveTags returns the tags of every resource of the cluster: the nine required ones, InstallationId, and the user's own, which
// never override ours. TTLExpiry is the profile's maximum, because tags cannot change after the install.
func EffectiveTags(_ Request, g Grant, clusterID, jobID string, acceptedAt time.Time, installation string) map[string]string {
	tags := maps.Clone(g.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	maps.Copy(tags, map[string]string{
		tagkey.ManagedBy:    ManagedBy,
		tagkey.ClusterID:    clusterID,
		tagkey.ClusterName:  g.Name,
		tagkey.Owner:        g.Ownership.Owner,
		tagkey.Team:         g.Ownership.Team,
		tagkey.CostCenter:   g.Ownership.CostCenter,
		tagkey.Environment:  g.Ownership.Environment,
		tagkey.TTLExpiry:    acceptedAt.Add(g.MaxTTL).UTC().Format(time.RFC3339),
		tagkey.RequestID:    jobID,
		tagkey.Installation: installation,
	})
	return tags
}

// otherSpelling returns a key before this one in the alphabet that differs from it only in case; empty: there is none.
func otherSpelling(tags map[string]string, key string) string {
	for _, other := range slices.Sorted(maps.Keys(tags)) {
		if other < key && strings.EqualFold(other, key) {
			return other
		}
	}
	return ""
}

// checkTags checks the user's own tags, with a check for each wrong one.
func checkTags(r Request, p profiles.Profile, known bool) Check {
	var checks []Check
	refuse := func(name, asked, accept, text, next string) {
		checks = append(checks, Check{Name: name, Result: Fail, Asked: asked, Accept: accept, Message: text, Next: next})
	}
	if known && !p.AllowUserTags && len(r.Tags) > 0 {
		refuse("allowed", strings.Join(slices.Sorted(maps.Keys(r.Tags)), ", "), "none", fmt.Sprintf("Profile %s takes no tags of your own.", p.Name), "Leave the tags out.")
	}
	if most := profiles.MaxTags - ourTags; len(r.Tags) > most {
		refuse("number", fmt.Sprintf("%d tags", len(r.Tags)), fmt.Sprintf("at most %d", most),
			fmt.Sprintf("A cluster carries at most %d tags of your own besides ocpctl's %d.", most, ourTags), fmt.Sprintf("Leave out %d of them.", len(r.Tags)-most))
	}
	for _, key := range slices.Sorted(maps.Keys(r.Tags)) {
		if own := tagkey.ControlPlane(key); own != "" {
			refuse(key, key, "any other key", fmt.Sprintf("The tag %s is set by the control plane and cannot be chosen.", own), "Leave it out, or choose another key.")
			continue
		}
		if problem := profiles.TagProblem(p.Platform, key, r.Tags[key]); problem != "" {
			refuse(key, key+"="+r.Tags[key], "a tag that the cloud and the installer take", fmt.Sprintf("The tag %q: %s.", key, problem), "Choose another key or value.")
		} else if again := otherSpelling(r.Tags, key); again != "" && p.Platform == "ibmcloud" {
			refuse(key, key, "keys that differ in more than case", fmt.Sprintf("The tags %q and %q have one key on IBM Cloud, which ignores case.", again, key), "Leave one of them out.")
		}
	}
	own := fmt.Sprintf("%d tags", len(r.Tags))
	switch len(r.Tags) {
	case 0:
		own = "No tags"
	case 1:
		own = "1 tag"
	}
	all := combineChecks("tags", fmt.Sprintf("%s of your own besides ocpctl's %d.", own, ourTags), checks)
	all.Asked = fmt.Sprintf("%d", len(r.Tags))
	return all
}
