package installer

import (
	"cmp"
	_ "embed" // for teardown.yaml
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ocpctl/ocpctl/internal/contract"
)

// RefusedByCloud is the reason of a refusal that no other class of teardown.yaml recognises.
const RefusedByCloud = "RefusedByCloud"

// Refusal is a resource that the cloud did not delete, stop or start, or that ocpctl keeps, and why.
type Refusal struct {
	Class           // Next and Command are for this resource
	Resource string // its ARN or id; on IBM Cloud also its kind and name; empty: the call was not about one
	Words    string // the cloud's own; not redacted
	Uncoded  string // Words, without the code of what ocpctl kept: that is the reason
	Lasting  bool   // it was repeated so often that waiting does not help, unless the cloud itself is broken
}

// Heals reports that another try may succeed without anybody doing anything.
func (r Refusal) Heals() bool { return r.Retryable && (!r.Lasting || r.Whose == contract.WhoseCloud) }

// Advice is what to do about it, with the command.
func (r Refusal) Advice() string {
	if r.Command == "" {
		return r.Next
	}
	return r.Next + ": " + r.Command
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

// RefusalClasses lists every reason for which a resource can stay, the most specific first.
func RefusalClasses() []Class { return slices.Clone(teardownClasses()) }

// RefusalOf classifies the error of a call that changes a resource. ok is false if the cloud did not answer: that says nothing about the
// resource.
func RefusalOf(resource string, err error) (r Refusal, ok bool) {
	var answer interface { // smithy.APIError, what package ibmcloud makes of an answer, and cloud.Kept
		ErrorCode() string
		ErrorMessage() string
	}
	if !errors.As(err, &answer) {
		return Refusal{}, false
	}
	code, words := answer.ErrorCode(), answer.ErrorMessage()
	if code == "" {
		r, _ = newRefusal(resource, words)
		return r, true
	}
	if r, _ = newRefusal(resource, code+": "+words); r.Reason == code {
		r.Uncoded = toReadable(words)
	}
	return r, true
}

// FirstRefusal returns the most specific of several refusals: that of the class that teardown.yaml lists first.
func FirstRefusal(all []Refusal) Refusal {
	return slices.MinFunc(all, func(a, b Refusal) int { return a.rankOf() - b.rankOf() })
}

func (r Refusal) rankOf() int {
	return slices.IndexFunc(teardownClasses(), func(c Class) bool { return c.Reason == r.Reason })
}

// newRefusal classifies what the cloud said about a resource. known is false if no pattern matches.
func newRefusal(resource, words string) (r Refusal, known bool) {
	r, lower := Refusal{Resource: resource, Words: toReadable(words), Uncoded: toReadable(words)}, strings.ToLower(words)
	parts := []string{"{resource}", cmp.Or(resource, "the resource"), "{id}", cmp.Or(LastPart(resource), "the resource")}
	for _, r.Class = range teardownClasses() { // the last one has no patterns, and is what is left
		if found := r.findResources(words, lower); found != nil {
			parts, known = append(parts, found...), true
			break
		}
	}
	action := "the refused call"
	if found := refusedAction.FindStringSubmatch(words); found != nil {
		action = found[1]
	}
	fill := strings.NewReplacer(append(parts, "{action}", action)...)
	if r.Next, r.Command = fill.Replace(r.Next), fill.Replace(r.Command); strings.Contains(r.Command, "{") {
		r.Command = "" // the cloud did not name what the command needs
	}
	return r, known
}

// findResources returns the named groups of the first pattern that matches, as pairs for a strings.Replacer; nil: none matches.
func (c Class) findResources(words, lower string) []string {
	for _, p := range c.compiled {
		if !p.mayMatch(lower) {
			continue
		}
		if found := p.FindStringSubmatch(words); found != nil {
			pairs := []string{}
			for i, name := range p.SubexpNames() {
				if name != "" {
					pairs = append(pairs, "{"+name+"}", found[i])
				}
			}
			return pairs
		}
	}
	return nil
}

// LastPart returns the id in an ARN, or the name after a kind.
func LastPart(resource string) string {
	return resource[strings.LastIndexAny(resource, "/ :")+1:]
}

var (
	// refusedAction finds the action that AWS names when it denies one.
	refusedAction = regexp.MustCompile(`not authorized to perform: ([\w-]+:\w+)`)
	// isRead finds a call that deletes nothing: the destroyer passes over what it may not look at.
	isRead = regexp.MustCompile(`operation error [\w ]+: (?:Describe|Get|List)|not authorized to perform: [\w-]+:(?:Describe|Get|List|Head)`)
	// answered is what AWS's SDK puts before the code of an error.
	answered = regexp.MustCompile(`^.*https response error StatusCode: \d+(?:, (?:RequestID|HostID): [^,]*)*, (?:api error )?`)
	// notDeleted is what the destroyer of IBM Cloud says of a removal that was refused (openshift/installer pkg/destroy/ibmcloud/subnet.go), and
	// ccoctl of its own. The rest of the line differs each time: it has the request's id.
	notDeleted = regexp.MustCompile(`[Ff]ailed to (?:delete|reclaim|stop) ((?:the )?[A-Za-z][A-Za-z ]*?) ([A-Za-z0-9][A-Za-z0-9._*-]*): (.*)`)
	namedBy    = regexp.MustCompile(`arn:aws[\w-]*:[^\s"',()\\]+`)
	field      = regexp.MustCompile(` arn="?(arn:aws[\w-]*:[^\s"\\]+)`)
	idIn       = regexp.MustCompile(`\b(?:acl|ami|dopt|eipalloc|eni|i|igw|nat|rtb|sg|snap|subnet|vol|vpc|vpce)-[0-9a-z]+\b`)
	wordsEnd   = regexp.MustCompile(`"? arn=|\\n|\\?"$|; arn=`)
)

// RefusalIn reads a refused deletion from a line of openshift-install or ccoctl. ok is false if the line tells of none.
func RefusalIn(line string) (r Refusal, ok bool) {
	if isRead.MatchString(line) {
		return Refusal{}, false
	}
	words, resource, certain := line[len(beginning.FindString(line)):], "", false
	if kept := notDeleted.FindStringSubmatch(words); kept != nil {
		resource, words, certain = fmt.Sprintf("%s %s", strings.TrimPrefix(kept[1], "the "), kept[2]), kept[3], true
	}
	if found := field.FindStringSubmatch(line); found != nil {
		resource = found[1]
	}
	if at := answered.FindStringIndex(words); at != nil {
		words, certain = words[at[1]:], resource != "" || certain
	}
	if end := wordsEnd.FindStringIndex(words); end != nil {
		words = words[:end[0]]
	}
	r, known := newRefusal("", words)
	if !known && !certain {
		return Refusal{}, false
	}
	if resource == "" {
		resource = strings.TrimRight(cmp.Or(namedBy.FindString(line), idIn.FindString(words), idIn.FindString(line)), ":.")
	}
	if resource == "" && r.Reason != "UnsupportedResource" && r.Reason != "ResourceInUse" {
		return Refusal{}, false // it is not told what it is about
	}
	r, _ = newRefusal(cmp.Or(resource, words), strings.TrimPrefix(words, "deleting "+resource+": "))
	return r, true
}
