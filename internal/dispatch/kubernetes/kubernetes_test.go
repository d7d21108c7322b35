package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ocpctl/ocpctl/internal/dispatch"
)

func TestAStartMakesTheJobAndThenTheSecretThatItOwns(t *testing.T) {
	c, d := newCluster(t)
	job := attempt(1, "create")
	require.NoError(t, d.Start(t.Context(), job))
	require.Equal(t, []string{"GET jobs", "GET pods", "POST jobs", "POST secrets"}, c.calls, "four calls for each attempt")
	require.Len(t, c.secrets, 1)
	owner := c.secrets[0].OwnerReferences
	require.Equal(t, []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: c.jobs[0].Name, UID: c.jobs[0].UID}}, owner)
	require.Equal(t, map[string][]byte{"token": []byte("the-token")}, c.secrets[0].Data)

	seen, err := d.Observe(t.Context(), job.Attempt)
	require.NoError(t, err)
	require.Equal(t, dispatch.Running, seen.Sighting, "its pod is to come")
	kept, err := d.Kept(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{job.Attempt}, kept)
}

func TestAnInterruptedStartIsCompletedByTheNext(t *testing.T) {
	c, d := newCluster(t)
	job := attempt(1, "create")
	c.fail = func(call string) *metav1.Status {
		if call == "POST secrets" {
			return status(500, metav1.StatusReasonInternalError, "etcd is away")
		}
		return nil
	}
	err := d.Start(t.Context(), job)
	require.ErrorContains(t, err, "etcd is away")
	var refusal *dispatch.Refusal
	require.False(t, errors.As(err, &refusal))
	c.fail = nil
	require.NoError(t, d.Start(t.Context(), job))
	require.NoError(t, d.Start(t.Context(), job))
	require.Len(t, c.jobs, 1)
	require.Len(t, c.secrets, 1)
}

func TestAnEndedAttemptIsNotStartedAgain(t *testing.T) {
	for name, end := range map[string]func(*batchv1.Job){
		"finished": func(j *batchv1.Job) {
			j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: "True"}}
		},
		"suspended": func(j *batchv1.Job) { j.Spec.Suspend = new(true) },
		"deleted":   func(j *batchv1.Job) { j.DeletionTimestamp = new(metav1.NewTime(noon)) },
	} {
		t.Run(name, func(t *testing.T) {
			c, d := newCluster(t)
			require.NoError(t, d.Start(t.Context(), attempt(1, "create")))
			end(&c.jobs[0])
			c.secrets = nil
			require.NoError(t, d.Start(t.Context(), attempt(1, "create")))
			require.Len(t, c.jobs, 1)
			require.Empty(t, c.secrets)
		})
	}
}

func TestAJobOfThatNameThatIsNotOursIsAnError(t *testing.T) {
	c, d := newCluster(t)
	require.NoError(t, d.Start(t.Context(), attempt(1, "create")))
	c.jobs[0].Labels[LabelAttemptID] = "att_other"
	require.ErrorContains(t, d.Start(t.Context(), attempt(1, "create")), `belongs to "att_other", not to this attempt; delete it`)
}

func TestNothingIsStartedBesideALivingPodOfAnotherAttempt(t *testing.T) {
	c, d := newCluster(t)
	first, second := attempt(1, "create"), attempt(2, "destroy")
	require.NoError(t, d.Start(t.Context(), first))
	living, err := d.Living(t.Context(), first.Cluster)
	require.NoError(t, err)
	require.Equal(t, []int{1}, living, "its pod may still come")
	require.ErrorContains(t, d.Start(t.Context(), second), "the runner of attempt 1 of cluster clu_01JCZ8K7W5N3R1T9V2X4Y6ZABC is still alive")
	c.running(first, corev1.PodRunning)
	c.jobs[0].DeletionTimestamp = new(metav1.NewTime(noon))
	require.ErrorContains(t, d.Start(t.Context(), second), "is still alive", "its Job is being deleted, its pod is there")
	c.jobs = nil
	require.ErrorContains(t, d.Start(t.Context(), second), "is still alive", "its Job is gone, its pod is there")

	c.pods[0].Status.Phase = corev1.PodFailed
	require.NoError(t, d.Start(t.Context(), second))
	require.Equal(t, "ocpctl-clu-01jcz8k7w5n3r1t9v2x4y6zabc-destroy-2", c.jobs[0].Name)

	c.fail = func(call string) *metav1.Status {
		if call == "GET pods" {
			return status(500, metav1.StatusReasonInternalError, "etcd is away")
		}
		return nil
	}
	require.ErrorContains(t, d.Start(t.Context(), attempt(3, "destroy")), "list pods", "without an answer nothing is started")
	require.Len(t, c.jobs, 1)
}

