package messages

import (
	"fmt"
	"strings"
)

// The problems with what a request says about a pipeline's run.
var (
	NotOfARun = Problem{"The request's token is not the token of a pipeline's run, so the cluster can belong to none.",
		[]string{"no run", "the OIDC token of a job of GitHub Actions or GitLab CI, or of a Kubernetes service account, from an issuer that the server's oidc configuration lists with its platform"}}
	NoPipelineRun = Problem{"A service account's token does not name its PipelineRun, so the request has to.",
		[]string{"run.kind PipelineRun, run.name and run.uid of the PipelineRun: $(context.pipelineRun.name) and $(context.pipelineRun.uid)"}}
	NoJobInToken          = Problem{"The token does not name its job (check_run_id), so the end of the job cannot be noticed.", []string{"run", "ttl"}}
	LifetimeOfReused      = Problem{"A cluster that the run reuses ends with the run or the job.", []string{"run", "job"}}
	LifetimeOfPullRequest = Problem{"A cluster of the pull request ends with the pull request.", []string{"no lifetime", "another reuse"}}
)

// NotARun is the problem with a run that is no object.
func NotARun(written string) Problem {
	return Problem{"It is not an object" + shown(written) + ".", []string{"an object with reuse, slot and lifetime"}}
}

// UnknownReuse is the problem with a kind of reuse that does not exist.
func UnknownReuse(reuse string, known []string) Problem {
	return Problem{fmt.Sprintf("%.100q is not a kind of reuse.", reuse), known}
}

// UnknownLifetime is the problem with a lifetime that does not exist.
func UnknownLifetime(lifetime string, known []string) Problem {
	return Problem{fmt.Sprintf("%.100q is not a lifetime.", lifetime), known}
}

// UnknownOnReady is the problem with a signal that does not exist.
func UnknownOnReady(on string, known []string) Problem {
	return Problem{fmt.Sprintf("%.100q is not a kind of signal.", on), known}
}

// The problems with a signal that cannot be sent.
var (
	OnReadyOfJob     = Problem{"A cluster that ends with the job cannot wait for the run that its signal starts.", []string{"lifetime run or ttl", "onReady none"}}
	OnReadyElsewhere = Problem{"Signals go to workflows on the GitHub that the server's App belongs to, and this run is elsewhere.", []string{"none"}}
)

// NoPullRequestInToken is the problem with the reuse of a pull request's cluster by a run of another event.
func NoPullRequestInToken(event, ref string) Problem {
	return Problem{
		fmt.Sprintf("The run is not one of a pull request: its event is %.50q and its ref %.200q.", event, ref),
		[]string{"none", "run", "a workflow with on: pull_request, whose ref is refs/pull/<number>/merge"},
	}
}

// UnknownPullRequest tells a run that GitHub is being asked for its pull request.
func UnknownPullRequest(repo string, number int) string {
	return fmt.Sprintf("Nothing is known of %s#%d yet, and GitHub is being asked. Ask again in a few seconds.", repo, number)
}

// UnseenPullRequest tells a run that GitHub does not show the App its pull request.
func UnseenPullRequest(repo string, number int) string {
	return fmt.Sprintf("GitHub does not show %s#%d to ocpctl's App. An owner of the repository has to install the App there; then ask again.", repo, number)
}

// PullRequestElsewhere tells a run that GitHub cannot be asked for its pull request, and why.
func PullRequestElsewhere(repo string, number int, why string) string {
	return fmt.Sprintf("GitHub cannot be asked about %s#%d: %s. Leave reuse out, or set it to run.", repo, number, why)
}

// RunOfAnotherTeam tells a run that the cluster in its slot belongs to a team for which its token has no role.
func RunOfAnotherTeam(cluster, team string) string {
	return fmt.Sprintf("The run has %s in this slot, which belongs to team %s, and this token has no role there. Name another slot, or let an identity of the catalogue match this job's token.", cluster, team)
}

// RunsClusterGoes tells a run that its cluster ended while it was asked for.
const RunsClusterGoes = "The run's cluster ended just now. Ask again for a new one."

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

// SlotTaken tells a run that it has a cluster already.
func SlotTaken(cluster string) string {
	return fmt.Sprintf("The run has the cluster %s in this slot. To get that one, ask with reuse run; for another one, name another slot, such as the job's name with the matrix index.", cluster)
}

// RunReused tells a run which cluster it has.
func RunReused(cluster string, status string) string {
	return fmt.Sprintf("The run has %s already (%s), so no other one was created.", cluster, strings.ToLower(status))
}

// RunCheck is the dry run's check of a request of a run that has a cluster.
const RunCheck = "run"

// UnwatchedWithoutApp says why no run of GitHub Actions is watched.
const UnwatchedWithoutApp = "no GitHub App is configured"

// UnwatchedGitLab says why no pipeline of GitLab is watched.
const UnwatchedGitLab = "pipelines of GitLab are not watched"

