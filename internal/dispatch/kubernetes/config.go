package kubernetes

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/ocpctl/ocpctl/internal/dispatch"
)

// What the runner's image holds, and where the Job mounts the rest.
const (
	Program    = "/usr/bin/ocpctl-runner" // the image's program
	Installers = "/installers"            // the image's directory of <version>/openshift-install, ccoctl and oc
	WorkDir    = "/work"                  // emptyDir

	tokenDir  = "/var/run/ocpctl"
	tokenFile = "token"
	tempDir   = "/tmp"
	cacheDir  = "/var/cache/ocpctl"
)

const (
	// LeastGrace is the shortest termination grace period: a runner gives its installer 70 s to end and then saves the state, which
	// may take up to two minutes.
	LeastGrace = 200 * time.Second
	// LeastDeadline is the shortest deadline of a Job: the installer's own limits are 20 + 30 + 40 + 10 minutes, and its preparations
	// come on top.
	LeastDeadline = 2 * time.Hour
	// beyond is added to the profile's deadline for the installer's own work. It covers what the runner does besides: extracting the
	// programs (3 × 15 min), ccoctl (15 min), rendering (10 min), gathering logs (10 min), waiting for add-ons (30 min) or counting what
	// is left, and the snapshots (5 min).
	beyond = 2 * time.Hour

	defaultTimeout = 10 * time.Second
	defaultKeep    = 7 * 24 * time.Hour
)

// Settings are the section runner.kubernetes of the server's configuration. deploy/ocpctl.yaml lists every field.
type Settings struct {
	Namespace  string `yaml:"namespace"`  // where Jobs run; each installation sees its own alone
	Kubeconfig string `yaml:"kubeconfig"` // empty: the server's own service account
	OpenShift  bool   `yaml:"openshift"`  // the SCC restricted-v2 chooses user and group

	Image            string   `yaml:"image"`              // the runner's, best by digest
	ImagePullSecrets []string `yaml:"image_pull_secrets"` // names of Secrets

	ServiceAccounts ServiceAccounts      `yaml:"service_accounts"`
	Resources       map[string]Resources `yaml:"resources"` // by profile, platform and kind of attempt ("ibmcloud-create"), platform, kind of attempt, or default

	Mounts []Mount `yaml:"mounts"` // where references such as file:/run/secrets/pull-secret find their files

	NodeSelector    map[string]string `yaml:"node_selector"`    // labels of the nodes for runners
	Tolerations     []Toleration      `yaml:"tolerations"`      // let runners onto nodes with a taint
	PriorityClasses map[string]string `yaml:"priority_classes"` // by kind of attempt
	Labels          map[string]string `yaml:"labels"`           // added to Jobs and pods
	Annotations     map[string]string `yaml:"annotations"`      // added to Jobs and pods

	Deadlines        map[string]time.Duration `yaml:"deadlines"`         // least time for a Job, by kind of attempt; never less than the profile's deadline plus 2 h
	TerminationGrace time.Duration            `yaml:"termination_grace"` // for stopping the installer and saving its state; not less
	Keep             time.Duration            `yaml:"keep"`              // when Kubernetes deletes finished Jobs that the server did not
	ImageCacheClaim  string                   `yaml:"image_cache_claim"` // PersistentVolumeClaim with the machines' images, for installs on IBM Cloud; empty: each install downloads its own
	WorkSize         string                   `yaml:"work_size"`         // limit of /work
	TempSize         string                   `yaml:"temp_size"`         // limit of /tmp
}

// ServiceAccounts are the pods' identities by kind of attempt: each gets its own rights in the cloud. A destroy also verifies.
type ServiceAccounts struct {
	Create    string `yaml:"create"`    // runners that create
	Destroy   string `yaml:"destroy"`   // runners that destroy and count
	Scale     string `yaml:"scale"`     // of sleep and wake too; empty: create's
	Configure string `yaml:"configure"` // empty: create's
	Access    string `yaml:"access"`    // empty: configure's
	Scan      string `yaml:"scan"`      // empty: no scan is started, because no other account may read as much
}

