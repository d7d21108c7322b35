package deploy_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	ibmpolicies "github.com/ocpctl/ocpctl/deploy/ibmcloud/policies"
)

// commands are what gives a document's access to a service ID.
func commands(d ibmpolicies.Document, serviceID string) string {
	var lines []string
	for _, r := range d.Roles {
		lines = append(lines, fmt.Sprintf("ibmcloud iam role-create %s --display-name %q --service-name %s --actions %s", r.Name, r.Display, r.Service, strings.Join(r.Actions, ",")))
	}
	for _, p := range d.Policies {
		line := fmt.Sprintf("ibmcloud iam service-policy-create %s --roles %q", serviceID, strings.Join(p.Roles, ","))
		if p.Service != "" {
			line += " --service-name " + p.Service
		}
		if p.Type != "" {
			line += " --resource-type " + p.Type
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n") + "\n"
}

func TestTheCommandsForIBMCloudGiveTheAccessOfTheFiles(t *testing.T) {
	raw, err := os.ReadFile("ibmcloud/README.md")
	require.NoError(t, err)
	runner, err := ibmpolicies.Runner()
	require.NoError(t, err)
	scan, err := ibmpolicies.Scan()
	require.NoError(t, err)
	require.Contains(t, string(raw), commands(runner, "ocpctl-runner"))
	require.Contains(t, string(raw), commands(scan, "ocpctl-scan"))
	require.Equal(t, len(runner.Policies)+len(scan.Policies), strings.Count(string(raw), "ibmcloud iam service-policy-create "), "no further access is given there")
}

func TestAScanOfIBMCloudHasNoRoleThatChangesAnything(t *testing.T) {
	scan, err := ibmpolicies.Scan()
	require.NoError(t, err)
	allowed := []string{"Viewer", "Reader"}
	for _, r := range scan.Roles {
		for _, action := range r.Actions {
			require.Regexp(t, `\.(list|get|read)$`, action)
		}
		allowed = append(allowed, r.Display)
	}
	for _, p := range scan.Policies {
		require.Subset(t, allowed, p.Roles, p.On())
		require.NotEmpty(t, p.Why, p.On())
	}
}
