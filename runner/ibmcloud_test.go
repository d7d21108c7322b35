package runner_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

const (
	ibmAccount = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
	ibmZone    = "crn:v1:bluemix:public:internet-svcs:global:a/" + ibmAccount + ":11111111-2222-4333-8444-555555555555::"
)

var ibmShop = names.Scope{
	Platform: names.IBMCloud, Installation: "test", Cluster: "clu_1", Attempt: 3, Name: "shop", BaseDomain: "labs.example.com", Region: "us-south",
}

// newIBMWorld is a world on IBM Cloud. The installer writes the metadata that a test wants: $1 and $2 are infraID and UUID.
func newIBMWorld(t *testing.T, kind string) *world {
	t.Helper()
	w := newWorld(t, kind)
	w.spec.Platform, w.spec.Region, w.spec.Account, w.account = names.IBMCloud, "us-south", ibmAccount, ibmAccount
	w.spec.Publish = contract.PublishExternal
	w.spec.CredentialsMode, w.spec.Zones, w.spec.Tags = "Manual", []string{"us-south-1"}, map[string]string{"ClusterId": "clu_1"}
	w.spec.InstallConfig = "apiVersion: v1\nbaseDomain: labs.example.com\nmetadata: {name: shop}\ncredentialsMode: Manual\nplatform: {ibmcloud: {region: us-south}}\ncontrolPlane: {name: master, replicas: 3, platform: {ibmcloud: {type: bx2-4x16}}}\ncompute: [{name: worker, replicas: 0}]\n"
	w.groupID = "0123456789abcdef0123456789abcdef"
	w.found = names.Found{Account: ibmAccount, CISInstanceCRN: ibmZone}
	w.own(cloud.Keys{Secret: secret.New("CANARY-api-key")})
	w.on("create", `say "an operator uses CANARY-service-key"`)
	w.metadata(ibmAccount, ibmZone)
	return w
}

// metadata has the installer write this account and zone into metadata.json.
func (w *world) metadata(account, zone string) {
	w.t.Helper()
	w.on("metadata", fmt.Sprintf(`printf '{"clusterName":"shop","clusterID":"%%s","infraID":"%%s","ibmcloud":{"accountID":"%s","baseDomain":"labs.example.com","cisInstanceCRN":"%s","region":"us-south","resourceGroupName":"%s"}}' $uuid $id >"$dir/metadata.json"`,
		account, zone, ibmShop.CCOName()))
}

func TestOnIBMCloudTheResourceGroupIsMadeAfterItsNameWasRecorded(t *testing.T) {
	w := newIBMWorld(t, contract.KindCreate)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
	name := ibmShop.CCOName()
	require.Equal(t, []string{
		"server: claim answered", "cloud: account asked", "installer: oc credentials-requests", "server: record answered",
		"cloud: prepare " + name, "server: record answered", "installer: ccoctl create-service-id " + name, "cloud: tag credentials of " + name + " with 0 roles", "installer: create manifests", "installer: create ignition-configs",
		"server: record answered", "cloud: limit roles", "installer: create cluster shop-00001", "cloud: limit roles", "server: result answered",
	}, w.happened())
	require.Len(t, w.records, 3)
	for i, group := range []string{"", w.groupID, w.groupID} { // nothing is made in a group whose id is not recorded
		require.Equal(t, []string{name, group}, []string{w.records[i].Identity.CCOName, w.records[i].Identity.ResourceGroupID})
	}
	require.NoError(t, ibmShop.CheckMetadata([]byte(w.records[2].Identity.Metadata), names.Identity{
		InfraID: "shop-00001", ClusterUUID: w.records[2].Identity.ClusterUUID, CCOName: name, Account: ibmAccount,
	}))
	require.Contains(t, readFile(t, filepath.Join(w.dir, "calls")), "ccoctl ibmcloud create-service-id --name "+name+" --resource-group-name "+name+" --credentials-requests-dir ")
	require.Contains(t, readFile(t, filepath.Join(w.dir, "seen-install-config.yaml")), "resourceGroupName: "+name)
	require.Equal(t, []string{contract.PublishExternal}, w.published, "it says which of the two DNS services counts")
	require.Equal(t, w.spec.Tags, w.tagged, "the installer cannot tag on IBM Cloud")

	environ := readFile(t, filepath.Join(w.dir, "environ"))
	require.Contains(t, environ, "IC_API_KEY=CANARY-api-key", "the installer reads its key nowhere else")
	require.NotContains(t, environ, "AWS_", "the keys of the artifact bucket are not the installer's business")
	require.Contains(t, w.logText(), "an operator uses [redacted]")
	for where, text := range w.everythingReported() {
		if where != "environments" {
			require.NotContains(t, text, "CANARY-api-key", where)
			require.NotContains(t, text, "CANARY-service-key", where)
		}
	}
}

func TestASecretWithoutAnAPIKeyIsToldWithTheSettingThatNamesIt(t *testing.T) {
	w := newIBMWorld(t, contract.KindCreate)
	w.spec.CloudCredentialsRef = w.keep("half", `{"apikey":"CANARY"}`)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "InvalidCloudCredentials", w.result().Reason)
	require.Contains(t, w.result().Next, "the secret behind clouds.ibmcloud.credentials_ref")
	require.NotContains(t, w.result().Message, "CANARY")
}

