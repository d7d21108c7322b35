package names_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/runner/names"
)

const uuid = "5f0c1b1e-0000-4000-8000-000000000001"

var shop = names.Scope{
	Installation: "test", Cluster: "clu_1", Attempt: 2, Name: "shop", BaseDomain: "labs.example.com", Region: "us-east-1",
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

func TestMetadataLooksForOneInfraIDAlone(t *testing.T) {
	require.JSONEq(t, `{"clusterName":"shop","clusterID":"`+uuid+`","infraID":"shop-x7k2p","aws":{"region":"us-east-1","identifier":[
		{"kubernetes.io/cluster/shop-x7k2p":"owned"},{"openshiftClusterID":"`+uuid+`"},
		{"sigs.k8s.io/cluster-api-provider-aws/cluster/shop-x7k2p":"owned"}],"clusterDomain":"shop.labs.example.com"},
		"featureSet":"","customFeatureSet":null}`, string(shop.MetadataJSON("shop-x7k2p", uuid)))
	require.NoError(t, shop.CheckMetadata(shop.MetadataJSON("shop-x7k2p", uuid), "shop-x7k2p", uuid))
	require.NoError(t, shop.CheckMetadata(shop.MetadataJSON("shop-x7k2p", ""), "shop-x7k2p", ""))
}

func TestMetadataOfAnythingElseIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*names.Metadata)
		want   string
	}{
		"another name":     {func(m *names.Metadata) { m.ClusterName = "bank" }, "clusterName"},
		"another uuid":     {func(m *names.Metadata) { m.ClusterID = "x" }, "clusterID"},
		"another infraID":  {func(m *names.Metadata) { m.InfraID = "bank-11111" }, "infraID"},
		"another region":   {func(m *names.Metadata) { m.AWS.Region = "eu-west-1" }, "aws.region"},
		"another domain":   {func(m *names.Metadata) { m.AWS.ClusterDomain = "bank.labs.example.com" }, "aws.clusterDomain"},
		"a role to assume": {func(m *names.Metadata) { m.AWS.HostedZoneRole = "arn:aws:iam::1:role/x" }, "aws.hostedZoneRole"},
		"an endpoint":      {func(m *names.Metadata) { m.AWS.ServiceEndpoints = []json.RawMessage{[]byte(`{}`)} }, "aws.serviceEndpoints"},
		"a victim's tag":   {func(m *names.Metadata) { m.AWS.Identifier[1] = map[string]string{"openshiftClusterID": "victim"} }, "aws.identifier"},
		"a victim beside": {func(m *names.Metadata) {
			m.AWS.Identifier = append(m.AWS.Identifier, map[string]string{"kubernetes.io/cluster/bank-11111": "owned"})
		}, "aws.identifier"},
		"a tag of everything": {func(m *names.Metadata) { m.AWS.Identifier[0] = map[string]string{} }, "aws.identifier"},
		"fewer tags":          {func(m *names.Metadata) { m.AWS.Identifier = m.AWS.Identifier[:1] }, "aws.identifier"},
		"one tag twice":       {func(m *names.Metadata) { m.AWS.Identifier[1] = m.AWS.Identifier[0] }, "aws.identifier"},
	} {
		t.Run(name, func(t *testing.T) {
			m := shop.Metadata("shop-x7k2p", uuid)
			c.change(&m)
			raw, err := json.Marshal(m)
			require.NoError(t, err)
			require.ErrorContains(t, shop.CheckMetadata(raw, "shop-x7k2p", uuid), c.want)
		})
	}
	require.Error(t, shop.CheckMetadata([]byte(`{`), "shop-x7k2p", uuid))
	require.Error(t, shop.CheckMetadata(nil, "shop-x7k2p", uuid))
}

func TestWhatPassesTheCheckLooksForNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"shop-x7k2p", "bank-11111", uuid, "", "us-east-1", "owned", "shop", "shop.labs.example.com"})
		raw, err := json.Marshal(names.Metadata{
			ClusterName: text.Draw(t, "name"), ClusterID: text.Draw(t, "uuid"), InfraID: text.Draw(t, "infra"),
			AWS: names.AWSMetadata{Region: text.Draw(t, "region"), ClusterDomain: text.Draw(t, "domain"), Identifier: rapid.SliceOf(rapid.MapOf(
				rapid.SampledFrom([]string{"openshiftClusterID", "kubernetes.io/cluster/shop-x7k2p", "kubernetes.io/cluster/bank-11111", "Name"}), text)).Draw(t, "tags")},
		})
		require.NoError(t, err)
		if shop.CheckMetadata(raw, "shop-x7k2p", uuid) == nil {
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
