package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/profiles"
)

func catalogueFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "catalogue")
	require.NoError(t, os.CopyFS(dir, profiles.EmbeddedFiles()))
	return dir
}

func TestASoundCatalogueIsSaidToBeSo(t *testing.T) {
	var out, errs bytes.Buffer
	require.NoError(t, validate([]string{catalogueFolder(t)}, &out, &errs))
	require.Regexp(t, `is sound: catalogue [0-9a-f]{12} with 5 profiles, 0 teams, 1 quota, 0 policies, 7 identities\n$`, out.String())
	require.Empty(t, errs.String())
}

func TestAnUnsoundCatalogueEndsWithEveryProblemAndOne(t *testing.T) {
	dir := catalogueFolder(t)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "teams"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "teams/platform.yaml"), []byte("name: platform\nbudget: {monthlyDollars: lots}\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "quotas/more.yml"), nil, 0o600))
	cmd := exec.Command(program, validateCommand, dir)
	said, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	require.True(t, errors.As(err, &exit))
	require.Equal(t, 1, exit.ExitCode())
	for _, want := range []string{
		dir + " holds 5 problems:\n",
		dir + "/quotas/more.yml: a file named .yml; accepted: a file named .yaml\n",
		dir + `/teams/platform.yaml:2: budget.monthlyDollars: "lots"; accepted: a whole number from 1 to 10000000` + "\n",
		dir + "/teams/platform.yaml:1: owner: missing; accepted: ",
		dir + "/teams/platform.yaml:1: costCenters: missing; accepted: ",
		dir + "/teams/platform.yaml:1: environments: missing; accepted: ",
	} {
		require.Contains(t, string(said), want)
	}
}

func TestValidatingSaysHowItIsAsked(t *testing.T) {
	for _, args := range [][]string{{}, {"a", "b"}} {
		require.ErrorContains(t, validate(args, &bytes.Buffer{}, &bytes.Buffer{}), "give the one folder")
	}
	require.ErrorIs(t, validate([]string{filepath.Join(t.TempDir(), "none")}, &bytes.Buffer{}, &bytes.Buffer{}), os.ErrNotExist)
}
