package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// command runs the program with an environment that holds nothing but these variables.
func command(t *testing.T, env []string, args ...string) (out, errs string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(programs, "ocpctl-server"), args...)
	var o, e bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = append(env, "PATH=/usr/bin:/bin"), &o, &e
	err := cmd.Run()
	if _, ended := err.(*exec.ExitError); !ended {
		require.NoError(t, err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

func TestTheEffectiveConfigurationIsPrinted(t *testing.T) {
	path := write(t, "ocpctl.yaml", "database_url_ref: file:/db\nlimits: {wake: 7s}\ngithub: {webhook_secret_ref: 'file:/w'}\n")
	out, errs, code := command(t, []string{"OCPCTL_LIMITS_FINDINGS=2m", "OCPCTL_ROLES=hooks"}, "config", "-config", path)
	require.Zero(t, code, errs)
	require.Regexp(t, `(?m)^limits.wake +7s +line 2$`, out)
	require.Regexp(t, `(?m)^limits.findings +2m0s +OCPCTL_LIMITS_FINDINGS$`, out)
	require.Regexp(t, `(?m)^limits.keep +720h0m0s +default$`, out)

	out, errs, code = command(t, nil, "config", "-config", path, "-roles", "hooks,worker", "-o", "yaml")
	require.Equal(t, 1, code, "it is printed, although the role worker could not start with it")
	require.Contains(t, out, "wake: 7s # line 2")
	require.Contains(t, errs, "not set: runner.program is empty; the role worker needs")

	_, errs, code = command(t, nil, "config", "-config", path, "-o", "xml")
	require.Equal(t, 1, code)
	require.Contains(t, errs, `-o is "xml"; give table or yaml`)
}

func TestDoctorSaysWhatIsWrongAndFails(t *testing.T) {
	path := write(t, "ocpctl.yaml", "database_url_ref: file:/none/db\nlisten: {public: '127.0.0.1:0'}\ngithub: {webhook_secret_ref: 'file:/none/w'}\n")
	out, errs, code := command(t, nil, "doctor", "-config", path, "-roles", "hooks", "-o", "json")
	require.Equal(t, 1, code)
	require.Contains(t, errs, "a check failed")
	var document struct {
		Failed  int
		Results []struct{ Check, Status, Found, Next string }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &document))
	require.Equal(t, 2, document.Failed, out)
	require.Equal(t, "configuration.valid", document.Results[0].Check)

	out, _, code = command(t, []string{"OCPCTL_LIMITS_WAK=1s"}, "doctor", "-config", path, "-roles", "hooks")
	require.Equal(t, 1, code)
	require.Contains(t, out, "OCPCTL_LIMITS_WAK: unknown environment variable; did you mean OCPCTL_LIMITS_WAKE?")
}

func TestACommandThatIsNoneIsNamed(t *testing.T) {
	_, errs, code := command(t, nil, "docktor")
	require.Equal(t, 1, code)
	require.Contains(t, errs, `"docktor" is not a command; the commands are config, doctor, migrate, recover, refresh-prices, render-install-config, validate-catalogue`)
	_, errs, code = command(t, []string{"OCPCTL_MIGRATE=maybe"}, "-version")
	require.Equal(t, 1, code)
	require.Contains(t, errs, `OCPCTL_MIGRATE is "maybe"; give true or false`)
}
