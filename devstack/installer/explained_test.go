package installer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
	runner "github.com/ocpctl/ocpctl/runner/installer"
)

func TestACauseBesideTheInstallersOwnSymptomsCanBePlayedOnBothClouds(t *testing.T) {
	for name, c := range map[string]struct {
		start  func(testing.TB) *installertest.World
		config func(name string) string
		step   string
		code   int
		say    string
		reason string
		retry  bool
	}{
		"a pull secret that the registry refuses": {
			installertest.Start, awsConfig, "api", 5,
			"level=info msg=Error: reading manifest sha256:0a1b in quay.io/openshift-release-dev/ocp-release: unauthorized: access to the requested resource is not authorized",
			"PullSecretRefused", false,
		},
		"S3 that says no more than denied": {
			installertest.Start, awsConfig, "network", 4,
			"level=debug msg=ensuring bucket policy: creating S3 bucket policy: AccessDenied: Access Denied", "AWSCreateNotPermitted", false,
		},
		"a base domain that is not delegated": {
			installertest.StartIBMCloud, ibmConfig, "api", 5,
			`Get "https://api.shop.labs.example.com:6443/version": dial tcp: lookup api.shop.labs.example.com on 10.0.0.2:53: no such host`, "BaseDomainNotDelegated", false,
		},
		"a token without access": {
			installertest.StartIBMCloud, ibmConfig, "network", 4,
			"level=debug msg=failed to create vpc: the provided token is not authorized to  the specified vpc (ID:NEWRESOURCE) in this account", "IBMNotAuthorized", false,
		},
		"IBM Cloud that asks to retry": {
			installertest.StartIBMCloud, ibmConfig, "network", 4,
			"The system is currently unable to fulfill the request. Please retry.", "IBMServiceUnavailable", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := c.start(t)
			dir := installertest.Dir(t, c.config("played"))
			require.NoError(t, installer.WriteFaults(w.Faults, installer.Faults{"create": {FailAt: c.step, Exit: c.code, Say: []string{c.say}, Times: 1}}))
			out := w.Run(t, dir, "create cluster")
			require.Equal(t, c.code, out.Code, out.Stderr)
			log, err := os.ReadFile(filepath.Join(dir, ".openshift_install.log"))
			require.NoError(t, err)
			got := runner.Explain(runner.Exit{Code: out.Code}, append(strings.Split(string(log), "\n"), strings.Split(out.Stderr, "\n")...)...)
			require.Equal(t, c.reason, got.Reason, got.Line)
			require.Equal(t, c.retry, got.Retryable)
		})
	}
}

func awsConfig(name string) string { return installertest.InstallConfig(name, "us-east-1", 0) }

func ibmConfig(name string) string { return installertest.IBMConfig(name, "", 0) }
