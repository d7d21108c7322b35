package lifecycle

import (
	"slices"
	"strings"
	"time"
)

// Platform is where a pipeline runs.
type Platform string

// The platforms.
const (
	GitHub Platform = "github" // a workflow run of GitHub Actions
	Tekton Platform = "tekton" // a PipelineRun
	GitLab Platform = "gitlab" // a pipeline of GitLab CI, which nobody asks about
)

// RunState is whether the newest attempt of a run goes on.
type RunState string

// The states.
const (
	RunRunning  RunState = "running"
	RunFinished RunState = "finished"
)

// Lifetime is what ends a cluster besides its time to live and the profile's maximum.
type Lifetime string

// The lifetimes.
const (
	LifetimeRun Lifetime = "run" // it ends with the run that requested it
	LifetimeJob Lifetime = "job" // it ends with the job that requested it
	LifetimeTTL Lifetime = "ttl" // nothing else does
)

// Run is the pipeline run that a cluster belongs to, as people see it.
type Run struct {
	ID         string // run_…; empty: the cluster belongs to none
	Platform   Platform
	Key        string // what the platform identifies it by: a number, or a uid
	Repo       string // owner/name; empty: of no repository
	Name       string // of the workflow or the PipelineRun
	URL        string // empty: it has no page
	Attempt    int    // the attempt that requested the cluster, or took it over
	Slot       string // which of the run's clusters it is; empty: the only one
	Lifetime   Lifetime
	State      RunState // of the run's newest attempt
	Conclusion string   // as the platform spells it, or ConclusionGone; empty: it is running
	Unwatched  string   // why its end cannot be noticed; empty: it can
}

// PipelineRunKey returns what identifies a PipelineRun in its namespace. Requests name PipelineRuns, so name and uid count together: a
// request with a wrong one of them names another run, which is not there.
func PipelineRunKey(name, uid string) string { return name + "/" + uid }

// ShownKey returns what people identify a run by, given its key: the number, or the uid of a PipelineRun.
func ShownKey(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }

// ConclusionGone is the conclusion of a run that was deleted while it was running, as far as anybody knows.
const ConclusionGone = "gone"

// atOnce are the conclusions after which nobody needs the cluster any more. After all others people look for the cause, or run the
// failed jobs again.
// https://docs.github.com/rest/actions/workflow-runs
var atOnce = []string{"success", "cancelled", "skipped", "neutral", "stale"}

// GraceAfter returns how long a cluster stays after its run or job finished with a conclusion. grace is the profile's.
func GraceAfter(conclusion string, grace time.Duration) time.Duration {
	if slices.Contains(atOnce, conclusion) {
		return 0
	}
	return grace
}

// Finish is how and when an attempt of a run, or a job, finished. The zero value: it did not.
type Finish struct {
	Conclusion string
	At         time.Time
}

// Bound is what the end of a cluster of a run follows from.
type Bound struct {
	Platform Platform
	Lifetime Lifetime
	Attempt  int           // of the run, to which the cluster is bound
	Grace    time.Duration // the cluster's, see GraceAfter
	Job      Finish        // of the job that it is bound to

	Newest int    // attempt of the run
	Run    Finish // of that attempt

	Signalled bool      // the run asked for a signal, see SignalKind
	ReadyAt   time.Time // the cluster's
}

// RunEnd returns when a cluster ends because its run or its job finished, and why. Zero: it does not. A cluster of a run goes on
// while any attempt of the run does; a job never comes back. A cluster whose run asked for a signal outlives the run's success: until it is
// ready, and then for the grace, so that the run which the signal starts can take it over.
func RunEnd(b Bound) (at time.Time, why Reason) {
	what, finish := "", b.Run
	if b.Platform == Tekton {
		what = finishedPipelineRun
	}
	if b.Lifetime == LifetimeJob {
		what = finishedJob
		switch {
		case !b.Job.At.IsZero():
			finish = b.Job
		case b.Newest > b.Attempt && b.Run.Conclusion != ConclusionGone: // its attempt is over, and how its job finished will be asked
			return time.Time{}, Reason{}
		}
	}
	switch {
	case finish.At.IsZero():
		return time.Time{}, Reason{}
	case b.Signalled && b.Lifetime == LifetimeRun && finish.Conclusion == "success":
		return b.handoverEnd()
	}
	return finish.At.Add(GraceAfter(finish.Conclusion, b.Grace)), Reason{Code: ReasonRunFinished, Name: what, To: finish.Conclusion}
}

// describeConclusion completes "its workflow run …".
func describeConclusion(conclusion string) string {
	switch conclusion {
	case "cancelled":
		return "was cancelled"
	case "failure", "startup_failure":
		return "failed"
	case "timed_out":
		return "ran out of time"
	case "skipped":
		return "was skipped"
	case "action_required":
		return "finished and needs somebody's action"
	case ConclusionGone:
		return "was deleted"
	}
	return "finished"
}
