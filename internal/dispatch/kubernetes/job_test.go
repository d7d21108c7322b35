package kubernetes

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/ocpctl/ocpctl/internal/dispatch"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, objects ...any) {
	t.Helper()
	var docs []string
	for _, o := range objects {
		raw, err := yaml.Marshal(o)
		require.NoError(t, err)
		docs = append(docs, string(raw))
	}
	got, path := strings.Join(docs, "---\n"), "testdata/"+name+".yaml"
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "go test ./internal/dispatch/kubernetes -update writes it anew")
}

// rich is a configuration that sets everything.
func rich() Config {
	c := settled()
	c.OpenShift = true
	c.ImagePullSecrets = []string{"quay-pull"}
	c.Resources = map[string]Resources{
		"ibmcloud": {Requests: map[string]string{"cpu": "1", "memory": "4Gi"}, Limits: map[string]string{"memory": "8Gi", "ephemeral-storage": "30Gi"}},
		"default":  {Requests: map[string]string{"memory": "2Gi"}},
	}
	c.Mounts = []Mount{{Secret: "ocpctl-runner", Path: "/run/secrets/ocpctl"}, {ConfigMap: "trusted-ca", Path: "/etc/ocpctl/ca"}}
	c.NodeSelector = map[string]string{"node-role.kubernetes.io/runners": ""}
	c.Tolerations = []Toleration{{Key: "runners", Operator: "Exists", Effect: "NoSchedule"}}
	c.PriorityClasses = map[string]string{"destroy": "ocpctl-destroy"}
	c.Labels = map[string]string{"example.com/cost-center": "cc-1"}
	c.Annotations = map[string]string{"example.com/owner": "platform team"}
	c.Deadlines = map[string]time.Duration{"destroy": 12 * time.Hour}
	c.TerminationGrace, c.WorkSize, c.TempSize, c.Keep = 5*time.Minute, "40Gi", "10Gi", 72*time.Hour
	c.Env = []string{"AWS_REGION=us-east-1", "HOME=/work", "HTTPS_PROXY=http://proxy:3128"}
	return c
}

// cached has a volume with the machines' images, and the usual resources.
func cached() Config {
	c := settled()
	c.ImageCacheClaim, c.Resources = "rhcos-images", Defaults().Resources
	return c
}

func TestOnlyAnInstallOnIBMCloudHasTheImagesVolumeAndMemory(t *testing.T) {
	c := cached()
	require.NoError(t, c.setDefaults())
	for _, of := range []struct {
		platform, kind, memory string
		volume                 bool
	}{{"ibmcloud", "create", "4Gi", true}, {"ibmcloud", "destroy", "512Mi", false}, {"aws", "create", "1536Mi", false}} {
		asked := attempt(1, of.kind)
		asked.Platform = of.platform
		job, err := c.jobOf(asked)
		require.NoError(t, err)
		pod := job.Spec.Template.Spec
		memory := pod.Containers[0].Resources.Requests[corev1.ResourceMemory]
		require.Equal(t, of.memory, memory.String())
		require.Equal(t, of.volume, slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil }))
	}
	c.Resources["ibmcloud"] = Resources{Requests: map[string]string{"memory": "3Gi"}}
	got := c.resourcesOf("small", "ibmcloud", "create").Requests[corev1.ResourceMemory]
	require.Equal(t, "4Gi", got.String(), "a name of platform and kind counts before one of the platform")
	got = c.resourcesOf("small", "ibmcloud", "destroy").Requests[corev1.ResourceMemory]
	require.Equal(t, "3Gi", got.String())
}

func TestEachKindHasItsServiceAccountAndThatOfTheCloudAccountFirst(t *testing.T) {
	c := cached()
	require.NoError(t, c.setDefaults())
	own := map[string]string{"create": "two-create", "destroy": "two-destroy", "scale": "two-scale"}
	for kind, want := range map[string]string{
		"create": "two-create", "destroy": "two-destroy", "scale": "two-scale", "sleep": "two-scale", "tag": "two-scale", "prepare": "two-scale", "access": "two-create", "inform": "two-create",
	} {
		asked := attempt(1, kind)
		require.NotEmpty(t, c.serviceAccountOf(asked), "the installation's for %s", kind)
		asked.ServiceAccounts = own
		job, err := c.jobOf(asked)
		require.NoError(t, err)
		require.Equal(t, want, job.Spec.Template.Spec.ServiceAccountName, kind)
	}
	_, err := c.jobOf(dispatch.Job{Attempt: "scn_1", Number: 1, Kind: dispatch.KindScan, ServiceAccounts: own})
	require.ErrorContains(t, err, "no service account", "never the installation's in another account")
	proof, err := c.jobOf(dispatch.Job{Attempt: "prf_1", Number: 1, Kind: dispatch.KindProve, ServiceAccounts: own})
	require.NoError(t, err)
	require.Equal(t, "two-create", proof.Spec.Template.Spec.ServiceAccountName, "a proof has the identity that creates")
}

