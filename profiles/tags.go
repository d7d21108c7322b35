package profiles

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/ocpctl/ocpctl/internal/tagkey"
)

// MaxTags is how many user tags the installer accepts on AWS (pkg/types/aws/validation/platform.go). It holds on every cloud.
const MaxTags = 25

// tagForm is stricter than the installer, whose "+-@" is a range that accepts characters that AWS refuses.
var tagForm = regexp.MustCompile(`^[0-9A-Za-z_.:/=+@ -]*$`)

const (
	maxTagKey   = 128
	maxTagValue = 256
)

// TagProblem says why a resource of a platform cannot have a tag: the cloud or the installer would refuse it, or its key belongs to a
// tool that finds and deletes resources by it. Empty: it is fine. The control plane's own keys are accepted only in their exact spelling.
// An unknown platform has AWS's limits.
func TagProblem(platform, key, value string) string {
	own := tagkey.ControlPlane(key)
	switch {
	case key == "" || len(key) > maxTagKey:
		return fmt.Sprintf("a tag's key has 1 to %d characters", maxTagKey)
	case !tagForm.MatchString(key):
		return tagCharacters
	case strings.TrimSpace(key) != key:
		return tagSpaces
	case own != "" && own != key:
		return fmt.Sprintf("ocpctl sets %s, and keys that differ only in case are easily confused", own)
	case tagkey.Foreign(key) != "":
		return tagkey.Foreign(key)
	}
	if problem := TagValueProblem(value); problem != "" || platform != "ibmcloud" {
		return problem
	}
	return ibmTagProblem(key, value)
}

// TagValueProblem says why AWS or its installer would refuse a tag's value; empty: it is fine. Owners, teams, cost centers and
// environments follow it on every cloud.
func TagValueProblem(value string) string {
	switch {
	case value == "" || len(value) > maxTagValue:
		return fmt.Sprintf("a tag's value has 1 to %d characters", maxTagValue)
	case !tagForm.MatchString(value):
		return tagCharacters
	case strings.TrimSpace(value) != value:
		return tagSpaces
	default:
		return ""
	}
}

// ibmTagProblem says why IBM Cloud would not keep a tag as it is given.
func ibmTagProblem(key, value string) string {
	switch {
	case len(key)+len(":")+len(value) > tagkey.MaxIBM:
		return fmt.Sprintf("IBM Cloud stores a tag as key:value, with at most %d characters in all", tagkey.MaxIBM)
	case strings.Contains(key, ":"):
		return "on IBM Cloud the key ends at the first colon"
	case tagkey.IBM(key, value) != strings.ToLower(key+":"+value):
		return "on IBM Cloud tags may contain letters, digits, spaces and _ - . and the value also :"
	default:
		return ""
	}
}

const (
	tagCharacters = "tags may contain letters, digits, spaces and _ . : / = + - @"
	tagSpaces     = "tags must not start or end with a space"
)
