package installertest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/deploy/ibmcloud/policies"
	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/devstack/installer"
)

// IBMKey is an API key of the stand-in IBM Cloud with the access of a runner, and occurs nowhere else.
const IBMKey = "ibm-key-of-the-tests"

// StartIBMCloud starts an empty IBM Cloud for this test.
func StartIBMCloud(t testing.TB) *World {
	t.Helper()
	access, err := policies.Runner()
	require.NoError(t, err)
	server, err := ibmcloud.Start(context.Background(), ibmcloud.Config{Callers: []ibmcloud.Caller{{Name: "runner", APIKey: IBMKey, Access: &access}}, Settle: 5 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	t.Setenv(installer.IBMCloudVariable, server.Base())
	t.Setenv("IC_API_KEY", IBMKey)
	return &World{IBM: server, Binary: filepath.Join(folder, "openshift-install"), Faults: filepath.Join(t.TempDir(), "faults.json")}
}

// IBMConfig returns a small cluster's install-config with the given number of workers. Without a resource group the installer makes one.
func IBMConfig(name, group string, workers int) string {
	if group != "" {
		group = "    resourceGroupName: " + group + "\n"
	}
	return fmt.Sprintf(`apiVersion: v1
baseDomain: labs.example.com
metadata:
  name: %s
credentialsMode: Manual
controlPlane:
  name: master
  replicas: 3
  platform: {ibmcloud: {type: bx2-4x16, zones: [us-east-1]}}
compute:
- name: worker
  replicas: %d
  platform: {ibmcloud: {type: bx2-4x16, zones: [us-east-1]}}
platform:
  ibmcloud:
    region: us-east
%spublish: External
pullSecret: '%s'
sshKey: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKP7vVURcuRhHiWITRQplXKSZbgoSBWpCsPVQZRc557B
`, name, workers, group, PullSecret)
}

func (w *World) leftOnIBMCloud(texts []string) (left []string) {
	for _, text := range texts {
		for _, r := range w.IBM.Resources(text) {
			left = append(left, r.Type+" "+r.ID+" "+r.Name)
		}
	}
	return left
}

// IBMToken returns an access token of the key.
func (w *World) IBMToken(t testing.TB) string {
	t.Helper()
	resp, err := http.PostForm(w.IBM.URL("iam", "")+"/identity/token", url.Values{"grant_type": {"urn:ibm:params:oauth:grant-type:apikey"}, "apikey": {IBMKey}})
	require.NoError(t, err)
	defer resp.Body.Close()
	var out struct {
		Token string `json:"access_token"`
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&out))
	return out.Token
}
