package inventory_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/deploy/ibmcloud/policies"
	standin "github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/access"
)

// The tests of this package run with the scan's access, so nothing is missing from it. Here, nothing of it is too much: without one of its roles, a
// part cannot be listed, or less is seen.
func TestAScanNeedsEveryRoleOfItsList(t *testing.T) {
	whole, err := policies.Scan()
	require.NoError(t, err)
	var less []standin.Caller
	for i, p := range whole.Policies {
		for j, role := range p.Roles {
			one := policies.Document{Roles: whole.Roles, Policies: slices.Clone(whole.Policies)}
			one.Policies[i].Roles = slices.Delete(slices.Clone(p.Roles), j, j+1)
			less = append(less, standin.Caller{APIKey: fmt.Sprintf("without %s of %s", role, p.On()), Access: &one})
		}
	}
	s := start(t, less...)
	ids, _, _ := s.settle(t)
	require.ElementsMatch(t, ids, slices.Collect(maps.Keys(s.look(t))))
	for _, caller := range less {
		client, seen := s.as(t, caller.APIKey), 0
		_, err := client.Account(t.Context())
		require.NoError(t, err)
		for _, part := range client.Parts([]string{"us-south", "eu-de"}) {
			if err = client.List(t.Context(), part, func(page []contract.SeenResource) error { seen += len(page); return nil }); err != nil {
				break
			}
		}
		require.True(t, err != nil || seen < len(ids), "a scan %s sees the same: take the role out of the list", caller.APIKey)
	}
}

func TestAScanWithTheTrustedProfileOfItsPodSeesTheSame(t *testing.T) {
	s := start(t)
	ids, _, _ := s.settle(t)
	token := filepath.Join(t.TempDir(), "sa-token")
	require.NoError(t, os.WriteFile(token, []byte("token-of-the-pod"), 0o600))
	env := map[string]string{"IBMCLOUD_TRUSTED_PROFILE_ID": "Profile-scan", "IBMCLOUD_CR_TOKEN_FILENAME": token, "IBMCLOUD_IAM_API_ENDPOINT": s.URL("iam", "")}
	auth, err := access.Authenticate(cloud.Keys{}, func(name string) string { return env[name] }, nil)
	require.NoError(t, err)
	s.client = s.with(t, auth)
	of, err := s.client.Account(t.Context())
	require.NoError(t, err)
	require.Equal(t, account, of)
	require.ElementsMatch(t, ids, slices.Collect(maps.Keys(s.look(t))))
}