func TestWhatTheInstallerLeftEmptyInItsMetadataIsSetBeforeAnythingIsMade(t *testing.T) {
	for name, c := range map[string]struct{ account, zone, want string }{
		"no account": {"", ibmZone, "ibmcloud.accountID of metadata.json empty"},
		"no zone":    {ibmAccount, "", "ibmcloud.cisInstanceCRN of metadata.json empty"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newIBMWorld(t, contract.KindCreate)
			w.metadata(c.account, c.zone)
			w.on("create", `cp "$dir/metadata.json" "$D/seen-metadata.json"`)
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, "succeeded", w.result().Outcome, w.result().Message)
			require.Contains(t, w.logText(), c.want)
			require.Empty(t, ibmShop.Missing([]byte(w.records[2].Identity.Metadata)))
			require.JSONEq(t, w.records[2].Identity.Metadata, readFile(t, filepath.Join(w.dir, "seen-metadata.json")), "the directory is archived as it was recorded")
		})
	}
}

func TestMetadataThatCannotBeTrustedEndsACreateBeforeAnythingIsMade(t *testing.T) {
	other := strings.Repeat("9", 32)
	for name, c := range map[string]struct {
		arrange func(w *world)
		want    string
	}{
		"another account":        {func(w *world) { w.metadata(other, "") }, "ibmcloud.accountID"},
		"another zone":           {func(w *world) { w.metadata(ibmAccount, strings.Replace(ibmZone, "11111111", "22222222", 1)) }, "the cloud says"},
		"empty, and none exists": {func(w *world) { w.metadata(ibmAccount, ""); w.found.CISInstanceCRN = "" }, "it has no ibmcloud.cisInstanceCRN, and the cloud does not tell it"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newIBMWorld(t, contract.KindCreate)
			c.arrange(w)
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, "MetadataUnusable", w.result().Reason)
			require.Contains(t, w.result().Message, c.want)
			require.True(t, w.result().Retryable)
			require.False(t, w.did("installer: create cluster"))
		})
	}
}

func TestACloudThatDoesNotTellWhereTheZoneIsIsNotTheInstallersFault(t *testing.T) {
	w := newIBMWorld(t, contract.KindCreate)
	w.lookup = errors.New("list zones: not authorized (403)")
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, []any{"CloudNotCompared", contract.WhoseCloud, true}, []any{w.result().Reason, w.result().Whose, w.result().Retryable})
	require.Contains(t, w.result().Message, "could not be compared with the cloud: list zones: not authorized (403)")
	require.Contains(t, w.result().Next, "if a call was refused, ask an administrator to allow it")
	require.NotContains(t, w.result().Next, "openshift-install")
	require.False(t, w.did("installer: create cluster"))
}

func TestAResourceGroupThatCannotBeMadeEndsTheAttempt(t *testing.T) {
	w := newIBMWorld(t, contract.KindCreate)
	w.prepared = errors.New("403 not authorized")
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "CloudNotPrepared", w.result().Reason)
	require.Contains(t, w.result().Message, "403 not authorized")
	require.Len(t, w.records, 1, "its name is recorded, so a teardown looks for it")
	require.False(t, w.did("installer: ccoctl"))
}

func TestATeardownOnIBMCloudWorksWithoutAnySavedState(t *testing.T) {
	for name, c := range map[string]struct {
		lookup error
		zone   string
		note   string
	}{
		"the zone is found":             {nil, ibmZone, ""},
		"the cloud does not answer now": {errors.New("503"), "", "503; the destroyer works with what the record says"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newIBMWorld(t, contract.KindDestroy)
			w.lookup = c.lookup
			w.on("destroy", `cp "$dir/metadata.json" "$D/seen-metadata.json"`)
			id := names.Identity{InfraID: "shop-00001", ClusterUUID: "5f0c1b1e-0000-4000-8000-000000000001", CCOName: ibmShop.CCOName(), Account: ibmAccount}
			w.spec.Identities = []contract.Identity{{
				InfraID: id.InfraID, ClusterUUID: id.ClusterUUID, CCOName: id.CCOName, Account: ibmAccount, Region: "us-south", Metadata: string(ibmShop.MetadataJSON(id)),
				ReleaseDigest: "sha256:" + strings.Repeat("ab", 32),
			}}
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, contract.Result{Outcome: "succeeded"}, w.result())
			seen := readFile(t, filepath.Join(w.dir, "seen-metadata.json"))
			require.Equal(t, c.zone != "", strings.Contains(seen, ibmZone))
			require.Contains(t, seen, `"accountID":"`+ibmAccount+`"`)
			require.Contains(t, w.logText(), c.note)
			calls := readFile(t, filepath.Join(w.dir, "calls"))
			require.Contains(t, calls, "oc adm release extract --credentials-requests --cloud=ibmcloud ")
			require.Contains(t, calls, "ccoctl ibmcloud delete-service-id --name "+ibmShop.CCOName()+" --credentials-requests-dir ")
			require.Contains(t, w.logText(), "would delete the service ID of 0000_50_ingress.yaml", "ccoctl finds the requests, although nothing was saved")
		})
	}
}

func TestWhatCameSinceTheInstallIsTaggedByTheNextAttempt(t *testing.T) {
	w := refreshed(t)
	w.spec.Tags = map[string]string{"ClusterId": "clu_1"}
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
	require.Equal(t, w.spec.Tags, w.tagged)
}

func TestARunnerRefusesACloudThatItDoesNotKnow(t *testing.T) {
	w := newWorld(t, contract.KindCreate)
	w.spec.Platform = "azure"
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "UnknownPlatform", w.result().Reason)
	require.Contains(t, w.result().Message, `the platform "azure"`)
}
