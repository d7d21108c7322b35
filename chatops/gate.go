package chatops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// CheckName is the name of a cluster's own check run. It names the pull request, because a commit may be the head of several, and of
// check runs with one name GitHub looks at the newest only.
func CheckName(profile string, number int) string {
	return fmt.Sprintf("%s #%d", GateName(profile), number)
}

// GateName is the name of the check that branch rules require. It is the same on every commit.
func GateName(profile string) string { return "ocpctl/" + profile }

// gateKey begins the external id of a gate's check run; the rest is the profile.
const gateKey = "gate:"

// GateKey is the external id of a gate's check run.
func GateKey(profile string) string { return gateKey + profile }

// IsGateKey reports whether an external id is that of a gate, and so of no cluster.
func IsGateKey(externalID string) bool { return strings.HasPrefix(externalID, gateKey) }

// GateMember is a pull request on which a gate depends.
type GateMember struct {
	Number int
	Card   *lifecycle.Card // its newest cluster of the profile; nil: it has none on this commit
}

// maxGateRows is how many pull requests a gate lists.
const maxGateRows = 50

// Gate renders the check that is required of a commit: it succeeds once the clusters of all its pull requests were ready. It shows no
// progress, which the clusters' own checks do.
func Gate(profile string, members []GateMember, links Links) CheckRun {
	run := CheckRun{Status: completed, DetailsURL: links.UI}
	if len(members) == 0 {
		run.Title, run.Conclusion = "No open pull request is at this commit", "cancelled"
		run.Summary = fmt.Sprintf("%s gets a new result when a pull request is at this commit again.\n", Code(GateName(profile)))
		return run
	}
	var b strings.Builder
	fmt.Fprintf(&b, "GitHub keeps one result of %s for each commit, which counts for every pull request at it. It passes once each pull request in this table has had a ready cluster.\n\n", Code(GateName(profile)))
	b.WriteString("| pull request | cluster | result |\n|---|---|---|\n")
	worst, done := members[0], 0
	for i, m := range members {
		if gateRank(m) > gateRank(worst) {
			worst = m
		}
		if m.passes() {
			done++
		}
		if i < maxGateRows {
			name := "none"
			if m.Card != nil {
				name = Code(m.Card.Name)
				if at := address(*m.Card, links); at != "" {
					name = "[" + name + "](" + at + ")"
				}
			}
			fmt.Fprintf(&b, "| #%d | %s | %s |\n", m.Number, name, gateWord(m))
		}
	}
	if more := len(members) - maxGateRows; more > 0 {
		fmt.Fprintf(&b, "\n… and %d more\n", more)
	}
	run.Summary = fit(b.String())
	run.Status, run.Conclusion = gateState(worst)
	run.Title = gateTitle(worst)
	if len(members) > 1 {
		run.Title = fmt.Sprintf("%d of %d pull requests at this commit pass; %s", done, len(members), run.Title)
	} else if worst.Card != nil {
		run.DetailsURL = address(*worst.Card, links)
	}
	run.Title = cut(run.Title, maxTitle)
	return run
}

// QueueGate renders the gate on a merge queue's commit that has the result of its pull request.
func QueueGate(profile string, number int, members []GateMember, links Links) CheckRun {
	if len(members) == 0 {
		members = []GateMember{{Number: number}}
	}
	run := Gate(profile, members, links)
	run.Summary = fit(fmt.Sprintf("This is the result of #%d, because the repository's file does not set `mergeQueue: cluster`. New commits on the base branch were not tried with a cluster.\n\n", number) + run.Summary)
	return run
}

const queueNeedsCluster = "The repository's file sets `mergeQueue: cluster`, so this commit of the merge queue needs a cluster of its own."

// QueueGateRefused renders the gate on a merge queue's commit that gets no cluster. why is Markdown.
func QueueGateRefused(profile, why string, links Links) CheckRun {
	return CheckRun{Title: "The commit gets no cluster of " + profile, Status: completed, Conclusion: "failure", DetailsURL: links.UI,
		Summary: fit(queueNeedsCluster + "\n\n" + why + "\n")}
}

// QueueGateWaits renders the gate on a merge queue's commit whose cluster is not requested yet.
func QueueGateWaits(profile string, links Links) CheckRun {
	return CheckRun{Title: "A cluster of " + profile + " is requested for the commit", Status: queued, DetailsURL: links.UI, Summary: queueNeedsCluster + "\n"}
}

// GatePasses reports whether a gate lets a pull request be merged.
func GatePasses(members []GateMember) bool {
	return len(members) > 0 && !slices.ContainsFunc(members, func(m GateMember) bool { return !m.passes() })
}

// passes reports whether a pull request lets a merge pass: its cluster is ready, or was and is not there any more.
func (m GateMember) passes() bool {
	_, conclusion := gateState(m)
	return conclusion == "success" || conclusion == "neutral"
}

// gateState is the status and the conclusion of a pull request in a gate. Whether its cluster is queued or installed makes no difference.
func gateState(m GateMember) (status, conclusion string) {
	if m.Card == nil {
		return queued, ""
	}
	if status, conclusion = state(*m.Card); status != completed {
		return queued, ""
	}
	return status, conclusion
}

// gateRank orders results: the worst one is the gate's.
func gateRank(m GateMember) int {
	_, conclusion := gateState(m)
	return slices.Index([]string{"success", "neutral", "", "cancelled", "failure"}, conclusion)
}

func gateTitle(m GateMember) string {
	if m.Card == nil {
		return fmt.Sprintf("#%d has no cluster of this profile", m.Number)
	}
	return fmt.Sprintf("%s of #%d: %s", m.Card.Name, m.Number, gateWord(m))
}

// gateWord says how a pull request stands, in words that change only with its result.
func gateWord(m GateMember) string {
	status, conclusion := gateState(m)
	switch {
	case m.Card == nil:
		return "needs a cluster"
	case status != completed:
		return "not ready yet"
	}
	return map[string]string{"success": "ready", "neutral": "ended, or cannot be used now", "cancelled": "nobody approved it", "failure": "could not be created"}[conclusion]
}
