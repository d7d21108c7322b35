package intake

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// fields are what an error is about; each says what would be accepted.
func fields(t *testing.T, err error) (list []string) {
	t.Helper()
	var bad Invalid
	require.ErrorAs(t, err, &bad)
	for _, f := range bad {
		require.NotEmpty(t, f.Detail, f.Name)
		require.NotEmpty(t, f.Accept, f.Name)
		require.Contains(t, err.Error(), f.Name+": ")
		list = append(list, f.Name)
	}
	return list
}

const (
	uuid  = "5f0c1b1e-0000-4000-8000-000000000001"
	stamp = "20250301T110000.000Z-a2"
)

// shop is the attempt that every document of these tests comes from.
var shop = Scope{Bucket: "artifacts", Scope: names.Scope{
	Installation: "test", Cluster: "clu_1", Attempt: 2, Name: "shop", BaseDomain: "labs.example.com", Region: "us-east-1",
}}

func whole() contract.Record {
	return contract.Record{
		Identity: contract.Identity{
			InfraID: "shop-x7k2p", ClusterUUID: uuid, CCOName: shop.CCOName(), Account: "123456789012", Region: "us-east-1",
			ReleaseDigest: "sha256:" + strings.Repeat("e", 64), Metadata: string(shop.MetadataJSON(names.Identity{InfraID: "shop-x7k2p", ClusterUUID: uuid})), InstallerSHA256: strings.Repeat("a", 64),
		},
		Snapshots: []contract.Snapshot{
			{Type: "AUTH_BUNDLE", Key: "operate/clusters/clu_1/" + stamp + "/auth-bundle.tar.zst", ManifestKey: "operate/clusters/clu_1/" + stamp + "/manifest.json",
				SHA256: strings.Repeat("b", 64), InfraID: "shop-x7k2p"},
			{Type: "INSTALL_DIR_SNAPSHOT", Key: "clusters/clu_1/create/" + stamp + "/install-dir.tar.zst", ManifestKey: "clusters/clu_1/create/" + stamp + "/manifest.json",
				SHA256: strings.Repeat("b", 64), InfraID: "shop-x7k2p"},
		},
	}
}

func TestAWholeRecordIsTakenAsItIs(t *testing.T) {
	id, list, err := Record(whole(), shop)
	require.NoError(t, err)
	require.Equal(t, attempts.IdentityRow{
		InfraID: "shop-x7k2p", ClusterUUID: uuid, CCOName: shop.CCOName(), Account: "123456789012", Region: "us-east-1",
		ReleaseDigest: "sha256:" + strings.Repeat("e", 64), Metadata: string(shop.MetadataJSON(names.Identity{InfraID: "shop-x7k2p", ClusterUUID: uuid})), InstallerSHA256: strings.Repeat("a", 64),
	}, id)
	require.Len(t, list, 2)
	_, _, err = Record(contract.Record{Identity: contract.Identity{CCOName: shop.CCOName(), Account: "123456789012", Region: "us-east-1"}}, shop)
	require.NoError(t, err, "a ccoctl name is recorded before anything is rendered")

	newer := whole()
	newer.Identity.Metadata = strings.Replace(newer.Identity.Metadata, "{", `{"newField": {"a": 1}, `, 1)
	id, _, err = Record(newer, shop)
	require.NoError(t, err, "newer installers write more")
	require.Equal(t, string(shop.MetadataJSON(names.Identity{InfraID: "shop-x7k2p", ClusterUUID: uuid})), id.Metadata, "what is kept is the server's own")
}

func TestARecordNamesEverythingItLacksAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*contract.Record)
		want  []string
	}{
		"nothing": {func(r *contract.Record) { *r = contract.Record{} }, []string{"identity.infraId", "identity.account", "identity.region"}},
		"an infraID alone": {func(r *contract.Record) { *r = contract.Record{Identity: contract.Identity{InfraID: "shop-x7k2p"}} },
			[]string{"identity.account", "identity.region", "identity.clusterUuid", "identity.releaseDigest", "identity.metadata", "snapshots"}},
		"a ccoctl name alone":  {func(r *contract.Record) { *r = contract.Record{Identity: contract.Identity{CCOName: shop.CCOName()}} }, []string{"identity.account", "identity.region"}},
		"no program":           {func(r *contract.Record) { r.Identity.InstallerSHA256 = "latest" }, []string{"identity.installerSha256"}},
		"no destroy bundle":    {func(r *contract.Record) { r.Snapshots = r.Snapshots[:1] }, []string{"snapshots"}},
		"a bundle of no bytes": {func(r *contract.Record) { r.Snapshots[1].SHA256, r.Snapshots[1].Size = "", -1 }, []string{"snapshots[1].sha256", "snapshots[1].size"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := whole()
			c.spoil(&r)
			_, _, err := Record(r, shop)
			require.Equal(t, c.want, fields(t, err))
		})
	}
}

// On IBM Cloud no count could prove that a cluster is gone without the id of its resource group.
func TestOnIBMCloudAnInfraIDIsRecordedWithTheIDOfItsResourceGroup(t *testing.T) {
	const group = "0123456789abcdef0123456789abcdef"
	of := shop
	of.Platform, of.Region = names.IBMCloud, "us-south"
	r := whole()
	r.Identity.Account, r.Identity.Region, r.Identity.CCOName = "0a1b2c3d4e5f60718293a4b5c6d7e8f9", of.Region, of.CCOName()
	raw, err := of.Complete(of.MetadataJSON(namesOf(r.Identity)), namesOf(r.Identity), names.Found{DNSInstanceID: "01234567-89ab-cdef-0123-456789abcdef"})
	require.NoError(t, err)
	r.Identity.Metadata = string(raw)
	_, _, err = Record(r, of)
	require.Equal(t, []string{"identity.resourceGroupId"}, fields(t, err))
	r.Identity.ResourceGroupID = "Default"
	_, _, err = Record(r, of)
	require.Equal(t, []string{"identity.resourceGroupId"}, fields(t, err))
	r.Identity.ResourceGroupID = group
	id, _, err := Record(r, of)
	require.NoError(t, err)
	require.Equal(t, group, id.ResourceGroupID)
	r.Identity.CCOName = ""
	_, _, err = Record(r, of)
	require.Contains(t, fields(t, err), "identity.resourceGroupId", "it is the id of the group of that name")
}

