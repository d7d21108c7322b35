package count

import (
	"testing"

	"github.com/stretchr/testify/require"
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
		require.Equal(t, ours, madeFrom(name, infraID), name)
	}
	require.False(t, madeFrom("anything", ""), "no infraID is in every name")
}

func TestANameOfCcoctlIsItsBeginning(t *testing.T) {
	id := identity{ccoNames: []string{"demo-k3j2h5n7p9"}}
	require.True(t, id.named("demo-k3j2h5n7p9"))
	require.True(t, id.named("demo-k3j2h5n7p9-openshift-ingress-operator-cloud-credentials"))
	require.False(t, id.named("demo-k3j2h5n7p9x-openshift-ingress-operator-cloud-credentials"))
	require.False(t, id.named("x-demo-k3j2h5n7p9-openshift-ingress-operator-cloud-credentials"))
}

func TestTagsAreComparedWithoutCase(t *testing.T) {
	id := identity{cluster: "01HXAMPLE", infraIDs: []string{"demo-abcde"}}
	require.True(t, id.tagged([]string{"other", "ClusterId:01hxample"}))
	require.True(t, id.tagged([]string{"kubernetes-io-cluster-demo-abcde:owned"}))
	require.False(t, id.tagged([]string{"kubernetes-io-cluster-demo-abcdef:owned", "clusterid:01hxample2", ""}))
	require.False(t, identity{}.tagged([]string{"", "clusterid:"}), "without names no tag is ours")
}
