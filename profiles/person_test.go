package profiles

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func people(t *testing.T, list string) (Catalogue, error) {
	t.Helper()
	return Load(fstest.MapFS{
		"profiles/aws-minimal-test.yaml": {Data: []byte(good(t))},
		"people/people.yaml":             {Data: []byte("people:\n" + list)},
	})
}

const mayas = `  - {name: maya, displayName: Maya Weber, identities: ["github:maya-w", "saml:maya@acme.example", "oidc:https://id.acme.example#maya"]}
`

func TestAPersonIsFoundByEachOfTheirIdentities(t *testing.T) {
	c, err := people(t, mayas+`  - {name: rob, displayName: Rob Lee, identities: ["aws:arn:aws:iam::123456789012:user/rob", "slack:T1/U2"]}
`)
	require.NoError(t, err)
	for id, want := range map[string]string{
		"github:Maya-W": "maya", "saml:MAYA@acme.example": "maya", "oidc:https://id.acme.example#maya": "maya", "slack:T1/U2": "rob",
		"oidc:https://id.acme.example#Maya": "", "oidc:https://other.example#maya": "", "github:rob": "",
	} {
		p, known := c.PersonOf(id)
		require.Equal(t, want, p.Name, id)
		require.Equal(t, want != "", known, id)
	}
	require.Equal(t, "rob", Spellings(c.People)["rob lee"].Name)
}

func TestAnIdentityOfTwoPeopleIsRefusedAndBothAreNamed(t *testing.T) {
	_, err := people(t, mayas+`  - {name: mallory, displayName: Mallory, identities: ["github:MAYA-W"]}
`)
	require.ErrorContains(t, err, `people/people.yaml:3: people[1].identities[0]: "github:MAYA-W" of mallory, which maya (people/people.yaml:2) also has`)
}

func TestADisplayNameCannotPretendToBeSomebodyElse(t *testing.T) {
	for _, name := range []string{"maya weber", "Maya", "Maya (GitHub)", "@maya", `"Maya \u202eWeber"`} {
		if name[0] != '"' {
			name = `"` + name + `"`
		}
		_, err := people(t, mayas+`  - {name: mallory, displayName: `+name+`, identities: ["github:mallory"]}
`)
		require.ErrorContains(t, err, "people/people.yaml:3: people[1].displayName: ", name)
	}
}

func TestAnIdentityIsWrittenInFull(t *testing.T) {
	for _, id := range []string{"maya", "github:", "github:*", "oidc:maya", "oidc:https://id.acme.example", "aws:123", "person:maya"} {
		_, err := people(t, `  - {name: maya, displayName: Maya, identities: ["`+id+`"]}
`)
		require.ErrorContains(t, err, "accepted: a principal id", id)
	}
}

func TestASpellingOfTwoPeopleMeansNobody(t *testing.T) {
	all := Spellings([]Person{
		{Name: "maya", DisplayName: "Maya W", Identities: []string{"github:m"}},
		{Name: "mira", DisplayName: "Mira K", Identities: []string{"oidc:https://id.acme.example#m"}},
	})
	require.NotContains(t, all, "m")
	require.Equal(t, "mira", all["mira k"].Name)
}

func TestNobodyIsShownByTheAddressOfAnIssuer(t *testing.T) {
	c, err := people(t, mayas)
	require.NoError(t, err)
	for id, want := range map[string]string{
		"github:Maya-W": "Maya Weber", "oidc:https://id.acme.example#maya": "Maya Weber",
		"oidc:https://other.example#maya": "maya (OIDC)", "github:rob": "rob (GitHub)", "saml:rob@acme.example": "rob@acme.example (SAML)",
		"oidc:https://other.example#Maya Weber":                   "Maya Weber (OIDC)",
		"oidc:https://other.example#Maya\u202e Weber\n":           "Maya Weber (OIDC)",
		"aws:arn:aws:iam::123456789012:role/backend":              "role/backend (AWS)",
		"oidc:https://ci.example#repo:acme/shop:ref:refs/heads/x": "acme/shop (workflow)",
		"lifecycle": "lifecycle", "": "",
	} {
		require.Equal(t, want, c.NameOf(id), id)
	}
}
