package app

import (
	"fmt"
	"github.com/ocpctl/ocpctl/chatops/messages"
)

// mostProblems is how many problems of one request are listed. Nobody reads more.
const mostProblems = 50

// moreProblems is the field name of the entry that says how many problems are not listed.
const moreProblems = "more"

// ProblemOf returns a problem of a field in chatops' words.
func ProblemOf(name string, p messages.Problem) Field {
	return Field{Name: name, Detail: p.Detail, Accept: p.Accept}
}

// problems collects what is wrong with a request: the first ones as fields, and the number of the others.
type problems struct {
	fields []Field
	more   int
}

// addProblem builds a problem's text only if it will be listed.
func (p *problems) addProblem(build func() Field) {
	if len(p.fields) == mostProblems {
		p.more++
		return
	}
	p.fields = append(p.fields, build())
}

// listProblems returns the problems to list.
func (p *problems) listProblems() []Field {
	if p.more == 0 {
		return p.fields
	}
	return append(p.fields, moreField(p.more))
}

func moreField(more int) Field {
	return Field{Name: moreProblems, Detail: sayMoreProblems(more), more: more}
}

// limitFields keeps at most that many problems, and adds how many are not listed.
func limitFields(wrong []Field, most int) []Field {
	kept, more := make([]Field, 0, len(wrong)), 0
	for _, f := range wrong {
		switch {
		case f.more > 0:
			more += f.more
		case len(kept) >= most:
			more++
		default:
			kept = append(kept, f)
		}
	}
	if more > 0 {
		kept = append(kept, moreField(more))
	}
	return kept
}

// sayMoreProblems says how many problems of a request are not listed.
func sayMoreProblems(n int) string {
	if n == 1 {
		return "1 more problem is not listed. Correct those that are, and ask again."
	}
	return fmt.Sprintf("%d more problems are not listed. Correct these first, then try again.", n)
}
