package count

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestANameBelongsToAnInfraIDOnlyAsAWholePart(t *testing.T) {
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
		"demo-abcdef-demo-abcde-vpc":                    true,
		"demo-abcde-worker-2-q8w2z":                     false, // like a cluster called demo-abcde-worker-2; its group and its VPC tell
		"":                                              false,
	} {
		require.Equal(t, ours, contains(name, infraID), name)
	}
	require.False(t, contains("anything", ""), "no infraID is in every name")
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

func TestACRNIsReadByItsParts(t *testing.T) {
	of, ok := parseCRN("crn:v1:bluemix:public:is:us-south-1:a/0a1b::instance:0717_1234")
	require.True(t, ok)
	require.Equal(t, crn{"is", "us-south-1", "", "instance", "0717_1234"}, of)
	require.Equal(t, "us-south", regionOf(of))
	of, ok = parseCRN("crn:v1:bluemix:public:cloud-object-storage:global:a/0a1b:1f2e::")
	require.True(t, ok)
	require.Equal(t, crn{service: "cloud-object-storage", region: "global", instance: "1f2e"}, of)
	_, ok = parseCRN("r006-1234")
	require.False(t, ok)
}

func TestAPageThatNamesItselfAsTheNextIsAnError(t *testing.T) {
	same := "https://iam.cloud.ibm.com/v1/apikeys?pagetoken=a"
	calls := 0
	_, err := everyPage(func(*string) ([]thing, *string, error) {
		calls++
		return nil, &same, nil
	})
	require.ErrorContains(t, err, "names itself")
	require.Equal(t, 2, calls)

	bare := "https://iam.cloud.ibm.com/v1/apikeys"
	_, err = everyPage(func(*string) ([]thing, *string, error) { return nil, &bare, nil })
	require.ErrorContains(t, err, "has no token")
}

func TestNumberedPagesAreReadUntilEverythingWasListed(t *testing.T) {
	total := int64(5)
	pages := [][]string{{"a", "b"}, {"c", "d"}, {"e"}}
	all, err := everyNumberedPage(func(page int64) ([]string, *int64, error) { return pages[page-1], &total, nil })
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c", "d", "e"}, all)

	pages[2] = nil
	_, err = everyNumberedPage(func(page int64) ([]string, *int64, error) { return pages[page-1], &total, nil })
	require.ErrorContains(t, err, "only 4 of 5 items", "a page that is missing is no end")

	_, err = everyNumberedPage(func(int64) ([]string, *int64, error) { return nil, nil, nil })
	require.ErrorIs(t, err, errNoList)
	_, err = everyNumberedPage(func(int64) ([]string, *int64, error) { return nil, &total, errors.New("refused") })
	require.ErrorContains(t, err, "refused")
}
