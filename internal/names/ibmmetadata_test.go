package names_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/names"
)

const (
	ibmAccount = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
	cisGUID    = "11111111-2222-4333-8444-555555555555"
	cisCRN     = "crn:v1:bluemix:public:internet-svcs:global:a/" + ibmAccount + ":" + cisGUID + "::"
)

var (
	ibmShop = names.Scope{
		Platform: names.IBMCloud, Installation: "test", Cluster: "clu_1", Attempt: 2, Name: "shop", BaseDomain: "labs.example.com", Region: "us-south",
	}
	ibmID  = names.Identity{InfraID: "shop-x7k2p", ClusterUUID: uuid, CCOName: ibmShop.CCOName(), Account: ibmAccount}
	inIBM  = names.Found{Account: ibmAccount, CISInstanceCRN: cisCRN}
	ibmDoc = func() []byte { raw, _ := ibmShop.Complete(ibmShop.MetadataJSON(ibmID), ibmID, inIBM); return raw }
)

func TestMetadataForIBMCloudNamesAccountDNSAndResourceGroup(t *testing.T) {
	raw := ibmShop.MetadataJSON(ibmID)
	require.Equal(t, []string{"ibmcloud.cisInstanceCRN"}, ibmShop.Missing(raw), "that is looked up right before it is used")
	require.NoError(t, ibmShop.CheckMetadata(raw, ibmID))
	require.JSONEq(t, `{"clusterName":"shop","clusterID":"`+uuid+`","infraID":"shop-x7k2p","ibmcloud":{"accountID":"`+ibmAccount+`","baseDomain":"labs.example.com",
		"cisInstanceCRN":"`+cisCRN+`","region":"us-south","resourceGroupName":"`+ibmShop.CCOName()+`"},"featureSet":"","customFeatureSet":null}`, string(ibmDoc()))
	require.Empty(t, ibmShop.Missing(ibmDoc()))
	require.NoError(t, ibmShop.CheckMetadata(ibmDoc(), ibmID))
	require.Equal(t, ibmDoc(), must(ibmShop.Complete(ibmDoc(), ibmID, inIBM)), "what is complete stays so")
}

func must(raw []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return raw
}

func TestWhatTheInstallerLeftEmptyIsListedAndSet(t *testing.T) {
	for field, as := range map[string]string{"accountID": "ibmcloud.accountID", "cisInstanceCRN": "ibmcloud.cisInstanceCRN", "resourceGroupName": "ibmcloud.resourceGroupName"} {
		for _, empty := range []any{"", nil} {
			raw := change(t, ibmDoc(), empty, "ibmcloud", field)
			require.Equal(t, []string{as}, ibmShop.Missing(raw))
			require.NoError(t, ibmShop.CheckMetadata(raw, ibmID), "it can be completed")
			require.JSONEq(t, string(ibmDoc()), string(must(ibmShop.Complete(raw, ibmID, inIBM))))
		}
	}
	raw := change(t, ibmDoc(), "v9", "ibmcloud", "newField")
	require.Contains(t, string(must(ibmShop.Complete(raw, ibmID, inIBM))), `"newField":"v9"`, "what a newer installer writes stays")
}

func TestMetadataForIBMCloudOfAnythingElseIsRefused(t *testing.T) {
	other := strings.Repeat("9", 32)
	for name, c := range map[string]struct {
		field string
		value any
	}{
		"another region":         {"region", "eu-de"},
		"another domain":         {"baseDomain", "example.com"},
		"another account":        {"accountID", other},
		"another group":          {"resourceGroupName", "Default"},
		"a VPC to keep":          {"vpc", "prod"},
		"subnets to keep":        {"subnets", []string{"a"}},
		"an endpoint":            {"serviceEndpoints", []any{map[string]any{"name": "IAM"}}},
		"no CRN":                 {"cisInstanceCRN", "x"},
		"another account's zone": {"cisInstanceCRN", strings.Replace(cisCRN, ibmAccount, other, 1)},
		"two DNS instances":      {"dnsInstanceID", cisGUID},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, ibmShop.CheckMetadata(change(t, ibmDoc(), c.value, "ibmcloud", c.field), ibmID), "ibmcloud.")
		})
	}
	require.Error(t, ibmShop.CheckMetadata([]byte("{"), ibmID))
	for field, found := range map[string]names.Found{
		"accountID": {Account: other}, "cisInstanceCRN": {Account: ibmAccount, CISInstanceCRN: strings.Replace(cisCRN, cisGUID, uuid, 1)},
	} {
		_, err := ibmShop.Complete(ibmDoc(), ibmID, found)
		require.ErrorContains(t, err, "ibmcloud."+field)
	}
	_, err := ibmShop.Complete([]byte(`{"infraID":"shop-x7k2p"}`), ibmID, inIBM)
	require.Error(t, err)
}

func TestAnInternalClusterHasDNSServicesInstead(t *testing.T) {
	raw := must(ibmShop.Complete(ibmShop.MetadataJSON(ibmID), ibmID, names.Found{Account: ibmAccount, DNSInstanceID: cisGUID}))
	require.Empty(t, ibmShop.Missing(raw))
	require.NoError(t, ibmShop.CheckMetadata(raw, ibmID))
	require.Error(t, ibmShop.CheckMetadata(change(t, raw, "../zones", "ibmcloud", "dnsInstanceID"), ibmID))
}

func TestADocumentThatNamesOneDNSInstanceGetsNoSecondOne(t *testing.T) {
	internal := must(ibmShop.Complete(ibmShop.MetadataJSON(ibmID), ibmID, names.Found{Account: ibmAccount, DNSInstanceID: cisGUID}))
	for _, raw := range [][]byte{internal, ibmDoc()} {
		same := must(ibmShop.Complete(raw, ibmID, names.Found{Account: ibmAccount, CISInstanceCRN: cisCRN, DNSInstanceID: cisGUID}))
		require.JSONEq(t, string(raw), string(same))
		require.NoError(t, ibmShop.CheckMetadata(same, ibmID))
	}
	require.JSONEq(t, string(internal), string(must(ibmShop.Complete(internal, ibmID, inIBM))))
	_, err := ibmShop.Complete(internal, ibmID, names.Found{DNSInstanceID: uuid})
	require.ErrorContains(t, err, "ibmcloud.dnsInstanceID", "the one that is named is still compared")
}

func TestTheGroupOfAnIdentityWithoutANameIsOneOfTheClusters(t *testing.T) {
	unknown := names.Identity{InfraID: "shop-x7k2p", Account: ibmAccount}
	earlier := ibmShop
	earlier.Attempt = 1
	raw := change(t, ibmShop.MetadataJSON(unknown), earlier.CCOName(), "ibmcloud", "resourceGroupName")
	require.NoError(t, ibmShop.CheckMetadata(raw, unknown))
	later := ibmShop
	later.Attempt = 3
	require.Error(t, ibmShop.CheckMetadata(change(t, raw, later.CCOName(), "ibmcloud", "resourceGroupName"), unknown))
}
