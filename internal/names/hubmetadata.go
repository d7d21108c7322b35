package names

import (
	"encoding/json"
	"fmt"
)

// hubMetadata is our own document of what a cluster is on a hub. No installer reads it: a teardown goes by it as it goes by metadata.json elsewhere.
type hubMetadata struct {
	common
	Kubernetes hubPart `json:"kubernetes"`
}

// hubPart says which namespace a teardown deletes, and on which hub.
type hubPart struct {
	Hub       string `json:"hub"` // UID of the hub's namespace kube-system
	Region    string `json:"region"`
	Namespace string `json:"namespace"`
}

func (s Scope) hubMetadata(of Identity) hubMetadata {
	return hubMetadata{common: s.commonFields(of), Kubernetes: hubPart{Hub: of.Account, Region: s.Region, Namespace: of.InfraID}}
}

func (s Scope) checkHub(raw []byte, of Identity) error {
	var got hubMetadata
	if err := json.Unmarshal(raw, &got); err != nil {
		return errNoDocument
	}
	want := s.hubMetadata(of)
	if err := got.checkAgainst(want.common); err != nil {
		return err
	}
	return firstDifference([]difference{
		{"kubernetes.hub", got.Kubernetes.Hub, want.Kubernetes.Hub}, {"kubernetes.region", got.Kubernetes.Region, want.Kubernetes.Region},
		{"kubernetes.namespace", got.Kubernetes.Namespace, want.Kubernetes.Namespace},
	})
}

// checkServer returns nil if raw is the address of the hub's API.
func (s Scope) checkServer(raw string) error {
	if raw != s.Server {
		return fmt.Errorf("%.80q is not the address of the cluster's hub", raw)
	}
	return nil
}
