package intake

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/runner/contract"
	"github.com/ocpctl/ocpctl/store"
)

// names are the fields an error is about; each says what would be accepted.
func names(t *testing.T, err error) (list []string) {
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

func whole() contract.Record {
	return contract.Record{
		Identity: contract.Identity{
			InfraID: "shop-x7k2p", ClusterUUID: "5f0c1b1e", CCOName: "shop-abc", Account: "123456789012", Region: "us-east-1",
			ReleaseDigest: "sha256:1", Metadata: "{}", InstallerSHA256: strings.Repeat("a", 64),
		},
		Snapshots: []contract.Snapshot{
			{Type: "AUTH_BUNDLE", Key: "k2", SHA256: strings.Repeat("b", 64), InfraID: "shop-x7k2p"},
			{Type: "INSTALL_DIR_SNAPSHOT", Key: "k1", SHA256: strings.Repeat("b", 64), InfraID: "shop-x7k2p"},
		},
	}
}

func TestAWholeRecordIsTakenAsItIs(t *testing.T) {
	id, list, err := Record(whole())
	require.NoError(t, err)
	require.Equal(t, store.IdentityRow{
		InfraID: "shop-x7k2p", ClusterUUID: "5f0c1b1e", CCOName: "shop-abc", Account: "123456789012", Region: "us-east-1",
		ReleaseDigest: "sha256:1", Metadata: "{}", InstallerSHA256: strings.Repeat("a", 64),
	}, id)
	require.Len(t, list, 2)
	_, _, err = Record(contract.Record{Identity: contract.Identity{CCOName: "shop-abc", Account: "123456789012", Region: "us-east-1"}})
	require.NoError(t, err, "a ccoctl name is recorded before anything is rendered")
}

func TestARecordNamesEverythingItLacksAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*contract.Record)
		want  []string
	}{
		"nothing": {func(r *contract.Record) { *r = contract.Record{} }, []string{"identity.infraId", "identity.account", "identity.region"}},
		"an infraID alone": {func(r *contract.Record) { *r = contract.Record{Identity: contract.Identity{InfraID: "x"}} },
			[]string{"identity.account", "identity.region", "identity.clusterUuid", "identity.releaseDigest", "identity.metadata", "snapshots"}},
		"a ccoctl name alone":  {func(r *contract.Record) { *r = contract.Record{Identity: contract.Identity{CCOName: "x"}} }, []string{"identity.account", "identity.region"}},
		"a long ccoctl name":   {func(r *contract.Record) { r.Identity.CCOName = "a23456789012345678901" }, []string{"identity.ccoName"}},
		"a loud ccoctl name":   {func(r *contract.Record) { r.Identity.CCOName = "Shop" }, []string{"identity.ccoName"}},
		"no program":           {func(r *contract.Record) { r.Identity.InstallerSHA256 = "latest" }, []string{"identity.installerSha256"}},
		"no destroy bundle":    {func(r *contract.Record) { r.Snapshots = r.Snapshots[:1] }, []string{"snapshots"}},
		"another's bundle":     {func(r *contract.Record) { r.Snapshots[1].InfraID = "shop-other" }, []string{"snapshots"}},
		"a bundle of no bytes": {func(r *contract.Record) { r.Snapshots[1].SHA256, r.Snapshots[1].Key = "", "" }, []string{"snapshots[1].key", "snapshots[1].sha256"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := whole()
			c.spoil(&r)
			_, _, err := Record(r)
			require.Equal(t, c.want, names(t, err))
		})
	}
}

func TestADemandNamesEveryFieldThatIsWrong(t *testing.T) {
	good := contract.Quota{
		Service: "ec2", Code: "L-0263D0A3", Scope: "us-east-1a", Name: "Elastic IPs", Limit: 5, Used: 2, Need: 3, Lasting: 2,
		UsedBy: map[string]int{"clu_1": 2},
	}
	row, err := Demand(contract.Demand{Account: "1", Region: "us-east-1", Quotas: []contract.Quota{good}})
	require.NoError(t, err)
	require.Equal(t, []any{"Elastic IPs", "us-east-1a", 3, 2, map[string]int{"clu_1": 2}},
		[]any{row.Quotas[0].Name, row.Quotas[0].Scope, row.Quotas[0].Need, row.Quotas[0].Lasting, row.Quotas[0].UsedBy})
	for _, empty := range []contract.Demand{{Account: "1", Region: "us-east-1"}, {Account: "1", Region: "us-east-1", Quotas: []contract.Quota{{Service: "ec2", Code: "L-1", Unknown: "denied"}}}} {
		_, err = Demand(empty)
		require.NoError(t, err, "what could not be measured is no mistake")
	}

	_, err = Demand(contract.Demand{Quotas: []contract.Quota{
		good, good, {Limit: -1, Used: -1, Need: -2, Lasting: -1, UsedBy: map[string]int{"b": -1, "a": -1}},
	}})
	require.Equal(t, []string{
		"account", "region", "quotas[1]", "quotas[2].service", "quotas[2].code", "quotas[2].limit", "quotas[2].used", "quotas[2].need",
		"quotas[2].lasting", "quotas[2].lasting", "quotas[2].usedBy.a", "quotas[2].usedBy.b",
	}, names(t, err))
	_, err = Demand(contract.Demand{Account: "1", Region: "r", Quotas: make([]contract.Quota, maxQuotas+1)})
	require.Equal(t, "quotas", names(t, err)[0])
}

func TestAFailureIsOneOfFivesProblemOrNobodys(t *testing.T) {
	for _, who := range append([]string{""}, whose...) {
		row, err := Result(contract.Result{Outcome: "failed", Whose: who, Next: "do\x00this"})
		require.NoError(t, err, who)
		require.Equal(t, []string{who, "do\uFFFDthis"}, []string{row.Whose, row.Next})
	}
	_, err := Result(contract.Result{Outcome: "lost", Whose: "somebody"})
	require.Equal(t, []string{"outcome", "whose"}, names(t, err))
}
