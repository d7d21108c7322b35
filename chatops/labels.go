package chatops

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// Label is a label as a repository has it: the colour as six hexadecimal digits, the description of at most 100 characters.
type Label struct{ Name, Color, Description string }

// LabelledProfile is a profile that a label can ask for.
type LabelledProfile struct {
	Name, Description string
	HourlyCents       int           // list price in its default region, US cents
	TTL               time.Duration // how long a cluster lives when nobody says so
}

// The colours of our labels: what asks for a cluster, what says how long, what keeps one.
const (
	colorProfile = "1d76db"
	colorTTL     = "c5def5"
	colorKeep    = "fbca04"
)

// ttlHours are the lifetimes that have a label from the start; any other number of hours can be made by hand.
var ttlHours = []int{2, 4, 8, 24}

// maxLabelWords is how many characters GitHub takes.
const maxLabelWords = 100

// Labels lists every label of ours for a repository that may use the profiles.
func Labels(profiles []LabelledProfile) []Label {
	all := make([]Label, 0, len(profiles)+len(ttlHours)+1)
	for _, p := range profiles {
		words := fmt.Sprintf("A cluster, about %s an hour, for %s", policy.Dollars(int64(p.HourlyCents)), policy.Span(p.TTL))
		if p.Description != "" {
			words += ": " + p.Description
		}
		all = append(all, Label{LabelPrefix + p.Name, colorProfile, cut(oneLine(words), maxLabelWords)})
	}
	for _, h := range ttlHours {
		all = append(all, Label{TTLLabelPrefix + strconv.Itoa(h), colorTTL, fmt.Sprintf("This pull request's clusters live for %d hours, within their profiles' maximum", h)})
	}
	return append(all, Label{KeepLabel, colorKeep, "Keeps this pull request's clusters until their maximum; needs the role to hold clusters"})
}

// ParseTTLLabel reads how long a label like ocp-ttl/8 says that clusters live; ok is false for every other label, and for
// hours that are none: 1 to 8784, a year.
func ParseTTLLabel(label string) (ttl time.Duration, ok bool) {
	if len(label) <= len(TTLLabelPrefix) || !strings.EqualFold(label[:len(TTLLabelPrefix)], TTLLabelPrefix) {
		return 0, false
	}
	hours, err := strconv.ParseUint(label[len(TTLLabelPrefix):], 10, 16)
	if err != nil || hours == 0 || hours > 8784 {
		return 0, false
	}
	return time.Duration(hours) * time.Hour, true
}

// LabelGone says that the label that asked for the cluster no longer tells the truth, and why: nobody can have what it asks
// for, so it is taken off and can be set again. Where the label went by itself, or the pull request was closed, it is not
// ours to touch: reopening finds it as people left it.
func LabelGone(card lifecycle.Card) (gone bool, why string) {
	if wanted(card) || byPullRequest(card) {
		return false, ""
	}
	return true, card.WishWhy
}

// byPullRequest says that it goes because of what people did to the pull request or the label, and of nothing else.
func byPullRequest(c lifecycle.Card) bool {
	first := unheld(c)
	return c.Teardown == lifecycle.JobJanitorDestroy && c.WishWhy == c.Ends.Reason() && (first.Equal(c.Ends.PRClosed) || first.Equal(c.Ends.LabelRemoved))
}