// A hostile runner reports another cluster's identity, in whole or in part.
func TestARecordOfAnotherClusterIsRefused(t *testing.T) {
	bank := Scope{Scope: names.Scope{Installation: "test", Cluster: "clu_2", Attempt: 1, Name: "bank", BaseDomain: "labs.example.com", Region: "us-east-1"}}
	const victim = "0d3c1b1e-0000-4000-8000-000000000009"
	for name, c := range map[string]struct {
		spoil func(*contract.Record)
		want  []string
	}{
		"its infraID": {func(r *contract.Record) { r.Identity.InfraID = "bank-11111" },
			[]string{"identity.infraId", "identity.metadata", "snapshots"}},
		"its whole metadata": {func(r *contract.Record) {
			r.Identity.Metadata = string(bank.MetadataJSON(names.Identity{InfraID: "bank-11111", ClusterUUID: victim}))
		}, []string{"identity.metadata"}},
		"its tags beside ours": {func(r *contract.Record) {
			r.Identity.Metadata = strings.Replace(r.Identity.Metadata, `"identifier":[`, `"identifier":[{"kubernetes.io/cluster/bank-11111":"owned"},`, 1)
		}, []string{"identity.metadata"}},
		"everything's tags": {func(r *contract.Record) {
			r.Identity.Metadata = strings.Replace(r.Identity.Metadata, `"identifier":[`, `"identifier":[{},`, 1)
		}, []string{"identity.metadata"}},
		"its UUID, said twice":  {func(r *contract.Record) { r.Identity.Metadata = strings.ReplaceAll(r.Identity.Metadata, uuid, victim) }, []string{"identity.metadata"}},
		"a UUID that is none":   {func(r *contract.Record) { r.Identity.ClusterUUID = "*" }, []string{"identity.clusterUuid", "identity.metadata"}},
		"its ccoctl name":       {func(r *contract.Record) { r.Identity.CCOName = bank.CCOName() }, []string{"identity.ccoName"}},
		"a later attempt's":     {func(r *contract.Record) { later := shop; later.Attempt++; r.Identity.CCOName = later.CCOName() }, []string{"identity.ccoName"}},
		"its region":            {func(r *contract.Record) { r.Identity.Region = "eu-west-1" }, []string{"identity.region"}},
		"an account of no form": {func(r *contract.Record) { r.Identity.Account = "../1" }, []string{"identity.account"}},
		"a digest of no form":   {func(r *contract.Record) { r.Identity.ReleaseDigest = "latest@evil.example" }, []string{"identity.releaseDigest"}},
		"its archive": {func(r *contract.Record) {
			r.Snapshots[1].Key = strings.Replace(r.Snapshots[1].Key, "clu_1", "clu_2", 1)
		},
			[]string{"snapshots[1].key"}},
		"its archive's list": {func(r *contract.Record) {
			r.Snapshots[1].ManifestKey = strings.Replace(r.Snapshots[1].ManifestKey, "clu_1", "clu_2", 1)
		},
			[]string{"snapshots[1].key"}},
		"its archive's infraID": {func(r *contract.Record) { r.Snapshots[1].InfraID = "bank-11111" }, []string{"snapshots[1].infraId", "snapshots"}},
		"an earlier attempt's archive": {func(r *contract.Record) { r.Snapshots[1].Key = strings.Replace(r.Snapshots[1].Key, "-a2", "-a1", 1) },
			[]string{"snapshots[1].key"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := whole()
			c.spoil(&r)
			_, _, err := Record(r, shop)
			require.Equal(t, c.want, fields(t, err))
		})
	}
}

func TestOutputsLeadToThisClusterAlone(t *testing.T) {
	at := time.Date(2025, 3, 1, 11, 0, 0, 0, time.UTC)
	good := func() contract.Result {
		return contract.Result{Outcome: "succeeded", Outputs: &contract.Outputs{APIURL: shop.APIURL(), ConsoleURL: shop.ConsoleURL(), StoredAt: at}}
	}
	row, err := Result(good(), shop)
	require.NoError(t, err)
	require.Equal(t, clusters.Outputs{
		APIURL: "https://api.shop.labs.example.com:6443", ConsoleURL: "https://console-openshift-console.apps.shop.labs.example.com",
		KubeconfigRef: "s3://artifacts/operate/clusters/clu_1/" + stamp + "/kubeconfig",
		KubeadminRef:  "s3://artifacts/operate/clusters/clu_1/" + stamp + "/kubeadmin-password",
		MetadataRef:   "s3://artifacts/clusters/clu_1/outputs/" + stamp + "/metadata.json",
	}, *row.Outputs)
	for name, c := range map[string]struct {
		spoil func(*contract.Outputs)
		want  string
	}{
		"another's API":     {func(o *contract.Outputs) { o.APIURL = "https://api.bank.labs.example.com:6443" }, "outputs.apiUrl"},
		"a script":          {func(o *contract.Outputs) { o.ConsoleURL = "javascript:alert(1)" }, "outputs.consoleUrl"},
		"a stranger's page": {func(o *contract.Outputs) { o.ConsoleURL = "https://evil.example/console" }, "outputs.consoleUrl"},
		"no time":           {func(o *contract.Outputs) { o.StoredAt = time.Time{} }, "outputs.storedAt"},
	} {
		r := good()
		c.spoil(r.Outputs)
		_, err := Result(r, shop)
		require.Equal(t, []string{c.want}, fields(t, err), name)
	}
	_, err = Result(contract.Result{Outcome: "failed", Reason: "<b>x</b>"}, shop)
	require.Equal(t, []string{"reason"}, fields(t, err))
	long, err := Result(contract.Result{Outcome: "failed", Reason: "X", Message: strings.Repeat("ä", maxSentence)}, shop)
	require.NoError(t, err)
	require.LessOrEqual(t, len(long.Message), maxSentence+len("…"))
	require.True(t, utf8.ValidString(long.Message))
}

