package api

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
)

func TestAFieldThatIsNotSupportedNamesTheNearestOrWhatIs(t *testing.T) {
	var request v1.CreateRequest
	require.Greater(t, len(fields(&request)), mostNamed, "a request has more fields than anybody reads in a message")
	for name, accept := range map[string][]string{
		"proxy":   {"the fields in /api/v1/openapi.yaml"},
		"profiel": {"profile"},
	} {
		wrong, err := strictly([]byte(`{"`+name+`": 1}`), &request)
		require.NoError(t, err)
		found := false
		for _, f := range wrong {
			if f.Name == name {
				found = true
				require.Contains(t, f.Detail, "this field is not supported")
				require.Equal(t, accept, f.Accept)
			}
		}
		require.True(t, found)
	}
	require.Equal(t, []string{"reason"}, noField("proxy", []string{"reason"}).Accept)
}
