package api

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/internal/strict"
)

func TestAFieldThatIsNotSupportedNamesTheNearestOrWhatIs(t *testing.T) {
	var request v1.CreateRequest
	require.Greater(t, len(strict.Fields(reflect.TypeFor[v1.CreateRequest]())), mostNamed, "a request has more fields than anybody reads in a message")
	for name, accept := range map[string][]string{
		"proxy":   {"the fields in /api/v1/openapi.yaml"},
		"profiel": {"profile"},
	} {
		wrong, err := strict.Decode([]byte(`{"`+name+`": 1}`), &request)
		require.NoError(t, err)
		found := false
		for _, f := range fieldProblems(wrong) {
			if f.Name == name {
				found = true
				require.Contains(t, f.Detail, "this field is not supported")
				require.Equal(t, accept, f.Accept)
			}
		}
		require.True(t, found)
	}
	require.Equal(t, []string{"reason"}, fieldProblems([]strict.Problem{{Name: "proxy", Fault: strict.Unknown, Known: []string{"reason"}}})[0].Accept)
}
