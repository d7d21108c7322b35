package profiles

import (
	"fmt"
	"regexp"
	"strings"
)

// MaxTags is how many user tags the installer takes on AWS (pkg/types/aws/validation/platform.go).
const MaxTags = 25

// tagForm is stricter than the installer, whose "+-@" is a range that lets through what AWS refuses.
var tagForm = regexp.MustCompile(`^[0-9A-Za-z_.:/=+@ -]*$`)

const (
	maxTagKey   = 128
	maxTagValue = 256
)

// TagProblem says in words why the installer or AWS would refuse a tag; empty: it is fine.
func TagProblem(key, value string) string {
	lower := strings.ToLower(key)
	domain, _, _ := strings.Cut(lower, "/")
	switch {
	case key == "" || len(key) > maxTagKey:
		return fmt.Sprintf("a tag's key has 1 to %d characters", maxTagKey)
	case value == "" || len(value) > maxTagValue:
		return fmt.Sprintf("a tag's value has 1 to %d characters", maxTagValue)
	case !tagForm.MatchString(key) || !tagForm.MatchString(value):
		return "tags are made of letters, digits, spaces and _ . : / = + - @"
	case strings.TrimSpace(key) != key || strings.TrimSpace(value) != value:
		return "tags neither start nor end with a space"
	case lower == "name":
		return "the installer sets Name itself"
	case strings.HasPrefix(lower, "aws:"):
		return "AWS keeps keys that start with aws: for itself"
	case strings.Contains(lower, "/") && (ownDomain(domain, "kubernetes.io") || ownDomain(domain, "openshift.io")):
		return "keys in kubernetes.io/ and openshift.io/ belong to the cluster"
	default:
		return ""
	}
}

func ownDomain(domain, owner string) bool {
	return domain == owner || strings.HasSuffix(domain, "."+owner)
}
