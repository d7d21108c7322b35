package docs_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// tektonDocument is what these tests look at in a Task or a StepAction.
type tektonDocument struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		Description                 string
		Params, Results, Workspaces []tektonValue
	}
}

type tektonValue struct {
	Name, Description string
	Default           *string
}

func tektonDocuments(t *testing.T) map[string]tektonDocument {
	files, err := filepath.Glob("../workflows/tekton/*.yaml")
	require.NoError(t, err)
	all := map[string]tektonDocument{}
	for _, path := range files {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		var d tektonDocument
		require.NoError(t, yaml.Unmarshal(raw, &d), path)
		all[d.Metadata.Name] = d
	}
	return all
}

// tektonInOrder are the Tasks and StepActions as the page lists them.
var tektonInOrder = []string{
	"ephemeral-cluster-request", "ephemeral-cluster-release", "ocpctl-create-cluster", "ocpctl-wait-and-collect-logs", "ocpctl-get-credentials", "ocpctl-copy-secrets",
	"ocpctl-get-versions", "ocpctl-release-cluster",
}

func TestThePageShowsEveryParameterAndResultOfTheTektonDocuments(t *testing.T) {
	all := tektonDocuments(t)
	require.Len(t, tektonInOrder, len(all))
	var b strings.Builder
	for _, name := range tektonInOrder {
		d := all[name]
		fmt.Fprintf(&b, "\n### %s `%s`\n\n%s\n\n| parameter | meaning | default |\n|---|---|---|\n", d.Kind, name, d.Spec.Description)
		for _, p := range d.Spec.Params {
			fallback := "required"
			if p.Default != nil {
				fallback = strings.TrimSuffix("`"+*p.Default+"`", "``")
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p.Name, p.Description, fallback)
		}
		tektonTable(&b, "workspace", d.Spec.Workspaces)
		tektonTable(&b, "result", d.Spec.Results)
	}
	b.WriteString("\n")
	generated(t, "tekton.md", "<!-- generated from workflows/tekton/*.yaml by go test ./docs -update -->\n", b.String())
}

func tektonTable(b *strings.Builder, title string, values []tektonValue) {
	if len(values) > 0 {
		fmt.Fprintf(b, "\n| %s | meaning |\n|---|---|\n", title)
	}
	for _, v := range values {
		fmt.Fprintf(b, "| `%s` | %s |\n", v.Name, v.Description)
	}
}

// generated requires a part of a page to be a text, or writes it with -update.
func generated(t *testing.T, page, begin, want string) {
	t.Helper()
	raw, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, begins := strings.Cut(string(raw), begin)
	have, after, ends := strings.Cut(rest, tablesEnd)
	require.True(t, begins && ends, "%s has a place for the tables", page)
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(before+begin+want+tablesEnd+after), 0o644))
		return
	}
	require.Equal(t, want, have, "go test ./docs -update writes it")
}

// What Konflux's StepActions take and return, in konflux-ci/build-definitions, stepactions/eaas-*/0.1.
func TestTheStepActionsTakeWhatThoseOfKonfluxTake(t *testing.T) {
	all := tektonDocuments(t)
	for name, c := range map[string]struct{ action, params, results string }{
		"eaas-create-ephemeral-cluster-hypershift-aws": {
			"ocpctl-create-cluster", "eaasSpaceSecretRef version instanceType insecureSkipTLSVerify timeout imageContentSources imageContentSourcesFile fips", "clusterName",
		},
		"eaas-get-ephemeral-cluster-credentials": {
			"ocpctl-get-credentials", "eaasSpaceSecretRef clusterName credentials insecureSkipTLSVerify", "kubeconfig username passwordPath apiServerURL",
		},
		"eaas-copy-secrets-to-ephemeral-cluster":        {"ocpctl-copy-secrets", "credentials kubeconfig namespace labelSelector", ""},
		"eaas-get-latest-openshift-version-by-prefix":   {"ocpctl-get-versions", "prefix releaseStream host", "version"},
		"eaas-get-supported-ephemeral-cluster-versions": {"ocpctl-get-versions", "eaasSpaceSecretRef insecureSkipTLSVerify", "versions"},
	} {
		spec := all[c.action].Spec
		require.Subset(t, names(spec.Params), strings.Fields(c.params), name)
		require.Subset(t, names(spec.Results), strings.Fields(c.results), name)
	}
	page, err := os.ReadFile("tekton.md")
	require.NoError(t, err)
	require.Contains(t, string(page), "| `eaas-create-ephemeral-cluster-hypershift-aws` | `ocpctl-create-cluster` |")
}

