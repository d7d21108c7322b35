package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/profiles"
)

const sample = `{
  "name": "team-a-smoke-01",
  "platform": "aws",
  "version": "4.20.3",
  "profile": "aws-minimal-test",
  "region": "us-east-1",
  "baseDomain": "labs.example.com",
  "owner": "team-a",
  "costCenter": "sandbox",
  "ttlHours": 24,
  "sshPublicKey": "ssh-ed25519 AAAA...",
  "extraTags": {
    "Environment": "test",
    "RequestSource": "webform"
  }
}`

const goodKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0wKz7lEfhqE8VfUMLxVdIYSQG4mAsXVCGCGIw8rLmF maya"

func written(t *testing.T, name, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(body), 0o600))
	return path
}

func rendering(t *testing.T, in string, args ...string) (out, said string, err error) {
	t.Helper()
	var o, e bytes.Buffer
	err = renderInstallConfig(args, strings.NewReader(in), &o, &e)
	return o.String(), e.String(), err
}

func TestASampleRequestBecomesAnInstallConfigWithoutSecrets(t *testing.T) {
	out, said, err := rendering(t, "", "--request", written(t, "request.json", sample))
	require.NoError(t, err)
	for _, part := range []string{"name: team-a-smoke-01", "credentialsMode: Manual", "pullSecret: '***'", "RequestSource: webform", "Environment: test", "- us-east-1a"} {
		require.Contains(t, out, part)
	}
	require.Contains(t, said, "abbreviated")
	require.NotContains(t, out, "AAAA...", "no machine would let anybody in with it")
	again, _, err := rendering(t, sample, "--request", "-")
	require.NoError(t, err)
	require.Contains(t, again, "name: team-a-smoke-01")
}

func TestTheSampleRequestIsRenderedWithEachProfileOfTheSpecification(t *testing.T) {
	on := written(t, "ocpctl.yaml", "installation: ocpctl\nfeatures: {ibm_cloud: true}\n")
	ibm := strings.NewReplacer(`"platform": "aws"`, `"platform": "ibmcloud"`, "us-east-1", "us-south")
	for profile, parts := range map[string][]string{
		"aws-minimal-test": {"aws:", "region: us-east-1", "replicas: 0", "RequestSource: webform"},
		"aws-standard":     {"aws:", "region: us-east-1", "- us-east-1c", "RequestSource: webform"},
		"ibm-minimal-test": {"ibmcloud:", "region: us-south", "replicas: 0", "type: bx2-4x16", "- us-south-1", "credentialsMode: Manual"},
		"ibm-standard":     {"ibmcloud:", "region: us-south", "- us-south-3"},
	} {
		request := strings.Replace(sample, "aws-minimal-test", profile, 1)
		if strings.HasPrefix(profile, "ibm-") {
			request = ibm.Replace(request)
		}
		out, _, err := rendering(t, request, "--request", "-", "--config", on)
		require.NoError(t, err, profile)
		for _, part := range append(parts, "name: team-a-smoke-01", "baseDomain: labs.example.com") {
			require.Contains(t, out, part, profile)
		}
	}

	request := ibm.Replace(strings.Replace(sample, "aws-minimal-test", "ibmcloud-minimal-test", 1))
	out, _, err := rendering(t, request, "--request", "-", "--config", on)
	require.NoError(t, err, "the other spelling of the profile's name")
	require.Contains(t, out, "region: us-south")
	require.NotContains(t, out, "userTags")

	out, _, err = rendering(t, request, "--request", "-")
	require.Empty(t, out)
	require.ErrorContains(t, err, "Profile ibm-minimal-test cannot be used: IBM Cloud is off in this installation; it is turned on with features.ibm_cloud in the server's configuration.")
	_, _, err = rendering(t, strings.Replace(request, "webform", "a+b", 1), "--request", "-", "--config", on)
	require.ErrorContains(t, err, `The tag "RequestSource": on IBM Cloud tags may contain letters, digits, spaces and _ - . and the value also :.`)
}

