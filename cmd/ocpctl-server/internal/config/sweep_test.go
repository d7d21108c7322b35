package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/secret"
)

func TestTheAccountOfTheClustersIsLookedThroughByDefault(t *testing.T) {
	c := Defaults()
	require.Empty(t, c.SweepAccounts())
	c.Account, c.Runner.CloudCredsRef = "123456789012", "file:/keys"
	require.Equal(t, []SweepAccount{{Platform: "aws", Account: "123456789012", CredentialsRef: "file:/keys"}}, c.SweepAccounts())
	c.Sweep.Accounts = []SweepAccount{{Account: "210987654321"}}
	require.Equal(t, []SweepAccount{{Platform: "aws", Account: "210987654321"}}, c.SweepAccounts())
	require.Empty(t, Defaults().Sweep.check())
	c.Sweep.Every = 0
	require.Empty(t, c.Sweep.check(), "only on request")
}

func TestTheAccountThatRunnersWorkInIsKnownOnlyIfItIsCertain(t *testing.T) {
	const one, two = "123456789012", "210987654321"
	for name, c := range map[string]struct {
		account, keys string
		accounts      []SweepAccount
		in            string
	}{
		"nothing is configured":           {"", "", nil, ""},
		"the configured one":              {one, "", []SweepAccount{{Account: two}}, one},
		"the only one without other keys": {"", "", []SweepAccount{{Account: one}, {Account: two, CredentialsRef: "file:/two"}}, one},
		"two without other keys":          {"", "", []SweepAccount{{Account: one}, {Account: two}}, ""},
		"runners have keys of their own":  {"", "file:/keys", []SweepAccount{{Account: one}}, ""},
		"a sweep has the runners' keys":   {"", "file:/keys", []SweepAccount{{Account: one}, {Account: two, CredentialsRef: "file:/keys"}}, two},
	} {
		t.Run(name, func(t *testing.T) {
			of := Defaults()
			of.Account, of.Runner.CloudCredsRef, of.Sweep.Accounts = c.account, c.keys, c.accounts
			require.Equal(t, c.in, of.RunnersIn())
		})
	}
}

func TestWhatIsWrongWithSweepsIsTold(t *testing.T) {
	s := Sweep{
		Accounts: []SweepAccount{{Account: "acme"}, {Account: "123456789012", Platform: "ibmcloud", CredentialsRef: "AKIAX"}, {Account: "123456789012"}},
		Every:    time.Second, MinAge: -1, MinSights: 1, CallsPerSecond: 0, Exempt: []SweepExempt{{Why: "all"}, {Name: "a["}},
	}
	var told []string
	for _, err := range s.check() {
		told = append(told, err.Error())
	}
	require.Equal(t, []string{
		`sweep.accounts[0].account is "acme"; give an AWS account's 12 digits`,
		`sweep.accounts[1].platform is "ibmcloud"; give aws, or omit it: other clouds cannot be looked through yet`,
		"sweep.accounts[1].credentials_ref is not a reference; give a reference (" + secret.References + ") to the cloud's keys, or omit it",
		"sweep.accounts[2].account is given twice; give each account once",
		"sweep.every is 1s; give 10m0s or more, or 0 to look only on request",
		"sweep.min_age is -1ns; give 0s or more",
		"sweep.min_sights is 1; give 2 to 10: an answer of a cloud can be late",
		"sweep.calls_per_second is 0; give 1 to 50",
		"sweep.exempt[0] matches everything; give account, identity, name or tag_key",
		`sweep.exempt[1].name is "a["; give a pattern such as shop-*`,
	}, told)
}
