package strict

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestABodyIsOneDocument(t *testing.T) {
	root, err := Read(strings.NewReader("name: shop\n"))
	require.NoError(t, err)
	require.Len(t, Members(root, nil), 1)
	_, err = Read(strings.NewReader(""))
	require.ErrorIs(t, err, ErrEmpty)
	_, err = Read(strings.NewReader("name: shop\nteam: [\n"))
	var syntax *SyntaxError
	require.ErrorAs(t, err, &syntax)
	require.Greater(t, syntax.Line, 1)
	require.NotContains(t, syntax.Text, "line")
	require.NotContains(t, err.Error(), "yaml:")
	root, err = Read(strings.NewReader("name: shop\n---\nname: other\n"))
	var several *SeveralError
	require.ErrorAs(t, err, &several)
	require.Equal(t, 2, several.Line)
	require.Equal(t, "shop", Members(root, nil)[0].Value.Value)
}

func TestNamesThatAreUnknownOrGivenTwiceAreFaults(t *testing.T) {
	root, err := Read(strings.NewReader(`{name: a, nmae: b, name: c, proxy: d}`))
	require.NoError(t, err)
	var faults []string
	for _, m := range Members(root, []string{"name", "team"}) {
		faults = append(faults, m.Name+" "+string(m.Fault)+" "+m.Near)
	}
	require.Equal(t, []string{"name  ", "nmae unknown name", "name twice ", "proxy unknown "}, faults)
}

func TestEverythingThatIsWrongWithAnObjectIsFoundAtOnce(t *testing.T) {
	type document struct {
		Name  string   `json:"name"`
		Hours int      `json:"hours,omitempty"`
		Team  string   `json:"team"`
		Tags  []string `json:"tags,omitempty"`
	}
	var into document
	wrong, err := Decode([]byte(`{"name": "shop", "name": "other", "hours": "8", "tgas": []}`), &into)
	require.NoError(t, err)
	known := []string{"name", "hours", "team", "tags"}
	require.Equal(t, []Problem{
		{Name: "hours", Fault: Invalid, Got: `"8"`, Accept: "a whole number"},
		{Name: "name", Fault: Twice, Known: known},
		{Name: "team", Fault: Missing, Accept: "a string"},
		{Name: "tgas", Fault: Unknown, Near: "tags", Known: known},
	}, wrong)
	require.Equal(t, "shop", into.Name)
	for text, want := range map[string]string{
		"null": "it is not a single object", "[]": "it is a JSON array, not an object", `{"name": 1`: "unexpected end of JSON input", `{} {}`: "invalid character '{' after top-level value",
	} {
		_, err := Decode([]byte(text), &into)
		require.EqualError(t, err, want, text)
	}
}

func TestADocumentOfManyNamesIsReadInOnePass(t *testing.T) {
	members := make([]Member[int], 1_000_000) // comparing each with each would outlast the test's time limit
	for i := range members {
		members[i].Name = fmt.Sprintf("%07d", i)
	}
	members[len(members)-1].Name = members[0].Name
	checkNames(members, nil)
	require.Equal(t, Twice, members[len(members)-1].Fault)
	require.False(t, slices.ContainsFunc(members[:len(members)-1], func(m Member[int]) bool { return m.Fault != "" }))
}
