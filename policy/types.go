// Package policy says whether a principal may have a cluster, how long and at what price.
//
// It is pure: the answer is a Verdict that carries every check with the values compared, words for people and the
// next step. The same verdict is stored, shown on the pull request, and returned by the API.
package policy

import "time"

// Door names where a wish came in.
type Door string

// The doors.
const (
	DoorLabel   Door = "pr_label"
	DoorComment Door = "pr_comment"
	DoorAPI     Door = "api"
)

// PullRequest is what a rule may know of the pull request a wish came from.
type PullRequest struct {
	Repo   string `json:"repo"` // owner/name
	Number int    `json:"number"`
	Author string `json:"author"`
	Fork   bool   `json:"fork"`
	Head   string `json:"head"` // SHA
	Base   string `json:"base"` // branch
}

// Ownership is what the server's table says of a repository.
type Ownership struct {
	Team        string `json:"team"`
	Owner       string `json:"owner"`
	CostCenter  string `json:"costCenter"`
	Environment string `json:"environment"`
}

// NoEnd is the TTL of a wish for a cluster without an end ("never", 0). It is always refused.
const NoEnd time.Duration = -1

// Request is a wish before it is judged. Empty fields take the profile's default.
type Request struct {
	Principal  Principal         `json:"principal"`
	Door       Door              `json:"door"`
	Permission string            `json:"permission,omitempty"` // the actor's permission as GitHub says: admin, maintain, write, triage, read, none
	PR         *PullRequest      `json:"pr,omitempty"`
	Ownership  Ownership         `json:"ownership"`
	Profile    string            `json:"profile"`
	Generation int               `json:"generation"` // 1 for the first cluster of this PR and profile
	Name       string            `json:"name,omitempty"`
	Region     string            `json:"region,omitempty"`
	Version    string            `json:"version,omitempty"`
	BaseDomain string            `json:"baseDomain,omitempty"`
	Team       string            `json:"team,omitempty"` // empty: the repository's team
	TTL        time.Duration     `json:"ttl,omitempty"`  // zero: the profile's default; NoEnd or any negative is refused
	Tags       map[string]string `json:"tags,omitempty"`
}

// Result of one check.
type Result string

// The results.
const (
	Pass Result = "pass"
	Warn Result = "warn"
	Fail Result = "fail"
)

// Check is one question policy asked.
type Check struct {
	Name   string `json:"name"` // profile, platform, admin-only, permission, fork, ownership, team, region, version, base-domain, ttl, price, name, tags
	Result Result `json:"result"`
	Asked  string `json:"asked,omitempty"`  // what was asked for
	Accept string `json:"accept,omitempty"` // what would be accepted
	Words  string `json:"words"`            // for people
	Next   string `json:"next,omitempty"`   // what to do, on a refusal
}

// Verdict is the answer. Grant is meaningful only when Allowed.
type Verdict struct {
	Allowed bool    `json:"allowed"`
	Checks  []Check `json:"checks"`
	Grant   Grant   `json:"grant"`
}

// Grant is what was allowed, with every default filled in.
type Grant struct {
	Profile      string            `json:"profile"`
	Platform     string            `json:"platform"`
	Name         string            `json:"name"`
	FallbackName string            `json:"fallbackName"` // when Name is taken; empty when the person chose Name
	Region       string            `json:"region"`
	Zones        []string          `json:"zones"`
	Version      string            `json:"version"`
	BaseDomain   string            `json:"baseDomain"`
	TTL          time.Duration     `json:"ttl"`
	MaxTTL       time.Duration     `json:"maxTtl"`
	Grace        time.Duration     `json:"grace"` // after the PR closed or the label went
	MaxTries     int               `json:"maxTries"`
	HourlyCents  int               `json:"hourlyCents"`
	Tags         map[string]string `json:"tags"` // the user's own, checked
	Ownership    Ownership         `json:"ownership"`
}

// Refusals lists the failed checks.
func (v Verdict) Refusals() []Check {
	var out []Check
	for _, c := range v.Checks {
		if c.Result == Fail {
			out = append(out, c)
		}
	}
	return out
}
