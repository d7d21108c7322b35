package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
)

func TestEveryClusterIsFrozenWithTheRunnersSettingsAndItsCloudsKeys(t *testing.T) {
	runner := config.Runner{
		CloudCredsRef: "aws-sm:cloud", SSHKeyRef: "aws-sm:ocpctl/ssh#private",
		Releases: map[string]string{"4.20.3": "quay.io/openshift-release-dev/ocp-release@sha256:" + strings.Repeat("0f", 32)},
	}
	ibm := config.Cloud{Account: strings.Repeat("0a", 16), CredentialsRef: "aws-sm:ibm"}
	runs := inner{cfg: config.Config{Runner: runner, Account: "123456789012", Clouds: config.Clouds{IBMCloud: ibm}}}.installSettings()
	require.Equal(t, map[string]app.Cloud{"aws": {Account: "123456789012", CredentialsRef: runner.CloudCredsRef}, "ibmcloud": app.Cloud(ibm)}, runs.Clouds)
	require.Equal(t, runner.SSHKeyRef, runs.SSHKeyRef)
	require.Equal(t, runner.Releases, runs.Releases)
}
