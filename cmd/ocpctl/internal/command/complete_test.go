package command_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
)

// completions are what is offered behind a line.
func (d *service) completions(args ...string) []string {
	require.Equal(d, exit.OK, d.run(append([]string{"__complete"}, args...)...))
	var out []string
	for line := range strings.SplitSeq(d.out.String(), "\n") {
		if value, _, _ := strings.Cut(line, "\t"); value != "" && !strings.HasPrefix(line, ":") {
			out = append(out, value)
		}
	}
	return out
}

func TestWhatTheServerKnowsIsCompleted(t *testing.T) {
	d := newService(t)
	for line, want := range map[string]string{
		"status ":                               "team-a-smoke-01 team-a-nightly pr41-shop",
		"status team-a-s":                       "team-a-smoke-01",
		"status clu_01J9ZQ0M7V3N6WZ6M4C8Q2K5RT": cluster,
		"destroy --cluster-id team-a-n":         "team-a-nightly",
		"status team-a-smoke-01 ":               "",
		"create ":                               "aws-minimal-test",
		"create aws-minimal-test --region ":     "us-east-1 eu-west-1",
		"create --region eu":                    "eu-west-1",
		"create aws-minimal-test --version ":    "4.20.3 4.20.4",
		"create --base-domain ":                 "labs.example.com",
		"create --team ":                        "team-a sandbox",
		"approve ":                              "apr_01J9ZQ0M7V3N6WZ6M4C8Q2K5RW",
		"account unlink ":                       "github:maya",
		"wait team-a-smoke-01 --for ":           "ready destroyed scaled refreshed asleep",
		"list --status ":                        "PENDING CREATING READY DESTROYING DESTROYED FAILED",
		"list -o ":                              "json yaml name wide",
		"completion ":                           "bash zsh fish powershell",
		"login --auth ":                         "browser aws github token-file token-command",
	} {
		args := strings.Fields(line)
		if strings.HasSuffix(line, " ") {
			args = append(args, "")
		}
		require.Equal(t, want, strings.Join(d.completions(args...), " "), line)
	}
}

func TestACompletionThatCannotBeAskedForIsSilent(t *testing.T) {
	d := newService(t)
	d.env["OCPCTL_TOKEN"] = "wrong"
	require.Empty(t, d.completions("status", ""))
	require.NotContains(t, d.err.String(), "not known")
	d.env = map[string]string{"HOME": t.TempDir()}
	require.Empty(t, d.completions("status", ""))
	require.Empty(t, d.completions("logout", ""))
}

func TestEveryShellGetsItsScript(t *testing.T) {
	d := newService(t)
	for shell, sign := range map[string]string{"bash": "__start_ocpctl", "zsh": "#compdef ocpctl", "fish": "complete -c ocpctl", "powershell": "Register-ArgumentCompleter"} {
		require.Equal(t, exit.OK, d.run("completion", shell))
		require.Contains(t, d.out.String(), sign)
		if shell == "bash" {
			check := exec.Command("bash", "-n")
			check.Stdin = strings.NewReader(d.out.String())
			said, err := check.CombinedOutput()
			require.NoError(t, err, string(said))
		}
	}
}
