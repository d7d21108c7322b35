// Package kubernetes runs each attempt's runner as a Kubernetes Job with one pod.
//
// Everything it knows is in the API: it finds Jobs and pods by their labels, so any replica of the server can ask about any attempt.
// Kubernetes retries nothing, and a Job that ended is never started again. An API that does not answer decides nothing: it is an
// error, never an absence.
//
// Rights lists what the server's service account needs, in the runners' namespace alone.
package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/ocpctl/ocpctl/internal/dispatch"
)

// Dispatcher starts runners as Jobs. It holds no state and is safe for concurrent use.
type Dispatcher struct {
	cfg Config
	api *api
}

// New checks the configuration. It calls nothing.
func New(to *rest.Config, cfg Config) (*Dispatcher, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	client, err := newAPI(to, cfg.Namespace, cfg.Timeout)
	if err != nil {
		return nil, err
	}
	return &Dispatcher{cfg: cfg, api: client}, nil
}

// installationSelector selects this installation's objects.
func (d *Dispatcher) installationSelector() string {
	return LabelInstallation + "=" + d.cfg.Installation
}

func (d *Dispatcher) ofAttempt(attempt string) string {
	return d.installationSelector() + "," + LabelAttemptID + "=" + attempt
}

// Start creates the attempt's Job and then the secret with its token, which the Job owns: an interrupted start leaves nothing without
// an owner, and is completed by the next call. A pod waits for its secret. A Job that exists counts as started and is left as it is.
//
// Start refuses while another attempt of the cluster has a living pod. A *dispatch.Refusal says that Kubernetes refused an object.
func (d *Dispatcher) Start(ctx context.Context, job dispatch.Job) error {
	if err := d.startJob(ctx, job); err != nil {
		return fmt.Errorf("start attempt %s: %w", job.Attempt, err)
	}
	return nil
}

func (d *Dispatcher) startJob(ctx context.Context, job dispatch.Job) error {
	manifest, err := d.cfg.jobOf(job)
	if err != nil {
		return err
	}
	living, kept, err := d.listBeside(ctx, job)
	if err != nil {
		return err
	}
	if err := dispatch.Alone(job, living); err != nil || kept {
		return err
	}
	made, err := d.api.createJob(ctx, manifest)
	if apierrors.IsAlreadyExists(err) {
		made, err = d.api.getJob(ctx, manifest.Name)
		if err == nil && made.Labels[LabelAttemptID] != job.Attempt {
			return fmt.Errorf("a Job named %s exists in the namespace %s and belongs to %q, not to this attempt; delete it",
				manifest.Name, d.cfg.Namespace, made.Labels[LabelAttemptID])
		}
	}
	if err != nil {
		return toRefusal("Job", err)
	}
	if completionOf(made) != nil || isSuspended(made) || made.DeletionTimestamp != nil {
		return nil
	}
	if err := d.api.createSecret(ctx, d.cfg.secretOf(job, made)); err != nil && !apierrors.IsAlreadyExists(err) {
		return toRefusal("secret", err)
	}
	return nil
}

// Observe returns what the API knows about an attempt's runner. It is Running until no pod of it can be running any more, and Unknown
// while its node does not confirm that a deleted pod is gone.
func (d *Dispatcher) Observe(ctx context.Context, attempt string) (dispatch.Observation, error) {
	job, pods, err := d.findJob(ctx, attempt)
	if err != nil {
		return dispatch.Observation{}, fmt.Errorf("observe attempt %s: %w", attempt, err)
	}
	seen := dispatch.Observation{Sighting: sightingOf(job, pods, d.cfg.Now())}
	if seen.Sighting == dispatch.Missing {
		trouble := jobDeleted
		seen.Trouble = &trouble
		return seen, nil
	}
	seen.Trouble = d.recogniseTrouble(job, pods, d.eventsOf(ctx, job, pods))
	return seen, nil
}

