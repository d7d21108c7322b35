package profiles

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

const anAccount = `name: one
platform: aws
number: "123456789012"
`

func withAccount(t *testing.T, body string) (Catalogue, error) {
	t.Helper()
	files := poolFiles(t, aPool)
	files["accounts/one.yaml"] = &fstest.MapFile{Data: []byte(body)}
	return Load(files)
}

func TestAnAccountNeedsANameAPlatformAndANumber(t *testing.T) {
	c, err := withAccount(t, anAccount)
	require.NoError(t, err)
	a, known := c.Account("one")
	require.True(t, known)
	require.Equal(t, Account{Name: "one", Platform: "aws", Number: "123456789012"}, a)
	require.True(t, a.MayUse("anybody"))
	require.Equal(t, Place{"accounts/one.yaml", 1}, c.PlaceOf("accounts", "one"))
	_, known = c.Account("two")
	require.False(t, known)
}

func TestAnAccountSaysEverything(t *testing.T) {
	c, err := withAccount(t, anAccount+`kind: Account
credentials:
  serviceAccounts: {create: one-create, destroy: one-destroy, scan: one-scan}
regions: [us-east-1, us-west-2]
teams: ["sho*"]
cap: 12
priority: 3
maintenance: true
baseDomain: labs.example.com
`)
	require.NoError(t, err)
	a, _ := c.Account("one")
	require.Equal(t, Account{
		Name: "one", Platform: "aws", Number: "123456789012", ServiceAccounts: map[string]string{"create": "one-create", "destroy": "one-destroy", "scan": "one-scan"},
		Regions: []string{"us-east-1", "us-west-2"}, Teams: []string{"sho*"}, Cap: 12, Priority: 3, Maintenance: true, BaseDomain: "labs.example.com",
	}, a)
	require.True(t, a.MayUse("shop"))
	require.False(t, a.MayUse("platform"))
}

func TestABrokenAccountSaysWhatIsAccepted(t *testing.T) {
	for name, of := range map[string]struct{ from, to, says string }{
		"a number without quotes":   {`"123456789012"`, `123456789012`, `accounts/one.yaml:3: number: 123456789012; accepted: the cloud's id of the account, in quotes`},
		"another cloud's number":    {`"123456789012"`, `"0a1b"`, `accounts/one.yaml:3: number: "0a1b"; accepted: an AWS account's 12 digits`},
		"another file's name":       {"name: one", "name: two", `accounts/one.yaml:1: name: "two"; accepted: the file's own name, one`},
		"a secret":                  {"platform:", "credentials: {ref: AKIAX}\nplatform:", `accounts/one.yaml:2: credentials.ref: "AKIAX"; accepted: a reference: file:/path`},
		"two kinds of credentials":  {"platform:", "credentials: {ref: \"file:/keys\", serviceAccounts: {create: a, destroy: b}}\nplatform:", `credentials.ref: given with serviceAccounts; accepted: one of the two`},
		"no account for teardowns":  {"platform:", "credentials: {serviceAccounts: {create: a}}\nplatform:", `credentials.serviceAccounts.destroy: missing; accepted: a service account's name`},
		"a region of no profile":    {"platform:", "regions: [eu-west-1]\nplatform:", `accounts/one.yaml:2: regions[0]: "eu-west-1", which no profile of the platform allows; accepted: one of us-east-1`},
		"a region of another cloud": {"platform:", "regions: [us-south]\nplatform:", `regions[0]: "us-south"; accepted: a region such as us-east-1`},
		"a domain of no profile":    {"platform:", "baseDomain: other.example.com\nplatform:", `accounts/one.yaml:2: baseDomain: "other.example.com", which no profile of the platform allows; accepted: one of labs.example.com`},
		"no team":                   {"platform:", "teams: [eu-*]\nplatform:", `teams[0]: "eu-*", which is not a team; accepted: a team or a glob that matches one: platform, shop`},
		"no cluster at all":         {"platform:", "cap: 0\nplatform:", `cap: 0; accepted: a whole number from 1 to 100000`},
		"another account's role":    {"platform:", "credentials: {role: \"arn:aws:iam::210987654321:role/ocpctl\"}\nplatform:", `accounts/one.yaml:2: credentials.role: of account 210987654321; accepted: a role of account 123456789012`},
		"a role's name":             {"platform:", "credentials: {role: ocpctl}\nplatform:", `credentials.role: "ocpctl"; accepted: the ARN of a role of the account, such as arn:aws:iam::210987654321:role/ocpctl`},
		"a role of pods":            {"platform:", "credentials: {role: \"arn:aws:iam::123456789012:role/x\", serviceAccounts: {create: a, destroy: b}}\nplatform:", `credentials.role: given with serviceAccounts; accepted: role with ref, or role alone`},
		"an unknown field":          {"platform:", "zone: a\nplatform:", `accounts/one.yaml:2: zone: not supported`},
		"no API key on IBM Cloud":   {"platform: aws\nnumber: \"123456789012\"", "platform: ibmcloud\nnumber: 0a1b2c3d4e5f60718293a4b5c6d7e8f9", `accounts/one.yaml:1: credentials.ref: missing on ibmcloud; accepted: a reference to an API key: file:/path`},
		"a role on IBM Cloud": {"platform: aws\nnumber: \"123456789012\"", "platform: ibmcloud\nnumber: 0a1b2c3d4e5f60718293a4b5c6d7e8f9\ncredentials: {ref: \"file:/key\", role: \"arn:aws:iam::123456789012:role/x\"}",
			`credentials.role: given on ibmcloud, whose installer takes API keys alone; accepted: credentials.ref alone`},
		"service accounts on IBM Cloud": {"platform: aws\nnumber: \"123456789012\"", "platform: ibmcloud\nnumber: 0a1b2c3d4e5f60718293a4b5c6d7e8f9\ncredentials: {serviceAccounts: {create: a, destroy: b}}",
			`credentials.serviceAccounts: given on ibmcloud, where runners need an API key; accepted: credentials.ref alone`},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, anAccount, of.from)
			_, err := withAccount(t, strings.Replace(anAccount, of.from, of.to, 1))
			require.ErrorContains(t, err, of.says)
		})
	}
}

func TestAnAccountIsReachedByARole(t *testing.T) {
	c, err := withAccount(t, anAccount)
	require.NoError(t, err)
	plain, _ := c.Account("one")
	c, err = withAccount(t, anAccount+"credentials: {ref: \"file:/keys\", role: \"arn:aws:iam::123456789012:role/teams/ocpctl\"}\n")
	require.NoError(t, err)
	a, _ := c.Account("one")
	require.Equal(t, []string{"file:/keys", "arn:aws:iam::123456789012:role/teams/ocpctl"}, []string{a.CredentialsRef, a.Role})
	before := a.Version()
	require.NotEqual(t, plain.Version(), before)
	a.Role += "-2"
	require.NotEqual(t, before, a.Version(), "another role has to be proven")
}

func TestTwoDocumentsForOneAccountAreRefused(t *testing.T) {
	files := poolFiles(t, aPool)
	files["accounts/one.yaml"] = &fstest.MapFile{Data: []byte(anAccount)}
	files["accounts/two.yaml"] = &fstest.MapFile{Data: []byte(strings.Replace(anAccount, "one", "two", 1))}
	_, err := Load(files)
	require.ErrorContains(t, err, `accounts/two.yaml:3: number: "123456789012" again, as in accounts/one.yaml; accepted: each account once`)
}
