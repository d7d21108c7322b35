package aws

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"
	"github.com/aws/aws-sdk-go-v2/service/route53"

	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/contract"
)

// metadata is metadata.json as openshift-install 4.20 writes it for AWS (pkg/types/aws/metadata.go there).
type metadata struct {
	ClusterName      string      `json:"clusterName"`
	ClusterID        string      `json:"clusterID"`
	InfraID          string      `json:"infraID"`
	AWS              awsMetadata `json:"aws"`
	FeatureSet       string      `json:"featureSet"`
	CustomFeatureSet any         `json:"customFeatureSet"`
}

type awsMetadata struct {
	Region        string              `json:"region"`
	Identifier    []map[string]string `json:"identifier"`
	ClusterDomain string              `json:"clusterDomain"`
}

// Rebuild writes metadata.json anew for one identity. The recorded document is taken when it is of that infraID and
// region; otherwise it is made from the recorded names, and what was not recorded is read from the cloud's tags. An
// infraID found by tag alone must be the only one that carries the cluster's own tag. What a destroy can do without
// (clusterID, and clusterDomain outside shared zones) does not stop it: an empty value is better than no metadata.
func (c *Client) Rebuild(ctx context.Context, id contract.Identity, t cloud.Target) ([]byte, error) {
	region := cmp.Or(id.Region, t.Region)
	var recorded metadata
	if json.Unmarshal([]byte(id.Metadata), &recorded) == nil && recorded.InfraID != "" && recorded.AWS.Region == region &&
		(id.InfraID == "" || id.InfraID == recorded.InfraID) {
		return []byte(id.Metadata), nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	infraID := id.InfraID
	if infraID == "" {
		var err error
		if infraID, err = c.infraIDByTag(ctx, region, t.Cluster); err != nil {
			return nil, err
		}
	}
	clusterUUID := id.ClusterUUID
	if clusterUUID == "" {
		clusterUUID = c.clusterUUIDByTag(ctx, region, infraID)
	}
	domain := t.Domain()
	if t.Name == "" || t.BaseDomain == "" {
		domain = c.domainByZone(ctx, infraID)
	}
	identifier := []map[string]string{{tagkey.KubernetesCluster + infraID: tagkey.Owned}}
	if clusterUUID != "" {
		identifier = append(identifier, map[string]string{tagkey.OpenShiftClusterID: clusterUUID})
	}
	identifier = append(identifier, map[string]string{tagkey.ProviderCluster + infraID: tagkey.Owned})
	return json.Marshal(metadata{
		ClusterName: t.Name, ClusterID: clusterUUID, InfraID: infraID,
		AWS: awsMetadata{Region: region, Identifier: identifier, ClusterDomain: domain},
	})
}

// infraIDByTag finds the infraID of whatever carries our cluster's tag.
func (c *Client) infraIDByTag(ctx context.Context, region, cluster string) (string, error) {
	if cluster == "" {
		return "", fmt.Errorf("rebuild metadata: neither infraID nor cluster id is known")
	}
	var found []string
	for _, region := range distinct(region, globalRegion) { // a create may have been cut short before its first regional resource
		mappings, err := c.tagged(ctx, region, tagkey.ClusterID, cluster)
		if err != nil {
			return "", fmt.Errorf("rebuild metadata: look for resources of cluster %s in %s: %w", cluster, region, err)
		}
		found = append(found, tagSuffixes(mappings, tagkey.KubernetesCluster)...)
		found = append(found, tagSuffixes(mappings, tagkey.ProviderCluster)...) // until the second tag is written, some carry this one alone
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if len(found) != 1 {
		return "", fmt.Errorf("rebuild metadata: %d infraIDs carry the tag of cluster %s (%s), want one", len(found), cluster, strings.Join(found, ", "))
	}
	return found[0], nil
}

// clusterUUIDByTag reads the installer's clusterID; empty where no tag tells it, or the question was refused.
func (c *Client) clusterUUIDByTag(ctx context.Context, region, infraID string) string {
	mappings, err := c.tagged(ctx, region, tagkey.KubernetesCluster+infraID, tagkey.Owned)
	if err != nil {
		return ""
	}
	for _, m := range mappings {
		for _, tag := range m.Tags {
			if awssdk.ToString(tag.Key) == tagkey.OpenShiftClusterID {
				return awssdk.ToString(tag.Value)
			}
		}
	}
	return ""
}

// domainByZone is the name of the private zone the installer tagged Name=<infraID>-int; empty where there is none.
func (c *Client) domainByZone(ctx context.Context, infraID string) string {
	mappings, err := c.tagged(ctx, globalRegion, tagkey.Name, infraID+"-int")
	if err != nil {
		return ""
	}
	for _, m := range mappings {
		_, id, isZone := strings.Cut(awssdk.ToString(m.ResourceARN), ":hostedzone/")
		if !isZone {
			continue
		}
		if out, err := c.r53.GetHostedZone(ctx, &route53.GetHostedZoneInput{Id: &id}); err == nil {
			return undotted(out.HostedZone.Name)
		}
	}
	return ""
}

// tagged asks the tagging API what carries, or once carried, a tag.
func (c *Client) tagged(ctx context.Context, region, key, value string) ([]types.ResourceTagMapping, error) {
	p := tagging.NewGetResourcesPaginator(c.taggingIn(region), &tagging.GetResourcesInput{
		TagFilters: []types.TagFilter{{Key: &key, Values: []string{value}}},
	})
	return collect(ctx, p, func(page *tagging.GetResourcesOutput) []types.ResourceTagMapping { return page.ResourceTagMappingList })
}

func distinct(values ...string) []string {
	slices.Sort(values)
	return slices.Compact(values)
}

// tagSuffixes returns what follows prefix in the tag keys, each once, sorted.
func tagSuffixes(mappings []types.ResourceTagMapping, prefix string) []string {
	var out []string
	for _, m := range mappings {
		for _, tag := range m.Tags {
			if suffix, ok := strings.CutPrefix(awssdk.ToString(tag.Key), prefix); ok && suffix != "" {
				out = append(out, suffix)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