func names(values []tektonValue) (list []string) {
	for _, v := range values {
		list = append(list, v.Name)
	}
	return list
}

// Results stand in the TaskRun, which many people may read.
func TestNoResultOfATektonDocumentIsACredential(t *testing.T) {
	for name, d := range tektonDocuments(t) {
		for _, result := range names(d.Spec.Results) {
			require.NotRegexp(t, `(?i)token|secret|password$|kubeconfigValue`, result, name)
		}
	}
}

// A value of a parameter must never be read by a shell: it is data.
func TestNoScriptOfATektonDocumentContainsAParameter(t *testing.T) {
	files, err := filepath.Glob("../workflows/tekton/*.yaml")
	require.NoError(t, err)
	for _, path := range files {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		_, script, _ := bytes.Cut(raw, []byte("\n  script: |\n"))
		require.NotContains(t, string(script), "$(params.", path)
	}
}

func TestTheSamplesOfThePagesAreFiles(t *testing.T) {
	for file, c := range map[string]struct {
		page  string
		lines int
	}{
		"tekton/samples/first.yaml":   {"tekton.md", 55},
		"gitlab/sample.gitlab-ci.yml": {"pipelines.md", 24},
		"jenkins/Jenkinsfile":         {"pipelines.md", 24},
	} {
		page, err := os.ReadFile(c.page)
		require.NoError(t, err)
		sample, err := os.ReadFile("../workflows/" + file)
		require.NoError(t, err)
		require.Contains(t, string(page), "\n"+string(sample)+"```\n", file)
		require.Less(t, strings.Count(string(sample), "\n"), c.lines, file)
	}
}

func TestAReleaseBuildsEveryImageThatDocumentsAndChartUse(t *testing.T) {
	read := func(path string) string {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(raw)
	}
	var built []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(ocpctl-[a-z]+)` \\|").FindAllStringSubmatch(read("images.md"), -1) {
		built = append(built, row[1])
		require.Contains(t, read("../tools/release/release.sh"), "image "+row[1]+" ")
		require.Contains(t, read("../Makefile"), "build "+row[1]+" ")
		require.FileExists(t, "../deploy/images/Containerfile."+strings.TrimPrefix(row[1], "ocpctl-"))
	}
	files, err := filepath.Glob("../workflows/tekton/*.yaml")
	require.NoError(t, err)
	used := map[string]bool{}
	for _, path := range append(files, "../workflows/tekton/samples/first.yaml", "../workflows/gitlab/templates/cluster.yml", "../deploy/helm/ocpctl/values.yaml") {
		for _, image := range regexp.MustCompile("registry.example.com/ocpctl/([a-z-]+)").FindAllStringSubmatch(read(path), -1) {
			require.Contains(t, built, image[1], path)
			used[image[1]] = true
		}
	}
	require.Len(t, used, len(built), "every image is used: %v", used)
}

func TestThePageShowsEveryInputOfTheGitLabComponent(t *testing.T) {
	raw, err := os.ReadFile("../workflows/gitlab/templates/cluster.yml")
	require.NoError(t, err)
	var header struct{ Spec struct{ Inputs yaml.Node } }
	require.NoError(t, yaml.Unmarshal(raw, &header))
	var b strings.Builder
	b.WriteString("\n| input | meaning | default |\n|---|---|---|\n")
	members(header.Spec.Inputs, func(name string, value yaml.Node) {
		fallback := "required"
		members(value, func(key string, set yaml.Node) {
			if key == "default" {
				fallback = strings.TrimSuffix("`"+set.Value+"`", "``")
			}
		})
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, text(value, "description"), fallback)
	})
	b.WriteString("\n")
	generated(t, "pipelines.md", "<!-- generated from workflows/gitlab/templates/cluster.yml by go test ./docs -update -->\n", b.String())
}

// What the page lists as trouble is what the documents or the server say.
func TestTheTroubleOfTheTektonPageIsRealTrouble(t *testing.T) {
	var said strings.Builder
	for _, pattern := range []string{"../workflows/tekton/*.yaml", "../chatops/messages/run.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, path := range files {
			raw, err := os.ReadFile(path)
			require.NoError(t, err)
			said.Write(raw)
		}
	}
	page, err := os.ReadFile("tekton.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "| the log or `ocpctl explain` says | what to do |\n|---|---|\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	require.Len(t, strings.Split(table, "\n"), 6)
	for row := range strings.Lines(table) {
		for part := range strings.SplitSeq(strings.Split(row, "|")[1], "…") {
			require.Contains(t, said.String(), strings.TrimSpace(part), row)
		}
	}
}
