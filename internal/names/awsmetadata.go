package names

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ocpctl/ocpctl/internal/tagkey"
)

// awsMetadata is metadata.json for AWS (openshift/installer pkg/types/aws/metadata.go).
type awsMetadata struct {
	common
	AWS awsPart `json:"aws"`
}

// awsPart says what the destroyer searches for: resources with all tags of any one map of Identifier.
type awsPart struct {
	Region           string              `json:"region"`
	Identifier       []map[string]string `json:"identifier"`
	ServiceEndpoints []json.RawMessage   `json:"serviceEndpoints,omitempty"`
	ClusterDomain    string              `json:"clusterDomain"`
	HostedZoneRole   string              `json:"hostedZoneRole,omitempty"`
}

// awsMetadata leaves an unknown clusterUUID out of the search.
func (s Scope) awsMetadata(of Identity) awsMetadata {
	m := awsMetadata{common: s.commonFields(of), AWS: awsPart{
		Region: s.Region, ClusterDomain: s.Domain(), Identifier: []map[string]string{{tagkey.KubernetesCluster + of.InfraID: tagkey.Owned}},
	}}
	if of.ClusterUUID != "" {
		m.AWS.Identifier = append(m.AWS.Identifier, map[string]string{tagkey.OpenShiftClusterID: of.ClusterUUID})
	}
	m.AWS.Identifier = append(m.AWS.Identifier, map[string]string{tagkey.ProviderCluster + of.InfraID: tagkey.Owned})
	return m
}

func (s Scope) checkAWS(raw []byte, of Identity) error {
	var got awsMetadata
	if err := json.Unmarshal(raw, &got); err != nil {
		return errNoDocument
	}
	want := s.awsMetadata(of)
	if err := got.checkAgainst(want.common); err != nil {
		return err
	}
	if err := firstDifference([]difference{
		{"aws.region", got.AWS.Region, want.AWS.Region},
		{"aws.clusterDomain", got.AWS.ClusterDomain, want.AWS.ClusterDomain},
		{"aws.hostedZoneRole", got.AWS.HostedZoneRole, ""},
	}); err != nil {
		return err
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
