package scripts_test

import (
	"context"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/devstack/tekton/steps"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
)

const documents = "../../../workflows/tekton"

// inTekton is an office whose pods run on a machine with the documents in workflows/tekton.
func inTekton(t *testing.T) (*office, steps.Machine) {
	t.Helper()
	o := newOffice(t, profiles.IssuerKubernetes, "{kubernetes.io.namespace: [ci]}")
	catalog, err := steps.Load(documents)
	require.NoError(t, err)
	image := o.image("cut", "mkdir", "sort")
	o.program(image, "oc", `test -s "$KUBECONFIG" && echo "oc $*"`) // the cluster has no API here
	return o, steps.Machine{
		Catalog: catalog, Dir: t.TempDir(), Path: image, CA: o.ca,
		Token: func(audience string) (string, error) {
			return o.token(audience, oidc.Kubernetes.Subject, oidc.Kubernetes.More)
		},
	}
}

// first is the sample's PipelineRun.
func first(o *office) (steps.Pipeline, steps.PipelineRun) {
	o.Helper()
	pipeline, params, err := steps.LoadRun(filepath.Join(documents, "samples", "first.yaml"))
	require.NoError(o, err)
	require.Equal(o, "server", params[0].Name)
	params[0].Value = o.url
	return pipeline, steps.PipelineRun{Name: "e2e-7xk2p", UID: "0b4f6c1e-1111-4000-8000-000000000001", Params: params}
}

func given(pairs ...string) (params []steps.Param) {
	for i := 0; i < len(pairs); i += 2 {
		params = append(params, steps.Param{Name: pairs[i], Value: pairs[i+1]})
	}
	return params
}

// task reads the spec of a Task.
func task(t *testing.T, text string) (spec steps.Task) {
	t.Helper()
	require.NoError(t, yaml.Unmarshal([]byte(text), &spec))
	return spec
}

func labels() map[string]string {
	return map[string]string{"tekton.dev/pipelineRun": "e2e-7xk2p", "tekton.dev/pipelineRunUID": "0b4f6c1e-1111-4000-8000-000000000001"}
}

func TestTheFirstPipelineGetsAClusterAndReleasesIt(t *testing.T) {
	o, machine := inTekton(t)
	pipeline, run := first(o)
	out, err := machine.RunPipeline(t.Context(), pipeline, run)
	require.NoError(t, err)

	row := o.only()
	require.Equal(t, lifecycle.Run{
		ID: row.Run.ID, Platform: lifecycle.Tekton, Key: run.UID, Name: run.Name, Attempt: 1, Slot: "e2e-7xk2p-cluster", Lifetime: lifecycle.LifetimeRun, State: lifecycle.RunRunning,
	}, row.Run)
	domain := row.Name + "." + row.BaseDomain
	require.Equal(t, map[string]string{
		"clusterName": row.Name, "clusterId": row.ID, "kubeconfig": row.Name + "-kubeconfig", "apiServerURL": "https://api." + domain + ":6443",
		"consoleURL": "https://console-openshift-console.apps." + domain,
	}, out["cluster"].Results)
	require.Equal(t, "READY", out["cluster"].Steps["wait-and-collect-logs.status"])
	require.Empty(t, out["cluster"].Steps["get-credentials.passwordPath"])
	require.Contains(t, out["test"].Log, "oc get nodes")
	require.Contains(t, out["release"].Log, row.Name+" will be destroyed")
	require.Equal(t, lifecycle.Absent, row.Desired)
	require.Contains(t, row.DesiredWhy.String(), "its PipelineRun released it")
	kubeconfig := filepath.Join(out["test"].Volumes, "credentials", row.Name+"-kubeconfig")
	info, err := os.Stat(kubeconfig)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	raw, err := os.ReadFile(kubeconfig)
	require.NoError(t, err)
	require.Contains(t, string(raw), servicetest.TokenSignature, "a token of the run's own")
	require.NotContains(t, string(raw), servicetest.ClientKey)
	for _, task := range out {
		o.holdsNoSecret(task.Log)
		for _, value := range task.Steps {
			o.holdsNoSecret(value)
		}
	}
}

