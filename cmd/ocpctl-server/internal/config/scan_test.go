package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/secret"
)

const ibmAccount = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"

func TestTheAccountOfTheClustersIsLookedThroughByDefault(t *testing.T) {
	c := Defaults()
	require.Empty(t, c.ScanAccounts())
	c.Account, c.Runner.CloudCredsRef = "123456789012", "file:/keys"
	require.Equal(t, []ScanAccount{{Platform: "aws", Account: "123456789012", CredentialsRef: "file:/keys"}}, c.ScanAccounts())
	c.Scan.Accounts = []ScanAccount{{Account: "210987654321"}}
	require.Equal(t, []ScanAccount{{Platform: "aws", Account: "210987654321"}}, c.ScanAccounts())
	c.Scan.Accounts, c.Clouds.IBMCloud = nil, Cloud{Account: ibmAccount, CredentialsRef: "file:/ibm"}
	require.Equal(t, []ScanAccount{
		{Platform: "aws", Account: "123456789012", CredentialsRef: "file:/keys"}, {Platform: "ibmcloud", Account: ibmAccount, CredentialsRef: "file:/ibm"},
	}, c.ScanAccounts(), "two accounts of two clouds")
	require.Empty(t, Defaults().Scan.checkScan())
	c.Scan.Every = 0
	require.Empty(t, c.Scan.checkScan(), "only on request")
}

func TestTheAccountThatRunnersWorkInIsKnownOnlyIfItIsCertain(t *testing.T) {
	const one, two = "123456789012", "210987654321"
	for name, c := range map[string]struct {
		account, keys string
		accounts      []ScanAccount
		in            string
	}{
		"nothing is configured":           {"", "", nil, ""},
		"the configured one":              {one, "", []ScanAccount{{Account: two}}, one},
		"the only one without other keys": {"", "", []ScanAccount{{Account: one}, {Account: two, CredentialsRef: "file:/two"}}, one},
		"two without other keys":          {"", "", []ScanAccount{{Account: one}, {Account: two}}, ""},
		"runners have keys of their own":  {"", "file:/keys", []ScanAccount{{Account: one}}, ""},
		"a scan has the runners' keys":    {"", "file:/keys", []ScanAccount{{Account: one}, {Account: two, CredentialsRef: "file:/keys"}}, two},
	} {
		t.Run(name, func(t *testing.T) {
			of := Defaults()
			of.Account, of.Runner.CloudCredsRef, of.Scan.Accounts = c.account, c.keys, c.accounts
			require.Equal(t, c.in, of.RunnersIn("aws"))
			require.Empty(t, of.RunnersIn("ibmcloud"))
			of.Scan.Accounts = append(of.Scan.Accounts, ScanAccount{Platform: "ibmcloud", Account: ibmAccount, CredentialsRef: "file:/ibm"})
			of.Clouds.IBMCloud.CredentialsRef = "file:/ibm"
			require.Equal(t, c.in, of.RunnersIn("aws"), "another cloud's account says nothing")
			require.Equal(t, ibmAccount, of.RunnersIn("ibmcloud"))
		})
	}
}

func TestWhatIsWrongWithScansIsTold(t *testing.T) {
	s := Scan{
		Accounts: []ScanAccount{{Account: "acme"}, {Account: "123456789012", Platform: "ibmcloud", CredentialsRef: "AKIAX"}, {Account: "123456789012"},
			{Account: ibmAccount, Platform: "ibmcloud"}, {Account: "p1", Platform: "gcp"}, {Account: ibmAccount}},
		Every: time.Second, MinAge: -1, MinSights: 1, CallsPerSecond: 0, Exempt: []ScanExempt{{Why: "all"}, {Name: "a["}},
	}
	var told []string
	for _, err := range s.checkScan() {
		told = append(told, err.Error())
	}
	require.Equal(t, []string{
		`scan.accounts[0].account is "acme"; give an AWS account's 12 digits`,
		`scan.accounts[1].account is "123456789012"; give the id of an account on IBM Cloud, 32 digits and letters a-f (ibmcloud account show)`,
		"scan.accounts[1].credentials_ref is not a reference; give a reference (" + secret.References + ") to the cloud's keys, or omit it",
		"scan.accounts[2].account is given twice; give each account once",
		`scan.accounts[4].platform is "gcp"; give one of aws, ibmcloud, or omit it for aws`,
		`scan.accounts[5].account is "` + ibmAccount + `"; give an AWS account's 12 digits`,
		"scan.accounts[5].account is given twice; give each account once",
		"scan.every is 1s; give 10m or more, or 0 to look only on request",
		"scan.min_age is -1ns; give 0s or more",
		"scan.min_sights is 1; give 2 to 10: an answer of a cloud can be late",
		"scan.calls_per_second is 0; give 1 to 50",
		"scan.exempt[0] matches everything; give account, identity, name or tag_key",
		`scan.exempt[1].name is "a["; give a pattern such as shop-*`,
	}, told)
}
