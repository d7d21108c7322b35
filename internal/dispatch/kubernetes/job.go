package kubernetes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/ocpctl/ocpctl/internal/dispatch"
)

// Labels of Jobs, pods and secrets. The service account's rights and network policies can rely on them.
const (
	LabelCluster      = "ocpctl/cluster" // id
	LabelAttempt      = "ocpctl/attempt" // number
	LabelAttemptID    = "ocpctl/attempt-id"
	LabelKind         = "ocpctl/kind" // create, destroy, scale, configure, access, sleep, wake, scan or prove
	LabelInstallation = "ocpctl/installation"
	LabelJob          = "ocpctl/job" // id of the public job
	LabelTeam         = "ocpctl/team"
	LabelProfile      = "ocpctl/profile"
	LabelPlatform     = "ocpctl/platform"
)

// group is the group that owns the runner's files outside OpenShift.
const group = 65532

const tokenVolume, workVolume, tempVolume, cacheVolume, containerName = "token", "work", "tmp", "image-cache", "runner"

// A scan on IBM Cloud exchanges a token of its service account for the trusted profile that the variable names. The file is one of those that
// IBM's SDK reads (go-sdk-core, core/container_authenticator.go).
const (
	profileVariable  = "IBMCLOUD_TRUSTED_PROFILE_ID"
	profileVolume    = "iam-token"
	profileTokenDir  = "/var/run/secrets/tokens"
	profileTokenFile = "sa-token"
)

// jobName derives a DNS label from cluster, kind and number: clu_01J… becomes ocpctl-clu-01j…-create-3. A scan gives its own id.
func jobName(job dispatch.Job) (string, error) {
	if err := job.Check(); err != nil {
		return "", err
	}
	id := strings.ToLower(strings.ReplaceAll(cmp.Or(job.Cluster, job.Attempt), "_", "-"))
	name := fmt.Sprintf("ocpctl-%s-%s-%d", id, job.Kind, job.Number)
	if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 || job.Number < 1 {
		return "", fmt.Errorf("attempt %d (%s) of %q gives no valid name for a Job: %q", job.Number, job.Kind, cmp.Or(job.Cluster, job.Attempt), name)
	}
	return name, nil
}

// attemptLabels returns the labels of everything that belongs to an attempt. What is no valid value of a label is left out.
func (c *Config) attemptLabels(job dispatch.Job) map[string]string {
	all := map[string]string{}
	maps.Copy(all, c.Labels)
	for key, value := range map[string]string{
		"app.kubernetes.io/name": "ocpctl-runner", "app.kubernetes.io/component": "runner", "app.kubernetes.io/part-of": "ocpctl",
		"app.kubernetes.io/managed-by": "ocpctl-server", "app.kubernetes.io/instance": c.Installation,
		LabelCluster: job.Cluster, LabelAttempt: strconv.Itoa(job.Number), LabelAttemptID: job.Attempt, LabelKind: job.Kind,
		LabelInstallation: c.Installation, LabelJob: job.Job, LabelTeam: job.Team, LabelProfile: job.Profile, LabelPlatform: job.Platform,
	} {
		if value != "" && len(validation.IsValidLabelValue(value)) == 0 {
			all[key] = value
		}
	}
	return all
}

// jobOf returns the Job of an attempt. Kubernetes retries nothing: one pod, which is never restarted or replaced.
func (c *Config) jobOf(job dispatch.Job) (*batchv1.Job, error) {
	name, err := jobName(job)
	if err != nil {
		return nil, err
	}
	account := c.serviceAccountOf(job)
	if account == "" {
		return nil, fmt.Errorf("no service account is configured for attempts of kind %q", job.Kind)
	}
	return &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: c.Namespace, Labels: c.attemptLabels(job), Annotations: c.Annotations},
		Spec: batchv1.JobSpec{
			Parallelism: new(int32(1)), Completions: new(int32(1)), BackoffLimit: new(int32(0)),
			PodReplacementPolicy:    new(batchv1.Failed),
			ActiveDeadlineSeconds:   new(toSeconds(c.jobDeadline(job.Kind, job.Deadline))),
			TTLSecondsAfterFinished: new(int32(toSeconds(c.Keep))),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: c.attemptLabels(job), Annotations: c.podAnnotations()},
				Spec:       c.podOf(job, name, account),
			},
		},
	}, nil
}

// podAnnotations keep autoscalers from moving a running installation to another node.
func (c *Config) podAnnotations() map[string]string {
	all := map[string]string{"cluster-autoscaler.kubernetes.io/safe-to-evict": "false", "karpenter.sh/do-not-disrupt": "true"}
	maps.Copy(all, c.Annotations)
	return all
}

