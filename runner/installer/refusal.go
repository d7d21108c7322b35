package installer

import (
	"cmp"
	_ "embed" // for teardown.yaml
	"errors"
	"regexp"
	"strings"
	"sync"
)

// RefusedByCloud is the reason of a refusal that no other class of teardown.yaml recognises.
const RefusedByCloud = "RefusedByCloud"

// Refusal is a resource that the cloud did not delete, stop or start, and why.
type Refusal struct {
	Class           // Retryable: it heals by itself, so another try may succeed; Next is for this resource
	Resource string // its ARN or id, or its kind and name
	Words    string // the cloud's own; not redacted
}

//go:embed teardown.yaml
var teardownYAML []byte

var teardownClasses = sync.OnceValue(func() []Class {
	parsed, err := parseClasses(teardownYAML, RefusedByCloud)
	if err != nil {
		panic(err) // the file is part of the program, and a test parses it
	}
	return parsed
})

// RefusalOf classifies the error of a call that changes a resource. ok is false if the cloud did not answer: that says nothing about the
// resource.
func RefusalOf(resource string, err error) (r Refusal, ok bool) {
	var answer interface { // smithy.APIError, and what package ibmcloud makes of an answer
		ErrorCode() string
		ErrorMessage() string
	}
	if !errors.As(err, &answer) {
		return Refusal{}, false
	}
	return newRefusal(resource, strings.TrimPrefix(answer.ErrorCode()+": "+answer.ErrorMessage(), ": ")), true
}

// newRefusal classifies what the cloud said about a resource.
func newRefusal(resource, words string) Refusal {
	r, lower := Refusal{Resource: resource, Words: readable(words)}, strings.ToLower(words)
	for _, c := range teardownClasses() {
		if r.Class = c; c.matches(words, lower) {
			break // the last class has no patterns, and is what is left
		}
	}
	action := cmp.Or(firstGroup(refusedAction, words), "the refused call")
	r.Next = strings.NewReplacer("{resource}", resource, "{id}", resource[strings.LastIndexAny(resource, "/ ")+1:], "{action}", action).Replace(r.Next)
	return r
}

// refusedAction finds the action that AWS names when it denies one.
var refusedAction = regexp.MustCompile(`not authorized to perform: ([\w-]+:\w+)`)

func firstGroup(of *regexp.Regexp, text string) string {
	if found := of.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}