// findJob returns an attempt's Job, nil if there is none, and its pods. A Job that is being deleted is found only if there is no other: a
// scan's next runner has a Job and a pod of its own.
func (d *Dispatcher) findJob(ctx context.Context, attempt string) (*batchv1.Job, []corev1.Pod, error) {
	jobs, pods, err := d.listJobsAndPods(ctx, d.ofAttempt(attempt))
	if err != nil || len(jobs) == 0 {
		return nil, pods, err
	}
	job := &jobs[max(0, slices.IndexFunc(jobs, func(j batchv1.Job) bool { return j.DeletionTimestamp == nil }))]
	return job, slices.DeleteFunc(pods, func(p corev1.Pod) bool { return p.Labels[LabelAttempt] != job.Labels[LabelAttempt] }), nil
}

// eventsOf returns the events of what waits, or has ended, without a reason in its status. They only explain: an error is as good as none.
func (d *Dispatcher) eventsOf(ctx context.Context, job *batchv1.Job, pods []corev1.Pod) []corev1.Event {
	switch {
	case len(pods) == 0 && job != nil && completionOf(job) == nil:
		events, _ := d.api.listEvents(ctx, job.UID)
		return events
	case len(pods) == 1 && (isCreating(&pods[0]) || hasEndedQuietly(&pods[0])):
		events, _ := d.api.listEvents(ctx, pods[0].UID)
		return events
	}
	return nil
}

// Living returns the numbers of the cluster's attempts that have a living pod, or a Job that may still create one, in rising order.
func (d *Dispatcher) Living(ctx context.Context, cluster string) ([]int, error) {
	jobs, pods, err := d.listJobsAndPods(ctx, d.installationSelector()+","+LabelCluster+"="+cluster)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", cluster, err)
	}
	return d.livingAttempts(jobs, pods)
}

// listBeside returns the numbers of what a job must not be started beside: attempts of its cluster, or other runners of the same scan. kept:
// an earlier runner of the scan has ended and was not forgotten, so nothing is started.
func (d *Dispatcher) listBeside(ctx context.Context, job dispatch.Job) (living []int, kept bool, err error) {
	if job.Cluster != "" {
		living, err = d.Living(ctx, job.Cluster)
		return living, false, err
	}
	found, pods, err := d.listJobsAndPods(ctx, d.ofAttempt(job.Attempt))
	if err != nil {
		return nil, false, err
	}
	kept = slices.ContainsFunc(found, func(j batchv1.Job) bool {
		return j.Labels[LabelAttempt] != strconv.Itoa(job.Number) && j.DeletionTimestamp == nil
	})
	living, err = d.livingAttempts(found, pods)
	return living, kept, err
}

// listJobsAndPods reads the Jobs first: a pod that is created in between is seen.
func (d *Dispatcher) listJobsAndPods(ctx context.Context, selector string) ([]batchv1.Job, []corev1.Pod, error) {
	jobs, err := d.api.listJobs(ctx, selector)
	if err != nil {
		return nil, nil, fmt.Errorf("list Jobs: %w", err)
	}
	pods, err := d.api.listPods(ctx, selector)
	if err != nil {
		return nil, nil, fmt.Errorf("list pods: %w", err)
	}
	return jobs, pods, nil
}

// livingAttempts returns the numbers of the attempts that the Jobs and pods belong to and that live, in rising order.
func (d *Dispatcher) livingAttempts(jobs []batchv1.Job, pods []corev1.Pod) ([]int, error) {
	type runner struct {
		job  *batchv1.Job
		pods []corev1.Pod
	}
	all := map[string]*runner{}
	of := func(number string) *runner {
		if all[number] == nil {
			all[number] = &runner{}
		}
		return all[number]
	}
	for i := range jobs {
		of(jobs[i].Labels[LabelAttempt]).job = &jobs[i]
	}
	for _, pod := range pods {
		r := of(pod.Labels[LabelAttempt])
		r.pods = append(r.pods, pod)
	}
	var living []int
	for label, r := range all {
		if sightingOf(r.job, r.pods, d.cfg.Now()) != dispatch.Running {
			continue
		}
		number, err := strconv.Atoi(label)
		if err != nil {
			return nil, fmt.Errorf("read the Jobs: the label %s is %q, not a number", LabelAttempt, label)
		}
		living = append(living, number)
	}
	slices.Sort(living)
	return living, nil
}