// UnwatchedCluster says why no PipelineRun of a Kubernetes cluster is watched.
func UnwatchedCluster(issuer string) string {
	return "the server's configuration (tekton) names no Kubernetes API for the issuer " + issuer
}

// UnwatchedPipelineRuns says that the Kubernetes API of an issuer refuses to show PipelineRuns, or knows none.
func UnwatchedPipelineRuns(issuer string, none bool) string {
	if none {
		return "the Kubernetes API for the issuer " + issuer + " knows no PipelineRuns (tekton.dev/v1)"
	}
	return "the Kubernetes API for the issuer " + issuer + " does not let the server read PipelineRuns; its service account needs the right to get them"
}

// UnwatchedSilence says that the Kubernetes API of an issuer has given no answer for a while. It is asked again and again.
func UnwatchedSilence(issuer string) string {
	return "the Kubernetes API for the issuer " + issuer + " does not answer"
}

// UnwatchedElsewhere says that a run is on another GitHub than the App.
func UnwatchedElsewhere(run, app string) string {
	return fmt.Sprintf("the run is on %s and the GitHub App on %s", run, app)
}

// UnwatchedUninstalled says that the App does not reach a run's repository.
func UnwatchedUninstalled(repo string) string { return "the GitHub App is not installed on " + repo }

// UnwatchedForbidden says that the App may not read a repository's Actions.
func UnwatchedForbidden(repo string) string {
	return "GitHub refuses to show the App the Actions of " + repo + "; it needs the permission Actions: read there"
}

// Unwatched warns that the end of a run cannot be noticed.
func Unwatched(why string) string {
	return "The end of the run cannot be noticed, because " + why + ". Destroy the cluster when you are done (destroy-cluster); otherwise it ends with its time to live."
}

// EndsWithRun says that a cluster ends with its run or job.
func EndsWithRun(lifetime string) string { return "It ends with the " + lifetime + "." }

// NeedsRunToken tells somebody who asks for a turn that only runs have turns.
const NeedsRunToken = "A turn belongs to the run of a pipeline, and the request's token is not the token of one."

// NoUse tells somebody that an id means no turn on a cluster.
func NoUse(cluster, id string) string {
	return fmt.Sprintf("There is no turn %.100s on %s. The list of its turns shows all.", id, cluster)
}

// NotYourUse refuses to end the turn of another run.
func NotYourUse(cluster string) string {
	return fmt.Sprintf("Another run asked for this turn on %s. Only that run, or somebody who may destroy the cluster, can end it.", cluster)
}

// BecauseReleased is the reason in the audit trail for a turn that its run gave back.
const BecauseReleased = "its run released it"

// ReviewRefused says why the jobs that wait for an environment cannot be told how their cluster stands.
func ReviewRefused(environment string, err error) string {
	return fmt.Sprintf("GitHub refuses the App's answer to the jobs that wait for %s: %.300s. An owner of the organization looks at the App's installation and its permission to write deployments. It is tried again every hour.",
		environment, strings.TrimRight(err.Error(), "."))
}

// EnvironmentFailed tells jobs that wait for an environment that what they asked for was tried in vain for long.
const EnvironmentFailed = "There is no cluster for this environment: for a day it could not be found out what this run is and who started it. The server's log has the reason. Run the job again."

// EnvironmentHidden tells jobs that wait for an environment that GitHub does not show what the request depends on.
func EnvironmentHidden(err error) string {
	return fmt.Sprintf("This environment gets no cluster, because for 15 minutes, GitHub did not show the App this run or the permission of the account that started it: %.300s. Ask an owner of the organization to check the App's installation and its permission Actions: read. Then run the job again.",
		strings.TrimRight(err.Error(), "."))
}

// EnvironmentRefused tells jobs that wait for an environment why nothing can be requested for them.
func EnvironmentRefused(err error) string {
	return fmt.Sprintf("There is no cluster for this environment: %.1000s", err)
}

// SignalRefused says why a pipeline cannot be told that its cluster is ready or failed.
func SignalRefused(kind string, dispatch bool, err error) string {
	next := "An owner of the organization looks at the App's installation and its permissions."
	if dispatch {
		next = "It needs the permission to write contents, which is optional: add it on the App's page, and an owner of the organization accepts it. Or ask with onReady deployment, which does not need it."
	}
	return fmt.Sprintf("GitHub refuses the App's %s: %.300s. %s", kind, strings.TrimRight(err.Error(), "."), next)
}

// The words for a run of a fork whose job waits for an environment.
const (
	ForkInEnvironment     = "The run's commit is in a fork. Nothing runs for a fork's code by an environment."
	ForkInEnvironmentNext = "Ask for a cluster by a label or a comment on the pull request: there somebody can approve the fork's commit."
)

// SignalOfFork says why no deployment tells a fork's run that its cluster is ready.
const SignalOfFork = "The run's commit is in a fork, and a deployment of it would run the fork's code with the rights of the repository. Ask with onReady dispatch, which runs the default branch, or wait in the job."

// BranchOf is what is accepted instead of a fork's commit.
func BranchOf(repo string) string { return "a branch of " + repo }
