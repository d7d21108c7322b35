// Package tekton_test checks the documents in workflows/tekton, and what the product and its tests assume of Tekton, with Tekton's own code.
package tekton_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "github.com/tektoncd/pipeline/pkg/apis/pipeline/v1"
	"github.com/tektoncd/pipeline/pkg/apis/pipeline/v1beta1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"knative.dev/pkg/apis"
	"sigs.k8s.io/yaml"
)

const (
	root      = "../.."
	documents = root + "/workflows/tekton"
)

// object is what Tekton's webhook does with an object before it is stored.
type object interface {
	SetDefaults(ctx context.Context)
	Validate(ctx context.Context) *apis.FieldError
}

// parts are the documents of a file.
func parts(t *testing.T, file string) [][]byte {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	return bytes.Split(raw, []byte("\n---\n"))
}

// decode reads a document into Tekton's type. A field that does not exist is an error.
func decode[T any](t *testing.T, raw []byte) *T {
	t.Helper()
	into := new(T)
	require.NoError(t, yaml.UnmarshalStrict(raw, into), string(raw))
	return into
}

// typed decodes a document by its kind.
func typed(t *testing.T, raw []byte) (kind string, o object) {
	t.Helper()
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	require.NoError(t, yaml.Unmarshal(raw, &head))
	switch head.APIVersion + "/" + head.Kind {
	case "tekton.dev/v1/Task":
		return head.Kind, decode[v1.Task](t, raw)
	case "tekton.dev/v1/PipelineRun":
		return head.Kind, decode[v1.PipelineRun](t, raw)
	case "tekton.dev/v1beta1/StepAction":
		return head.Kind, decode[v1beta1.StepAction](t, raw)
	}
	t.Fatalf("%s/%s is not known", head.APIVersion, head.Kind)
	return "", nil
}

func TestEveryDocumentIsOneThatTektonTakes(t *testing.T) {
	seen := map[string]int{}
	for _, pattern := range []string{"*.yaml", "samples/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(documents, pattern))
		require.NoError(t, err)
		for _, file := range files {
			for _, raw := range parts(t, file) {
				kind, o := typed(t, raw)
				seen[kind]++
				o.SetDefaults(t.Context())
				if run, is := o.(*v1.PipelineRun); is && run.GenerateName != "" {
					run.Name = run.GenerateName + "7xk2p" // as the API server does before it asks Tekton
				}
				if err := o.Validate(apis.WithinCreate(t.Context())); err != nil {
					t.Errorf("%s: %s", file, err)
				}
			}
		}
	}
	require.Equal(t, map[string]int{"StepAction": 6, "Task": 2, "PipelineRun": 1}, seen)
}

func TestAMistakeInADocumentIsFound(t *testing.T) {
	raw, err := os.ReadFile(documents + "/release-cluster.yaml")
	require.NoError(t, err)
	for name, change := range map[string][2]string{
		"a parameter in the script":        {"set -eu", "set -eu; echo $(params.server)"},
		"a result that is not declared":    {"set -eu", "set -eu; echo x > $(step.results.none.path)"},
		"a parameter that is not declared": {"$(params.clusterName)", "$(params.cluster)"},
		"a volume that is no parameter":    {"name: $(params.identity), mountPath", "name: ocpctl, mountPath"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, string(raw), change[0])
			_, o := typed(t, []byte(strings.Replace(string(raw), change[0], change[1], 1)))
			o.SetDefaults(t.Context())
			require.NotNil(t, o.Validate(t.Context()))
		})
	}
}

func TestTheWatchersRightsAreToGetPipelineRunsAndNothingElse(t *testing.T) {
	var rules []rbacv1.PolicyRule
	for _, raw := range parts(t, root+"/deploy/tekton/watch.yaml") {
		var head struct {
			Kind string `json:"kind"`
		}
		require.NoError(t, yaml.Unmarshal(raw, &head))
		switch head.Kind {
		case "ClusterRole":
			rules = append(rules, decode[rbacv1.ClusterRole](t, raw).Rules...)
		case "ClusterRoleBinding":
			decode[rbacv1.ClusterRoleBinding](t, raw)
		case "ServiceAccount":
			decode[corev1.ServiceAccount](t, raw)
		case "Namespace":
			decode[corev1.Namespace](t, raw)
		case "Secret":
			decode[corev1.Secret](t, raw)
		default:
			t.Fatalf("%s is not known", head.Kind)
		}
	}
	require.Equal(t, []rbacv1.PolicyRule{{APIGroups: []string{"tekton.dev"}, Resources: []string{"pipelineruns"}, Verbs: []string{"get"}}}, rules)
}