func TestAScanHasOneRunnerAtATimeAndAnotherOnlyOnceItWasForgotten(t *testing.T) {
	c, d := newCluster(t)
	create := attempt(1, "create")
	require.NoError(t, d.Start(t.Context(), create))
	c.running(create, corev1.PodRunning)
	first, second := scan(1), scan(2)
	require.NoError(t, d.Start(t.Context(), first), "beside an attempt of a cluster")
	require.Equal(t, "ocpctl-scn-01jcz8m4s3x6v9q2t5w8ybxscan-scan-1", c.jobs[1].Name)
	require.NotContains(t, c.jobs[1].Labels, LabelCluster)
	c.running(first, corev1.PodRunning)
	require.ErrorContains(t, d.Start(t.Context(), second), "runner 1 of scan scn_01JCZ8M4S3X6V9Q2T5W8YBXSCAN is still alive")

	c.pods[1].Status.Phase = corev1.PodFailed
	c.jobs[1].Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
	require.NoError(t, d.Start(t.Context(), second))
	require.Len(t, c.jobs, 2, "the end of the first was not seen by anybody yet")

	c.jobs[1].DeletionTimestamp = new(metav1.NewTime(noon))
	require.NoError(t, d.Start(t.Context(), second))
	require.Len(t, c.jobs, 3)
	seen, err := d.Observe(t.Context(), second.Attempt)
	require.NoError(t, err)
	require.Equal(t, dispatch.Running, seen.Sighting, "the Job that is being deleted says nothing about the new one")
}

func TestAQuotaThatRefusesTheJobIsARefusal(t *testing.T) {
	c, d := newCluster(t)
	c.fail = func(call string) *metav1.Status {
		if call == "POST jobs" {
			return status(403, metav1.StatusReasonForbidden, `jobs.batch "x" is forbidden: exceeded quota: runners, requested: count/jobs.batch=1, used: count/jobs.batch=50, limited: count/jobs.batch=50`)
		}
		return nil
	}
	var refusal *dispatch.Refusal
	require.ErrorAs(t, d.Start(t.Context(), attempt(1, "create")), &refusal)
	require.Equal(t, QuotaExceeded, refusal.Trouble.Code)
	require.Contains(t, refusal.Trouble.Message, "exceeded quota: runners")
	seen, err := d.Observe(t.Context(), attempt(1, "create").Attempt)
	require.NoError(t, err)
	require.Equal(t, dispatch.Missing, seen.Sighting)
	require.Equal(t, Deleted, seen.Trouble.Code)
}

