package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// action is what these tests look at in an action.yml.
type action struct {
	Name, Description string
	Inputs            yaml.Node
	Outputs           yaml.Node
	Runs              struct {
		Using string
		Steps []yaml.Node
	}
}

func readActions(t *testing.T) map[string]action {
	files, err := filepath.Glob("../workflows/*/action.yml")
	require.NoError(t, err)
	require.Len(t, files, 7)
	all := map[string]action{}
	for _, path := range files {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		var a action
		require.NoError(t, yaml.Unmarshal(raw, &a), path)
		require.Equal(t, "composite", a.Runs.Using, path)
		all[filepath.Base(filepath.Dir(path))] = a
	}
	return all
}

// members calls each for the names and values of a mapping, in their order.
func members(n yaml.Node, each func(name string, value yaml.Node)) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		each(n.Content[i].Value, *n.Content[i+1])
	}
}

// text returns a scalar of a mapping.
func text(n yaml.Node, name string) (found string) {
	members(n, func(key string, value yaml.Node) {
		if key == name {
			found = value.Value
		}
	})
	return found
}

// project is a repository with ocpctl's actions, in which actionlint knows what each takes and gives.
type project struct {
	*testing.T
	dir string
}

func newProject(t *testing.T) project {
	p := project{t, t.TempDir()}
	require.NoError(t, os.MkdirAll(filepath.Join(p.dir, ".git"), 0o755))
	require.NoError(t, os.CopyFS(filepath.Join(p.dir, "workflows"), os.DirFS("../workflows")))
	return p
}

var ours = regexp.MustCompile(`ocpctl/ocpctl/(workflows/[a-z-]+|\.github/workflows/[a-z-]+\.yml)@(?:main|v\d+(?:\.\d+\.\d+)?)\b`)

// add adds a workflow. It uses the project's own actions instead of the released ones.
func (p project) add(name, workflow string) {
	path := filepath.Join(p.dir, ".github", "workflows", name)
	require.NoError(p, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(p, os.WriteFile(path, []byte(ours.ReplaceAllString(workflow, "./$1")), 0o644))
}

// lint returns what actionlint says of all the workflows.
func (p project) lint() string {
	out, err := exec.Command("go", "tool", "-modfile=../tools/go.mod", "-n", "actionlint").Output()
	require.NoError(p, err)
	cmd := exec.Command(strings.TrimSpace(string(out)), "-no-color", "-shellcheck=", "-pyflakes=")
	cmd.Dir = p.dir
	said, err := cmd.CombinedOutput()
	if err == nil {
		require.Empty(p, string(said))
	}
	return string(said)
}

var workflowBlock = regexp.MustCompile("(?s)```yaml\n([^`]*?\njobs:\n.*?)```")

func TestEveryWorkflowIsValid(t *testing.T) {
	p := newProject(t)
	samples, err := filepath.Glob("../workflows/samples/*.yml")
	require.NoError(t, err)
	callable, err := filepath.Glob("../.github/workflows/*.yml")
	require.NoError(t, err)
	for _, path := range append(samples, callable...) {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		p.add(filepath.Base(path), string(raw))
	}
	page, err := os.ReadFile("actions.md")
	require.NoError(t, err)
	blocks := workflowBlock.FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, blocks)
	for i, block := range blocks {
		p.add(fmt.Sprintf("block-%d.yml", i+1), block[1])
	}
	for name, a := range readActions(t) {
		p.add("steps-of-"+name+".yml", asWorkflow(t, a))
		p.add("use-of-"+name+".yml", useOf(name, a))
	}
	require.Empty(t, p.lint())

	p.add("wrong.yml", "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - id: c\n        uses: ocpctl/ocpctl/workflows/create-cluster@main\n"+
		"        with: {profil: x}\n      - run: echo ${{ steps.c.outputs.cluster }}\n")
	said := p.lint()
	require.Contains(t, said, `input "profil" is not defined in action`)
	require.Contains(t, said, `property "cluster" is not defined`)
}

// asWorkflow returns the steps of an action as a job, whose expressions are then checked like those of any job.
func asWorkflow(t *testing.T, a action) string {
	inputs, outputs := map[string]any{}, map[string]string{}
	members(a.Inputs, func(name string, _ yaml.Node) { inputs[name] = map[string]string{"type": "string"} })
	members(a.Outputs, func(name string, value yaml.Node) { outputs[name] = text(value, "value") })
	job := map[string]any{"runs-on": "ubuntu-latest", "steps": a.Runs.Steps}
	if len(outputs) > 0 {
		job["outputs"] = outputs
	}
	raw, err := yaml.Marshal(map[string]any{
		"on": map[string]any{"workflow_call": map[string]any{"inputs": inputs}}, "jobs": map[string]any{"steps": job},
	})
	require.NoError(t, err)
	return string(raw)
}

// useOf returns a workflow that gives an action every input and reads every output.
func useOf(name string, a action) string {
	var with, read strings.Builder
	members(a.Inputs, func(input string, _ yaml.Node) { fmt.Fprintf(&with, "          %s: x\n", input) })
	members(a.Outputs, func(output string, _ yaml.Node) {
		fmt.Fprintf(&read, "          %s: ${{ steps.it.outputs.%s }}\n", strings.ReplaceAll(strings.ToUpper(output), "-", "_"), output)
	})
	return "on: push\njobs:\n  use:\n    runs-on: ubuntu-latest\n    steps:\n      - id: it\n        uses: ./workflows/" + name + "\n        with:\n" + with.String() +
		"      - run: env\n        env:\n          NOTHING: x\n" + read.String()
}