func TestOnlyAScanOnIBMCloudHasATokenForItsTrustedProfile(t *testing.T) {
	with := func(more ...string) Config {
		c := settled()
		c.Env = append(c.Env, more...)
		require.NoError(t, c.setDefaults())
		return c
	}
	profile := "IBMCLOUD_TRUSTED_PROFILE_ID=Profile-1"
	tokenOf := func(c Config, job dispatch.Job, platform string) string {
		job.Platform = platform
		made, err := c.jobOf(job)
		require.NoError(t, err)
		for _, v := range made.Spec.Template.Spec.Volumes {
			if v.Projected != nil {
				for _, m := range made.Spec.Template.Spec.Containers[0].VolumeMounts {
					if m.Name == v.Name {
						token := v.Projected.Sources[0].ServiceAccountToken
						return m.MountPath + "/" + token.Path + " for " + token.Audience
					}
				}
			}
		}
		return ""
	}
	require.Equal(t, "/var/run/secrets/tokens/sa-token for iam", tokenOf(with(profile), scan(1), "ibmcloud"))
	require.Empty(t, tokenOf(with(profile), scan(1), "aws"))
	require.Empty(t, tokenOf(with(profile), attempt(1, "create"), "ibmcloud"), "an install has an API key")
	require.Empty(t, tokenOf(with(), scan(1), "ibmcloud"))
	require.Empty(t, tokenOf(with("IBMCLOUD_TRUSTED_PROFILE_ID="), scan(1), "ibmcloud"))
}

func TestTheJobAndTheSecretOfAnAttempt(t *testing.T) {
	for name, c := range map[string]struct {
		cfg Config
		job dispatch.Job
	}{"create": {settled(), attempt(1, "create")}, "destroy-openshift": {rich(), attempt(12, "destroy")}, "scan": {settled(), scan(2)}, "prove": {cached(), scan(1)}, "create-ibmcloud": {cached(), attempt(1, "create")}} {
		t.Run(name, func(t *testing.T) {
			if name == "destroy-openshift" {
				c.job.Platform, c.job.Team = "ibmcloud", "team with spaces"
			}
			if name == "prove" {
				c.job.Attempt, c.job.Kind, c.job.ServiceAccounts = "prf_01JCZ8M4S3X6V9Q2T5W8YBPRF1", dispatch.KindProve, map[string]string{"create": "two-create"}
			}
			if name == "create-ibmcloud" {
				c.job.Platform = "ibmcloud"
			}
			require.NoError(t, c.cfg.setDefaults())
			job, err := c.cfg.jobOf(c.job)
			require.NoError(t, err)
			owner := job.DeepCopy()
			owner.UID = "5b1c7b0e-5f0e-4f7e-9a53-0f3e6d2c1a11"
			golden(t, name, job, c.cfg.secretOf(c.job, owner))
		})
	}
}

func TestAJobsNameIsALabelForEveryKind(t *testing.T) {
	for _, kind := range kinds {
		job := attempt(99999, kind)
		if dispatch.IsOfAccount(kind) {
			job = scan(99999)
			job.Kind = kind
		}
		name, err := jobName(job)
		require.NoError(t, err)
		require.Empty(t, validation.IsDNS1123Label(name))
	}
	for name, job := range map[string]dispatch.Job{
		"no number": {Cluster: "clu_1", Kind: "create"}, "no cluster label": {Cluster: "clu/1", Kind: "create", Number: 1},
		"too long": {Cluster: strings.Repeat("c", 60), Kind: "create", Number: 1},
	} {
		_, err := jobName(job)
		require.ErrorContains(t, err, "gives no valid name for a Job", name)
	}
	cfg := settled()
	require.NoError(t, cfg.setDefaults())
	cfg.ServiceAccounts.Scan = ""
	_, err := cfg.jobOf(scan(1))
	require.ErrorContains(t, err, `no service account is configured for attempts of kind "scan"`, "no other account may read a whole account")
	require.Equal(t, []string{"create", "destroy", "scale", "configure", "access", "sleep", "wake", "observe", "tag", "inform", "prepare", "prove"}, cfg.listServedKinds())
	_, err = cfg.jobOf(attempt(1, "unknown"))
	require.ErrorContains(t, err, `no service account is configured for attempts of kind "unknown"`)
}