func TestAnAPIThatDoesNotAnswerDecidesNothing(t *testing.T) {
	c, d := newCluster(t)
	require.NoError(t, d.Start(t.Context(), attempt(1, "create")))
	for name, failure := range map[string]*metav1.Status{
		"500": status(500, metav1.StatusReasonInternalError, "etcd is away"), "403": status(403, metav1.StatusReasonForbidden, "no rights"),
		"503": status(503, metav1.StatusReasonServiceUnavailable, "starting"), "504": status(504, metav1.StatusReasonTimeout, "slow"),
	} {
		t.Run(name, func(t *testing.T) {
			for _, failing := range []string{"GET jobs", "GET pods"} {
				c.fail = func(call string) *metav1.Status {
					if call == failing {
						return failure
					}
					return nil
				}
				seen, err := d.Observe(t.Context(), attempt(1, "create").Attempt)
				require.ErrorContains(t, err, "observe attempt att_01JCZ8M4S3X6V9Q2T5W8YBAD01: list")
				require.Equal(t, dispatch.Observation{}, seen)
				require.Error(t, d.Stop(t.Context(), attempt(1, "create").Attempt))
				require.Error(t, d.Forget(t.Context(), attempt(1, "create").Attempt))
			}
		})
	}
	require.Zero(t, c.called("PATCH jobs")+c.called("DELETE jobs"))
	stopped := dispatcher(t, "http://127.0.0.1:1", nil)
	_, err := stopped.Observe(t.Context(), "att_1")
	require.Error(t, err)
}

func TestACallThatHangsEndsAtItsTimeout(t *testing.T) {
	c, _ := newCluster(t)
	hung := make(chan struct{})
	c.fail = func(string) *metav1.Status { <-hung; return nil }
	d := dispatcher(t, serverOf(t, c), func(cfg *Config) { cfg.Timeout = 20 * time.Millisecond })
	_, err := d.Observe(t.Context(), "att_1")
	close(hung)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestAnAPIThatIsBusyIsAskedAgainWhenItSays(t *testing.T) {
	c, d := newCluster(t)
	busy := 0
	c.fail = func(call string) *metav1.Status {
		if busy++; call == "GET jobs" && busy == 1 {
			s := status(429, metav1.StatusReasonTooManyRequests, "later")
			s.Details = &metav1.StatusDetails{RetryAfterSeconds: 1}
			return s
		}
		return nil
	}
	_, err := d.Observe(t.Context(), "att_1")
	require.NoError(t, err)
	require.Equal(t, 2, c.called("GET jobs"))
}

func TestAStopSuspendsTheJobOnceAndLeavesThePodToKubernetes(t *testing.T) {
	c, d := newCluster(t)
	job := attempt(1, "create")
	require.NoError(t, d.Stop(t.Context(), job.Attempt), "no runner is no error")
	require.NoError(t, d.Start(t.Context(), job))
	c.running(job, corev1.PodRunning)
	for range 3 {
		require.NoError(t, d.Stop(t.Context(), job.Attempt))
	}
	require.Equal(t, []string{c.jobs[0].Name + ` {"spec":{"suspend":true}}`}, c.bodies)
	require.Zero(t, c.called("DELETE pods"))
	require.ErrorContains(t, d.Forget(t.Context(), job.Attempt), "was not seen to end")

	c.jobs[0].Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobSuspended, Status: "True"}}
	c.pods = nil
	seen, err := d.Observe(t.Context(), job.Attempt)
	require.NoError(t, err)
	require.Equal(t, dispatch.Observation{Sighting: dispatch.Ended}, seen)
	require.NoError(t, d.Start(t.Context(), job))
	require.Len(t, c.jobs, 1)
}

func TestAnOrphanedPodIsStoppedByItsDeletion(t *testing.T) {
	c, d := newCluster(t)
	job := attempt(1, "create")
	require.NoError(t, d.Start(t.Context(), job))
	c.running(job, corev1.PodRunning)
	c.jobs = nil
	require.NoError(t, d.Stop(t.Context(), job.Attempt))
	require.Len(t, c.bodies, 1)
	require.NotContains(t, c.bodies[0], "gracePeriodSeconds", "with the pod's own grace period")
	c.pods[0].DeletionTimestamp = new(metav1.NewTime(noon))
	require.NoError(t, d.Stop(t.Context(), job.Attempt))
	require.Len(t, c.bodies, 1, "once")
}

