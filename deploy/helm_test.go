package deploy_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/dispatch/kubernetes"
	"go.yaml.in/yaml/v3"
)

// charts are the examples whose objects tools/helm renders into testdata; it checks that the files are up to date.
var charts = []string{"eks", "openshift", "try"}

// object is one of the chart's objects, in the fields that these tests read.
type object struct {
	Kind     string
	Metadata struct {
		Name, Namespace     string
		Labels, Annotations map[string]string
	}
	Rules []struct{ Resources, Verbs []string }
	Data  map[string]string
	Spec  yaml.Node
}

// podSpec is the specification of the pods of a Deployment or Job.
type podSpec struct {
	ServiceAccountName           string `yaml:"serviceAccountName"`
	AutomountServiceAccountToken bool   `yaml:"automountServiceAccountToken"`
	HostNetwork                  bool   `yaml:"hostNetwork"`
	SecurityContext              struct {
		RunAsNonRoot   bool                  `yaml:"runAsNonRoot"`
		RunAsUser      int                   `yaml:"runAsUser"`
		FSGroup        int                   `yaml:"fsGroup"`
		SeccompProfile struct{ Type string } `yaml:"seccompProfile"`
	} `yaml:"securityContext"`
	TerminationGracePeriodSeconds int         `yaml:"terminationGracePeriodSeconds"`
	InitContainers                []container `yaml:"initContainers"`
	Containers                    []container
	Volumes                       []struct {
		Name      string
		Projected struct {
			Sources []struct {
				Secret struct{ Items []struct{ Path string } }
			}
		}
	}
}

type container struct {
	Args            []string
	SecurityContext struct {
		RunAsNonRoot             bool  `yaml:"runAsNonRoot"`
		ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
		AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
		RunAsUser                int   `yaml:"runAsUser"`
		Privileged               bool
		Capabilities             struct{ Add, Drop []string }
	} `yaml:"securityContext"`
	Resources struct{ Requests, Limits map[string]string }
}

// rendered returns the objects of an example by kind and name.
func rendered(t *testing.T, example string) map[string]object {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("helm", "testdata", example+".yaml"))
	require.NoError(t, err)
	objects := map[string]object{}
	for decoder := yaml.NewDecoder(bytes.NewReader(raw)); ; {
		var o object
		err := decoder.Decode(&o)
		if errors.Is(err, io.EOF) {
			return objects
		}
		require.NoError(t, err)
		key := o.Kind + "/" + o.Metadata.Namespace + "/" + o.Metadata.Name
		require.NotContains(t, objects, key)
		objects[key] = o
	}
}

// pods returns the specifications of the pods of an example's Deployments and Jobs, by name.
func pods(t *testing.T, example string) map[string]podSpec {
	t.Helper()
	found := map[string]podSpec{}
	for _, o := range rendered(t, example) {
		if o.Kind != "Deployment" && o.Kind != "Job" {
			continue
		}
		var spec struct{ Template struct{ Spec podSpec } }
		require.NoError(t, o.Spec.Decode(&spec))
		found[o.Metadata.Name] = spec.Template.Spec
	}
	require.NotEmpty(t, found)
	return found
}

// This is what Pod Security calls restricted, and a root file system that nobody can write.
func TestEveryContainerOfTheChartIsRestricted(t *testing.T) {
	for _, example := range charts {
		for name, pod := range pods(t, example) {
			require.True(t, pod.SecurityContext.RunAsNonRoot, name)
			require.Equal(t, "RuntimeDefault", pod.SecurityContext.SeccompProfile.Type, name)
			require.False(t, pod.HostNetwork, name)
			if example == "openshift" {
				require.Zero(t, pod.SecurityContext.RunAsUser, "OpenShift chooses the user of %s", name)
				require.Zero(t, pod.SecurityContext.FSGroup, "OpenShift chooses the group of %s", name)
			}
			for _, c := range append(pod.InitContainers, pod.Containers...) {
				require.True(t, c.SecurityContext.RunAsNonRoot, name)
				require.True(t, c.SecurityContext.ReadOnlyRootFilesystem, name)
				require.NotNil(t, c.SecurityContext.AllowPrivilegeEscalation, name)
				require.False(t, *c.SecurityContext.AllowPrivilegeEscalation, name)
				require.False(t, c.SecurityContext.Privileged, name)
				require.Zero(t, c.SecurityContext.RunAsUser, name)
				require.Equal(t, []string{"ALL"}, c.SecurityContext.Capabilities.Drop, name)
				require.Empty(t, c.SecurityContext.Capabilities.Add, name)
				require.NotEmpty(t, c.Resources.Requests, name)
				require.NotEmpty(t, c.Resources.Limits["memory"], name)
			}
		}
	}
}

