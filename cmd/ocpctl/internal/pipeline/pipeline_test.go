package pipeline_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/pipeline"
)

// machine is a runner's side: its files and the log, read as the runner reads them.
type machine struct {
	*pipeline.Runner
	env map[string]string
	log bytes.Buffer
}

func newMachine(dir string) *machine {
	m := &machine{env: map[string]string{}}
	for _, name := range []string{"GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"} {
		m.env[name] = filepath.Join(dir, name)
	}
	m.Runner = pipeline.New(func(name string) string { return m.env[name] }, &m.log)
	return m
}

func (m *machine) file(t require.TestingT, name string) string {
	raw, err := os.ReadFile(m.env[name])
	require.NoError(t, err)
	return string(raw)
}

// pairs reads a file of names and values as the runner does: a line with << before any = begins a value that ends with the line behind it.
// https://github.com/actions/runner/blob/main/src/Runner.Worker/FileCommandManager.cs
func pairs(text string) (found [][2]string, err error) {
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSuffix(lines[i], "\r")
		equals, heredoc := strings.Index(line, "="), strings.Index(line, "<<")
		switch {
		case line == "":
		case equals >= 0 && (heredoc < 0 || equals < heredoc):
			found = append(found, [2]string{line[:equals], line[equals+1:]})
		case heredoc >= 0:
			var value []string
			for i++; ; i++ {
				if i >= len(lines) {
					return nil, fmt.Errorf("no end of %q", line)
				}
				if strings.TrimSuffix(lines[i], "\r") == line[heredoc+2:] {
					break
				}
				value = append(value, lines[i])
			}
			found = append(found, [2]string{line[:heredoc], strings.Join(value, "\n")})
		default:
			return nil, fmt.Errorf("invalid line %q", line)
		}
	}
	return found, nil
}

// hostile are texts that would like to be more than a text.
var hostile = rapid.Custom(func(t *rapid.T) string {
	parts := rapid.SliceOfN(rapid.OneOf(
		rapid.SampledFrom([]string{"\n", "\r", "\r\n", "::", "##[", "]", "%", "%0A", "<<", "=", "EOF", "ocpctl_", "::add-mask::x", "::error::x", "##[error]x", "name=x", " ", "\t", "::stop-commands::x", "KUBECONFIG<<E\nx\nE"}),
		rapid.String(),
	), 0, 8).Draw(t, "parts")
	return strings.Join(parts, "")
})

func TestNoValueSetsAnythingElse(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(dir)
		for _, name := range m.env {
			require.NoError(t, os.WriteFile(name, nil, 0o600))
		}
		var want [][2]string
		for range rapid.IntRange(1, 4).Draw(t, "number") {
			name, value := rapid.SampledFrom([]string{"cluster-id", "name", "price"}).Draw(t, "name"), hostile.Draw(t, "value")
			require.NoError(t, m.Output(name, value))
			want = append(want, [2]string{name, value})
		}
		got, err := pairs(m.file(t, "GITHUB_OUTPUT"))
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func TestTheEndOfAValueIsDifferentEachTime(t *testing.T) {
	m := newMachine(t.TempDir())
	require.NoError(t, m.Output("a", "1"))
	require.NoError(t, m.Export("B_2", "2\n3"))
	require.NoError(t, m.Output("c", "4"))
	require.Regexp(t, "^a<<(ocpctl_[A-Z2-7]{26})\n1\nocpctl_[A-Z2-7]{26}\nc<<", m.file(t, "GITHUB_OUTPUT"))
	ends := map[string]bool{}
	for line := range strings.SplitSeq(m.file(t, "GITHUB_OUTPUT")+m.file(t, "GITHUB_ENV"), "\n") {
		if _, end, begins := strings.Cut(line, "<<"); begins {
			require.False(t, ends[end])
			ends[end] = true
		}
	}
	require.Len(t, ends, 3)
}

func TestANameThatIsNoneIsRefused(t *testing.T) {
	m := newMachine(t.TempDir())
	for _, name := range []string{"", "a b", "a=b", "a\nb", "a<<b", "1a", "ä"} {
		require.ErrorContains(t, m.Output(name, "x"), "is not a valid name", name)
		require.ErrorContains(t, m.Export(name, "x"), "is not a valid name", name)
	}
	require.ErrorContains(t, m.Export("a-b", "x"), "is not a valid name", "a shell could not read it")
	require.ErrorContains(t, m.AddPath("/tmp\n/evil"), "contains a line end")
	require.NoError(t, m.AddPath("/opt/ocpctl"))
	require.Equal(t, "/opt/ocpctl\n", m.file(t, "GITHUB_PATH"))
	require.NoFileExists(t, m.env["GITHUB_OUTPUT"])
	delete(m.env, "GITHUB_OUTPUT")
	require.ErrorContains(t, m.Output("a", "x"), "GITHUB_OUTPUT is not set: this command is run by a step of GitHub Actions")
	require.ErrorContains(t, m.Summary(strings.Repeat("x", 1<<20+1)), "at most 1048576 are shown")
}

// commands are the lines that the runner takes for a command, in both forms.
// https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
func commands(log string) (found []string) {
	for _, line := range strings.FieldsFunc(log, func(r rune) bool { return r == '\n' || r == '\r' }) {
		old := strings.Index(line, "##[")
		if strings.HasPrefix(strings.TrimSpace(line), "::") || old >= 0 && strings.Contains(line[old:], "]") {
			found = append(found, line)
		}
	}
	return found
}

func TestNoLineOfALogIsACommand(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(dir)
		log := m.Log()
		for _, part := range rapid.SliceOf(hostile).Draw(t, "parts") {
			n, err := log.Write([]byte(part))
			require.NoError(t, err)
			require.Len(t, part, n)
		}
		require.NoError(t, log.Close())
		require.Empty(t, commands(m.log.String()))
	})
}

