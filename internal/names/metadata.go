package names

import (
	"encoding/json"
	"errors"
	"fmt"
)

// The platforms, as a spec and an install-config name them.
const (
	AWS        = "aws"
	IBMCloud   = "ibmcloud"
	Kubernetes = "kubernetes" // hubs
)

// Identity is what a metadata.json is built from besides the cluster's row.
type Identity struct {
	InfraID     string
	ClusterUUID string // may be unknown
	CCOName     string // of the same attempt; may be unknown
	Account     string // may be unknown
}

// MetadataJSON builds the content of metadata.json, the only file that `openshift-install destroy cluster` reads, for exactly the resources
// created under the identity in this cluster's region (openshift/installer pkg/types/clustermetadata.go, 4.20). What is unknown is empty;
// Missing lists what a destroyer cannot do without.
func (s Scope) MetadataJSON(of Identity) []byte {
	var document any
	switch s.Platform {
	case IBMCloud:
		document = s.ibmMetadata(of)
	case Kubernetes:
		document = s.hubMetadata(of)
	default:
		document = s.awsMetadata(of)
	}
	raw, err := json.Marshal(document)
	if err != nil { // strings, slices and maps of them always encode
		panic(fmt.Sprintf("encode metadata.json of %s: %v", of.InfraID, err))
	}
	return raw
}

// CheckMetadata returns nil if raw makes the destroyer search for nothing but this identity's resources. Its error names the first field that
// differs from what MetadataJSON builds. Fields that the destroyer does not read are ignored, because newer installers add some.
func (s Scope) CheckMetadata(raw []byte, of Identity) error {
	switch s.Platform {
	case IBMCloud:
		return s.checkIBM(raw, of)
	case Kubernetes:
		return s.checkHub(raw, of)
	}
	return s.checkAWS(raw, of)
}

// ReadIdentity reads the names that the installer chose.
func ReadIdentity(raw []byte) (infraID, clusterUUID string, err error) {
	var m common
	if err := json.Unmarshal(raw, &m); err != nil {
		return "", "", errNoDocument
	}
	return m.InfraID, m.ClusterID, nil
}

var errNoDocument = errors.New("it is not a metadata.json document")

// common is what metadata.json says on every platform.
type common struct {
	ClusterName      string `json:"clusterName"`
	ClusterID        string `json:"clusterID"`
	InfraID          string `json:"infraID"`
	FeatureSet       string `json:"featureSet"`
	CustomFeatureSet any    `json:"customFeatureSet"`
}

func (s Scope) commonFields(of Identity) common {
	return common{ClusterName: s.Name, ClusterID: of.ClusterUUID, InfraID: of.InfraID}
}

// checkAgainst compares the fields of every platform.
func (c common) checkAgainst(want common) error {
	return firstDifference([]difference{
		{"clusterName", c.ClusterName, want.ClusterName}, {"clusterID", c.ClusterID, want.ClusterID}, {"infraID", c.InfraID, want.InfraID},
	})
}

type difference struct{ name, got, want string }

func firstDifference(fields []difference) error {
	for _, field := range fields {
		if field.got != field.want {
			return fmt.Errorf("%s is %.80q, but this cluster's is %.80q", field.name, field.got, field.want)
		}
	}
	return nil
}
