package count

import (
	"encoding/json"
	"testing"

	"github.com/IBM/platform-services-go-sdk/iampolicymanagementv1"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/kinds"
)

func TestANameIsMadeFromAnInfraIDOnlyIfItBeginsWithIt(t *testing.T) {
	const infraID = "demo-abcde"
	for name, ours := range map[string]bool{
		"demo-abcde":                                    true,
		"demo-abcde-vpc":                                true,
		"demo-abcde-rhcos":                              true, // five characters, but with a vowel
		"demo-abcde-master-0":                           true,
		"demo-abcde-pgateway-us-south-1":                true,
		"demo-abcde-subnet-control-plane-eu-de-2":       true,
		"demo-abcde-kubernetes-api-private":             true,
		"kube-demo-abcde-0123456789abcdef0123456789abc": true,
		"demo-abcdef-vpc":                               false,
		"xdemo-abcde-vpc":                               false,
		"demo-abcd":                                     false,
		"demo-abcde-q8w2z":                              false, // the infraID of a cluster called demo-abcde
		"demo-abcde-q8w2z-vpc":                          false,
		"kube-demo-abcde-q8w2z-0123456789abcdef":        false,
		"demo-abcde-foo-q8w2z-vpc":                      false, // of a cluster called demo-abcde-foo
		"demo-abcdef-demo-abcde-vpc":                    false,
		"my-demo-abcde-vpc":                             false,
		"demo-abcde-worker-2-q8w2z":                     false, // like a cluster called demo-abcde-worker-2; its group and its VPC tell
		"":                                              false,
	} {
		require.Equal(t, ours, isMadeFrom(name, infraID), name)
	}
	require.False(t, isMadeFrom("anything", ""), "no infraID is in every name")
}

func TestANameOfCcoctlIsItsBeginning(t *testing.T) {
	id := identity{ccoNames: []string{"demo-k3j2h5n7p9"}}
	require.True(t, id.isNamed("demo-k3j2h5n7p9"))
	require.True(t, id.isNamed("demo-k3j2h5n7p9-openshift-ingress-operator-cloud-credentials"))
	require.False(t, id.isNamed("demo-k3j2h5n7p9x-openshift-ingress-operator-cloud-credentials"))
	require.False(t, id.isNamed("x-demo-k3j2h5n7p9-openshift-ingress-operator-cloud-credentials"))
}

func TestTagsAreComparedWithoutCase(t *testing.T) {
	id := identity{cluster: "01HXAMPLE", infraIDs: []string{"demo-abcde"}}
	require.True(t, id.isTagged([]string{"other", "ClusterId:01hxample"}))
	require.True(t, id.isTagged([]string{"kubernetes-io-cluster-demo-abcde:owned"}))
	require.False(t, id.isTagged([]string{"kubernetes-io-cluster-demo-abcdef:owned", "clusterid:01hxample2", ""}))
	require.False(t, identity{}.isTagged([]string{"", "clusterid:"}), "without names no tag is ours")
}

func TestOnlyAPolicyWithoutConditionsIsForAllResourceGroups(t *testing.T) {
	const account, groups = `{"key":"accountId","operator":"stringEquals","value":"0a1b"}`, `{"key":"resourceType","operator":"stringEquals","value":"resource-group"}`
	for body, want := range map[string]bool{
		`{"state":"active","resource":{"attributes":[` + account + `,` + groups + `]}}`:                                                                                 true,
		`{"state":"deleted","resource":{"attributes":[` + account + `,` + groups + `]}}`:                                                                                false,
		`{"state":"active","resource":{"attributes":[` + account + `]}}`:                                                                                                false,
		`{"state":"active","resource":{"attributes":[` + groups + `,{"key":"resource","operator":"stringEquals","value":"g1"}]}}`:                                       false,
		`{"state":"active","resource":{"attributes":[` + groups + `],"tags":[{"key":"env","operator":"stringEquals","value":"dev"}]}}`:                                  false,
		`{"state":"active","rule":{"key":"{{environment.attributes.day_of_week}}","operator":"dayOfWeekAnyOf","value":[1]},"resource":{"attributes":[` + groups + `]}}`: false,
		`{"state":"active"}`: false,
	} {
		var raw map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(body), &raw))
		raw["type"], raw["control"] = json.RawMessage(`"access"`), json.RawMessage(`{"grant":{"roles":[]}}`)
		var p *iampolicymanagementv1.V2PolicyTemplateMetaData
		require.NoError(t, iampolicymanagementv1.UnmarshalV2PolicyTemplateMetaData(raw, &p))
		require.Equal(t, want, onAllGroups(kinds.ReadPolicy(*p)), body)
	}
}