func TestADeadlineIsBeyondWhatTheRunnerLimitsItself(t *testing.T) {
	c := Config{Settings: Settings{Deadlines: map[string]time.Duration{"create": 4 * time.Hour}}}
	require.Equal(t, 5*time.Hour, c.jobDeadline("create", 3*time.Hour), "the profile's and two hours")
	require.Equal(t, 4*time.Hour, c.jobDeadline("create", time.Hour))
	require.Equal(t, LeastDeadline, c.jobDeadline("scale", 0))
}

func TestSettingsAreCheckedWithTheirFields(t *testing.T) {
	require.Empty(t, settled().Check())
	require.Empty(t, rich().Check())
	for want, change := range map[string]func(*Settings){
		`namespace is ""; give the namespace`:                             func(s *Settings) { s.Namespace = "" },
		`image is ""; give the runner's image`:                            func(s *Settings) { s.Image = "" },
		`service_accounts.destroy is "Bad"; give the name of an object`:   func(s *Settings) { s.ServiceAccounts.Destroy = "Bad" },
		`image_pull_secrets[0] is ""; give the name`:                      func(s *Settings) { s.ImagePullSecrets = []string{""} },
		`priority_classes has "verify"; give one of create, destroy`:      func(s *Settings) { s.PriorityClasses = map[string]string{"verify": "high"} },
		`deadlines has "verify"; give one of`:                             func(s *Settings) { s.Deadlines = map[string]time.Duration{"verify": 9 * time.Hour} },
		`deadlines.create is 1h; give 2h or more`:                         func(s *Settings) { s.Deadlines = map[string]time.Duration{"create": time.Hour} },
		`termination_grace is 30s; give 3m20s or more`:                    func(s *Settings) { s.TerminationGrace = 30 * time.Second },
		`mounts[0] names the secret "a" and the config map "b"; give one`: func(s *Settings) { s.Mounts = []Mount{{Secret: "a", ConfigMap: "b", Path: "/x"}} },
		`mounts[0].path is "/work/x"; give an absolute path outside`:      func(s *Settings) { s.Mounts = []Mount{{Secret: "a", Path: "/work/x"}} },
		`keep is 1m; give 2h or more`:                                     func(s *Settings) { s.Keep = time.Minute },
		`work_size is "big"; give an amount above zero`:                   func(s *Settings) { s.WorkSize = "big" },
		`resources.default.requests.memory is "0"; give an amount above zero`: func(s *Settings) {
			s.Resources = map[string]Resources{"default": {Requests: map[string]string{"memory": "0"}}}
		},
		`resources.aws.limits has "disk"; give cpu, memory or`:           func(s *Settings) { s.Resources = map[string]Resources{"aws": {Limits: map[string]string{"disk": "1"}}} },
		`labels has the key "ocpctl/cluster"; the prefixes ocpctl/ and`:  func(s *Settings) { s.Labels = map[string]string{"ocpctl/cluster": "x"} },
		`node_selector.zone is "a b"; give at most 63 letters`:           func(s *Settings) { s.NodeSelector = map[string]string{"zone": "a b"} },
		`annotations has the key "a b"; give a name`:                     func(s *Settings) { s.Annotations = map[string]string{"a b": "x"} },
		`tolerations[0].operator is "In" with the value ""; give Exists`: func(s *Settings) { s.Tolerations = []Toleration{{Key: "a", Operator: "In"}} },
		`tolerations[0].effect is "Never"; give NoSchedule`:              func(s *Settings) { s.Tolerations = []Toleration{{Key: "a", Effect: "Never"}} },
		`tolerations[0].key is empty; give the taint's key`:              func(s *Settings) { s.Tolerations = []Toleration{{}} },
	} {
		s := settled().Settings
		change(&s)
		bad := s.Check()
		require.Len(t, bad, 1, want)
		require.ErrorContains(t, bad[0], "runner.kubernetes."+want)
	}
	cfg := settled()
	cfg.StatusURL = ""
	require.ErrorContains(t, cfg.setDefaults(), "a status URL")
	_, err := Connect("/does/not/exist")
	require.ErrorContains(t, err, "/does/not/exist")
}

func TestWhatIsNoLabelIsLeftOut(t *testing.T) {
	cfg := settled()
	require.NoError(t, cfg.setDefaults())
	job, err := cfg.jobOf(attempt(1, "create"))
	require.NoError(t, err)
	for key, value := range job.Labels {
		require.Empty(t, validation.IsQualifiedName(key))
		require.Empty(t, validation.IsValidLabelValue(value))
	}
	require.Equal(t, corev1.RestartPolicyNever, job.Spec.Template.Spec.RestartPolicy)
}
