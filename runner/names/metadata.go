package names

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ocpctl/ocpctl/internal/tagkey"
)

// Metadata is metadata.json for AWS, the only file that `openshift-install destroy cluster` reads (openshift/installer
// pkg/types/clustermetadata.go and pkg/types/aws/metadata.go, 4.20).
type Metadata struct {
	ClusterName      string      `json:"clusterName"`
	ClusterID        string      `json:"clusterID"`
	InfraID          string      `json:"infraID"`
	AWS              AWSMetadata `json:"aws"`
	FeatureSet       string      `json:"featureSet"`
	CustomFeatureSet any         `json:"customFeatureSet"`
}

// AWSMetadata says what the destroyer searches for: resources with all tags of any one map of Identifier.
type AWSMetadata struct {
	Region           string              `json:"region"`
	Identifier       []map[string]string `json:"identifier"`
	ServiceEndpoints []json.RawMessage   `json:"serviceEndpoints,omitempty"`
	ClusterDomain    string              `json:"clusterDomain"`
	HostedZoneRole   string              `json:"hostedZoneRole,omitempty"`
}

// Metadata builds the document that destroys exactly the resources created under infraID in this cluster's region. An empty
// clusterUUID is left out of the search.
func (s Scope) Metadata(infraID, clusterUUID string) Metadata {
	m := Metadata{
		ClusterName: s.Name, ClusterID: clusterUUID, InfraID: infraID,
		AWS: AWSMetadata{Region: s.Region, ClusterDomain: s.Domain(), Identifier: []map[string]string{{tagkey.KubernetesCluster + infraID: tagkey.Owned}}},
	}
	if clusterUUID != "" {
		m.AWS.Identifier = append(m.AWS.Identifier, map[string]string{tagkey.OpenShiftClusterID: clusterUUID})
	}
	m.AWS.Identifier = append(m.AWS.Identifier, map[string]string{tagkey.ProviderCluster + infraID: tagkey.Owned})
	return m
}

// MetadataJSON is Metadata as a file's content.
func (s Scope) MetadataJSON(infraID, clusterUUID string) []byte {
	raw, err := json.Marshal(s.Metadata(infraID, clusterUUID))
	if err != nil { // strings, slices and maps of them always encode
		panic(fmt.Sprintf("encode metadata.json of %s: %v", infraID, err))
	}
	return raw
}

// CheckMetadata returns nil if raw makes the destroyer search for nothing but this infraID's resources. Its error names the first
// field that differs from what Metadata builds. Fields that the destroyer does not read are ignored, because newer installers add
// some.
func (s Scope) CheckMetadata(raw []byte, infraID, clusterUUID string) error {
	var got Metadata
	if err := json.Unmarshal(raw, &got); err != nil {
		return errors.New("it is not a metadata.json document")
	}
	want := s.Metadata(infraID, clusterUUID)
	for _, field := range []struct{ name, got, want string }{
		{"clusterName", got.ClusterName, want.ClusterName},
		{"clusterID", got.ClusterID, want.ClusterID},
		{"infraID", got.InfraID, want.InfraID},
		{"aws.region", got.AWS.Region, want.AWS.Region},
		{"aws.clusterDomain", got.AWS.ClusterDomain, want.AWS.ClusterDomain},
		{"aws.hostedZoneRole", got.AWS.HostedZoneRole, ""},
	} {
		if field.got != field.want {
			return fmt.Errorf("%s is %.80q, but this cluster's is %.80q", field.name, field.got, field.want)
		}
	}
	if len(got.AWS.ServiceEndpoints) > 0 {
		return errors.New("aws.serviceEndpoints is not empty, but no profile sets service endpoints")
	}
	if !sameIdentifiers(got.AWS.Identifier, want.AWS.Identifier) {
		return fmt.Errorf("aws.identifier is %.200q, but this cluster's is %q", fmt.Sprint(got.AWS.Identifier), fmt.Sprint(want.AWS.Identifier))
	}
	return nil
}

// sameIdentifiers compares two lists of tag maps in any order. An empty map would match every resource of the account.
func sameIdentifiers(got, want []map[string]string) bool {
	if len(got) != len(want) {
		return false
	}
	for _, one := range want {
		if !slices.ContainsFunc(got, func(other map[string]string) bool { return maps.Equal(one, other) }) {
			return false
		}
	}
	return true
}