func TestALogIsOtherwiseAsItWas(t *testing.T) {
	m := newMachine(t.TempDir())
	log := m.Log()
	for _, part := range []string{"12:00:00  shop", "  READY\n\n", "a::b c # [x]\nlast"} {
		_, err := log.Write([]byte(part))
		require.NoError(t, err)
	}
	require.NoError(t, log.Close())
	require.Equal(t, "12:00:00  shop  READY\n\na::b c # [x]\nlast\n", m.log.String())
}

func TestNoTextOfAnAnnotationEndsIt(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(dir)
		m.Error(hostile.Draw(t, "title"), hostile.Draw(t, "text"))
		end := m.Group(hostile.Draw(t, "group"))
		end()
		m.Mask(hostile.Draw(t, "secret"))
		lines := strings.Split(strings.TrimSuffix(m.log.String(), "\n"), "\n")
		require.GreaterOrEqual(t, len(lines), 3)
		for i, line := range lines {
			want := "::add-mask::"
			if i < 3 {
				want = []string{"::error", "::group::", "::endgroup::"}[i]
			}
			require.True(t, strings.HasPrefix(line, want), "%q", line)
			require.NotContains(t, line, "\r")
		}
	})
}

func TestAnAnnotationIsEscapedAsTheRunnerReadsIt(t *testing.T) {
	m := newMachine(t.TempDir())
	m.Warning("a: b, c", "100 % of\n  it")
	m.Notice("", "plain")
	require.Equal(t, "::warning title=a%3A b%2C c::100 %25 of it\n::notice::plain\n", m.log.String())
}

func TestASecretIsMaskedLineByLine(t *testing.T) {
	m := newMachine(t.TempDir())
	m.Mask("-----BEGIN KEY-----\r\nMIIE\n  indented==  \n\nabc\n-----END KEY-----\n", "token%1")
	require.Equal(t, "::add-mask::MIIE\n::add-mask::indented==\n::add-mask::token%251\n", m.log.String())
}

func TestEverythingWrongWithTheInputsIsToldAtOnce(t *testing.T) {
	m := newMachine(t.TempDir())
	_, err := m.Inputs(nil)
	require.ErrorContains(t, err, "OCPCTL_INPUTS is not set")
	m.env["OCPCTL_INPUTS"] = "{"
	_, err = m.Inputs(nil)
	require.ErrorContains(t, err, "read OCPCTL_INPUTS")
	m.env["OCPCTL_INPUTS"] = `{"name": " shop ", "wait": "TRUE", "dry-run": "yes", "reuse": "all", "add-ons": "a, b\n c\n", "newer": "x", "none": null, "number": 3, "flag": false}`
	in, err := m.Inputs([]string{"name", "wait", "dry-run", "reuse", "add-ons", "none", "number", "flag"})
	require.NoError(t, err)
	require.Equal(t, []string{"shop", "", "3"}, []string{in.Text("name"), in.Text("none"), in.Text("number")})
	require.Equal(t, []bool{true, false, false}, []bool{in.Bool("wait"), in.Bool("flag"), in.Bool("dry-run")})
	require.Equal(t, []string{"a", "b", "c"}, in.Lines("add-ons"))
	require.Equal(t, "all", in.OneOf("reuse", "none", "run"))
	require.Empty(t, in.OneOf("none", "x"))
	err = in.Err()
	require.Equal(t, exit.Usage, exit.CodeOf(err))
	for _, text := range []string{
		"newer: This ocpctl does not know this input. Use an ocpctl of the action's release. Accepted: name,",
		`dry-run: "yes" is neither true nor false. Accepted: true, false.`, `reuse: "all" is not supported. Accepted: none, run.`,
	} {
		require.ErrorContains(t, err, text)
	}
}
