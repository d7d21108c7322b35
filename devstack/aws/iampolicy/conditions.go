package iampolicy

import (
	"slices"
	"strings"
)

// operator is a condition operator, such as ForAnyValue:StringLike.
type operator struct {
	base  string
	set   string // ForAnyValue or ForAllValues, if the key has several values
	not   bool
	maybe bool // IfExists: met if the request has no such key
}

// bases are the supported operators without their prefix, negation and suffix, and whether * and ? have their meaning in them.
// StringEquals of AWS has no wildcards. The Arn operators compare patterns, both of them.
var bases = map[string]bool{"StringEquals": false, "StringEqualsIgnoreCase": false, "StringLike": true, "ArnEquals": true, "ArnLike": true, "Bool": false, "Null": false}

// operatorCalled returns the operator of a name, and whether it is supported.
func operatorCalled(name string) (operator, bool) {
	var o operator
	rest := name
	if set, after, found := strings.Cut(name, ":"); found {
		if set != "ForAnyValue" && set != "ForAllValues" {
			return o, false
		}
		o.set, rest = set, after
	}
	rest, o.maybe = strings.CutSuffix(rest, "IfExists")
	for _, kind := range []string{"String", "Arn"} {
		if after, negated := strings.CutPrefix(rest, kind+"Not"); negated {
			rest, o.not = kind+after, true
		}
	}
	o.base = rest
	_, known := bases[rest]
	return o, known && !(rest == "Null" && (o.set != "" || o.maybe))
}

// met reports whether the values of a request's key satisfy the condition. A key that the request lacks satisfies only Null, IfExists,
// negations and ForAllValues, as in AWS.
func (o operator) met(have, wanted []string) bool {
	switch {
	case o.base == "Null":
		return slices.Contains(wanted, "true") == (len(have) == 0)
	case len(have) == 0 && o.maybe:
		return true
	}
	one := func(value string) bool { return o.matches(wanted, value) != o.not }
	switch {
	case o.set == "ForAllValues":
		return !slices.ContainsFunc(have, func(value string) bool { return !one(value) })
	case o.set == "ForAnyValue" || !o.not:
		return slices.ContainsFunc(have, one)
	}
	return !slices.ContainsFunc(have, func(value string) bool { return !one(value) }) // a negation denies each value
}

func (o operator) matches(wanted []string, value string) bool {
	switch {
	case bases[o.base]:
		return matchesAny(wanted, value, false)
	case o.base == "StringEquals":
		return slices.Contains(wanted, value)
	}
	return slices.ContainsFunc(wanted, func(w string) bool { return strings.EqualFold(w, value) })
}

// valuesOf returns the values of a condition key. AWS ignores the case of keys.
func valuesOf(context map[string][]string, key string) []string {
	if values, ok := context[key]; ok {
		return values
	}
	for name, values := range context {
		if strings.EqualFold(name, key) {
			return values
		}
	}
	return nil
}
