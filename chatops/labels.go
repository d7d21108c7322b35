package chatops

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// Label is a label of a repository: a colour as six hexadecimal digits, and a description of at most 100 characters.
type Label struct{ Name, Color, Description string }

// LabelledProfile is a profile that a label can request.
type LabelledProfile struct {
	Name, Description string
	HourlyCents       int           // list price in its default region, US cents
	TTL               time.Duration // default lifetime of a cluster
}

// The colours of the labels: to request a cluster, to set its lifetime, to keep it.
const (
	colorProfile = "1d76db"
	colorTTL     = "c5def5"
	colorKeep    = "fbca04"
)

// ttlHours are the lifetimes that get a label; people can create labels for any other number of hours.
var ttlHours = []int{2, 4, 8, 24}

// maxLabelText is how many characters GitHub accepts.
const maxLabelText = 100

// Labels lists every label of ocpctl for a repository that may use the profiles.
func Labels(profiles []LabelledProfile) []Label {
	all := make([]Label, 0, len(profiles)+len(ttlHours)+1)
	for _, p := range profiles {
		text := fmt.Sprintf("A cluster, about %s an hour, for %s", price.Dollars(int64(p.HourlyCents)), duration.Format(p.TTL))
		if p.Description != "" {
			text += ": " + p.Description
		}
		all = append(all, Label{LabelPrefix + p.Name, colorProfile, cut(oneLine(text), maxLabelText)})
	}
	for _, h := range ttlHours {
		all = append(all, Label{TTLLabelPrefix + strconv.Itoa(h), colorTTL, fmt.Sprintf("This pull request's clusters live for %d hours, within their profiles' maximum", h)})
	}
	return append(all, Label{KeepLabel, colorKeep, "Keeps this pull request's clusters until their maximum; needs the role to hold clusters"})
}

// ParseTTLLabel parses the lifetime from a label like ocp-ttl/8. ok is false for every other label and for invalid hours: 1 to 8784
// (a year) are valid.
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

// LabelGone reports that the label that requested the cluster is no longer true, and why: its request cannot be met, so ocpctl
// removes it, and people can set it again. If people removed the label or closed the pull request, ocpctl leaves it alone, so that
// reopening finds it unchanged.
func LabelGone(card lifecycle.Card) (gone bool, why string) {
	if isWanted(card) || byPullRequest(card) {
		return false, ""
	}
	return true, card.DesiredWhy.String()
}

// byPullRequest reports that it ends only because of what people did to the pull request or the label.
func byPullRequest(c lifecycle.Card) bool {
	first := unheld(c)
	return c.Teardown == lifecycle.JobJanitorDestroy && c.DesiredWhy == c.Ends.Reason() && (first.Equal(c.Ends.PRClosed) || first.Equal(c.Ends.LabelRemoved))
}
