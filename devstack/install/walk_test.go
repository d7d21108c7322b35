//go:build install

package install

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/devstack"
)

// pullRequest is the one that gets a cluster.
const pullRequest = 41

// site is an empty cluster beside what an installation needs from outside.
type site struct {
	*cluster
	*devstack.Stack
	t *testing.T
}

func newSite(t *testing.T) *site {
	stack, err := devstack.Start(t.Context(), devstack.Config{
		Dir: t.TempDir(), Bin: filepath.Join(repository, ".demo", "bin"), Fast: true, NoServer: true, Hour: time.Minute, Grace: 2 * time.Second,
		Pace: 1500 * time.Millisecond, // an upgrade happens during the installation of a cluster
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stack.Stop()) })
	s := &site{cluster: startCluster(t, images(t)), Stack: stack, t: t}
	for port, listener := range map[int]int{s.Ports.Public: 8081, s.Ports.Private: 8080} {
		var pods []string
		for n := range nodes {
			pods = append(pods, fmt.Sprintf("127.0.0.%d:%d", 11+n, listener)) // the addresses that tools/kubernetes gives its nodes
		}
		front, err := devstack.StartCut(fmt.Sprintf("127.0.0.1:%d", port), pods...)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, front.Stop()) })
	}
	return s
}

// secret returns the content of a file of the stack.
func (s *site) secret(path ...string) string {
	s.t.Helper()
	raw, err := os.ReadFile(filepath.Join(append([]string{s.Dir}, path...)...))
	require.NoError(s.t, err)
	return string(raw)
}

// createSecrets does what docs/install.md says under "Secrets".
func (s *site) createSecrets() {
	s.createNamespace(s.t, namespace)
	s.createSecret(s.t, namespace, "ocpctl", map[string]string{
		"database-url": strings.TrimSpace(s.secret("secrets", "database-url")), "github-private-key": s.secret("github-app.pem"),
		"github-webhook-secret": s.secret("secrets", "github-webhook"), "slack-signing-secret": s.secret("secrets", "slack-signing"),
		"slack-bot-token": s.secret("secrets", "slack-bot"), "status-key": s.secret("secrets", "status-key.pem"),
		"session-key": s.secret("secrets", "session-key.pem"), "aws-credentials": s.secret("secrets", "aws-credentials"),
		"github-client-secret": s.secret("secrets", "github-client"),
	})
}

// createRunnerSecrets creates those of the runners' namespace, which the chart has made.
func (s *site) createRunnerSecrets() {
	s.createSecret(s.t, runners, "ocpctl-runner", map[string]string{
		"pull-secret": s.secret("secrets", "pull-secret"), "cloud-credentials": s.secret("secrets", "cloud-credentials"),
		"ssh-key": s.secret("secrets", "ssh-key"), "aws-credentials": s.secret("secrets", "runner-credentials"),
	})
}

// values are those of an installation with PostgreSQL, S3 and AWS outside the cluster.
func (s *site) values() map[string]any {
	existing := func(names ...string) map[string]any {
		all := map[string]any{}
		for _, name := range names {
			all[name] = map[string]any{"existingSecret": "ocpctl"}
		}
		return all
	}
	runnerSecret := map[string]any{"existingSecret": "ocpctl-runner"}
	pods := map[string]any{
		"env":               append(s.cloudVariables("/etc/ocpctl/aws/aws-credentials"), s.listeners()...),
		"extraVolumes":      []any{map[string]any{"name": "aws", "secret": map[string]any{"secretName": "ocpctl", "items": []any{map[string]any{"key": "aws-credentials", "path": "aws-credentials"}}}}},
		"extraVolumeMounts": []any{map[string]any{"name": "aws", "mountPath": "/etc/ocpctl/aws", "readOnly": true}},
		// Pods that share the machine's network need an address of a node each.
		"affinity": map[string]any{"podAntiAffinity": map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": []any{map[string]any{
			"topologyKey": "kubernetes.io/hostname", "labelSelector": map[string]any{"matchLabels": map[string]any{"app.kubernetes.io/instance": release}},
		}}}},
	}
	return map[string]any{
		"platform":   "kubernetes",
		"image":      map[string]any{"repository": serverImage, "tag": tag},
		"config":     s.config(),
		"secrets":    existing("databaseURL", "githubPrivateKey", "githubWebhookSecret", "githubClientSecret", "slackSigningSecret", "slackBotToken", "statusKey", "sessionKey"),
		"catalogue":  map[string]any{"files": s.catalogueFiles()},
		"components": map[string]any{"hooks": map[string]any{"replicas": 1}, "api": map[string]any{"replicas": 1}, "worker": map[string]any{"replicas": 1}},
		"pods":       pods,
		"runner": map[string]any{
			"image":   map[string]any{"repository": runnerImage, "tag": tag},
			"secrets": map[string]any{"pullSecret": runnerSecret, "cloudCredentials": runnerSecret, "sshKey": runnerSecret},
		},
	}
}

