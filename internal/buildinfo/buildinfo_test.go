package buildinfo

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAReleaseIsNamedByItsTagAndCommit(t *testing.T) {
	b := fromBuild(&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.time", Value: "2026-11-01T10:00:00Z"}, {Key: "vcs.modified", Value: "true"},
	}})
	require.Equal(t, Info{Version: "v1.2.3", Commit: "0123456789abcdef0123", Time: "2026-11-01T10:00:00Z", Changed: true}, b)
	require.Contains(t, b.Line("ocpctl"), "ocpctl v1.2.3 (commit 0123456789ab, 2026-11-01T10:00:00Z, with local changes) go1.")
}

func TestABuildWithoutARepositorySaysSo(t *testing.T) {
	b := fromBuild(&debug.BuildInfo{})
	require.Equal(t, Info{Version: "(devel)"}, b)
	require.Regexp(t, `^ocpctl-server \(devel\) go1\.`, b.Line("ocpctl-server"))
	require.NotEmpty(t, Read().Version)
}
