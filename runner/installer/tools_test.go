package installer

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever may change a cluster's API, or the image that oc asks for, must not get at the account.
func TestOCGetsNothingOfTheCloud(t *testing.T) {
	dir, out := t.TempDir(), listen()
	for _, name := range []string{ocName, ccoctlName} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "4.20.3"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "4.20.3", name), []byte("#!/bin/sh\nenv\n"), 0o700))
	}
	tools := &Tools{
		Dir: dir, Version: "4.20.3", Image: "quay.io/x@sha256:0", Into: t.TempDir(), OnLine: out.add, Registry: func(context.Context) (string, error) { return "pull.json", nil },
		Tool: *shell(t, "IC_API_KEY=CANARY-own", "AWS_SECRET_ACCESS_KEY=CANARY-own", "OCPCTL_STANDIN_PACE=1ms"),
	}
	tools.Tool.Cloud = map[string]string{
		"IC_API_KEY": "CANARY-key", "IBMCLOUD_IAM_API_ENDPOINT": "https://iam.example.com", "AWS_SHARED_CREDENTIALS_FILE": "/CANARY-file", "AWS_REGION": "us-east-1",
	}
	oc, err := tools.OC()
	require.NoError(t, err)
	_, err = oc.Run(t.Context(), Command{Args: []string{"get", "nodes"}, OnLine: out.add})
	require.NoError(t, err)
	require.Error(t, tools.CredentialsRequests(t.Context(), t.TempDir()), "the program wrote none")
	got := strings.Join(out.lines, "\n")
	require.Equal(t, 2, strings.Count(got, "OCPCTL_STANDIN_PACE=1ms"), "both calls told their environment")
	for _, never := range []string{"CANARY", "IC_API_KEY", "IBMCLOUD_", "AWS_"} {
		require.NotContains(t, got, never)
	}

	out = listen()
	ccoctl, err := tools.CCOCtl(t.Context())
	require.NoError(t, err)
	_, err = ccoctl.Run(t.Context(), Command{OnLine: out.add})
	require.NoError(t, err)
	require.Contains(t, out.lines, "IC_API_KEY=[redacted]", "it reads its key nowhere else, and no log shows it")
}