func TestFinallyReleasesTheClusterAfterWhateverFailed(t *testing.T) {
	for name, c := range map[string]struct {
		becomes become
		oc      string
		fails   string
		says    string
	}{
		"the tests fail":         {ready, "echo 'a test failed'; exit 3", "task test: step test: exit status 3", "a test failed"},
		"the installation fails": {failed, "exit 0", "task cluster: step wait-and-collect-logs", "the VPC limit is reached"},
	} {
		t.Run(name, func(t *testing.T) {
			o, machine := inTekton(t)
			o.becomes = c.becomes
			o.program(machine.Path, "oc", c.oc)
			pipeline, run := first(o)
			out, err := machine.RunPipeline(t.Context(), pipeline, run)
			require.ErrorContains(t, err, c.fails)
			require.ErrorContains(t, err, c.says)
			require.Equal(t, o.only().Name, out["cluster"].Results["clusterName"], "the result is there, whatever failed after it")
			require.Contains(t, out, "release")
			require.Equal(t, lifecycle.Absent, o.only().Desired)
			o.holdsNoSecret(err.Error())
		})
	}
}

func TestATaskRunThatIsRepeatedGetsTheSameCluster(t *testing.T) {
	o, machine := inTekton(t)
	request := func(taskRun, uid string, more ...string) string {
		out, err := machine.Run(t.Context(), machine.Tasks["ephemeral-cluster-request"], steps.TaskRun{
			Name: taskRun, UID: uid, Labels: labels(), Params: given(append([]string{"server", o.url}, more...)...),
		})
		require.NoError(t, err, out.Log)
		return out.Results["clusterId"]
	}
	once := request("e2e-7xk2p-cluster", "t-1")
	require.Equal(t, once, request("e2e-7xk2p-cluster", "t-2"))
	require.NotEqual(t, once, request("e2e-7xk2p-cluster-1", "t-3"), "each combination of a matrix has its own TaskRun")
	require.Equal(t, once, request("e2e-7xk2p-another", "t-4", "slot", "e2e-7xk2p-cluster"))
	require.Len(t, o.clusters(), 2)

	o.becomes = failed
	_, err := machine.Run(t.Context(), machine.Tasks["ephemeral-cluster-request"], steps.TaskRun{Name: "retried", UID: "t-5", Labels: labels(), Params: given("server", o.url)})
	require.Error(t, err)
	o.becomes = ready
	request("retried", "t-6")
	require.Len(t, o.clusters(), 4, "a failed one is being destroyed, and the retry has its own")
}

func TestTheWorkspacesGetTheKubeconfigAndTheLogs(t *testing.T) {
	o, machine := inTekton(t)
	credentials, logs := t.TempDir(), filepath.Join(t.TempDir(), "logs")
	out, err := machine.Run(t.Context(), machine.Tasks["ephemeral-cluster-request"], steps.TaskRun{
		Name: "cluster", UID: "t-1", Labels: labels(), Params: given("server", o.url, "profile", servicetest.Profile, "ttl", "4h", "version", "4.20.1", "region", "us-east-2", "name", "shop"),
		Workspaces: map[string]string{"credentials": credentials, "logs": logs},
	})
	require.NoError(t, err, out.Log)
	row := o.only()
	require.Equal(t, []string{"shop", servicetest.Profile, "4.20.1", "us-east-2"}, []string{row.Name, row.Profile, row.Release, row.Region})
	info, err := os.Stat(filepath.Join(credentials, out.Results["kubeconfig"]))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	for file, want := range map[string]string{"timeline.txt": "run bound", "explain.txt": row.Name, "install.log": ""} {
		raw, err := os.ReadFile(filepath.Join(logs, file))
		require.NoError(t, err)
		require.Contains(t, string(raw), want, file)
		o.holdsNoSecret(string(raw))
	}
}

// konflux is a Task as pipelines of Konflux have it, with our StepActions instead of theirs: the parameters and results are theirs, and
// server, profile and the volume ocpctl are new.
const konflux = `
params: [{name: server}]
volumes:
  - name: credentials
  - name: ocpctl
    projected: {sources: [{serviceAccountToken: {audience: $(params.server), path: token}}]}
results:
  - {name: clusterName, value: $(steps.create-cluster.results.clusterName)}
steps:
  - name: get-supported-versions
    ref: {name: ocpctl-get-versions}
    params: [{name: eaasSpaceSecretRef, value: space}, {name: server, value: $(params.server)}, {name: profile, value: aws-minimal-test}]
  - name: pick-version
    ref: {name: ocpctl-get-versions}
    params:
      - {name: prefix, value: "4.20."}
      - {name: server, value: $(params.server)}
      - {name: profile, value: aws-minimal-test}
  - name: create-cluster
    ref: {name: ocpctl-create-cluster}
    params:
      - {name: eaasSpaceSecretRef, value: space}
      - {name: version, value: $(steps.pick-version.results.version)}
      - {name: instanceType, value: m5.large}
      - {name: insecureSkipTLSVerify, value: "false"}
      - {name: timeout, value: 30m}
      - {name: imageContentSources, value: ""}
      - {name: fips, value: "false"}
      - {name: server, value: $(params.server)}
      - {name: profile, value: aws-minimal-test}
  - name: get-kubeconfig
    ref: {name: ocpctl-get-credentials}
    params:
      - {name: eaasSpaceSecretRef, value: space}
      - {name: clusterName, value: $(steps.create-cluster.results.clusterName)}
      - {name: credentials, value: credentials}
      - {name: server, value: $(params.server)}
`