// The list is written out, so that nobody widens it unnoticed. It is what the dispatcher says that it needs.
func TestTheServerManagesRunnersAndNothingElse(t *testing.T) {
	for _, example := range charts {
		allowed := map[string][]string{}
		for _, o := range rendered(t, example) {
			require.NotContains(t, []string{"ClusterRole", "ClusterRoleBinding"}, o.Kind)
			if o.Kind != "Role" {
				continue
			}
			require.Equal(t, "ocpctl-runners", o.Metadata.Namespace)
			for _, rule := range o.Rules {
				for _, resource := range rule.Resources {
					allowed[resource] = append(allowed[resource], rule.Verbs...)
				}
			}
		}
		require.Equal(t, map[string][]string{
			"jobs": {"create", "get", "list", "watch", "patch", "delete"}, "pods": {"list", "watch", "delete"}, "events": {"list"}, "secrets": {"create"},
		}, allowed)
		needed := map[string][]string{}
		for _, right := range kubernetes.Rights() {
			needed[right.Resource] = right.Verbs
		}
		require.Equal(t, needed, allowed)
	}
}

func TestOnlyTheWorkerHasATokenForTheKubernetesAPI(t *testing.T) {
	for name, pod := range pods(t, "eks") {
		require.Equal(t, name == "ocpctl-worker", pod.AutomountServiceAccountToken, name)
	}
	for name, pod := range pods(t, "openshift") {
		require.Equal(t, name == "ocpctl-server", pod.AutomountServiceAccountToken, name)
	}
}

func TestTheRunnersNamespaceIsClosedAndStays(t *testing.T) {
	for _, example := range charts {
		objects := rendered(t, example)
		namespace := objects["Namespace//ocpctl-runners"]
		require.Equal(t, "restricted", namespace.Metadata.Labels["pod-security.kubernetes.io/enforce"])
		for _, key := range []string{
			"Namespace//ocpctl-runners", "NetworkPolicy/ocpctl-runners/ocpctl-closed", "NetworkPolicy/ocpctl-runners/ocpctl-runners",
			"ServiceAccount/ocpctl-runners/ocpctl-runner-create", "ServiceAccount/ocpctl-runners/ocpctl-runner-destroy",
			"ServiceAccount/ocpctl-runners/ocpctl-runner-operate", "ServiceAccount/ocpctl-runners/ocpctl-scan",
		} {
			require.Equal(t, "keep", objects[key].Metadata.Annotations["helm.sh/resource-policy"], key)
		}
		var closed struct {
			PodSelector     map[string]any `yaml:"podSelector"`
			PolicyTypes     []string       `yaml:"policyTypes"`
			Ingress, Egress []any
		}
		policy := objects["NetworkPolicy/ocpctl-runners/ocpctl-closed"]
		require.NoError(t, policy.Spec.Decode(&closed))
		require.Equal(t, []string{"Ingress", "Egress"}, closed.PolicyTypes)
		require.Empty(t, closed.PodSelector, "an empty selector means every pod")
		require.Empty(t, closed.Ingress)
		require.Empty(t, closed.Egress)
	}
}

func TestThePublicHostLeadsToWebhooksAlone(t *testing.T) {
	var ingress struct {
		Rules []struct {
			HTTP struct{ Paths []struct{ Path string } }
		}
	}
	found := rendered(t, "eks")["Ingress/ocpctl/ocpctl-public"]
	require.NoError(t, found.Spec.Decode(&ingress))
	require.Len(t, ingress.Rules, 1)
	require.Len(t, ingress.Rules[0].HTTP.Paths, 1)
	require.Equal(t, "/webhooks/", ingress.Rules[0].HTTP.Paths[0].Path)
	var route struct{ Path string }
	found = rendered(t, "openshift")["Route/ocpctl/ocpctl-public"]
	require.NoError(t, found.Spec.Decode(&route))
	require.Equal(t, "/webhooks/", route.Path)
}