func (c *Config) podOf(job dispatch.Job, secret, account string) corev1.PodSpec {
	spec := corev1.PodSpec{
		RestartPolicy:                 corev1.RestartPolicyNever,
		ServiceAccountName:            account,
		AutomountServiceAccountToken:  new(false),
		EnableServiceLinks:            new(false),
		TerminationGracePeriodSeconds: new(toSeconds(c.TerminationGrace)),
		PriorityClassName:             c.PriorityClasses[job.Kind],
		NodeSelector:                  c.NodeSelector,
		Tolerations:                   c.listTolerations(),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{c.containerOf(job)},
		Volumes: []corev1.Volume{
			{Name: tokenVolume, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret, DefaultMode: new(int32(0o440))}}},
			{Name: workVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: new(resource.MustParse(c.WorkSize))}}},
			{Name: tempVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: new(resource.MustParse(c.TempSize))}}},
		},
	}
	if !c.OpenShift {
		spec.SecurityContext.FSGroup = new(int64(group))
	}
	if c.ImageCacheClaim != "" && job.Platform == "ibmcloud" && job.Kind == "create" { // no other installer uploads an image
		claim := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c.ImageCacheClaim}
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: cacheVolume, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: claim}})
		runner := &spec.Containers[0]
		runner.VolumeMounts = append(runner.VolumeMounts, corev1.VolumeMount{Name: cacheVolume, MountPath: cacheDir})
		runner.Env = append(runner.Env, corev1.EnvVar{Name: dispatch.ImageCacheVariable, Value: cacheDir})
	}
	if job.Platform == "ibmcloud" && job.Kind == dispatch.KindScan && c.hasVariable(profileVariable) { // every other attempt has an API key
		sources := []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{
			Audience: "iam", Path: profileTokenFile, ExpirationSeconds: new(int64(3600)),
		}}}
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: profileVolume, VolumeSource: corev1.VolumeSource{
			Projected: &corev1.ProjectedVolumeSource{Sources: sources, DefaultMode: new(int32(0o440))}}})
		runner := &spec.Containers[0]
		runner.VolumeMounts = append(runner.VolumeMounts, corev1.VolumeMount{Name: profileVolume, MountPath: profileTokenDir, ReadOnly: true})
	}
	volumes, mounts := c.listMounts()
	spec.Volumes = append(spec.Volumes, volumes...)
	spec.Containers[0].VolumeMounts = append(spec.Containers[0].VolumeMounts, mounts...)
	for _, name := range c.ImagePullSecrets {
		spec.ImagePullSecrets = append(spec.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
	}
	return spec
}

func (c *Config) containerOf(job dispatch.Job) corev1.Container {
	return corev1.Container{
		Name: containerName, Image: c.Image, ImagePullPolicy: corev1.PullIfNotPresent,
		Command:   []string{Program},
		Args:      job.Arguments(c.StatusURL, tokenDir+"/"+tokenFile, WorkDir, Installers),
		Env:       c.podEnv(),
		Resources: c.resourcesOf(job.Profile, job.Platform, job.Kind),
		SecurityContext: &corev1.SecurityContext{
			RunAsNonRoot: new(true), ReadOnlyRootFilesystem: new(true), AllowPrivilegeEscalation: new(false),
			Capabilities:   &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		VolumeMounts: []corev1.VolumeMount{
			{Name: tokenVolume, MountPath: tokenDir, ReadOnly: true},
			{Name: workVolume, MountPath: WorkDir},
			{Name: tempVolume, MountPath: tempDir},
		},
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}

// podEnv returns the pod's own identity, by which the Status API recognises a second pod, and the configured variables.
func (c *Config) podEnv() []corev1.EnvVar {
	field := func(name, path string) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path}}}
	}
	all := []corev1.EnvVar{field("POD_UID", "metadata.uid"), field("POD_NAME", "metadata.name")}
	home := false
	for _, pair := range c.Env {
		key, value, _ := strings.Cut(pair, "=")
		all = append(all, corev1.EnvVar{Name: key, Value: value})
		home = home || key == "HOME"
	}
	if !home { // the image's may be read-only
		all = append(all, corev1.EnvVar{Name: "HOME", Value: tempDir})
	}
	return all
}

// hasVariable reports that a variable is configured for runners, and not empty.
func (c *Config) hasVariable(variable string) bool {
	return slices.ContainsFunc(c.Env, func(pair string) bool {
		value, is := strings.CutPrefix(pair, variable+"=")
		return is && value != ""
	})
}

// secretOf returns the secret with the attempt's token. The Job owns it, so it goes with the Job.
func (c *Config) secretOf(job dispatch.Job, owner *batchv1.Job) *corev1.Secret {
	return &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{
			Name: owner.Name, Namespace: c.Namespace, Labels: c.attemptLabels(job),
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: owner.Name, UID: owner.UID}},
		},
		Type: corev1.SecretTypeOpaque, Immutable: new(true),
		Data: map[string][]byte{tokenFile: []byte(job.Token)},
	}
}

func toSeconds(d time.Duration) int64 { return int64(d / time.Second) }
