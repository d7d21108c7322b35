package ibmcloud

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/IBM/platform-services-go-sdk/resourcecontrollerv2"

	"github.com/ocpctl/ocpctl/internal/tagkey"
)

// foreignMark returns a tag by which another cluster or another installation owns a resource; empty if there is none. A bare tag such as
// team-dc247 looks like an infraID, and a person may have given it: it is a mark only if there is a cluster with this infraID.
func (c *Client) foreignMark(ctx context.Context, o *owner, tags []string) (string, error) {
	mark, bare := o.splitMarks(tags)
	for _, tag := range bare {
		if mark != "" {
			break
		}
		exists, err := c.clusterExists(ctx, o, tag)
		if err != nil {
			return "", err
		}
		if exists {
			mark = tag
		}
	}
	return mark, nil
}

// clusterExists reports that the account has the VPC or the storage that the installer makes for an infraID, in any region.
func (c *Client) clusterExists(ctx context.Context, o *owner, infraID string) (bool, error) {
	if exists, asked := o.known[infraID]; asked {
		return exists, nil
	}
	for _, name := range []string{infraID + "-vpc", infraID + "-cos"} {
		found, err := c.listResources(ctx, "resources called "+name, resourcecontrollerv2.ListResourceInstancesOptions{Name: &name})
		if err != nil {
			return false, fmt.Errorf("look for a cluster with the infraID %s: %w", infraID, err)
		}
		if slices.ContainsFunc(found, func(r resource) bool { return r.Name == name && r.State != removed }) {
			o.known[infraID] = true
			return true, nil
		}
	}
	o.known[infraID] = false
	return false, nil
}

// splitMarks returns the first tag that only the owner of another cluster or another installation gives, and the tags that may be another cluster's
// bare infraID.
func (o *owner) splitMarks(tags []string) (foreign string, bare []string) {
	for _, tag := range slices.Sorted(slices.Values(tags)) {
		tag = strings.ToLower(tag)
		key, value, pair := strings.Cut(tag, ":")
		infraID, isDisk := strings.CutPrefix(key, diskTag)
		if !isDisk {
			var isRegistry bool
			if infraID, isRegistry = strings.CutPrefix(key, registryTag); !isRegistry {
				infraID = ""
			}
		}
		is := false
		switch {
		case key == strings.ToLower(tagkey.ClusterID) && pair:
			is = o.cluster != "" && tag != o.cluster
		case key == strings.ToLower(tagkey.Installation) && pair:
			is = o.installation != "" && tag != o.installation
		case infraID != "":
			is = value == tagkey.Owned && !slices.Contains(o.infraIDs, infraID)
		case !pair && infraTag.MatchString(tag) && !slices.Contains(o.infraIDs, tag):
			bare = append(bare, tag)
		}
		if is && foreign == "" {
			foreign = tag
		}
	}
	return foreign, bare
}
