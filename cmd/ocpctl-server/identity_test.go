package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
)

func TestEveryClusterIsFrozenWithTheRunnersSettings(t *testing.T) {
	runner := config.Runner{
		CloudCredsRef: "aws-sm:cloud", SSHKeyRef: "aws-sm:ocpctl/ssh#private",
		Releases: map[string]string{"4.20.3": "quay.io/openshift-release-dev/ocp-release@sha256:" + strings.Repeat("0f", 32)},
	}
	runs := inner{cfg: config.Config{Runner: runner}}.installs()
	require.Equal(t, runner.CloudCredsRef, runs.CloudCredsRef)
	require.Equal(t, runner.SSHKeyRef, runs.SSHKeyRef)
	require.Equal(t, runner.Releases, runs.Releases)
}
