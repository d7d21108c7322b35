package chatops

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// The states of a check run, as GitHub spells them.
const (
	queued     = "queued"
	inProgress = "in_progress"
	completed  = "completed"
)

// Check renders the check run of a cluster. Like Comment it depends only on the card.
func Check(card lifecycle.Card, links Links) CheckRun {
	f := faceWithPhase(card)
	run := CheckRun{Title: cut(card.Name+" "+f.head, maxTitle), DetailsURL: address(card, links), Actions: actions(card)}
	run.Status, run.Conclusion = state(card)
	if moving(card) && card.Progress.Percent > 0 {
		run.Title += fmt.Sprintf(", %d %%", min(card.Progress.Percent, 100))
	}
	run.Summary = fit(paragraphs([]string{
		f.doing, describeAwaited(card), progress(card), because(card), steps(card), Saved(card), untold(card), proof(card), failure(card, links), blockers(card, links), apps(card), facts(card), page(card, links),
	}))
	return run
}

// WithLockedNotice adds to a check's summary that the conversation is locked, so that nothing else can be said on the pull request.
func WithLockedNotice(summary string) string {
	const why = "The conversation of this pull request is locked, so ocpctl cannot write the cluster's comment or answer commands. Somebody with write access can " +
		"unlock it. ocpctl then writes the comment at the cluster's next change."
	return why + "\n\n" + summary
}

// maxTitle is how many characters of a title are shown.
const maxTitle = 200

// actions returns the buttons that have an effect now. Approve is for the commit that the check run is on.
func actions(c lifecycle.Card) []CheckAction {
	extend := CheckAction{"Extend", "Four more hours, up to the maximum", ActionExtend}
	destroy := CheckAction{"Destroy", "Destroy it now", ActionDestroy}
	switch {
	case c.WasReplaced():
		return nil
	case c.Phase == lifecycle.AwaitingApproval && isWanted(c):
		return []CheckAction{{"Approve", "Approve exactly this commit", ActionApprove}}
	case c.Phase == lifecycle.AwaitingApproval:
		return nil
	case c.Status == lifecycle.Ready && canNow(c, policy.VerbExtend):
		return []CheckAction{extend, destroy}
	case isWanted(c):
		return []CheckAction{destroy}
	case c.Phase == lifecycle.DestroyBlocked:
		return []CheckAction{{"Retry", "Try the teardown again now", ActionRetry}}
	case c.NeverReady() && c.Ends.PRClosed.IsZero():
		return []CheckAction{{"Retry", "Ask for a new cluster", ActionRetry}}
	}
	return nil
}

// state maps a cluster to a check run's status and conclusion. A cluster that ended on request or because its time was over is
// neutral, ready or not: ending is not failing, and a pull request that requires the check can still be merged.
func state(c lifecycle.Card) (status, conclusion string) {
	switch c.Status {
	case lifecycle.Pending:
		return queued, ""
	case lifecycle.Creating:
		return inProgress, ""
	case lifecycle.Ready:
		if c.AwaitsPreparing() {
			return inProgress, ""
		}
		if c.Phase == lifecycle.Degraded {
			return completed, "neutral"
		}
		return completed, "success"
	case lifecycle.Failed:
		return completed, "failure"
	}
	switch {
	case c.Status == lifecycle.Destroying && !wasReady(c):
		return inProgress, ""
	case c.NeverReady():
		return completed, "failure"
	case c.NeedsApproval: // nobody approved it: a pull request that requires the check must not pass because of that
		return completed, "cancelled"
	}
	return completed, "neutral"
}