// cloudVariables lead the AWS SDK to the stand-ins.
func (s *site) cloudVariables(credentials string) (env []any) {
	for _, line := range strings.Fields(s.secret("server.env")) {
		name, value, _ := strings.Cut(line, "=")
		if name == "AWS_SHARED_CREDENTIALS_FILE" {
			value = credentials
		}
		env = append(env, map[string]any{"name": name, "value": value})
	}
	return env
}

// listeners are at the address of the pod's node, not at every address of the machine.
func (s *site) listeners() []any {
	env := []any{map[string]any{"name": "POD_IP", "valueFrom": map[string]any{"fieldRef": map[string]any{"fieldPath": "status.podIP"}}}}
	for name, port := range map[string]string{"PUBLIC": ":8081", "PRIVATE": ":8080", "RUNNERS": ":8443", "PROBES": ":8082"} {
		env = append(env, map[string]any{"name": "OCPCTL_LISTEN_" + name, "value": "$(POD_IP)" + port})
	}
	return env
}

// config is the stack's own configuration without what the chart sets.
func (s *site) config() map[string]any {
	var config map[string]any
	require.NoError(s.t, yaml.Unmarshal([]byte(s.secret("server.yaml")), &config))
	for _, field := range []string{"database_url_ref", "listen", "catalogue", "session"} {
		delete(config, field)
	}
	for section, fields := range map[string][]string{"github": {"private_key_ref", "webhook_secret_ref", "client_secret_ref"}, "slack": {"signing_secret_ref", "bot_token_ref"}} {
		for _, field := range fields {
			delete(config[section].(map[string]any), field)
		}
	}
	config["listen"] = map[string]any{"drain_delay": "1s"}
	env := map[string]any{"OCPCTL_STANDIN_PACE": s.Pace.String(), "OCPCTL_PERMISSIONS_BOUNDARY": "arn:aws:iam::" + devstack.Account + ":policy/ocpctl-cluster-boundary"}
	for _, variable := range s.cloudVariables("/run/secrets/ocpctl/aws/aws-credentials") {
		pair := variable.(map[string]any)
		env[pair["name"].(string)] = pair["value"]
	}
	old := config["runner"].(map[string]any)
	config["runner"] = map[string]any{
		"status_url": s.StatusURL(), "lease": old["lease"], "heartbeat": old["heartbeat"], "env": env,
		"kubernetes": map[string]any{"mounts": []any{map[string]any{"secret": "ocpctl-runner", "path": "/run/secrets/ocpctl/aws"}}},
	}
	return config
}

// catalogueFiles are the demo's.
func (s *site) catalogueFiles() map[string]any {
	files := map[string]any{}
	root := os.DirFS(filepath.Join(s.Dir, "catalogue"))
	require.NoError(s.t, fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(root, path)
		files[path] = string(raw)
		return err
	}))
	return files
}

// step tells how long a part of the walk took.
func (s *site) step(what string, do func()) {
	s.t.Helper()
	began := time.Now()
	do()
	s.t.Logf("%5.1f s  %s", time.Since(began).Seconds(), what)
}

