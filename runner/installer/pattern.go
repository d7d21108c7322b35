package installer

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// pattern is a regular expression with a quick pre-check. Logs have tens of thousands of lines, few of which match, and searching for
// a fixed text is a hundred times faster than running an expression.
type pattern struct {
	*regexp.Regexp
	needles []string // in lower case; a match contains one of them; empty: no pre-check
}

func compilePattern(expression string) (pattern, error) {
	compiled, err := regexp.Compile(expression)
	if err != nil {
		return pattern{}, err
	}
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return pattern{}, err
	}
	return pattern{compiled, findNeedles(parsed)}, nil
}

func mustPattern(expression string) pattern {
	p, err := compilePattern(expression)
	if err != nil {
		panic(err) // the expression is part of the program
	}
	return p
}

// mayMatch reports whether a line, given in lower case, can match at all.
func (p pattern) mayMatch(lower string) bool {
	for _, needle := range p.needles {
		if strings.Contains(lower, needle) {
			return true
		}
	}
	return len(p.needles) == 0
}

// findNeedles lists lowercase texts one of which is in everything that an expression matches; none if there are no such texts.
func findNeedles(re *syntax.Regexp) (found []string) {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return findNeedles(re.Sub[0])
	case syntax.OpConcat:
		for _, part := range re.Sub {
			if other := findNeedles(part); len(other) > 0 && shortestOf(other) >= shortestOf(found) {
				found = other // of two equally long ones the later: names of secrets end in "key", and half of all lines contain "api"
			}
		}
	case syntax.OpAlternate:
		for _, branch := range re.Sub {
			other := findNeedles(branch)
			if len(other) == 0 {
				return nil
			}
			found = append(found, other...)
		}
	}
	return found
}

func shortestOf(texts []string) int {
	least := 0
	for i, text := range texts {
		if i == 0 || len(text) < least {
			least = len(text)
		}
	}
	return least
}