func TestAReportIsOfItsOwnAttempt(t *testing.T) {
	foreign := whole().Snapshots
	foreign[0].Key = strings.Replace(foreign[0].Key, "clu_1", "clu_2", 1)
	_, err := Report(contract.Report{Seq: 1, Phase: "dancing", Account: "a b", Snapshots: foreign, Addons: make([]contract.AddonState, maxAddons+1)}, shop)
	require.Equal(t, []string{"phase", "account", "addons", "snapshots[0].key"}, fields(t, err))
	row, err := Report(contract.Report{Seq: 1, Phase: "installing", Account: "123456789012", Snapshots: whole().Snapshots}, shop)
	require.NoError(t, err)
	require.Len(t, row.Artifacts, 2)
}

func TestADemandNamesEveryFieldThatIsWrong(t *testing.T) {
	good := contract.Quota{
		Service: "ec2", Code: "L-0263D0A3", Scope: "us-east-1a", Name: "Elastic IPs", Limit: 5, Used: 2, Need: 3, Lasting: 2,
		UsedBy: map[string]int{"clu_1": 2}, UsedIn: map[string]int{"shop-abcdefghij": 1},
	}
	row, err := Demand(contract.Demand{Account: "1", Region: "us-east-1", Quotas: []contract.Quota{good}}, shop)
	require.NoError(t, err)
	require.Equal(t, []any{"Elastic IPs", "us-east-1a", 3, 2, good.UsedBy, good.UsedIn},
		[]any{row.Quotas[0].Name, row.Quotas[0].Scope, row.Quotas[0].Need, row.Quotas[0].Lasting, row.Quotas[0].UsedBy, row.Quotas[0].UsedIn})
	for _, empty := range []contract.Demand{{Account: "1", Region: "us-east-1"}, {Account: "1", Region: "us-east-1", Quotas: []contract.Quota{{Service: "ec2", Code: "L-1", Unknown: "denied"}}}} {
		_, err = Demand(empty, shop)
		require.NoError(t, err, "what could not be measured is no mistake")
	}

	_, err = Demand(contract.Demand{Quotas: []contract.Quota{
		good, good, {Limit: -1, Used: -1, Need: -2, Lasting: -1, UsedBy: map[string]int{"b": -1, "a": -1}, UsedIn: map[string]int{"c": -1}},
	}}, shop)
	require.Equal(t, []string{
		"account", "region", "quotas[1]", "quotas[2].service", "quotas[2].code", "quotas[2].limit", "quotas[2].used", "quotas[2].need",
		"quotas[2].lasting", "quotas[2].lasting", "quotas[2].usedBy.a", "quotas[2].usedBy.b", "quotas[2].usedIn.c",
	}, fields(t, err))
	_, err = Demand(contract.Demand{Account: "1", Region: "us-east-1", Quotas: make([]contract.Quota, maxQuotas+1)}, shop)
	require.Equal(t, "quotas", fields(t, err)[0])
}

func TestAFailureIsOneOfFivesProblemOrNobodys(t *testing.T) {
	for _, who := range append([]string{""}, whose...) {
		row, err := Result(contract.Result{Outcome: "failed", Whose: who, Next: "do\x00this"}, shop)
		require.NoError(t, err, who)
		require.Equal(t, []string{who, "do\uFFFDthis"}, []string{row.Whose, row.Next})
	}
	_, err := Result(contract.Result{Outcome: "lost", Whose: "somebody"}, shop)
	require.Equal(t, []string{"outcome", "whose"}, fields(t, err))
}