// With the roles together one pod has them all; the role hooks alone must not get the App's key, nor the migrations anything but the database.
func TestPodsHaveTheSecretsOfTheirRolesAlone(t *testing.T) {
	secrets := func(pod podSpec) (paths []string) {
		for _, v := range pod.Volumes {
			for _, s := range v.Projected.Sources {
				for _, i := range s.Secret.Items {
					paths = append(paths, i.Path)
				}
			}
		}
		return paths
	}
	openshift := pods(t, "openshift")
	require.Equal(t, []string{"database-url"}, secrets(openshift["ocpctl-migrate"]))
	require.ElementsMatch(t, []string{
		"database-url", "github-private-key", "github-webhook-secret", "slack-signing-secret", "slack-bot-token", "status-key", "session-key", "metrics-token",
	}, secrets(openshift["ocpctl-server"]))
	raw, err := os.ReadFile("helm/ocpctl/templates/_config.tpl")
	require.NoError(t, err)
	of := map[string]string{}
	for _, m := range regexp.MustCompile(`- \{name: (\w+), field: \S+, roles: \[(.*)\]\}`).FindAllStringSubmatch(string(raw), -1) {
		of[m[1]] = m[2]
	}
	require.Equal(t, "worker", of["githubPrivateKey"])
	require.Equal(t, "worker", of["slackBotToken"])
	require.Equal(t, "hooks", of["slackAppToken"])
	require.Equal(t, "api, worker", of["statusKey"])
}

func TestNoSecretStandsInTheConfiguration(t *testing.T) {
	for _, example := range charts {
		for key, o := range rendered(t, example) {
			if o.Kind == "Secret" && o.Metadata.Name != "ocpctl-runners-tls" {
				require.Equal(t, "try", example, "%s: only the embedded option makes a Secret besides the certificate for runners", key)
			}
			for _, text := range o.Data {
				require.NotContains(t, text, "PRIVATE KEY", key)
				require.NotContains(t, text, "postgres://", key)
			}
		}
	}
}

// A migration runs before the servers, and they do not repeat it; the embedded database exists only when they start.
func TestTheSchemaIsUpdatedOnce(t *testing.T) {
	for example, migrate := range map[string]string{"eks": "-migrate=false", "openshift": "-migrate=false", "try": "-migrate=true"} {
		objects := rendered(t, example)
		job, found := objects["Job/ocpctl/ocpctl-migrate"]
		require.Equal(t, migrate == "-migrate=false", found, example)
		if found {
			require.Equal(t, "pre-install,pre-upgrade", job.Metadata.Annotations["helm.sh/hook"])
		}
		for name, pod := range pods(t, example) {
			if strings.HasPrefix(name, "ocpctl-embedded") || name == "ocpctl-migrate" {
				continue
			}
			require.Contains(t, pod.Containers[0].Args, migrate, name)
			require.GreaterOrEqual(t, pod.TerminationGracePeriodSeconds, 60, "a stop takes up to 35 seconds")
		}
	}
}

func TestTheDashboardShowsMetricsThatExist(t *testing.T) {
	files, err := filepath.Glob("helm/ocpctl/dashboards/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	exposed := exposedMetrics(t)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		var board struct {
			Panels []struct {
				Title   string
				Targets []struct{ Expr string }
			}
		}
		require.NoError(t, json.Unmarshal(raw, &board))
		require.NotEmpty(t, board.Panels)
		for _, panel := range board.Panels {
			require.NotEmpty(t, panel.Targets, panel.Title)
			for _, target := range panel.Targets {
				for _, name := range regexp.MustCompile(`ocpctl_\w+`).FindAllString(target.Expr, -1) {
					require.Contains(t, exposed, regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(name, ""), panel.Title)
				}
			}
		}
	}
}

// exposedMetrics returns the names of metrics in the server's code.
func exposedMetrics(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, root := range []string{"../app", "../internal"} {
		require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "devstack") {
				return err
			}
			raw, err := os.ReadFile(path)
			for _, m := range regexp.MustCompile(`"(ocpctl_\w+)"`).FindAllSubmatch(raw, -1) {
				names[string(m[1])] = true
			}
			return err
		}))
	}
	return names
}
