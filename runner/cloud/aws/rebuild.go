package aws

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"

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

// Rebuild writes metadata.json anew for one identity. The recorded document is taken when it is of that infraID;
// otherwise it is made from the recorded names, and what was not recorded is read from the cloud's tags. An infraID
// found by tag alone must be the only one that carries the cluster's own tag.
func (c *Client) Rebuild(ctx context.Context, id contract.Identity, t cloud.Target) ([]byte, error) {
	var recorded metadata
	if json.Unmarshal([]byte(id.Metadata), &recorded) == nil && recorded.InfraID != "" && (id.InfraID == "" || id.InfraID == recorded.InfraID) {
		return []byte(id.Metadata), nil
	}
	region := id.Region
	if region == "" {
		region = t.Region
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	infraID, clusterUUID := id.InfraID, id.ClusterUUID
	if infraID == "" {
		var err error
		if infraID, err = c.infraIDByTag(ctx, region, t.Cluster); err != nil {
			return nil, err
		}
	}
	if clusterUUID == "" {
		var err error
		if clusterUUID, err = c.clusterUUIDByTag(ctx, region, infraID); err != nil {
			return nil, err
		}
	}
	identifier := []map[string]string{{kubernetesTag(infraID): "owned"}}
	if clusterUUID != "" {
		identifier = append(identifier, map[string]string{"openshiftClusterID": clusterUUID})
	}
	identifier = append(identifier, map[string]string{providerTag(infraID): "owned"})
	return json.Marshal(metadata{
		ClusterName: t.Name, ClusterID: clusterUUID, InfraID: infraID,
		AWS: awsMetadata{Region: region, Identifier: identifier, ClusterDomain: t.Domain()},
	})
}

// infraIDByTag finds the infraID of whatever carries our cluster's tag.
func (c *Client) infraIDByTag(ctx context.Context, region, cluster string) (string, error) {
	if cluster == "" {
		return "", fmt.Errorf("rebuild metadata: neither infraID nor cluster id is known")
	}
	mappings, err := c.resources(ctx, region, clusterTag, cluster)
	if err != nil {
		return "", fmt.Errorf("rebuild metadata: look for resources of cluster %s: %w", cluster, err)
	}
	found := tagSuffixes(mappings, kubernetesTag(""))
	if len(found) != 1 {
		return "", fmt.Errorf("rebuild metadata: %d infraIDs carry the tag of cluster %s (%s), want one", len(found), cluster, strings.Join(found, ", "))
	}
	return found[0], nil
}

// clusterUUIDByTag reads the installer's clusterID; it is optional, so none or several is no error.
func (c *Client) clusterUUIDByTag(ctx context.Context, region, infraID string) (string, error) {
	mappings, err := c.resources(ctx, region, kubernetesTag(infraID), "owned")
	if err != nil {
		return "", fmt.Errorf("rebuild metadata: look for resources of %s: %w", infraID, err)
	}
	for _, m := range mappings {
		for _, tag := range m.Tags {
			if awssdk.ToString(tag.Key) == "openshiftClusterID" {
				return awssdk.ToString(tag.Value), nil
			}
		}
	}
	return "", nil
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
