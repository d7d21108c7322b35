package kubernetes

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/ocpctl/ocpctl/internal/buildinfo"
)

// Connect returns how to reach the API: from a kubeconfig file or, without one, from the pod's own service account.
func Connect(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		cfg, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("connect to the Kubernetes API as this pod: %w; outside a cluster, name a kubeconfig file", err)
		}
		return cfg, nil
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("connect to the Kubernetes API with the kubeconfig %s: %w", kubeconfig, err)
	}
	return cfg, nil
}

// api makes the few calls that a dispatcher needs. The typed clientset would be the usual way, but it takes minutes to compile.
type api struct {
	jobs, core *rest.RESTClient
	namespace  string
	timeout    time.Duration
	params     runtime.ParameterCodec
}

// The limits on calls per second of one server; the defaults of client-go are for a tool.
const (
	callsPerSecond = 50
	callsBurst     = 100
)

func newAPI(to *rest.Config, namespace string, timeout time.Duration) (*api, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{batchv1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	a := &api{namespace: namespace, timeout: timeout, params: runtime.NewParameterCodec(scheme)}
	for _, c := range []struct {
		into    **rest.RESTClient
		path    string
		version schema.GroupVersion
	}{{&a.jobs, "/apis", batchv1.SchemeGroupVersion}, {&a.core, "/api", corev1.SchemeGroupVersion}} {
		cfg := rest.CopyConfig(to)
		cfg.GroupVersion, cfg.APIPath = &c.version, c.path
		cfg.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
		cfg.UserAgent = "ocpctl-server/" + buildinfo.Read().Version
		if cfg.QPS == 0 {
			cfg.QPS, cfg.Burst = callsPerSecond, callsBurst
		}
		client, err := rest.RESTClientFor(cfg)
		if err != nil {
			return nil, fmt.Errorf("connect to the Kubernetes API: %w", err)
		}
		*c.into = client
	}
	return a, nil
}

func (a *api) createJob(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	var made batchv1.Job
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	err := a.jobs.Post().Namespace(a.namespace).Resource("jobs").Body(job).Do(ctx).Into(&made)
	return &made, err
}

func (a *api) getJob(ctx context.Context, name string) (*batchv1.Job, error) {
	var found batchv1.Job
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	err := a.jobs.Get().Namespace(a.namespace).Resource("jobs").Name(name).Do(ctx).Into(&found)
	return &found, err
}

func (a *api) listJobs(ctx context.Context, selector string) ([]batchv1.Job, error) {
	var list batchv1.JobList
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	err := a.jobs.Get().Namespace(a.namespace).Resource("jobs").Param("labelSelector", selector).Do(ctx).Into(&list)
	return list.Items, err
}

// suspendJob makes Kubernetes end the Job's pod gracefully and create no other.
func (a *api) suspendJob(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	return a.jobs.Patch(types.MergePatchType).Namespace(a.namespace).Resource("jobs").Name(name).
		Body([]byte(`{"spec":{"suspend":true}}`)).Do(ctx).Error()
}

// deleteJob deletes exactly this Job, and with it what it owns.
func (a *api) deleteJob(ctx context.Context, job *batchv1.Job) error {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	return a.jobs.Delete().Namespace(a.namespace).Resource("jobs").Name(job.Name).
		Body(&metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground), Preconditions: &metav1.Preconditions{UID: &job.UID}}).
		Do(ctx).Error()
}

func (a *api) createSecret(ctx context.Context, secret *corev1.Secret) error {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	return a.core.Post().Namespace(a.namespace).Resource("secrets").Body(secret).Do(ctx).Error()
}

func (a *api) listPods(ctx context.Context, selector string) ([]corev1.Pod, error) {
	var list corev1.PodList
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	err := a.core.Get().Namespace(a.namespace).Resource("pods").Param("labelSelector", selector).Do(ctx).Into(&list)
	return list.Items, err
}

// deletePod deletes exactly this pod; grace nil: with the pod's own grace period.
func (a *api) deletePod(ctx context.Context, pod *corev1.Pod, grace *int64) error {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	return a.core.Delete().Namespace(a.namespace).Resource("pods").Name(pod.Name).
		Body(&metav1.DeleteOptions{GracePeriodSeconds: grace, Preconditions: &metav1.Preconditions{UID: &pod.UID}}).Do(ctx).Error()
}

// listEvents returns what was recorded about an object lately.
func (a *api) listEvents(ctx context.Context, uid types.UID) ([]corev1.Event, error) {
	var list corev1.EventList
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	err := a.core.Get().Namespace(a.namespace).Resource("events").Param("fieldSelector", "involvedObject.uid="+string(uid)).Do(ctx).Into(&list)
	return list.Items, err
}