func TestAKillLeavesThePodSecondsAndIsNoForcedDeletion(t *testing.T) {
	c, d := newCluster(t)
	job := attempt(1, "create")
	require.NoError(t, d.Start(t.Context(), job))
	c.running(job, corev1.PodRunning)
	require.NoError(t, d.Kill(t.Context(), job.Attempt))
	require.Len(t, c.bodies, 2)
	var options metav1.DeleteOptions
	_, raw, _ := strings.Cut(c.bodies[0], " ")
	require.NoError(t, json.Unmarshal([]byte(raw), &options))
	require.Contains(t, c.bodies[1], "suspend", "after the deletion, whose grace period counts because it is the first")
	require.Equal(t, new(int64(killGrace)), options.GracePeriodSeconds)
	require.Equal(t, c.pods[0].UID, *options.Preconditions.UID)
	seen, err := d.Observe(t.Context(), job.Attempt)
	require.NoError(t, err)
	require.Equal(t, dispatch.Running, seen.Sighting, "until its node has confirmed it")
}

func TestAnEndedAttemptsJobIsDeletedWithWhatItOwns(t *testing.T) {
	c, d := newCluster(t)
	job := attempt(1, "create")
	require.NoError(t, d.Forget(t.Context(), job.Attempt), "nothing is left")
	require.NoError(t, d.Start(t.Context(), job))
	c.running(job, corev1.PodSucceeded)
	require.NoError(t, d.Forget(t.Context(), job.Attempt))
	require.Len(t, c.bodies, 1)
	require.Contains(t, c.bodies[0], `"propagationPolicy":"Background"`)
	require.Contains(t, c.bodies[0], `"uid":"uid-1"`)
}

func TestAnotherInstallationInTheNamespaceIsNotOurs(t *testing.T) {
	c, d := newCluster(t)
	require.NoError(t, d.Start(t.Context(), attempt(1, "create")))
	other := dispatcher(t, serverOf(t, c), func(cfg *Config) { cfg.Installation = "stage" })
	kept, err := other.Kept(t.Context())
	require.NoError(t, err)
	require.Empty(t, kept)
	seen, err := other.Observe(t.Context(), attempt(1, "create").Attempt)
	require.NoError(t, err)
	require.Equal(t, dispatch.Missing, seen.Sighting)
}

func TestWhatIsWatchedIsReportedOnceAndAgainAfterAGap(t *testing.T) {
	c, d := newCluster(t)
	job := attempt(1, "create")
	require.NoError(t, d.Start(t.Context(), job))
	running, gone := c.jobs[0], c.jobs[0]
	running.TypeMeta = metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}
	running.ResourceVersion = "11"
	ended := running
	ended.ResourceVersion = "12"
	ended.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: "True"}}
	_ = gone
	line := func(kind string, object any) string {
		raw, err := json.Marshal(object)
		require.NoError(t, err)
		return `{"type":"` + kind + `","object":` + string(raw) + `}`
	}
	watched := 0
	c.watches = func(resource, _ string) []string {
		if resource != "jobs" {
			return nil
		}
		switch watched++; watched {
		case 1: // a change that no observation shows, a bookmark, one that matters, and the version has expired
			bookmark := batchv1.Job{TypeMeta: running.TypeMeta, ObjectMeta: metav1.ObjectMeta{ResourceVersion: "13"}}
			c.jobs = nil // deleted while nobody watched
			return []string{line("MODIFIED", running), line("MODIFIED", ended), line("BOOKMARK", bookmark),
				line("ERROR", status(410, metav1.StatusReasonExpired, "too old resource version"))}
		case 2:
			return []string{line("ADDED", running)}
		}
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	told := 0
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.Watch(ctx, func(cluster string) {
			mu.Lock()
			defer mu.Unlock()
			require.Equal(t, job.Cluster, cluster)
			told++
		})
	}()
	require.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return told >= 3 // seen, ended, there again
	}, 30*time.Second, 5*time.Millisecond)
	cancel()
	<-done
	require.Equal(t, 3, told)
	require.GreaterOrEqual(t, c.called("GET jobs"), 2, "listed again")
}