// Stop suspends the attempt's Job: Kubernetes deletes its pod with its grace period, so the runner gets one SIGTERM however often Stop
// is called, and a pod that does not exist yet is never created. The Job stays. A missing runner is no error.
func (d *Dispatcher) Stop(ctx context.Context, attempt string) error {
	if err := d.stopAttempt(ctx, attempt, nil); err != nil {
		return fmt.Errorf("stop attempt %s: %w", attempt, err)
	}
	return nil
}

// killGrace is what is left to a runner that is killed, in seconds. It is not 0: that deletes the pod's object at once, while the
// kubelet may still run its processes.
const killGrace = 5

// Kill ends the attempt's pod within seconds, unless it is being stopped already: a kubelet does not shorten a grace period that has
// begun (https://github.com/kubernetes/kubernetes/issues/113606). Observe reports Running until the node has confirmed the end.
func (d *Dispatcher) Kill(ctx context.Context, attempt string) error {
	if err := d.stopAttempt(ctx, attempt, new(int64(killGrace))); err != nil {
		return fmt.Errorf("kill the runner of attempt %s: %w", attempt, err)
	}
	return nil
}

// stopAttempt suspends the Job, and deletes the pods that no Job ends. With a grace period of its own it deletes all pods, and does so first:
// the kubelet keeps to the first one that it gets.
func (d *Dispatcher) stopAttempt(ctx context.Context, attempt string, grace *int64) error {
	job, pods, err := d.findJob(ctx, attempt)
	if err != nil {
		return err
	}
	owned := job != nil && job.DeletionTimestamp == nil && completionOf(job) == nil
	var failed []error
	for i := range pods {
		pod := &pods[i]
		asked := owned || pod.DeletionTimestamp != nil
		if !isLiving(pod) || asked && grace == nil {
			continue
		}
		if err := d.api.deletePod(ctx, pod, grace); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			failed = append(failed, fmt.Errorf("delete pod %s: %w", pod.Name, err))
		}
	}
	if owned && !isSuspended(job) {
		if err := d.api.suspendJob(ctx, job.Name); err != nil && !apierrors.IsNotFound(err) {
			failed = append(failed, fmt.Errorf("suspend Job %s: %w", job.Name, err))
		}
	}
	return errors.Join(failed...)
}

// Kept lists the attempts of this installation that have a Job.
func (d *Dispatcher) Kept(ctx context.Context) ([]string, error) {
	jobs, err := d.api.listJobs(ctx, d.installationSelector())
	if err != nil {
		return nil, fmt.Errorf("list Jobs: %w", err)
	}
	var kept []string
	for _, job := range jobs {
		if attempt := job.Labels[LabelAttemptID]; attempt != "" {
			kept = append(kept, attempt)
		}
	}
	return kept, nil
}

// Forget deletes an ended attempt's Job with its pod, its log and its secret. It refuses while anything of it may be alive.
func (d *Dispatcher) Forget(ctx context.Context, attempt string) error {
	job, pods, err := d.findJob(ctx, attempt)
	if err != nil {
		return fmt.Errorf("forget attempt %s: %w", attempt, err)
	}
	if seen := sightingOf(job, pods, d.cfg.Now()); seen == dispatch.Running || seen == dispatch.Unknown {
		return fmt.Errorf("forget attempt %s: its runner was not seen to end", attempt)
	}
	if job != nil {
		if err := d.api.deleteJob(ctx, job); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("forget attempt %s: delete Job %s: %w", attempt, job.Name, err)
		}
		return nil
	}
	for i := range pods { // left behind when somebody deleted the Job alone
		if err := d.api.deletePod(ctx, &pods[i], nil); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("forget attempt %s: delete pod %s: %w", attempt, pods[i].Name, err)
		}
	}
	return nil
}