var pinned = regexp.MustCompile(`uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)

func TestEveryActionOfOthersIsPinned(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../workflows/*/action.yml", "../workflows/samples/*.yml", "../workflows/*.yml", "../.github/workflows/*.yml", "actions.md"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, found, pattern)
		files = append(files, found...)
	}
	for _, path := range files {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		for line := range strings.Lines(string(raw)) {
			if line = strings.TrimSpace(line); strings.Contains(line, "uses: ") && !ours.MatchString(line) {
				require.Regexp(t, pinned, line, path)
			}
		}
	}
}

// What an input contains must never be read by a shell or by YAML: it is data.
func TestNoScriptContainsAnExpression(t *testing.T) {
	for name, a := range readActions(t) {
		for _, step := range a.Runs.Steps {
			require.NotContains(t, text(step, "run"), "${{", name)
			if text(step, "run") != "" {
				require.Equal(t, "bash", text(step, "shell"), name)
			}
		}
	}
	callable, err := os.ReadFile("../workflows/pr-cluster.yml")
	require.NoError(t, err)
	for line := range strings.Lines(string(callable)) {
		if _, script, is := strings.Cut(line, "run: "); is {
			require.NotContains(t, script, "${{")
		}
	}
}

// The identity on the page fits every workflow that is there to copy.
func TestTheIdentityOfThePageFitsEverySample(t *testing.T) {
	page, err := os.ReadFile("actions.md")
	require.NoError(t, err)
	listed := regexp.MustCompile(`event_name: \[([a-z_, ]+)\]`).FindStringSubmatch(string(page))
	require.NotNil(t, listed)
	events := strings.Split(listed[1], ", ")
	samples, err := filepath.Glob("../workflows/samples/*.yml")
	require.NoError(t, err)
	require.NotEmpty(t, samples)
	workflows := map[string]string{}
	for _, path := range samples {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		workflows[path] = string(raw)
	}
	for i, block := range workflowBlock.FindAllStringSubmatch(string(page), -1) {
		workflows[fmt.Sprint("block ", i+1)] = block[1]
	}
	for name, workflow := range workflows {
		var w struct{ On yaml.Node }
		require.NoError(t, yaml.Unmarshal([]byte(workflow), &w), name)
		var triggers []string
		switch w.On.Kind {
		case yaml.ScalarNode:
			triggers = append(triggers, w.On.Value)
		case yaml.MappingNode:
			members(w.On, func(event string, _ yaml.Node) { triggers = append(triggers, event) })
		case yaml.SequenceNode:
			require.NoError(t, w.On.Decode(&triggers), name)
		}
		require.NotEmpty(t, triggers, name)
		require.Subset(t, events, triggers, name)
	}
}

func TestTheReusableWorkflowIsWhereGitHubFindsIt(t *testing.T) {
	want, err := os.ReadFile("../workflows/pr-cluster.yml")
	require.NoError(t, err)
	have, err := os.ReadFile("../.github/workflows/pr-cluster.yml")
	require.NoError(t, err)
	require.Equal(t, string(want), string(have), "copy workflows/pr-cluster.yml to .github/workflows")
	version, err := os.ReadFile("../workflows/version")
	require.NoError(t, err)
	if !released(t) {
		version = []byte("main")
	}
	for _, used := range regexp.MustCompile(`uses: ocpctl/ocpctl/.*@(\S+)`).FindAllStringSubmatch(string(want), -1) {
		require.Equal(t, strings.TrimSpace(string(version)), used[1], "pinned by its commit, the workflow uses the actions of its release")
	}
}

// The documents of the actions are their only reference: each input and output says what it means, and the page links each action.
func TestEveryInputAndOutputOfAnActionSaysWhatItIs(t *testing.T) {
	page, err := os.ReadFile("actions.md")
	require.NoError(t, err)
	for name, a := range readActions(t) {
		require.NotEmpty(t, a.Description, name)
		require.Contains(t, string(page), "(../workflows/"+name+"/action.yml)")
		for _, values := range []yaml.Node{a.Inputs, a.Outputs} {
			members(values, func(value string, of yaml.Node) {
				require.NotEmpty(t, text(of, "description"), "%s of %s", value, name)
			})
		}
	}
}

// What the page calls a message is one: the parts between its placeholders stand in the program or the script.
func TestTheTroubleOfThePageIsRealTrouble(t *testing.T) {
	var said strings.Builder
	for _, root := range []string{"../cmd/ocpctl/internal", "../workflows/setup-ocpctl", "../chatops/messages", "../app"} {
		require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") {
				return err
			}
			raw, err := os.ReadFile(path)
			said.Write(raw)
			return err
		}))
	}
	page, err := os.ReadFile("actions.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "| message | what to do |\n|---|---|\n")
	require.True(t, found)
	rows := strings.Split(strings.TrimSpace(table), "\n")
	require.Greater(t, len(rows), 5)
	for _, row := range rows {
		for part := range strings.SplitSeq(strings.Trim(strings.Split(row, "|")[1], " "), "…") {
			require.Contains(t, said.String(), strings.TrimSpace(part), row)
		}
	}
}

func TestTheFirstWorkflowOfThePageIsASample(t *testing.T) {
	page, err := os.ReadFile("actions.md")
	require.NoError(t, err)
	sample, err := os.ReadFile("../workflows/samples/first.yml")
	require.NoError(t, err)
	require.Equal(t, string(sample), workflowBlock.FindStringSubmatch(string(page))[1])
	require.Less(t, strings.Count(string(sample), "\n"), 24, "it fits on a screen")
}
