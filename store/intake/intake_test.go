package intake

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
)

func TestAPassIsBelievedAsFarAsItsEvidenceGoes(t *testing.T) {
	good := contract.Pass{Number: 1, Clean: true, Control: "arn seen", Queries: []contract.Query{{Service: "ec2", Call: "DescribeVpcs"}}}
	require.True(t, clean(good, shop.Region))
	for name, change := range map[string]func(*contract.Pass){
		"the runner says no":  func(p *contract.Pass) { p.Clean = false },
		"the control failed":  func(p *contract.Pass) { p.Control = "" },
		"nothing was asked":   func(p *contract.Pass) { p.Queries = nil },
		"a query was refused": func(p *contract.Pass) { p.Queries[0].Err = "AccessDenied" },
		"its own region was not asked": func(p *contract.Pass) {
			p.Queries[0].Region, p.Queries[0].Unasked = shop.Region, contract.RegionDenied
		},
		"something was left": func(p *contract.Pass) { p.Leftovers = []contract.Leftover{{Type: "vpc", ID: "vpc-1"}} },
	} {
		p := good
		p.Queries = append([]contract.Query{}, good.Queries...)
		change(&p)
		require.False(t, clean(p, shop.Region), name)
		row, err := passRow(p, shop)
		require.NoError(t, err)
		require.False(t, row.Clean)
	}
	elsewhere := good
	elsewhere.Queries = append(elsewhere.Queries, contract.Query{Region: "ap-east-1", Unasked: contract.RegionNotEnabled})
	require.True(t, clean(elsewhere, shop.Region), "what a region that the account has not enabled does not answer is no finding")

	of := shop
	of.Prices = func(platform, kind, region, detail string) (float64, bool) {
		return 0.75, platform == shop.Platform && kind == "snapshot" && region == "eu-west-1" && detail == "100"
	}
	row, err := passRow(contract.Pass{Leftovers: []contract.Leftover{
		{Type: "vpc", ID: "vpc-1", Name: "shop", Free: "an administrator", Command: "aws ec2 delete-vpc", Remark: "last", Region: shop.Region}, {Type: "snapshot", ID: "snap-1", Free: "delete it", Region: "eu-west-1", Detail: "100"},
	}}, of)
	require.NoError(t, err)
	require.Equal(t, []lifecycle.Blocker{
		{Name: "vpc vpc-1 (shop)", Free: "an administrator", Command: "aws ec2 delete-vpc", Remark: "last"},
		{Name: "snapshot snap-1 in eu-west-1, which costs about $5.48 a month", Free: "delete it"},
	}, row.Blockers)
	require.Contains(t, string(row.Leftovers), `"region":"eu-west-1","detail":"100","monthlyCents":548`)
}

func TestNothingPostgreSQLCannotStoreGetsPast(t *testing.T) {
	row, err := Report(contract.Report{Seq: 1, Phase: "installing", Step: "a\x00b", Log: "one\x00two\n", Pass: &contract.Pass{
		Number: 1, Control: "c\x00", Queries: []contract.Query{{Err: "bad \x00 answer"}},
		Leftovers: []contract.Leftover{{Type: "vpc", ID: "v\x00", Free: "\x00", Command: "\x00", Remark: "\x00"}},
	}}, shop)
	require.NoError(t, err)
	said, err := json.Marshal(row)
	require.NoError(t, err)
	require.NotContains(t, string(said), `\u0000`)
	require.Equal(t, "one\uFFFDtwo\n", row.Log)

	result, err := Result(contract.Result{Outcome: "failed", Reason: "Bad", Message: "why\x00", Line: "x\x00" + strings.Repeat("ä", maxSentence)}, shop)
	require.NoError(t, err)
	require.Equal(t, "Bad why\uFFFD", result.Reason+" "+result.Message)
	require.Equal(t, "x\uFFFD"+strings.Repeat("ä", maxSentence/2-1), result.Line, "it is cut between two characters, so that it is found in the log")
}

func TestWhatIsToldOfAddonsIsKeptAsItIs(t *testing.T) {
	state := contract.AddonState{Name: "cert-manager", There: true, Reason: "Applied", Message: "it\x00works", Next: "none"}
	row, err := Report(contract.Report{Seq: 1, Phase: "configuring", Addons: []contract.AddonState{state}}, shop)
	require.NoError(t, err)
	require.Equal(t, []attempts.AddonState{{Name: "cert-manager", There: true, Reason: "Applied", Message: "it\uFFFDworks", Next: "none"}}, row.Addons)
	done, err := Result(contract.Result{Outcome: "succeeded", Addons: new(2)}, shop)
	require.NoError(t, err)
	require.Equal(t, 2, *done.Addons)
	_, err = Result(contract.Result{Outcome: "succeeded", Addons: new(-1)}, shop)
	require.ErrorContains(t, err, "addons: the number is out of range; accepted: 0 to 100")
}

func TestACountOfWorkersIsANumberThatCanBe(t *testing.T) {
	row, err := Result(contract.Result{Outcome: "succeeded", Workers: new(3)}, shop)
	require.NoError(t, err)
	require.Equal(t, 3, *row.Workers)
	for _, n := range []int{-1, maxWorkers + 1} {
		_, err := Result(contract.Result{Outcome: "succeeded", Workers: &n}, shop)
		require.ErrorContains(t, err, "workers: the number is out of range; accepted: 0 to 5000")
	}
	_, err = Report(contract.Report{Seq: 1, Phase: "scaling"}, shop)
	require.NoError(t, err)
}

func TestThePeoplesLastUseIsAWholeHour(t *testing.T) {
	hour := time.Date(2030, 1, 1, 14, 0, 0, 0, time.UTC)
	row, err := Result(contract.Result{Outcome: "succeeded", LastUse: hour}, shop)
	require.NoError(t, err)
	require.Equal(t, hour, row.LastUse)
	row, err = Result(contract.Result{Outcome: "succeeded"}, shop)
	require.NoError(t, err)
	require.Zero(t, row.LastUse)
	_, err = Result(contract.Result{Outcome: "succeeded", LastUse: hour.Add(time.Minute)}, shop)
	require.ErrorContains(t, err, "lastUse: the time is not the beginning of an hour")
}

func TestTheServerBuildsTheReferencesToReplacedCredentials(t *testing.T) {
	at := time.Date(2030, 1, 1, 14, 0, 0, 0, time.UTC)
	row, err := Report(contract.Report{Seq: 1, Phase: "preparing", ReplacedAt: at}, shop)
	require.NoError(t, err)
	require.True(t, artifacts.IsCredentialRef(row.Replaced.KubeconfigRef, shop.Cluster, artifacts.Kubeconfig), row.Replaced.KubeconfigRef)
	require.True(t, artifacts.IsCredentialRef(row.Replaced.KubeadminRef, shop.Cluster, artifacts.Kubeadmin), row.Replaced.KubeadminRef)
	row, err = Report(contract.Report{Seq: 1, Phase: "preparing"}, shop)
	require.NoError(t, err)
	require.Nil(t, row.Replaced)
}
