package messages

import (
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
)

// LabelOfNobody says that a label did nothing because nobody is known to have added it.
func LabelOfNobody(label string) string {
	return fmt.Sprintf("The label %s did not create a cluster: GitHub did not say who added it, and a cluster needs a requester. "+
		"The label was removed; add it again to get a cluster.", chatops.Code(label))
}

// NoLifetime says that a label names no lifetime, and which ones do.
func NoLifetime(label string) string {
	return fmt.Sprintf("The label %s is not a valid lifetime, so nothing was changed. Use `%s<hours>` with 1 to 8784 hours, for example `%s8`.",
		chatops.Code(label), chatops.TTLLabelPrefix, chatops.TTLLabelPrefix)
}

// LifetimeAtMaximum tells somebody that a cluster ends earlier than their label asks for.
func LifetimeAtMaximum(actor, label, profile, name string, end time.Time) string {
	return fmt.Sprintf("@%s, the label %s asks for more than the profile %s allows. `%s` ends at its maximum, %s, and cannot be extended beyond it. For more time, create a new cluster.",
		actor, chatops.Code(label), profile, name, chatops.Time(end))
}
