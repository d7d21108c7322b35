package docs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// tektonDocument is what these tests look at in a Task or a StepAction.
type tektonDocument struct {
	Metadata struct{ Name string }
	Spec     struct {
		Description                 string
		Params, Results, Workspaces []tektonValue
	}
}

type tektonValue struct{ Name, Description string }

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

// The documents are their only reference: each parameter, workspace and result says what it means.
func TestEveryParameterAndResultOfATektonDocumentSaysWhatItIs(t *testing.T) {
	for name, d := range tektonDocuments(t) {
		require.NotEmpty(t, d.Spec.Description, name)
		for _, v := range slices.Concat(d.Spec.Params, d.Spec.Workspaces, d.Spec.Results) {
			require.NotEmpty(t, v.Description, "%s of %s", v.Name, name)
		}
	}
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

func TestEveryInputOfTheGitLabComponentSaysWhatItIs(t *testing.T) {
	raw, err := os.ReadFile("../workflows/gitlab/templates/cluster.yml")
	require.NoError(t, err)
	var header struct{ Spec struct{ Inputs yaml.Node } }
	require.NoError(t, yaml.Unmarshal(raw, &header))
	require.NotEmpty(t, header.Spec.Inputs.Content)
	members(header.Spec.Inputs, func(name string, value yaml.Node) { require.NotEmpty(t, text(value, "description"), name) })
}

// What the page lists as trouble is what the documents or the server say.
func TestTheTroubleOfTheTektonPageIsRealTrouble(t *testing.T) {
	var said strings.Builder
	for _, pattern := range []string{"../workflows/tekton/*.yaml", "../chatops/messages/run.go", "../app/*.go", "../app/runs/*.go"} {
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
