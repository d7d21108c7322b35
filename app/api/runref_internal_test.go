package api

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARunIsFoundByAnyAddressBelowItsPage(t *testing.T) {
	for given, want := range map[string]string{
		"https://github.com/acme/shop/actions/runs/5/job/7":              "https://github.com/acme/shop/actions/runs/5",
		"https://github.com/acme/job/actions/runs/5/attempts/2?pr=1#sum": "https://github.com/acme/job/actions/runs/5",
		"https://gitlab.com/acme/job/shop/-/pipelines/9":                 "https://gitlab.com/acme/job/shop/-/pipelines/9",
		"https://gitlab.com/acme/attempts/shop/-/pipelines/9/":           "https://gitlab.com/acme/attempts/shop/-/pipelines/9",
		"run_01J9ZQ0M7V3N6WZ6M4C8Q2K5RT":                                 "run_01J9ZQ0M7V3N6WZ6M4C8Q2K5RT",
	} {
		require.Equal(t, want, runRef(given))
	}
}
