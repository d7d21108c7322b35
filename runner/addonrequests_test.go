package runner

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
)

func TestAnAddonsRequestsAreThoseOfItsCloud(t *testing.T) {
	a := &attempt{}
	a.spec.Addons = []contract.Addon{{Name: "dns", Manifests: `{"items": [
		{"kind": "Namespace", "metadata": {"name": "cert-manager"}},
		{"kind": "CredentialsRequest", "spec": {"secretRef": {"namespace": "cert-manager"}, "providerSpec": {"kind": "AWSProviderSpec"}}},
		{"kind": "ConfigMap", "metadata": {"name": "x"}, "spec": "a text"}]}`}}
	for platform, want := range map[string]int{names.AWS: 1, names.IBMCloud: 0} {
		a.spec.Platform = platform
		requests, namespaces, err := a.findAddonRequests()
		require.NoError(t, err)
		require.Len(t, requests, want, platform)
		require.Contains(t, namespaces, "cert-manager")
	}
	a.spec.Addons[0].Manifests = "no JSON"
	_, _, err := a.findAddonRequests()
	require.ErrorContains(t, err, "the add-on dns")
}
