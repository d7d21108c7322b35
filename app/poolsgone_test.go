package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy/catalogue"
)

func TestAPoolIsGoneOnlyByAValidCatalogue(t *testing.T) {
	h := servicetest.With(t, servicetest.Catalogue(t, map[string]string{"pools/stock.yaml": "name: stock\nprofile: aws-minimal-test\nteam: platform\ncostCenter: sandbox\nenvironment: test\nsize: 1\nmax: 1\n"}))
	desiredBy := func(c catalogue.Catalogue) lifecycle.Desired {
		h.Catalogue = c
		require.NoError(t, h.Service.KeepPools(t.Context()))
		return h.Only().Desired
	}
	require.Equal(t, lifecycle.Present, desiredBy(h.Catalogue))
	require.Equal(t, lifecycle.Present, desiredBy(catalogue.Catalogue{}), "a server without a valid catalogue knows of no pool")
	require.Equal(t, lifecycle.Absent, desiredBy(servicetest.Catalogue(t, nil)))
}