func TestAPipelineOfKonfluxKeepsItsParametersAndResults(t *testing.T) {
	o, machine := inTekton(t)
	out, err := machine.Run(t.Context(), task(t, konflux), steps.TaskRun{Name: "provision", UID: "t-1", Labels: labels(), Params: given("server", o.url)})
	require.NoError(t, err, out.Log)
	row := o.only()
	require.Equal(t, `["4.20"]`, out.Steps["get-supported-versions.versions"])
	require.Equal(t, "4.20.3", out.Steps["pick-version.version"])
	require.Equal(t, "4.20.3", row.Release)
	require.Equal(t, row.Name, out.Results["clusterName"])
	require.Equal(t, row.Name+"-kubeconfig", out.Steps["get-kubeconfig.kubeconfig"])
	require.FileExists(t, filepath.Join(out.Volumes, "credentials", row.Name+"-kubeconfig"))
	require.Contains(t, out.Log, "instanceType is not used")
}

func TestWhatCannotBeKeptIsRefusedBeforeTheServerIsAsked(t *testing.T) {
	o, machine := inTekton(t)
	for name, c := range map[string]struct {
		action, param, value, says string
	}{
		"FIPS":                   {"ocpctl-create-cluster", "fips", "true", "no profile has FIPS mode"},
		"no TLS verification":    {"ocpctl-create-cluster", "insecureSkipTLSVerify", "true", "always verified"},
		"mirrors":                {"ocpctl-create-cluster", "imageContentSources", "- source: x", "not supported"},
		"a file with mirrors":    {"ocpctl-create-cluster", "imageContentSourcesFile", "/mirrors.yaml", "not supported"},
		"neither true nor false": {"ocpctl-create-cluster", "wait", "yes", "wait is yes; give true or false"},
		"no TLS for credentials": {"ocpctl-get-credentials", "insecureSkipTLSVerify", "true", "always verified"},
		"no TLS for versions":    {"ocpctl-get-versions", "insecureSkipTLSVerify", "true", "always verified"},
		"another kind of owner":  {"ocpctl-create-cluster", "ownerKind", "TaskRun", `"TaskRun" is not supported. Accepted: PipelineRun`},
		"nothing to release":     {"ocpctl-release-cluster", "clusterName", "", "belongs to no PipelineRun; give clusterName"},
		"bundle":                 {"ocpctl-wait-and-collect-logs", "logBundle", "1", "logBundle is 1; give true or false"},
	} {
		t.Run(name, func(t *testing.T) {
			params := map[string]string{"server": o.url, c.param: c.value}
			for _, p := range machine.Actions[c.action].Params {
				if _, set := params[p.Name]; p.Default == nil && !set {
					params[p.Name] = map[string]string{"credentials": "credentials"}[p.Name]
				}
			}
			step := steps.Step{Name: "one"}
			step.Ref.Name = c.action
			for name, value := range params {
				step.Params = append(step.Params, steps.Param{Name: name, Value: value})
			}
			one := steps.TaskRun{Name: "one", UID: strings.ReplaceAll(name, " ", "-"), Params: given("server", o.url)}
			if c.action == "ocpctl-create-cluster" {
				one.Labels = labels()
			}
			base := task(t, konflux)
			base.Steps = []steps.Step{step}
			before := len(o.requests())
			out, err := machine.Run(t.Context(), base, one)
			require.ErrorContains(t, err, "step one: exit status 2")
			require.Contains(t, out.Log, c.says)
			require.Len(t, o.requests(), before)
		})
	}
}

