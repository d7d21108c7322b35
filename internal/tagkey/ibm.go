package tagkey

import "strings"

// MaxIBM is how many characters a tag has at most on IBM Cloud, where key and value are one string.
const MaxIBM = 128

// IBM returns a tag as IBM Cloud stores it, for tags that ocpctl sets itself: key:value in lower case. IBM Cloud ignores case, and accepts
// letters, digits, spaces and _ - . : (https://www.ibm.com/blog/characteristics-of-user-and-access-tags-on-ibm-cloud/). Any other character
// becomes a dash, as does a colon in the key, so that the key ends at the first colon. What is longer than MaxIBM is cut at its end. Different
// tags can become the same one, so an identity in a tag must consist of what IBM Cloud accepts.
func IBM(key, value string) string {
	tag := ibmText(strings.ReplaceAll(key, ":", "-")) + ":" + ibmText(value)
	return strings.TrimRight(tag[:min(len(tag), MaxIBM)], " ")
}

func ibmText(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', strings.ContainsRune(" _-.:", r):
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		default:
			return '-'
		}
	}, strings.TrimSpace(text))
}
