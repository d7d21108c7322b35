package devstack

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/installer"
)

func TestARealInstallerIsOfferedInACatalogueThatIsThere(t *testing.T) {
	h := &Stack{Config: Config{Dir: t.TempDir()}}
	require.NoError(t, h.catalogue())
	path := h.path("catalogue", "profiles", "aws-minimal-test.yaml")
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(raw), installer.RealVersion)
	require.NoError(t, os.WriteFile(path, append(raw, "# edited\n"...), 0o600))

	h.Real = "real"
	for range 2 {
		require.NoError(t, h.catalogue())
		raw, err = os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(raw), `default: "`+installer.RealVersion+`"`)
		require.Equal(t, 2, strings.Count(string(raw), installer.RealVersion), "as the default and in the list")
		require.Contains(t, string(raw), "# edited\n")
	}
}