// release installs or upgrades the release, and returns when its pods are available.
func (s *site) release(command string, values map[string]any, more ...string) {
	s.t.Helper()
	args := append([]string{command, release, chart, "--namespace", namespace, "-f", valuesFile(s.t, values), "--wait", "--timeout", "4m"}, more...)
	_, err := s.helm(s.t, args...)
	require.NoError(s.t, err)
}

// doctor examines what the release depends on, from its pods.
func (s *site) doctor() {
	s.t.Helper()
	out, err := s.helm(s.t, "test", release, "--namespace", namespace, "--logs", "--timeout", "3m")
	require.NoError(s.t, err, s.logsOfPods(s.t, namespace))
	require.Contains(s.t, out, "ok      kubernetes.rights")
	require.Contains(s.t, out, "ok      kubernetes.jobs")
	require.Contains(s.t, out, "ok      kubernetes.excess")
	require.NotContains(s.t, out, "fail    ")
}

// shown is a cluster as the API shows it.
type shown struct {
	Name, Status, Phase string
	PullRequest         struct{ Number int }
}

// newest is the newest cluster of the pull request.
func (s *site) newest() (found shown) {
	s.t.Helper()
	token, err := s.Stack.Token("requester")
	require.NoError(s.t, err)
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.PrivateURL()+"/api/v1/clusters?limit=200", nil)
	require.NoError(s.t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return found // a server may be restarting
	}
	defer response.Body.Close()
	var page struct{ Items []shown }
	if json.NewDecoder(response.Body).Decode(&page) != nil {
		return found
	}
	for _, c := range page.Items {
		if c.PullRequest.Number == pullRequest {
			return c
		}
	}
	return found
}

func (s *site) reaches(what string, holds func(shown) bool) (last shown) {
	s.t.Helper()
	eventually(s.t, what, func() bool {
		last = s.newest()
		return holds(last)
	})
	return last
}

// runnerPods are the pods of attempts of a kind.
func (s *site) runnerPods(kind string) []object {
	return s.list(s.t, "/api/v1/namespaces/"+runners+"/pods?labelSelector="+"ocpctl/kind%3D"+kind)
}

func TestAnInstallationFromAnEmptyClusterToTheFirstClusterOnAPullRequest(t *testing.T) {
	s := newSite(t)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(s.logsOfPods(t, namespace), s.logsOfPods(t, runners))
		}
	})
	s.step("the secrets are created", s.createSecrets)
	values := s.values()
	s.step("helm install: the database is migrated, and two pods with every role become available", func() {
		s.release("install", values)
		s.createRunnerSecrets()
	})
	s.step("helm test: doctor finds nothing wrong", s.doctor)
	s.step("a labelled pull request gets a cluster, which a Job installs", func() {
		require.NoError(t, s.GitHub.Label(pullRequest, "ocp/aws-minimal-test", "maya"))
		s.reaches("the cluster is being installed", func(c shown) bool { return c.Phase == "installing" })
	})
	s.step("helm upgrade with another configuration replaces the server's pods, and not the runner's", func() { s.upgradeBesideARunner(values) })
	s.step("the cluster is READY after one attempt", func() {
		s.reaches("the cluster is READY", func(c shown) bool { return c.Status == "READY" })
		require.Equal(t, 1, s.attempts())
	})
	values["roles"] = "apart"
	s.step("helm upgrade to a Deployment for each role", func() { s.release("upgrade", values) })
	s.step("helm test: doctor finds nothing wrong for each role", s.doctor)
	s.step("the pull request is closed, and the cluster goes", func() {
		name := s.newest().Name
		require.NotEmpty(t, s.AWS.Resources(name))
		require.NoError(t, s.GitHub.Close(pullRequest, "maya"))
		s.reaches("the cluster is DESTROYED", func(c shown) bool { return c.Status == "DESTROYED" })
		require.Empty(t, s.AWS.Resources(name), "the cloud has nothing of it")
	})
	s.step("no runner works any more", s.runnersHaveEnded)
	s.step("helm rollback returns to one Deployment", func() {
		_, err := s.helm(t, "rollback", release, "--namespace", namespace, "--wait", "--timeout", "4m")
		require.NoError(t, err)
		require.Len(t, s.serverPods(), 2)
		require.Equal(t, "DESTROYED", s.newest().Status)
	})
	s.step("helm uninstall keeps the runners' namespace", s.uninstall)
}

