package app

import "fmt"

// mostProblems is how many problems of one request are told. Nobody reads more, and each costs words.
const mostProblems = 50

// moreProblems stands for a field's name where it is said how many problems are not listed.
const moreProblems = "more"

// problems collects what is wrong with a request: the first of them in words, and how many more there are.
type problems struct {
	told []Field
	more int
}

// add makes words of a problem only where they will be told.
func (p *problems) add(words func() Field) {
	if len(p.told) == mostProblems {
		p.more++
		return
	}
	p.told = append(p.told, words())
}

// all are the problems to tell.
func (p *problems) all() []Field {
	if p.more == 0 {
		return p.told
	}
	return append(p.told, unlisted(p.more))
}

func unlisted(more int) Field {
	words := fmt.Sprintf("%d more problems are not listed. Correct these first, then try again.", more)
	if more == 1 {
		words = "1 more problem is not listed. Correct those that are, and ask again."
	}
	return Field{Name: moreProblems, Detail: words, more: more}
}

// fewest keeps at most so many problems, and says how many more there are.
func fewest(wrong []Field, most int) []Field {
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
		kept = append(kept, unlisted(more))
	}
	return kept
}