// Resources are requests and limits of one runner: cpu, memory, ephemeral-storage.
type Resources struct {
	Requests map[string]string `yaml:"requests"`
	Limits   map[string]string `yaml:"limits"`
}

// Mount makes a secret or a config map of the runners' namespace readable at a path.
type Mount struct {
	Secret    string `yaml:"secret"`     // its name
	ConfigMap string `yaml:"config_map"` // or that of a ConfigMap
	Path      string `yaml:"path"`       // in the pods, e.g. /run/secrets/pull-secret
}

// Toleration lets runners onto nodes with a taint.
type Toleration struct {
	Key      string `yaml:"key"`      // of the taint
	Operator string `yaml:"operator"` // Exists or Equal
	Value    string `yaml:"value"`    // with Equal
	Effect   string `yaml:"effect"`   // e.g. NoSchedule
}

// Defaults are the settings where the configuration says nothing.
func Defaults() Settings {
	deadlines := map[string]time.Duration{}
	for _, kind := range kinds {
		deadlines[kind] = LeastDeadline
	}
	// A look at an account runs no installer. A scan of 10,000 resources takes 26 MB (docs/performance.md).
	ofAccount := Resources{
		Requests: map[string]string{"cpu": "100m", "memory": "256Mi", "ephemeral-storage": "1Gi"},
		Limits:   map[string]string{"memory": "1Gi"},
	}
	return Settings{
		Resources: map[string]Resources{
			dispatch.KindScan: ofAccount, dispatch.KindProve: ofAccount,
			// An installation on AWS: the real installer, its API server, etcd and Cluster API have 1,195 MB together (docs/proof.md).
			usualResources: {
				Requests: map[string]string{"cpu": "500m", "memory": "1536Mi", "ephemeral-storage": "6Gi"},
				Limits:   map[string]string{"memory": "2Gi"},
			},
			// The real destroyer has at most 158 MB and ccoctl 48 (docs/proof.md), one after the other, beside the runner's own memory.
			// The rest is for oc, which unpacks the installer, and for accounts with more in them.
			"destroy": {
				Requests: map[string]string{"cpu": "500m", "memory": "512Mi", "ephemeral-storage": "6Gi"},
				Limits:   map[string]string{"memory": "1Gi"},
			},
			// The installer unpacks the machines' image of some GiB, and reads the whole of it into memory before it uploads it
			// (openshift/installer pkg/infrastructure/ibmcloud/clusterapi).
			"ibmcloud-create": {
				Requests: map[string]string{"cpu": "500m", "memory": "4Gi", "ephemeral-storage": "14Gi"},
				Limits:   map[string]string{"memory": "8Gi"},
			},
		},
		Deadlines: deadlines, TerminationGrace: LeastGrace, Keep: defaultKeep, WorkSize: "20Gi", TempSize: "5Gi",
	}
}

// Config is everything that Jobs are made from.
type Config struct {
	Settings
	Installation string           // id of this installation; several may share a namespace
	StatusURL    string           // URL of the Status API for runners
	Env          []string         // KEY=value
	Timeout      time.Duration    // of one call of the API; zero: 10 s
	Now          func() time.Time // nil: time.Now
}

func (c *Config) setDefaults() error {
	if c.Installation == "" || c.StatusURL == "" {
		return errors.New("dispatch to Kubernetes: an installation and a status URL are required")
	}
	if bad := c.Check(); len(bad) > 0 {
		return errors.Join(bad...)
	}
	usual := Defaults()
	c.TerminationGrace = cmp.Or(c.TerminationGrace, usual.TerminationGrace)
	c.WorkSize, c.TempSize = cmp.Or(c.WorkSize, usual.WorkSize), cmp.Or(c.TempSize, usual.TempSize)
	c.Keep, c.Timeout = cmp.Or(c.Keep, usual.Keep), cmp.Or(c.Timeout, defaultTimeout)
	if c.Now == nil {
		c.Now = time.Now
	}
	return nil
}

