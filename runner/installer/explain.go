package installer

import (
	"slices"
	"strings"
)

// told is one line that may say why a run failed.
type told struct {
	line      string
	complaint bool // one of the installer's own last words
	warning   bool
	past      bool // the run got further after it
	class     int  // the most specific one of all, -1: none
}

// tell reads what a run that ended so said. What is dated comes from the installer's own log, the rest is what it printed: each of the two has an
// order of its own.
func tell(e Exit, lines []string) []told {
	all := make([]told, len(lines))
	furthest := map[bool]int{}
	for i, line := range lines {
		_, complaint := ReadComplaint(line)
		all[i] = told{line: line, complaint: complaint, warning: strings.Contains(line, "level=warning msg="), class: classOf(e, line)}
		if _, further := ReadProgress(line); further && !complaint {
			furthest[dated(line)] = i
		}
	}
	for i := range all {
		all[i].past = i < furthest[dated(all[i].line)]
	}
	return all
}

func dated(line string) bool { return strings.HasPrefix(line, "time=") }

// Explain says why a run that did not exit with 0 failed. lines are what it logged and printed last, redacted, each of the
// two in its order.
//
// What the installer says at its end outranks what its log tells of the way there: a log is full of calls that were
// throttled or refused and repeated. So a cause it names itself comes first, then one its controllers wrote down since
// the run last got further, then what did not come about. Of several that tell, the last of the most specific class counts.
func Explain(e Exit, lines ...string) Failure {
	if e.TimedOut {
		return Failure{Class: named(DeadlineExceeded)}
	}
	heard := tell(e, lines)
	complained := slices.ContainsFunc(heard, func(t told) bool { return t.complaint })
	for _, counts := range []func(Class, told) bool{
		func(c Class, t told) bool { return t.complaint && !c.Symptom },
		func(c Class, t told) bool { return !c.Symptom && !c.Passing && !t.past && !t.warning },
		func(c Class, _ told) bool { return c.Symptom },
		func(c Class, _ told) bool { return c.Passing && !complained },
	} {
		if failure, ok := first(heard, counts); ok {
			return failure
		}
	}
	failure := Failure{Class: named(InstallFailed)}
	for _, c := range classes() {
		if slices.Contains(c.Alone, e.Code) {
			failure.Class = c
		}
	}
	for _, t := range slices.Backward(heard) {
		if t.complaint {
			failure.Line = Message(t.line)
			break
		}
	}
	return failure
}

// classOf is the most specific class a line is of, -1 where it is of none.
func classOf(e Exit, line string) int {
	lower := strings.ToLower(line)
	return slices.IndexFunc(classes(), func(c Class) bool {
		return (len(c.Exits) == 0 || slices.Contains(c.Exits, e.Code)) && c.matches(line, lower)
	})
}

// first finds the most specific class a line that counts is of, and the last of its lines.
func first(heard []told, counts func(Class, told) bool) (Failure, bool) {
	found := -1
	for i, t := range heard {
		if t.class >= 0 && counts(classes()[t.class], t) && (found < 0 || t.class <= heard[found].class) {
			found = i
		}
	}
	if found < 0 {
		return Failure{}, false
	}
	return Failure{Class: classes()[heard[found].class], Line: Message(heard[found].line)}, true
}

// Recognize says what the cloud refused, by what a cluster says of its own machines. The last line of the most specific
// class counts, as in Explain; a line that only tells what did not come about says nothing.
func Recognize(lines ...string) (Failure, bool) {
	found, at := len(classes()), ""
	for _, line := range lines {
		lower := strings.ToLower(line)
		i := slices.IndexFunc(classes(), func(c Class) bool { return !c.Symptom && c.matches(line, lower) })
		if i >= 0 && i <= found {
			found, at = i, line
		}
	}
	if at == "" {
		return Failure{}, false
	}
	return Failure{Class: classes()[found], Line: Message(at)}, true
}