// steps lists the phases, with the finished ones ticked. Phases that not every cluster has are shown only while they last.
func steps(c lifecycle.Card) string {
	all := lifecycle.Phases[c.Status]
	at := slices.Index(all, c.Phase)
	if !moving(c) || c.Phase == lifecycle.Cleaning || at < 0 {
		return ""
	}
	rare := []lifecycle.Phase{lifecycle.Claiming, lifecycle.Cleaning, lifecycle.Stopping}
	var b strings.Builder
	for i, phase := range all {
		switch {
		case i == at:
			fmt.Fprintf(&b, "- [ ] **%s**\n", phase)
		case slices.Contains(rare, phase):
		case i < at:
			fmt.Fprintf(&b, "- [x] %s\n", phase)
		default:
			fmt.Fprintf(&b, "- [ ] %s\n", phase)
		}
	}
	return b.String()
}

// LeftCheck renders the check run on a commit that is no longer the pull request's head; head is the new one.
func LeftCheck(card lifecycle.Card, head string) CheckRun {
	return CheckRun{
		Title: card.Name + " is shown on a newer commit", Status: completed, Conclusion: "neutral",
		Summary: fmt.Sprintf("The pull request has a newer commit, so the cluster %s is shown at %s now. It is the same cluster.\n", Code(card.Name), Code(ShortSHA(head))),
	}
}

// ConfigCheckName is the name of the check run on a repository's file.
const ConfigCheckName = "ocpctl/config"

// GitHub's limits for annotations.
const (
	maxProblems   = 100
	maxAnnotation = 2_000 // characters of a message
)

// ConfigCheck renders the check run on the repository's file in a pull request: an annotation at each problem's line, none if the
// file is fine. A problem without a line is shown at the first line. Warnings alone do not fail the check.
func ConfigCheck(path string, problems []Annotation) CheckRun {
	if len(problems) == 0 {
		return CheckRun{Title: cut(oneLine(path), maxTitle) + " is fine", Status: completed, Conclusion: "success",
			Summary: Code(path) + " is valid. It takes effect once it is on the base branch, within the limits of the server's settings.\n"}
	}
	run := CheckRun{Title: fmt.Sprintf("%s has %s", cut(oneLine(path), maxTitle), problemsIn(len(problems))), Status: completed, Conclusion: "failure"}
	text := "%s is not valid. On the base branch it would block every new cluster of this repository; `/ocp status`, `extend` and `destroy` would still work.\n\n"
	if !slices.ContainsFunc(problems, func(p Annotation) bool { return p.Level != "warning" && p.Level != "notice" }) {
		run.Conclusion, text = "neutral", "%s is valid, but parts of it have no effect with the present catalogue.\n\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, text, Code(path))
	for _, p := range problems[:min(len(problems), maxProblems)] {
		p.Path, p.Line = cmp.Or(p.Path, path), max(p.Line, 1)
		p.Level, p.Title = cmp.Or(p.Level, "failure"), cut(oneLine(cutBytes(p.Title, maxRead)), maxTitle)
		p.Message = cut(strings.ToValidUTF8(cutBytes(p.Message, maxRead), "\uFFFD"), maxAnnotation)
		run.Annotations = append(run.Annotations, p)
		where := fmt.Sprintf("line %d", p.Line)
		if p.Title != "" {
			where += ", " + Code(p.Title)
		}
		fmt.Fprintf(&b, "- %s: %s\n", where, plain(p.Message))
	}
	if more := len(problems) - maxProblems; more > 0 {
		fmt.Fprintf(&b, "- … and %d more\n", more)
	}
	run.Summary = fit(b.String())
	return run
}

func problemsIn(n int) string {
	if n == 1 {
		return "a problem"
	}
	return fmt.Sprintf("%d problems", n)
}

// ConfigGone renders the check run of a pull request that removes the repository's file.
func ConfigGone(path string) CheckRun {
	return CheckRun{Title: cut(oneLine(path), maxTitle) + " is deleted", Status: completed, Conclusion: "neutral",
		Summary: fmt.Sprintf("Without %s on the base branch, the server's settings apply to this repository: all profiles that it may use, with their lifetimes and grace periods.\n", Code(path))}
}