// jobDeadline is how long a Job may exist: beyond everything that the runner limits itself.
func (c *Config) jobDeadline(kind string, installer time.Duration) time.Duration {
	return max(c.Deadlines[kind], LeastDeadline, installer+beyond)
}

// serviceAccount returns the service account for a kind of attempt; empty: the kind is unknown.
func (s *Settings) serviceAccount(kind string) string {
	a := s.ServiceAccounts
	return map[string]string{
		"create": a.Create, "destroy": a.Destroy, "scale": cmp.Or(a.Scale, a.Create), "configure": cmp.Or(a.Configure, a.Create),
		"access": cmp.Or(a.Access, a.Configure, a.Create), "sleep": cmp.Or(a.Scale, a.Create), "wake": cmp.Or(a.Scale, a.Create),
		"observe": cmp.Or(a.Access, a.Configure, a.Create), "tag": cmp.Or(a.Scale, a.Create), "inform": cmp.Or(a.Access, a.Configure, a.Create), "prepare": cmp.Or(a.Scale, a.Create),
		dispatch.KindScan: a.Scan, dispatch.KindProve: a.Create,
	}[kind]
}

// serviceAccountOf returns the service account for a job: that of the cluster's cloud account, if it has its own.
func (s *Settings) serviceAccountOf(job dispatch.Job) string {
	of := job.ServiceAccounts
	if len(of) == 0 {
		return s.serviceAccount(job.Kind)
	}
	own := Settings{ServiceAccounts: ServiceAccounts{
		Create: of["create"], Destroy: of["destroy"], Scale: of["scale"], Configure: of["configure"], Access: of["access"], Scan: of[dispatch.KindScan],
	}}
	return own.serviceAccount(job.Kind)
}

// listServedKinds lists the kinds that have a service account. Only scans may have none.
func (s *Settings) listServedKinds() []string {
	return slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return s.serviceAccount(kind) == "" })
}

// usualResources names the resources of runners for which no others are set.
const usualResources = "default"

// resourcesName returns the name in Resources that has the resources of a runner.
func (s *Settings) resourcesName(profile, platform, kind string) string {
	for _, name := range []string{profile, platform + "-" + kind, platform, kind} {
		if _, ok := s.Resources[name]; ok {
			return name
		}
	}
	return usualResources
}

// resourcesOf returns the resources of a runner.
func (s *Settings) resourcesOf(profile, platform, kind string) corev1.ResourceRequirements {
	r, ok := s.Resources[s.resourcesName(profile, platform, kind)]
	if !ok {
		r = Defaults().Resources[usualResources]
	}
	return corev1.ResourceRequirements{Requests: parseQuantities(r.Requests), Limits: parseQuantities(r.Limits)}
}

// parseQuantities parses what Check accepted.
func parseQuantities(texts map[string]string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for name, text := range texts {
		list[corev1.ResourceName(name)] = resource.MustParse(text)
	}
	return list
}

// listMounts returns the configured volumes and where they are mounted.
func (s *Settings) listMounts() (volumes []corev1.Volume, at []corev1.VolumeMount) {
	for i, m := range s.Mounts {
		v := corev1.Volume{Name: fmt.Sprintf("mount-%d", i)}
		if m.Secret != "" {
			v.Secret = &corev1.SecretVolumeSource{SecretName: m.Secret, DefaultMode: new(int32(0o440))}
		} else {
			v.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: m.ConfigMap}}
		}
		volumes = append(volumes, v)
		at = append(at, corev1.VolumeMount{Name: v.Name, MountPath: m.Path, ReadOnly: true})
	}
	return volumes, at
}

func (s *Settings) listTolerations() (list []corev1.Toleration) {
	for _, t := range s.Tolerations {
		list = append(list, corev1.Toleration{
			Key: t.Key, Operator: corev1.TolerationOperator(t.Operator), Value: t.Value, Effect: corev1.TaintEffect(t.Effect),
		})
	}
	return list
}
