package messages

import (
	"fmt"

	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/policy"
)

// FormField returns the label and the hint of a field of the form for a cluster; the hint may be empty.
func FormField(name string) (label, hint string) {
	texts := map[string][2]string{
		"name":          {"Name", "at most 21 lowercase letters, digits and dashes"},
		"profile":       {"Profile", ""},
		"region":        {"Region", ""},
		"version":       {"Version", ""},
		"baseDomain":    {"Base domain", ""},
		"ttl":           {"Lifetime", ""},
		"team":          {"Team", ""},
		"owner":         {"Owner", "who is responsible; by default you"},
		"costCenter":    {"Cost center", ""},
		"environment":   {"Environment", ""},
		"offhoursOptIn": {"Outside working hours", ""},
		"addons":        {"Add-ons", "what the cluster gets besides OpenShift"},
		"sshPublicKey":  {"SSH public key", "for the nodes, such as ssh-ed25519 AAAAC3… you@example.com"},
		"extraTags":     {"Additional tags", "one per line, such as Purpose=smoke"},
		"post":          {"Post updates in", "if you choose none, or ocpctl is not in the channel, you find them in your direct messages with it"},
	}
	text := texts[name]
	return text[0], text[1]
}

// WorkerMachines are a profile's workers.
type WorkerMachines struct {
	Replicas    int
	Type        string
	Least, Most int // equal: they cannot be scaled
}

// ExpectedPrice says what a granted request would cost; empty if nothing was granted.
func ExpectedPrice(v policy.Verdict) string {
	if v.Grant.HourlyCents == 0 {
		return ""
	}
	return fmt.Sprintf("about %s an hour, %s until its planned end, by list prices", price.Dollars(int64(v.Grant.HourlyCents)), price.Dollars(v.Grant.PriceCents))
}
