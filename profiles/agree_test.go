package profiles

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestWhatNoRequestCouldHaveIsNoDefault(t *testing.T) {
	const team = "name: shop\nowner: maya\ncostCenters: [cc-1]\nenvironments: [test]\n"
	for set, accept := range map[string]string{
		`region: eu-west-1`:      "us-east-1, us-east-2, us-west-2",
		`version: "4.21.0"`:      "4.20.1, 4.20.3",
		`baseDomain: example.io`: "labs.example.com",
		`profile: aws-tiny`:      "aws-minimal-mint, aws-minimal-test, aws-standard, ibm-minimal-test, ibm-standard",
		`costCenter: cc-2`:       "cc-1",
		`environment: prod`:      "test",
		`ttlHours: 12`:           "",
		`profile: aws-standard`:  "",
		`region: us-east-2`:      "",
		`costCenter: cc-1`:       "",
	} {
		files := embeddedFiles(t)
		files["teams/shop.yaml"] = &fstest.MapFile{Data: []byte(team)}
		files["policies/p.yaml"] = &fstest.MapFile{Data: []byte("name: p\nmatch: {profiles: [aws-*]}\nrules:\n  - {name: a, when: \"true\", effect: default, set: {" + set + "}}\n")}
		_, err := Load(files)
		if accept == "" {
			require.NoError(t, err, set)
			continue
		}
		require.ErrorContains(t, err, "policies/p.yaml:4: rules[0].set.", set)
		require.ErrorContains(t, err, ", which no request can have; accepted: one of "+accept, set)
	}
}

func TestAnyNameIsATeamWhereNoneIsDeclared(t *testing.T) {
	files := embeddedFiles(t)
	files["quotas/more.yaml"] = &fstest.MapFile{Data: []byte("quotas: [{name: shop, scope: team, match: [shop], live: 1}]\n")}
	files["identities/more.yaml"] = &fstest.MapFile{Data: []byte("identities: [{name: shop, source: oidc, match: {sub: [x]}, role: requester, teams: [shop]}]\n")}
	_, err := Load(files)
	require.NoError(t, err)

	files["teams/platform.yaml"] = &fstest.MapFile{Data: []byte("name: platform\n")} // not sound, and declared all the same
	_, err = Load(files)
	require.ErrorContains(t, err, `quotas/more.yaml:1: quotas[0].match[0]: "shop", which is not a team; accepted: a team or a glob that matches one: platform`)
	require.ErrorContains(t, err, `identities/more.yaml:1: identities[0].teams[0]: "shop", which is not a team; accepted: one of platform`)
}

func TestTheCatalogueWithoutProfilesIsNone(t *testing.T) {
	_, err := Load(fstest.MapFS{"profiles/readme.md": {}})
	require.EqualError(t, err, "profiles: no *.yaml file; accepted: one or more profiles, each in a file profiles/<name>.yaml")
}
