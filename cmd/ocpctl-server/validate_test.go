package main

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
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
	require.NoError(t, validateCatalogue([]string{catalogueFolder(t)}, &out, &errs))
	require.Regexp(t, `is valid: catalogue [0-9a-f]{12} with 5 profiles, 0 teams, 1 quota, 0 policies, 7 identities\n$`, out.String())
	require.Empty(t, errs.String())

	out.Reset()
	require.NoError(t, validateCatalogue([]string{"-config", written(t, "ocpctl.yaml", "installation: blue\ncatalogue: {dir: "+catalogueFolder(t)+"}\n")}, &out, &errs))
	require.Contains(t, out.String(), "is valid: catalogue ")
	require.ErrorContains(t, validateCatalogue([]string{"-config", written(t, "ocpctl.yaml", "installation: blue\n")}, &out, &errs), "has no catalogue.dir")
}

func TestAnUnsoundCatalogueEndsWithEveryProblemAndOne(t *testing.T) {
	dir := catalogueFolder(t)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "teams"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "teams/platform.yaml"), []byte("name: platform\nbudget: {monthlyDollars: lots}\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "quotas/more.yml"), nil, 0o600))
	cmd := exec.Command(filepath.Join(programs, "ocpctl-server"), validateCommand, dir)
	said, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	require.True(t, errors.As(err, &exit))
	require.Equal(t, 1, exit.ExitCode())
	for _, want := range []string{
		dir + " has 5 problems:\n",
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
	for _, args := range [][]string{{}, {"a", "b"}, {"-config", "c", "a"}} {
		require.ErrorContains(t, validateCatalogue(args, &bytes.Buffer{}, &bytes.Buffer{}), "give the catalogue's directory")
	}
	require.ErrorIs(t, validateCatalogue([]string{filepath.Join(t.TempDir(), "none")}, &bytes.Buffer{}, &bytes.Buffer{}), os.ErrNotExist)
}

func TestACatalogueThatIsNotSoundStopsOnlyWhoHasNothingToEnd(t *testing.T) {
	dir := catalogueFolder(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "quotas/quotas.yaml"), []byte("quotas: []\n"), 0o600))
	cfg := config.Config{Catalogue: config.Catalogue{Dir: dir}}
	_, err := openCatalogue(cfg, config.Roles{config.APIRole}, slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, dir+"/quotas/quotas.yaml:1: quotas: a list of 0")
	live, err := openCatalogue(cfg, config.Roles{config.APIRole, config.WorkerRole}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.Empty(t, live.Current().Names())
	require.Error(t, live.Status().Err)
}

func TestARequestIsRenderedFromTheCatalogueOfTheConfiguration(t *testing.T) {
	dir := catalogueFolder(t)
	file := filepath.Join(dir, "profiles/aws-minimal-test.yaml")
	body, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, bytes.ReplaceAll(body, []byte("m6i.xlarge"), []byte("m6i.2xlarge")), 0o600))
	path := written(t, "ocpctl.yaml", "installation: blue\ncatalogue: {dir: "+dir+"}\n")
	out, _, err := rendering(t, sample, "--request", "-", "--config", path)
	require.NoError(t, err)
	require.Contains(t, out, "type: m6i.2xlarge")

	require.NoError(t, os.WriteFile(file, []byte("name: x\n"), 0o600))
	_, _, err = rendering(t, sample, "--request", "-", "--config", path)
	require.ErrorContains(t, err, file+":1: name: ")
}