func TestTheRequestOfTheCataloguesPageIsRendered(t *testing.T) {
	page, err := os.ReadFile("../../docs/catalogue.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(page), "```json\n")
	require.True(t, found)
	request, _, found := strings.Cut(rest, "```")
	require.True(t, found)
	out, _, err := rendering(t, request, "--request", "-")
	require.NoError(t, err)
	require.Contains(t, out, "name: team-a-smoke-01")
}

func TestWithAPullSecretItIsWhatTheInstallerTakes(t *testing.T) {
	request := strings.Replace(sample, "ssh-ed25519 AAAA...", goodKey, 1)
	out, said, err := rendering(t, request, "--request", "-", "--pull-secret", written(t, "pull", `{"auths":{"quay.io":{"auth":"c2VjcmV0"}}}`+"\n"))
	require.NoError(t, err)
	require.Empty(t, said)
	require.Contains(t, out, `pullSecret: '{"auths":{"quay.io":{"auth":"c2VjcmV0"}}}'`)
	require.NoError(t, profiles.Strict([]byte(out)))

	_, said, err = rendering(t, request, "--request", "-", "--pull-secret", written(t, "pull", `{"quay.io":"c2VjcmV0"}`))
	require.ErrorContains(t, err, "pullSecret: of another form")
	require.NotContains(t, err.Error()+said, "c2VjcmV0", "a secret is not repeated in a complaint")
}

func TestABadRequestNamesEveryFieldAndPrintsNothing(t *testing.T) {
	out, _, err := rendering(t, `{"name": "Shop", "profile": "aws-minmal-test", "regoin": "us-east-1", "owner": "maya", "environment": "test"}`, "--request", "-")
	require.Empty(t, out)
	for _, part := range []string{"the request: ", "\n  name: ", "Did you mean aws-minimal-test?", "\n  regoin: There is no such field. Did you mean region?", "\n  costCenter: The cost center is missing"} {
		require.ErrorContains(t, err, part)
	}
}

func TestAFieldIsComplainedOfOnceAndAnUnreadableRequestAlone(t *testing.T) {
	_, _, err := rendering(t, `{"name": "shop", "owner": 1, "costCenter": "sandbox", "environment": "test"}`, "--request", "-")
	require.ErrorContains(t, err, "owner: It is not a string")
	require.Equal(t, 1, strings.Count(err.Error(), "\n  "))

	for request, want := range map[string]string{"name: [shop": "It cannot be read", "[]": "It is not a single object", "": "It is empty"} {
		_, _, err := rendering(t, request, "--request", "-")
		require.ErrorContains(t, err, "\n  request: "+want)
		require.Equal(t, 1, strings.Count(err.Error(), "\n  "), "nothing was read that could be judged")
	}
}

func TestARoleAndAConfigurationCount(t *testing.T) {
	mint := strings.Replace(sample, "aws-minimal-test", "aws-minimal-mint", 1)
	_, _, err := rendering(t, mint, "--request", "-")
	require.ErrorContains(t, err, "only for platform admins")
	out, _, err := rendering(t, mint, "--request", "-", "--role", "platform_admin")
	require.NoError(t, err)
	require.Contains(t, out, "credentialsMode: Mint")

	config := written(t, "ocpctl.yaml", "installation: blue\nrunner: {ssh_key: \""+goodKey+"\"}\n")
	out, said, err := rendering(t, strings.Replace(sample, `"sshPublicKey": "ssh-ed25519 AAAA...",`, "", 1), "--request", "-", "--config", config)
	require.NoError(t, err)
	require.Empty(t, said)
	require.Contains(t, out, "InstallationId: blue")
	require.Contains(t, out, "sshKey: "+goodKey)
}

func TestRenderingSaysHowItIsAsked(t *testing.T) {
	for _, args := range [][]string{{}, {"--request", "-", "more"}} {
		_, _, err := rendering(t, sample, args...)
		require.ErrorContains(t, err, "give --request FILE")
	}
	_, _, err := rendering(t, sample, "--request", "-", "--role", "king")
	require.ErrorContains(t, err, "give requester, platform_admin or auditor")
	_, _, err = rendering(t, "", "--request", filepath.Join(t.TempDir(), "none.json"))
	require.ErrorContains(t, err, "read the request")
	_, _, err = rendering(t, sample, "--request", "-", "--config", filepath.Join(t.TempDir(), "none.yaml"))
	require.ErrorContains(t, err, "read the configuration")
}