func TestAValueThatLooksLikeAFlagIsAValue(t *testing.T) {
	o, machine := inTekton(t)
	for action, c := range map[string]struct{ param, says string }{
		"ocpctl-create-cluster":        {"profile", "--help"},
		"ocpctl-wait-and-collect-logs": {"clusterName", "You have no cluster called --help"},
		"ocpctl-get-credentials":       {"clusterName", "You have no cluster called --help"},
		"ocpctl-get-versions":          {"profile", "--help"},
	} {
		step := steps.Step{Name: "one", Params: given("server", o.url, c.param, "--help")}
		if action == "ocpctl-get-credentials" {
			step.Params = append(step.Params, given("credentials", "credentials")...)
		}
		step.Ref.Name = action
		base := task(t, konflux)
		base.Steps = []steps.Step{step}
		out, err := machine.Run(t.Context(), base, steps.TaskRun{Name: action, UID: action, Labels: labels(), Params: given("server", o.url)})
		require.Error(t, err, action)
		require.Contains(t, out.Log, c.says, action)
		require.NotContains(t, out.Log, "Usage", action)
	}
	out, err := machine.Run(t.Context(), machine.Tasks["ephemeral-cluster-release"], steps.TaskRun{
		Name: "release", UID: "r-1", Labels: labels(), Params: given("server", o.url, "clusterName", "--help"),
	})
	require.NoError(t, err, out.Log)
	require.Contains(t, out.Log, "There is no cluster --help.")
	require.Empty(t, o.clusters())
}

func TestAReleaseTakesWhatIsThere(t *testing.T) {
	o, machine := inTekton(t)
	release := func(uid string, more ...string) (string, error) {
		out, err := machine.Run(t.Context(), machine.Tasks["ephemeral-cluster-release"], steps.TaskRun{
			Name: "release", UID: uid, Labels: labels(), Params: given(append([]string{"server", o.url}, more...)...),
		})
		return out.Log, err
	}
	log, err := release("r-1")
	require.NoError(t, err)
	require.Contains(t, log, "The PipelineRun has no cluster.")
	log, err = release("r-2", "clusterName", "never-there")
	require.NoError(t, err)
	require.Contains(t, log, "There is no cluster never-there.")

	for _, name := range []string{"one", "two"} {
		_, err := machine.Run(t.Context(), machine.Tasks["ephemeral-cluster-request"], steps.TaskRun{Name: name, UID: name, Labels: labels(), Params: given("server", o.url)})
		require.NoError(t, err)
	}
	other := labels()
	other["tekton.dev/pipelineRunUID"] = "0b4f6c1e-1111-4000-8000-000000000002"
	out, err := machine.Run(t.Context(), machine.Tasks["ephemeral-cluster-request"], steps.TaskRun{Name: "other", UID: "other", Labels: other, Params: given("server", o.url, "name", "other")})
	require.NoError(t, err, out.Log)
	_, err = release("r-3")
	require.NoError(t, err)
	var kept []string
	for _, row := range o.clusters() {
		if row.Desired == lifecycle.Present {
			kept = append(kept, row.Name)
		}
	}
	require.Equal(t, []string{"other"}, kept)
	_, err = release("r-4", "ownerUid", other["tekton.dev/pipelineRunUID"])
	require.NoError(t, err)
	live, _, err := o.store.List(t.Context(), store.Filter{Live: true})
	require.NoError(t, err)
	for _, row := range live {
		require.Equal(t, lifecycle.Absent, row.Desired)
	}
}

func TestAStepThatIsCancelledStopsWaitingAndTheClusterStays(t *testing.T) {
	o, machine := inTekton(t)
	o.becomes = pending
	ctx, cancel := context.WithCancel(t.Context())
	o.onAsked = func(r *http.Request) {
		if r.URL.Path == "/api/v1/watch" {
			cancel()
		}
	}
	out, err := machine.Run(ctx, machine.Tasks["ephemeral-cluster-request"], steps.TaskRun{Name: "cluster", UID: "t-1", Labels: labels(), Params: given("server", o.url)})
	require.ErrorContains(t, err, "step wait-and-collect-logs")
	require.Contains(t, out.Log, "Stopped waiting")
	require.Equal(t, lifecycle.Present, o.only().Desired)
}

func TestATaskRunWithoutAPipelineRunSaysWhatEndsItsCluster(t *testing.T) {
	o, machine := inTekton(t)
	for range 2 {
		out, err := machine.Run(t.Context(), machine.Tasks["ephemeral-cluster-request"], steps.TaskRun{Name: "alone", UID: "t-1", Params: given("server", o.url)})
		require.NoError(t, err, out.Log)
		require.Contains(t, out.Log, "ends by its time to live")
	}
	require.Empty(t, o.only().Run.ID)
}