// upgradeBesideARunner upgrades the release while a runner works.
func (s *site) upgradeBesideARunner(values map[string]any) {
	before := s.runnerPods("create")
	require.Len(s.t, before, 1)
	servers := s.serverPods()
	values["config"].(map[string]any)["limits"].(map[string]any)["runners"] = 7
	s.release("upgrade", values)
	after := s.runnerPods("create")
	require.Len(s.t, after, 1)
	require.Equal(s.t, text(before[0], "metadata", "uid"), text(after[0], "metadata", "uid"))
	require.Empty(s.t, text(after[0], "metadata", "deletionTimestamp"))
	for uid := range s.serverPods() {
		require.NotContains(s.t, servers, uid, "a changed configuration starts new pods")
	}
}

// serverPods are those of the server that are not being deleted, by uid.
func (s *site) serverPods() map[string]string {
	found := map[string]string{}
	for _, pod := range s.list(s.t, "/api/v1/namespaces/"+namespace+"/pods?labelSelector=app.kubernetes.io/component%3Dserver") {
		if text(pod, "metadata", "deletionTimestamp") == "" {
			found[text(pod, "metadata", "uid")] = pod.name()
		}
	}
	return found
}

// runnersHaveEnded checks that both Jobs are finished. The server deletes them an hour later; their Secrets are theirs and go with them.
func (s *site) runnersHaveEnded() {
	jobs := "/apis/batch/v1/namespaces/" + runners + "/jobs"
	eventually(s.t, "both Jobs are finished", func() bool {
		finished := 0
		for _, job := range s.list(s.t, jobs) {
			if text(job, "status", "completionTime") != "" {
				finished++
			}
		}
		return finished == 2
	})
	owned := 0
	for _, secret := range s.list(s.t, "/api/v1/namespaces/"+runners+"/secrets") {
		if secret.name() == "ocpctl-runner" {
			continue
		}
		owner := secret["metadata"].(map[string]any)["ownerReferences"].([]any)[0].(map[string]any)
		require.Equal(s.t, "Job", owner["kind"])
		owned++
	}
	require.Equal(s.t, 2, owned)
}

// attempts counts the attempts that there were.
func (s *site) attempts() (n int) {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), s.DatabaseURL())
	require.NoError(s.t, err)
	defer conn.Close(context.Background())
	require.NoError(s.t, conn.QueryRow(s.t.Context(), "SELECT count(*) FROM attempts").Scan(&n))
	return n
}

func (s *site) uninstall() {
	_, err := s.helm(s.t, "uninstall", release, "--namespace", namespace, "--wait")
	require.NoError(s.t, err)
	eventually(s.t, "the server's pods are gone", func() bool {
		for _, pod := range s.list(s.t, "/api/v1/namespaces/"+namespace+"/pods") {
			if text(pod, "metadata", "labels", "app.kubernetes.io/component") != "doctor" {
				return false
			}
		}
		return true
	})
	for _, path := range []string{
		"/api/v1/namespaces/" + runners, "/api/v1/namespaces/" + runners + "/serviceaccounts/ocpctl-runner-create",
		"/api/v1/namespaces/" + runners + "/secrets/ocpctl-runner", "/apis/networking.k8s.io/v1/namespaces/" + runners + "/networkpolicies/ocpctl-closed",
		"/api/v1/namespaces/" + namespace + "/secrets/ocpctl",
	} {
		_, found := s.get(s.t, path)
		require.True(s.t, found, path)
	}
	_, found := s.get(s.t, "/apis/rbac.authorization.k8s.io/v1/namespaces/"+runners+"/rolebindings/ocpctl-runners")
	require.False(s.t, found, "nobody manages runners any more")
}
