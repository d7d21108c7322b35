package aws

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

func (r *Resource) secretJSON() map[string]any {
	versions := map[string][]string{}
	for id := range r.Secrets {
		versions[id] = r.stages(id)
	}
	out := map[string]any{"ARN": r.ID, "Name": r.Name, "Description": r.Attrs["description"], "CreatedDate": seconds(r.Created), "Tags": tagsJSON(r)}
	if r.Next != "" {
		out["DeletedDate"] = seconds(r.NextAt)
	}
	out["VersionIdsToStages"] = versions
	return out
}

// tagsJSON returns a resource's tags in the JSON protocols' form.
func tagsJSON(r *Resource) []map[string]string {
	tags := []map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(r.Tags)) {
		tags = append(tags, map[string]string{"Key": k, "Value": r.Tags[k]})
	}
	return tags
}

func describeSecret(c *call) ([]node, error) {
	r, _, err := c.secretAsked()
	if err == nil {
		c.json = r.secretJSON()
	}
	return nil, err
}

func listSecrets(c *call) ([]node, error) {
	var in secretInput
	must.Do(c.decode(&in))
	found := c.Every(func(r *Resource) bool {
		return c.isSecret(r) && (r.Next == "" || in.IncludePlannedDeletion) && in.passes(r)
	})
	found, next, err := after(found, in.NextToken, c.limited(in.MaxResults, 100), bySeq)
	if err != nil {
		return nil, fault("InvalidNextTokenException", "The NextToken value is invalid.")
	}
	secrets := []any{}
	for _, r := range found {
		one := r.secretJSON()
		one["SecretVersionsToStages"] = one["VersionIdsToStages"] // lists use another name for it
		delete(one, "VersionIdsToStages")
		secrets = append(secrets, one)
	}
	out := map[string]any{"SecretList": secrets}
	if next != "" {
		out["NextToken"] = next
	}
	c.json = out
	return nil, nil
}

// passes reports whether a secret meets every filter; values match as prefixes, like in the real list.
func (in secretInput) passes(r *Resource) bool {
	for _, f := range in.Filters {
		var has []string
		switch f.Key {
		case "name":
			has = []string{r.Name}
		case "description":
			has = []string{r.Attrs["description"]}
		case "tag-key":
			has = slices.Collect(maps.Keys(r.Tags))
		case "tag-value":
			has = slices.Collect(maps.Values(r.Tags))
		case "all":
			has = append(slices.Collect(maps.Values(r.Tags)), r.Name, r.Attrs["description"])
		}
		starts := func(v string) bool {
			return slices.ContainsFunc(f.Values, func(p string) bool { return strings.HasPrefix(v, p) })
		}
		if !slices.ContainsFunc(has, starts) {
			return false
		}
	}
	return true
}

// deleteSecret only marks the secret: it is deleted when its recovery window ends, or at once without one.
func deleteSecret(c *call) ([]node, error) {
	r, in := must.Get2(c.secretAsked())
	must.Do(c.protected(r))
	if c.pinned(r) {
		return nil, fault("InvalidRequestException", "You can't delete secret %s: something still uses it.", r.Name)
	}
	days := cmp.Or(in.RecoveryWindowInDays, 30)
	at := c.Now().Add(time.Duration(days) * 24 * time.Hour)
	if in.ForceDeleteWithoutRecovery {
		at = c.Now()
		c.world.Remove(r)
	} else {
		r.State, r.Next, r.NextAt = "scheduled", "deleted", at
	}
	c.json = map[string]any{"ARN": r.ID, "Name": r.Name, "DeletionDate": seconds(at)}
	return nil, nil
}

func restoreSecret(c *call) ([]node, error) {
	r, _ := must.Get2(c.secretAsked())
	r.State, r.Next, r.NextAt = "", "", time.Time{}
	c.json = map[string]any{"ARN": r.ID, "Name": r.Name}
	return nil, nil
}

func tagSecret(c *call) ([]node, error) {
	r, in := must.Get2(c.secretAsked())
	for _, t := range in.Tags {
		r.Tags[t.Key] = t.Value
	}
	c.json = map[string]any{}
	return nil, nil
}

func untagSecret(c *call) ([]node, error) {
	r, in := must.Get2(c.secretAsked())
	for _, k := range in.TagKeys {
		delete(r.Tags, k)
	}
	c.json = map[string]any{}
	return nil, nil
}
