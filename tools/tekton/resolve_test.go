package tekton_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tektoncd/pipeline/pkg/apis/pipeline"
	v1 "github.com/tektoncd/pipeline/pkg/apis/pipeline/v1"
	"github.com/tektoncd/pipeline/pkg/apis/pipeline/v1beta1"
	"github.com/tektoncd/pipeline/pkg/client/clientset/versioned/fake"
	ofrun "github.com/tektoncd/pipeline/pkg/reconciler/pipelinerun/resources"
	"github.com/tektoncd/pipeline/pkg/reconciler/taskrun/resources"
	"github.com/tektoncd/pipeline/pkg/workspace"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ocpctl/ocpctl/devstack/tekton/steps"
)

// stored are the StepActions as the cluster has them.
func stored(t *testing.T) (actions []runtime.Object) {
	t.Helper()
	files, err := filepath.Glob(documents + "/*.yaml")
	require.NoError(t, err)
	for _, file := range files {
		for _, raw := range parts(t, file) {
			if _, o := typed(t, raw); o != nil {
				if action, is := o.(*v1beta1.StepAction); is {
					action.Namespace = "ci"
					actions = append(actions, action)
				}
			}
		}
	}
	return actions
}

// resolved returns a Task as Tekton's controller runs it for a TaskRun: the steps with their StepActions, and all variables but the
// results of steps.
func resolved(t *testing.T, spec v1.TaskSpec, run *v1.TaskRun) *v1.TaskSpec {
	t.Helper()
	ctx := t.Context()
	spec.SetDefaults(ctx)
	found, err := resources.GetStepActionsData(ctx, spec, run, fake.NewSimpleClientset(stored(t)...), nil, nil)
	require.NoError(t, err)
	spec.Steps = found
	ts := resources.ApplyParameters(&spec, run, spec.Params...)
	ts = resources.ApplyContexts(ts, "task", run)
	ts = resources.ApplyResults(ts)
	volumes := workspace.CreateVolumes(run.Spec.Workspaces)
	ts = resources.ApplyWorkspaces(ctx, ts, ts.Workspaces, run.Spec.Workspaces, volumes)
	require.Nil(t, v1.ValidateUsageOfDeclaredParameters(ctx, ts.Steps, ts.Params))
	if err := ts.Validate(ctx); err != nil {
		t.Fatal(err)
	}
	return ts
}

// asProcesses returns Tekton's steps in the form of those that run as processes.
func asProcesses(ts *v1.TaskSpec) (out []steps.Step) {
	for _, s := range ts.Steps {
		one := steps.Step{Name: s.Name, Image: s.Image, Script: s.Script}
		for _, e := range s.Env {
			env := steps.Env{Name: e.Name, Value: e.Value}
			if e.ValueFrom != nil {
				env.ValueFrom.FieldRef.FieldPath = e.ValueFrom.FieldRef.FieldPath
			}
			one.Env = append(one.Env, env)
		}
		for _, m := range s.VolumeMounts {
			one.VolumeMounts = append(one.VolumeMounts, steps.Mount{Name: m.Name, MountPath: m.MountPath})
		}
		for _, r := range s.Results {
			one.Results = append(one.Results, steps.Result{Name: r.Name})
		}
		out = append(out, one)
	}
	return out
}

func TestStepsRunAsProcessesWithWhatTektonWouldGiveThem(t *testing.T) {
	catalog, err := steps.Load(documents)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		task   string
		params []steps.Param
		logs   bool
	}{
		"a request by default":     {"ephemeral-cluster-request", []steps.Param{{Name: "server", Value: "https://ocpctl.example.com"}}, false},
		"a request with workspace": {"ephemeral-cluster-request", []steps.Param{{Name: "server", Value: "https://ocpctl.example.com"}, {Name: "ttl", Value: `4h; "$(date)"`}}, true},
		"a release":                {"ephemeral-cluster-release", []steps.Param{{Name: "server", Value: "https://ocpctl.example.com"}, {Name: "clusterName", Value: "shop"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, o := typed(t, parts(t, documents+"/"+c.task+".yaml")[0])
			run := &v1.TaskRun{ObjectMeta: metav1.ObjectMeta{Name: "e2e-1-cluster", Namespace: "ci", UID: "t-1"}}
			variables := map[string]string{"context.taskRun.name": "e2e-1-cluster", "context.taskRun.uid": "t-1", "context.taskRun.namespace": "ci"}
			for _, p := range c.params {
				run.Spec.Params = append(run.Spec.Params, v1.Param{Name: p.Name, Value: *v1.NewStructuredValues(p.Value)})
			}
			if c.logs {
				run.Spec.Workspaces = []v1.WorkspaceBinding{{Name: "logs", EmptyDir: &corev1.EmptyDirVolumeSource{}}}
				variables["workspaces.logs.path"], variables["workspaces.logs.bound"] = "/workspace/logs", "true"
			}
			ts := resolved(t, o.(*v1.Task).Spec, run)
			ours, err := catalog.Resolve(catalog.Tasks[c.task], c.params, variables)
			require.NoError(t, err)
			require.Equal(t, asProcesses(ts), ours)
			require.Equal(t, "https://ocpctl.example.com", ts.Volumes[0].Projected.Sources[0].ServiceAccountToken.Audience)
		})
	}
}

func TestTheSamplesTasksGetThePipelinesParameters(t *testing.T) {
	_, o := typed(t, parts(t, documents+"/samples/first.yaml")[0])
	run := o.(*v1.PipelineRun)
	run.SetDefaults(t.Context())
	spec, err := ofrun.ApplyParameters(run.Spec.PipelineSpec, run)
	require.NoError(t, err)
	task := spec.Tasks[1]
	require.Equal(t, "test", task.Name)
	for i := range task.Params { // the result of the task before is there by then
		task.Params[i].Value = *v1.NewStructuredValues("shop")
	}
	ts := resolved(t, task.TaskSpec.TaskSpec, &v1.TaskRun{ObjectMeta: metav1.ObjectMeta{Namespace: "ci"}, Spec: v1.TaskRunSpec{Params: task.Params}})
	require.Equal(t, "https://ocpctl.example.com", ts.Volumes[0].Projected.Sources[0].ServiceAccountToken.Audience)
	require.Contains(t, ts.Steps[0].Env, corev1.EnvVar{Name: "OCPCTL_SERVER", Value: "https://ocpctl.example.com"})
	require.Equal(t, []corev1.EnvVar{{Name: "KUBECONFIG", Value: "/credentials/shop-kubeconfig"}}, ts.Steps[1].Env)
}

func TestTheRunIsNamedByTheLabelsThatTektonSets(t *testing.T) {
	catalog, err := steps.Load(documents)
	require.NoError(t, err)
	want := map[string]string{"LABEL_RUN_NAME": pipeline.PipelineRunLabelKey, "LABEL_RUN_UID": pipeline.PipelineRunUIDLabelKey}
	found := map[string]bool{}
	for _, action := range catalog.Actions {
		for _, e := range action.Env {
			if label, is := want[e.Name]; is {
				require.Equal(t, "metadata.labels['"+label+"']", e.ValueFrom.FieldRef.FieldPath)
				found[e.Name] = true
			}
		}
	}
	require.Len(t, found, 2)
	require.Equal(t, pipeline.StepsDir+"/step-create/results/clusterName", steps.ResultPath("create", "clusterName"))
}
