package installer_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
)

// serviceTokens are access tokens of a cluster's operators, by the file of their Secret: whoever administers the cluster reads their API keys.
func serviceTokens(t *testing.T, w *installertest.World, cc string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(cc, "manifests", "*-credentials.yaml"))
	require.NoError(t, err)
	require.Len(t, files, 5)
	tokens := map[string]string{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		key := regexp.MustCompile(`IBMCLOUD_APIKEY=(\S+)`).FindSubmatch(raw)
		require.NotNil(t, key, file)
		resp, err := http.PostForm(w.IBM.URL("iam", "")+"/identity/token", url.Values{"grant_type": {"urn:ibm:params:oauth:grant-type:apikey"}, "apikey": {string(key[1])}})
		require.NoError(t, err)
		var out struct {
			Token string `json:"access_token"`
		}
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&out))
		require.NoError(t, resp.Body.Close())
		tokens[filepath.Base(file)] = out.Token
	}
	return tokens
}

// ask makes one call with a token and returns its status.
func ask(t *testing.T, token, method, address string, body any) int {
	t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), method, address, bytes.NewReader(raw))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

func TestOnIBMCloudAClustersServiceIDsEndAtItsResourceGroup(t *testing.T) {
	w := installertest.StartIBMCloud(t)
	machines, groups, networks := map[string]string{}, map[string]string{}, map[string]string{}
	for _, name := range []string{"shop", "bank"} {
		ofGroup(t, w, name)
		for _, r := range w.IBM.Resources(name) {
			if r.Type == "resource-group" && r.Name == name {
				groups[name] = r.ID
			}
		}
		vpc, err := w.IBM.Plant(ibmcloud.Resource{Service: "is", Type: "vpc", Name: name + "-vpc", Group: groups[name], Region: "us-east"})
		require.NoError(t, err)
		machine, err := w.IBM.Plant(ibmcloud.Resource{Service: "is", Type: "instance", Name: name + "-master-0", Group: groups[name], Region: "us-east", VPC: vpc.ID, State: "running"})
		require.NoError(t, err)
		machines[name], networks[name] = machine.ID, vpc.ID
	}
	_, cc := ibmCredentials(t, w, "cco-shop", "shop")
	tokens := serviceTokens(t, w, cc)
	const version = "?version=2025-01-01&generation=2"
	instances := w.IBM.URL("vpc", "us-east") + "/instances"
	vpcs := w.IBM.URL("vpc", "us-east") + "/vpcs"
	for who, token := range tokens {
		require.Equal(t, 403, ask(t, token, http.MethodDelete, instances+"/"+machines["bank"]+version, nil), who)
		require.Contains(t, []int{403, 404}, ask(t, token, http.MethodGet, instances+"/"+machines["bank"]+version, nil), who)
		require.Equal(t, 403, ask(t, token, http.MethodPost, instances+"/"+machines["bank"]+"/actions"+version, map[string]string{"type": "stop"}), who)
		require.Equal(t, 403, ask(t, token, http.MethodPost, vpcs+version, map[string]any{"name": "x", "resource_group": map[string]string{"id": groups["bank"]}}), who)
		require.Equal(t, 403, ask(t, token, http.MethodDelete, w.IBM.URL("rc", "")+"/v2/resource_groups/"+groups["bank"], nil), who)
		require.Equal(t, 403, ask(t, token, http.MethodPost, w.IBM.URL("iam", "")+"/v1/policies", map[string]any{"type": "access"}), who+" gives itself more")
		require.Equal(t, 403, ask(t, token, http.MethodPost, w.IBM.URL("iam", "")+"/v1/apikeys", map[string]any{"name": "x"}), who+" makes a key")
	}
	machineAPI := tokens["openshift-machine-api-ibmcloud-credentials-credentials.yaml"]
	require.Equal(t, 200, ask(t, machineAPI, http.MethodGet, instances+"/"+machines["shop"]+version, nil))
	require.Equal(t, 201, ask(t, machineAPI, http.MethodPost, vpcs+version, map[string]any{"name": "own", "resource_group": map[string]string{"id": groups["shop"]}}))
	require.Equal(t, 202, ask(t, machineAPI, http.MethodDelete, instances+"/"+machines["shop"]+version, nil))
}
