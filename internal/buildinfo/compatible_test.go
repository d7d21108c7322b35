package buildinfo

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyReleasesAreCompared(t *testing.T) {
	for _, c := range []struct {
		version, than string
		older         bool
	}{
		{"v1.2.3", "v1.10.0", true},
		{"v1.10.0", "v1.2.3", false},
		{"v1.2.3", "v1.2.3", false},
		{"v1.2.4-0.20260131120000-0123456789ab", "v2.0.0", false}, // a commit between two releases
		{"v1.2.3+dirty", "v2.0.0", false},
		{"(devel)", "v2.0.0", false},
		{"", "v2.0.0", false},
		{"v1.2", "v2.0.0", false},
	} {
		require.Equal(t, c.older, Older(c.version, c.than), c)
	}
	require.True(t, IsRelease(OldestClient))
	require.True(t, IsRelease(OldestServer))
}
