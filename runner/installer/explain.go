package installer

import (
	"slices"
	"strings"
)

// classified is one line that may explain why a run failed.
type classified struct {
	line      string
	complaint bool // one of the installer's own last messages
	warning   bool // the installer goes on after it; false for the conditions of resources, which it prints as warnings when it gives up
	past      bool // the run made progress after it
	class     int  // the most specific class, -1: none
}

// condition is how the installer begins, at the end of a stage that failed, what Cluster API says of a resource.
const condition = "Condition "

// classifyLines classifies the lines of a run that ended. Lines with a timestamp come from the installer's own log, the others from its
// output; each of the two is in order.
func classifyLines(e Exit, lines []string) []classified {
	all := make([]classified, len(lines))
	furthest := map[bool]int{}
	for i, line := range lines {
		_, complaint := ReadComplaint(line)
		warning := strings.Contains(line, "level=warning msg=") && !strings.HasPrefix(Message(line), condition)
		all[i] = classified{line: line, complaint: complaint, warning: warning, class: classOf(e, line, complaint)}
		if _, further := ReadProgress(line); further && !complaint {
			furthest[isDated(line)] = i
		}
	}
	for i := range all {
		all[i].past = i < furthest[isDated(all[i].line)]
	}
	return all
}

func isDated(line string) bool { return strings.HasPrefix(line, "time=") }

// Explain says why a run that did not exit with 0 failed. lines are the last lines that it logged and printed, redacted, each of the
// two in order.
//
// The installer's final messages take precedence over its log, because the log is full of calls that were throttled or refused and
// then repeated. So a cause that it names itself comes first, then one that its controllers logged since the last progress, then what
// did not come about. Of several lines, the last of the most specific class counts. A deadline is itself only what did not come about.
func Explain(e Exit, lines ...string) Failure {
	heard := classifyLines(e, lines)
	complained := slices.ContainsFunc(heard, func(t classified) bool { return t.complaint })
	lasting := func(c Class, t classified) bool { return !c.Symptom && !c.Passing && !t.past && !t.warning }
	if e.TimedOut {
		if failure, ok := firstFailure(heard, lasting); ok {
			return failure
		}
		return Failure{Class: classWithReason(DeadlineExceeded)}
	}
	for _, counts := range []func(Class, classified) bool{
		func(c Class, t classified) bool { return t.complaint && !c.Symptom },
		lasting,
		func(c Class, _ classified) bool { return c.Symptom },
		func(c Class, _ classified) bool { return c.Passing && !complained },
	} {
		if failure, ok := firstFailure(heard, counts); ok {
			return failure
		}
	}
	failure := Failure{Class: classWithReason(InstallFailed)}
	for _, c := range classes() {
		if slices.Contains(c.Alone, e.Code) {
			failure.Class = c
		}
	}
	for _, t := range slices.Backward(heard) {
		if t.complaint {
			failure.Line, failure.Raw = Message(t.line), t.line
			break
		}
	}
	return failure
}

// classOf returns the most specific class of a line, -1 if it has none. A cause comes before a symptom, because errors are wrapped: "the
// network is not ready: the limit is exceeded". Exit codes do not matter for a cause that the installer itself reports at its end, and not
// at a deadline, after which the exit code says nothing.
func classOf(e Exit, line string, complaint bool) int {
	lower, found := strings.ToLower(line), -1
	for i, c := range classes() {
		counts := len(c.Exits) == 0 || slices.Contains(c.Exits, e.Code) || e.TimedOut || complaint && !c.Symptom
		if counts && (found < 0 || !c.Symptom) && c.matchesLine(line, lower) {
			found = i
			if !c.Symptom {
				break
			}
		}
	}
	return found
}

// firstFailure finds the most specific class among the lines that count, and the last of its lines.
func firstFailure(heard []classified, counts func(Class, classified) bool) (Failure, bool) {
	found := -1
	for i, t := range heard {
		if t.class >= 0 && counts(classes()[t.class], t) && (found < 0 || t.class <= heard[found].class) {
			found = i
		}
	}
	if found < 0 {
		return Failure{}, false
	}
	return newFailure(classes()[heard[found].class], heard[found].line), true
}

// Recognize finds what the cloud refused in a cluster's messages about its own machines. The last line of the most specific class
// counts, as in Explain; a line that only says what did not come about is ignored.
func Recognize(lines ...string) (Failure, bool) {
	found, at := len(classes()), ""
	for _, line := range lines {
		lower := strings.ToLower(line)
		i := slices.IndexFunc(classes(), func(c Class) bool { return !c.Symptom && c.matchesLine(line, lower) })
		if i >= 0 && i <= found {
			found, at = i, line
		}
	}
	if at == "" {
		return Failure{}, false
	}
	return newFailure(classes()[found], at), true
}

// ExplainCCO says why ccoctl failed. Its error is its last line without an indent: AWS's SDK adds a line about the request, and cobra lists the
// flags. known is false if no class has the line, which is told anyway.
func ExplainCCO(said ...string) (f Failure, known bool) {
	last := ""
	for _, line := range said {
		if line != "" && !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t") {
			last = line
		}
	}
	if f, known = Recognize(last); !known {
		f = Failure{Line: Message(last), Raw: last}
	}
	return f, known
}
