package names_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/tagkey"
)

const uuid = "5f0c1b1e-0000-4000-8000-000000000001"

var shop = names.Scope{
	Platform: names.AWS, Installation: "test", Cluster: "clu_1", Attempt: 2, Name: "shop", BaseDomain: "labs.example.com", Region: "us-east-1",
}

func TestAnInfraIDFollowsFromTheName(t *testing.T) {
	for _, good := range []string{"shop-x7k2p", "shop-abcde"} {
		require.True(t, shop.IsInfraID(good), good)
	}
	for _, bad := range []string{"", "shop-", "shop", "shop-x7k2", "shop-x7k2pq", "shop-x7K2p", "other-x7k2p", "shop-eu-x7k2p", "shop--x7k2p", "shop-x7k2p\n", "shop-x7_2p"} {
		require.False(t, shop.IsInfraID(bad), bad)
	}
	long := names.Scope{Name: "team-a-integration-xx--yy"}
	require.Equal(t, "team-a-integration-xx-", long.InfraIDPrefix(), "cut to 21 characters")
	require.Equal(t, "a-b-", names.Scope{Name: "a.--b-"}.InfraIDPrefix(), "as the installer rewrites it")
	made := shop.NewInfraID()
	require.True(t, shop.IsInfraID(made), made)
	require.NotEqual(t, made, shop.NewInfraID())
}

func TestANewUUIDIsRandom(t *testing.T) {
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, names.NewUUID())
	require.NotEqual(t, names.NewUUID(), names.NewUUID())
}

func TestACCONameIsOneAttemptsAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := names.Scope{
			Name: rapid.StringMatching(`[a-z]([a-z0-9-]{0,19}[a-z0-9])?`).Draw(t, "name"), Installation: rapid.String().Draw(t, "installation"),
			Cluster: rapid.String().Draw(t, "cluster"), Attempt: rapid.IntRange(1, 9).Draw(t, "attempt"),
		}
		of.Name = regexp.MustCompile(`-+`).ReplaceAllString(of.Name, "-")
		require.LessOrEqual(t, len(of.CCOName()), 20)
		require.Regexp(t, `^[a-z][a-z0-9]*(-[a-z0-9]+)+$`, of.CCOName())
		require.Equal(t, of.CCOName(), of.CCOName(), "asked again, the same")
		for _, other := range []func(*names.Scope){
			func(s *names.Scope) { s.Attempt++ }, func(s *names.Scope) { s.Cluster += "x" }, func(s *names.Scope) { s.Installation += "x" },
		} {
			changed := of
			other(&changed)
			require.NotEqual(t, of.CCOName(), changed.CCOName())
		}
	})
}

var (
	shopID  = names.Identity{InfraID: "shop-x7k2p", ClusterUUID: uuid}
	without = names.Identity{InfraID: "shop-x7k2p"}
)

func TestMetadataLooksForOneInfraIDAlone(t *testing.T) {
	require.JSONEq(t, `{"clusterName":"shop","clusterID":"`+uuid+`","infraID":"shop-x7k2p","aws":{"region":"us-east-1","identifier":[
		{"kubernetes.io/cluster/shop-x7k2p":"owned"},{"openshiftClusterID":"`+uuid+`"},
		{"sigs.k8s.io/cluster-api-provider-aws/cluster/shop-x7k2p":"owned"}],"clusterDomain":"shop.labs.example.com"},
		"featureSet":"","customFeatureSet":null}`, string(shop.MetadataJSON(shopID)))
	for _, id := range []names.Identity{shopID, without} {
		require.NoError(t, shop.CheckMetadata(shop.MetadataJSON(id), id))
		require.Empty(t, shop.Missing(shop.MetadataJSON(id)))
	}
	infraID, clusterUUID, err := names.ReadIdentity(shop.MetadataJSON(shopID))
	require.NoError(t, err)
	require.Equal(t, []string{"shop-x7k2p", uuid}, []string{infraID, clusterUUID})
}

// change returns a document in which one field has another value; nil removes the field.
func change(t require.TestingT, raw []byte, value any, path ...string) []byte {
	var document map[string]any
	require.NoError(t, json.Unmarshal(raw, &document))
	within := document
	for _, name := range path[:len(path)-1] {
		within = within[name].(map[string]any)
	}
	if within[path[len(path)-1]] = value; value == nil {
		delete(within, path[len(path)-1])
	}
	out, err := json.Marshal(document)
	require.NoError(t, err)
	return out
}

func TestMetadataOfAnythingElseIsRefused(t *testing.T) {
	own := []any{map[string]string{"kubernetes.io/cluster/shop-x7k2p": "owned"}, map[string]string{"openshiftClusterID": uuid}, map[string]string{"sigs.k8s.io/cluster-api-provider-aws/cluster/shop-x7k2p": "owned"}}
	for name, c := range map[string]struct {
		value any
		path  []string
	}{
		"another name":        {"bank", []string{"clusterName"}},
		"another uuid":        {"x", []string{"clusterID"}},
		"another infraID":     {"bank-11111", []string{"infraID"}},
		"another region":      {"eu-west-1", []string{"aws", "region"}},
		"another domain":      {"bank.labs.example.com", []string{"aws", "clusterDomain"}},
		"a role to assume":    {"arn:aws:iam::1:role/x", []string{"aws", "hostedZoneRole"}},
		"an endpoint":         {[]any{map[string]any{}}, []string{"aws", "serviceEndpoints"}},
		"a victim's tag":      {[]any{own[0], map[string]string{"openshiftClusterID": "victim"}, own[2]}, []string{"aws", "identifier"}},
		"a victim beside":     {append(own[:3:3], map[string]string{"kubernetes.io/cluster/bank-11111": "owned"}), []string{"aws", "identifier"}},
		"a tag of everything": {[]any{map[string]string{}, own[1], own[2]}, []string{"aws", "identifier"}},
		"fewer tags":          {own[:1], []string{"aws", "identifier"}},
		"one tag twice":       {[]any{own[1], own[1], own[2]}, []string{"aws", "identifier"}},
	} {
		t.Run(name, func(t *testing.T) {
			raw := change(t, shop.MetadataJSON(shopID), c.value, c.path...)
			require.ErrorContains(t, shop.CheckMetadata(raw, shopID), strings.Join(c.path, "."))
		})
	}
	require.Error(t, shop.CheckMetadata([]byte(`{`), shopID))
	require.Error(t, shop.CheckMetadata(nil, shopID))
}

func TestWhatPassesTheCheckLooksForNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"shop-x7k2p", "bank-11111", uuid, "", "us-east-1", "owned", "shop", "shop.labs.example.com"})
		raw, err := json.Marshal(map[string]any{
			"clusterName": text.Draw(t, "name"), "clusterID": text.Draw(t, "uuid"), "infraID": text.Draw(t, "infra"),
			"aws": map[string]any{"region": text.Draw(t, "region"), "clusterDomain": text.Draw(t, "domain"), "identifier": rapid.SliceOf(rapid.MapOf(
				rapid.SampledFrom([]string{"openshiftClusterID", "kubernetes.io/cluster/shop-x7k2p", "kubernetes.io/cluster/bank-11111", "Name"}), text)).Draw(t, "tags")},
		})
		require.NoError(t, err)
		if shop.CheckMetadata(raw, shopID) == nil {
			require.NotContains(t, string(raw), "bank")
		}
	})
}

func TestOnlyAddressesOfTheClusterAreTaken(t *testing.T) {
	for _, good := range []string{shop.APIURL(), shop.ConsoleURL(), shop.ConsoleURL() + "/", "https://api.shop.labs.example.com"} {
		require.NoError(t, shop.CheckURL(good), good)
	}
	for _, bad := range []string{
		"", "http://api.shop.labs.example.com:6443", "https://api.bank.labs.example.com:6443", "https://evil.example/", "javascript:alert(1)",
		"https://shop.labs.example.com.evil.example/", "https://u:p@api.shop.labs.example.com/", "https://api.shop.labs.example.com:22/",
		"//api.shop.labs.example.com", "https:api.shop.labs.example.com", "https://evil.example#.shop.labs.example.com", "https://xshop.labs.example.com",
		"https://evil.example/api.shop.labs.example.com", "https://api.shop.labs.example.com/ x", "https://api.shop.labs.example.com/\"onclick=", "https://shop.labs.example.com",
	} {
		require.Error(t, shop.CheckURL(bad), bad)
	}
	require.NotContains(t, strings.ToLower(shop.CheckURL("https://u:hunter2@api.shop.labs.example.com/").Error()), "hunter2")
}

func TestATagTellsCcoctlsNameOnlyOfItsCluster(t *testing.T) {
	of := names.Scope{Installation: "test", Cluster: "clu_1", Attempt: 101, Name: "shop"}
	third := of
	third.Attempt = 3
	for _, c := range []struct {
		cluster, name, value string
		want                 []string
	}{
		{"clu_1", third.CCOName(), "owned", []string{third.CCOName()}},
		{"clu_1", third.CCOName(), "shared", nil},
		{"clu_2", third.CCOName(), "owned", nil},
		{"", third.CCOName(), "owned", nil},
		{"clu_1", "shop-aaaaaaaaaa", "owned", nil},
		{"clu_1", "", "owned", nil},
	} {
		require.Equal(t, c.want, of.CCONamesIn(map[string]string{tagkey.ClusterID: c.cluster, tagkey.CloudCredential + c.name: c.value}), "%+v", c)
	}
}

func TestTheAPIOfAHostedControlPlaneIsAtABalancer(t *testing.T) {
	hosted := names.Scope{Platform: names.Kubernetes, Name: "shop", BaseDomain: "apps.lab.example.com"}
	for _, good := range []string{"https://10.0.0.7:6443", "https://a1b2.elb.us-east-1.amazonaws.com:6443"} {
		require.NoError(t, hosted.CheckAPIURL(good), good)
	}
	for _, bad := range []string{"", "http://10.0.0.7:6443", "https://10.0.0.7", "https://10.0.0.7:443", "https://u:p@10.0.0.7:6443", "https://10.0.0.7:6443/x", "https://evil.example.com:6443?x", "https://localhost:6443"} {
		require.Error(t, hosted.CheckAPIURL(bad), bad)
	}
	require.NoError(t, hosted.CheckURL(hosted.ConsoleURL()))
	require.Equal(t, "https://console-openshift-console.apps.shop.apps.lab.example.com", hosted.ConsoleURL())
	require.Error(t, hosted.CheckURL("https://console-openshift-console.apps.other.apps.lab.example.com"))
	require.NoError(t, hosted.CheckAppURL("https://web.apps.shop.apps.lab.example.com"))
	require.Error(t, shop.CheckAPIURL("https://10.0.0.7:6443"), "an installed cluster's is below its own domain")
	onHub := names.Scope{Platform: names.Kubernetes, Name: "shop", Server: "https://hub.example.com:6443"}
	require.NoError(t, onHub.CheckAPIURL("https://hub.example.com:6443"))
	require.Error(t, onHub.CheckAPIURL("https://10.0.0.7:6443"))
}
