package scripts_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
)

const library = "../../../workflows/jenkins"

// jenkins is a build whose steps run as processes.
type jenkins struct {
	*office
	path string
	env  []string
}

// inJenkins is an office that takes tokens of the job shop.
func inJenkins(t *testing.T) *jenkins {
	t.Helper()
	o := newOffice(t, "", `{sub: ["https://jenkins.example.com/job/shop/"]}`)
	j := &jenkins{office: o, path: o.image("cksum", "cut", "rm")}
	o.program(j.path, "oc", `test -s "$KUBECONFIG" && echo "oc $*"`)
	dir := t.TempDir()
	ca := filepath.Join(dir, "ca.crt")
	require.NoError(t, os.WriteFile(ca, o.ca, 0o600))
	j.env = []string{"PATH=" + j.path, "HOME=" + dir, "OCPCTL_CA_FILE=" + ca, "BUILD_URL=https://jenkins.example.com/job/shop/7/"}
	return j
}

// build returns a token of a build, with the claims that Jenkins' plugin oidc-provider sets.
func (j *jenkins) build() string {
	j.Helper()
	raw, err := j.token(j.url, "https://jenkins.example.com/job/shop/", map[string]any{"build_number": 7})
	require.NoError(j, err)
	return raw
}

// sh runs a script of the library as the step sh does.
func (j *jenkins) sh(script string, env ...string) (string, error) {
	j.Helper()
	text, err := os.ReadFile(filepath.Join(library, "resources", "ocpctl", script))
	require.NoError(j, err)
	cmd := exec.CommandContext(j.Context(), "/bin/sh", "-xe", "-c", string(text)) // the library's script
	cmd.Env = append(append(j.env, "CI=true", "OCPCTL_SERVER="+j.url, "OCPCTL_TOKEN="+j.build()), env...)
	var shown, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &shown, &problems
	failed := cmd.Run()
	j.holdsNoSecret(shown.String(), problems.String())
	if failed != nil {
		return shown.String() + problems.String(), failed
	}
	return shown.String(), nil
}

func TestTheScriptsForJenkinsCreateAndReleaseACluster(t *testing.T) {
	j := inJenkins(t)
	asked := []string{"OCPCTL_PROFILE=aws-minimal-test", "OCPCTL_VERSION=4.20.1", "OCPCTL_REGION=us-east-2", "OCPCTL_TEAM=platform", "OCPCTL_TTL=3h"}
	id, err := j.sh("create.sh", asked...)
	require.NoError(t, err, id)
	row := j.only()
	require.Equal(t, row.ID+"\n", id)
	require.Regexp(t, `^ci-\d+$`, row.Name)
	require.Equal(t, []string{"4.20.1", "us-east-2"}, []string{row.Release, row.Region})
	again, err := j.sh("create.sh", asked...)
	require.NoError(t, err, again)
	require.Equal(t, id, again, "the same slot of the same build gets the same cluster")

	log, err := j.sh("wait.sh", "OCPCTL_CLUSTER_ID="+row.ID)
	require.NoError(t, err, log)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, nil, 0o600))
	log, err = j.sh("release.sh", "OCPCTL_CLUSTER_ID="+row.ID, "KUBECONFIG="+kubeconfig)
	require.NoError(t, err, log)
	require.NoFileExists(t, kubeconfig)
	require.Equal(t, lifecycle.Absent, j.only().Desired)
	again, err = j.sh("create.sh", asked...)
	require.NoError(t, err, again)
	require.Equal(t, id, again, "also one that is gone")
}

func TestEverySlotOfAJenkinsBuildHasItsOwnCluster(t *testing.T) {
	j := inJenkins(t)
	create := func(env ...string) string {
		id, err := j.sh("create.sh", append([]string{"OCPCTL_PROFILE=", "OCPCTL_VERSION=", "OCPCTL_REGION=", "OCPCTL_TEAM=", "OCPCTL_TTL=4h"}, env...)...)
		require.NoError(t, err, id)
		return id
	}
	unit, e2e := create("OCPCTL_SLOT=", "STAGE_NAME=unit tests"), create("OCPCTL_SLOT=", "STAGE_NAME=e2e tests")
	require.NotEqual(t, unit, e2e, "by default a stage is a slot")
	require.Equal(t, unit, create("OCPCTL_SLOT=unit tests", "STAGE_NAME=e2e tests"))
	create("OCPCTL_SLOT=upgrade", "STAGE_NAME=e2e tests")
	create("OCPCTL_SLOT=")
	require.Len(t, j.clusters(), 4)
}

func TestAValueOfAJenkinsBuildIsNeverAFlag(t *testing.T) {
	j := inJenkins(t)
	log, err := j.sh("create.sh", "OCPCTL_SLOT=", "OCPCTL_PROFILE=--help", "OCPCTL_VERSION=", "OCPCTL_REGION=", "OCPCTL_TEAM=", "OCPCTL_TTL=4h")
	require.Error(t, err, log)
	require.NotContains(t, log, "Usage")
	for _, script := range []string{"wait.sh", "release.sh"} {
		log, err = j.sh(script, "OCPCTL_CLUSTER_ID=--help", "KUBECONFIG="+filepath.Join(t.TempDir(), "none"))
		require.ErrorContains(t, err, "exit status 4", log)
	}
}

func TestTheWaitForJenkinsIsShorterThanItsTokenLasts(t *testing.T) {
	j := inJenkins(t)
	defaults := []string{"OCPCTL_PROFILE=", "OCPCTL_VERSION=", "OCPCTL_REGION=", "OCPCTL_TEAM=", "OCPCTL_TTL=4h"}
	j.becomes = pending
	id, err := j.sh("create.sh", defaults...)
	require.NoError(t, err, id)
	_, err = j.sh("wait.sh", "OCPCTL_CLUSTER_ID="+j.only().ID, "OCPCTL_ROUND=1ms")
	require.ErrorContains(t, err, "exit status 124")
	change := func(set string) {
		_, err := j.store.Pool().Exec(t.Context(), `UPDATE clusters SET `+set)
		require.NoError(t, err)
	}
	change(`needs_approval = true, phase = 'awaiting_approval', approve_by = now() + interval '8 hours'`)
	_, err = j.sh("wait.sh", "OCPCTL_CLUSTER_ID="+j.only().ID, "OCPCTL_ROUND=1ms")
	require.ErrorContains(t, err, "exit status 124", "somebody may approve it in another round")
	change(`needs_approval = false, phase = 'queued', approve_by = NULL`)

	j.becomes = failed
	j.settle()
	log, err := j.sh("wait.sh", "OCPCTL_CLUSTER_ID="+j.only().ID)
	require.Error(t, err)
	require.NotEqual(t, "exit status 124", err.Error())
	require.Contains(t, log, "the VPC limit is reached")
}
