package messages

import (
	"fmt"
	"strings"
)

// NotARun is the problem with a run that is no object.
func NotARun(written string) Problem {
	return Problem{"It is not an object" + afterProblem(written) + ".", []string{"an object with reuse, slot and lifetime"}}
}

// RunOfAnotherTeam tells a run that the cluster in its slot belongs to a team for which its token has no role.
func RunOfAnotherTeam(cluster, team string) string {
	return fmt.Sprintf("The run has %s in this slot, which belongs to team %s, and this token has no role there. Name another slot, or let an identity of the catalogue match this job's token.", cluster, team)
}

// RunReplaced tells a run that it is an older attempt.
func RunReplaced(url string, attempt int) string {
	return fmt.Sprintf("Attempt %d of the run has replaced this one%s, so this attempt gets nothing any more.", attempt, at(url))
}

// RunOver tells a run that it is finished.
func RunOver(url, conclusion string) string {
	return fmt.Sprintf("The run has finished (%s)%s. Run it again to get a cluster.", conclusion, at(url))
}

func at(url string) string {
	if url == "" {
		return ""
	}
	return ": " + url
}

// RunReused tells a run which cluster it has.
func RunReused(cluster string, status string) string {
	return fmt.Sprintf("The run has %s already (%s), so no other one was created.", cluster, strings.ToLower(status))
}

// RunCheck is the dry run's check of a request of a run that has a cluster.
const RunCheck = "run"

// UnwatchedCluster says why no PipelineRun of a Kubernetes cluster is watched.
func UnwatchedCluster(issuer string) string {
	return "the server's configuration (tekton) names no Kubernetes API for the issuer " + issuer
}

// UnwatchedUninstalled says that the App does not reach a run's repository.
func UnwatchedUninstalled(repo string) string { return "the GitHub App is not installed on " + repo }

// Unwatched warns that the end of a run cannot be noticed.
func Unwatched(why string) string {
	return "The end of the run cannot be noticed, because " + why + ". Destroy the cluster when you are done (destroy-cluster); otherwise it ends with its time to live."
}
