//go:build jenkins

package scripts_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// These tests run with make test-jenkins. They need groovy 2.4, the version in Jenkins.

// with runs the library's step withCluster in Groovy, with a body, and returns what the build's log shows.
func (j *jenkins) with(options, body string) (string, error) {
	j.Helper()
	var tokens []string
	for range 20 {
		tokens = append(tokens, j.build())
	}
	dir := j.TempDir()
	file := filepath.Join(dir, "tokens")
	require.NoError(j, os.WriteFile(file, []byte(strings.Join(tokens, "\n")), 0o600))
	groovy, err := exec.LookPath("groovy")
	require.NoError(j, err)
	cmd := exec.CommandContext(j.Context(), groovy, "testdata/jenkins.groovy", library, file, dir, "withCluster("+options+") {\n"+body+"\n}")
	cmd.Env = append(os.Environ(), append(j.env[1:], "STEPS_PATH="+j.path)...)
	out, err := cmd.CombinedOutput()
	j.holdsNoSecret(string(out))
	if left, _ := filepath.Glob(filepath.Join(dir, "*kubeconfig")); left != nil {
		j.Errorf("a kubeconfig is left: %v", left)
	}
	return string(out), err
}

func TestWithClusterRunsItsBodyOnAClusterThatIsDestroyedThen(t *testing.T) {
	j := inJenkins(t)
	log, err := j.with("server: '"+j.url+"', profile: 'aws-minimal-test'", "sh 'oc get nodes'")
	require.NoError(t, err, log)
	require.Contains(t, log, "oc get nodes")
	row := j.only()
	require.Equal(t, "aws-minimal-test", row.Profile)
	require.Equal(t, lifecycle.Absent, row.Desired)
	require.Contains(t, row.DesiredWhy.String(), "its build released it")
}

func TestWithClusterHasAClusterForEachSlot(t *testing.T) {
	j := inJenkins(t)
	log, err := j.with("server: '"+j.url+"', waitHours: 3, slot: 'outer'", "withCluster(server: '"+j.url+"', slot: 'inner') { sh 'oc get nodes' }")
	require.NoError(t, err, log)
	require.Len(t, j.clusters(), 2)
	for _, row := range j.clusters() {
		require.Equal(t, lifecycle.Absent, row.Desired)
	}
}

func TestWithClusterDestroysTheClusterWhateverFailed(t *testing.T) {
	for name, c := range map[string]struct {
		becomes         become
		options, body   string
		says            string
		clustersOfBuild int
	}{
		"the body fails":         {ready, "", "sh 'exit 3'", "exit code 3", 1},
		"the installation fails": {failed, "", "sh 'oc get nodes'", "is not ready", 1},
		"no server is given":     {ready, "server: null", "sh 'oc get nodes'", "withCluster needs server", 0},
		"the wait is a text":     {ready, "server: 'https://ocpctl.example.com', waitHours: '3'", "sh 'oc get nodes'", "waitHours is a number", 0},
		"there is no wait":       {ready, "server: 'https://ocpctl.example.com', waitHours: 0", "sh 'oc get nodes'", "waitHours is a number", 0},
	} {
		t.Run(name, func(t *testing.T) {
			j := inJenkins(t)
			j.becomes = c.becomes
			options := c.options
			if options == "" {
				options = "server: '" + j.url + "'"
			}
			log, err := j.with(options, c.body)
			require.Error(t, err)
			require.Contains(t, log, c.says)
			require.Len(t, j.clusters(), c.clustersOfBuild)
			for _, row := range j.clusters() {
				require.Equal(t, lifecycle.Absent, row.Desired)
			}
		})
	}
}

func TestWithClusterDestroysTheClusterOfABuildThatWasAbortedWhileItWasRequested(t *testing.T) {
	j := inJenkins(t)
	j.env = append(j.env, "ABORT_DURING=Create a cluster")
	log, err := j.with("server: '"+j.url+"'", "sh 'oc get nodes'")
	require.Error(t, err)
	require.Contains(t, log, "the build was aborted")
	require.NotContains(t, log, "oc get nodes")
	require.Equal(t, lifecycle.Absent, j.only().Desired)
}

func TestWithClusterRepeatsARequestUnlessItWasRefused(t *testing.T) {
	for code, repeated := range map[string]bool{"1": true, "2": false, "3": false, "5": true, "6": false, "130": true} {
		t.Run(code, func(t *testing.T) {
			j := inJenkins(t)
			require.NoError(t, os.Remove(filepath.Join(j.path, "ocpctl")))
			j.program(j.path, "ocpctl", "echo request >&2; exit "+code)
			log, err := j.with("server: '"+j.url+"'", "sh 'oc get nodes'")
			require.Error(t, err)
			require.Contains(t, log, "RuntimeException: The request for a cluster ended with exit code "+code+".", "the failure of the request is the build's")
			said := "Could not find out whether a cluster was created: The request for a cluster ended with exit code " + code + ". If one was, it ends with its time to live."
			require.Equal(t, repeated, strings.Contains(log, said), log)
			requests := 1
			if repeated {
				requests = 2
			}
			require.Equal(t, requests, strings.Count(log, "\nrequest\n"), log)
		})
	}
}

func TestWithClusterSaysWhyTheBuildGotNoCluster(t *testing.T) {
	j := inJenkins(t)
	log, err := j.with("server: '"+j.url+"', version: 'none'", "sh 'oc get nodes'")
	require.Error(t, err)
	require.Contains(t, log, "RuntimeException: The request for a cluster ended with exit code 6.", "the failure of the request is the build's")
	require.NotContains(t, log, "Could not find out")
	require.Empty(t, j.clusters())
}
