// Package policy decides whether a principal may have a cluster, for how long and at what price.
//
// It is pure: the answer is a Verdict with every check, the values compared, a text for people and the next step. The same verdict is
// stored, shown on the pull request, and returned by the API.
package policy

import (
	"time"

	"github.com/ocpctl/ocpctl/profiles"
)

// Source is the entry point where a request came in.
type Source string

// The entry points.
const (
	SourceLabel   Source = "pr_label"
	SourceComment Source = "pr_comment"
	SourceAPI     Source = "api"
	SourceWeb     Source = "web"
	SourceSlack   Source = "slack"
	// SourceEnvironment is a job on GitHub that waits for an environment. Like on a pull request, the permission on the repository counts.
	SourceEnvironment Source = "environment"
	// SourceMergeQueue is a commit of a merge queue that gets a cluster of its own. The permission of whoever put it there counts.
	SourceMergeQueue Source = "merge_queue"
	// SourcePool is a pool of the catalogue, whose clusters wait to be claimed.
	SourcePool Source = "pool"
)

// Sources lists every entry point.
var Sources = []Source{SourceLabel, SourceComment, SourceAPI, SourceWeb, SourceSlack, SourceEnvironment, SourceMergeQueue, SourcePool}

// PullRequest is what a rule can read about the pull request of a request.
type PullRequest struct {
	Repo     string `json:"repo"`   // owner/name
	Number   int    `json:"number"` // 0: the request comes from the repository, and from no pull request
	Author   string `json:"author"`
	AuthorID int64  `json:"authorId,omitempty"` // GitHub's number of the author's account; 0: not known
	Fork     bool   `json:"fork"`
	Head     string `json:"head"` // SHA
	Base     string `json:"base"` // branch
	Draft    bool   `json:"draft,omitempty"`

	Association string   `json:"association,omitempty"` // the author's association with the repository, in GitHub's spelling: NONE, FIRST_TIMER, FIRST_TIME_CONTRIBUTOR, MANNEQUIN, CONTRIBUTOR, COLLABORATOR, MEMBER, OWNER; empty: unknown
	Labels      []string `json:"labels,omitempty"`
}

// Ownership is what the server's table says about a repository.
type Ownership struct {
	Team        string `json:"team"`
	Owner       string `json:"owner"`
	CostCenter  string `json:"costCenter"`
	Environment string `json:"environment"`
}

// NoEnd is the TTL of a request for a cluster without an end ("never", 0). It is always refused.
const NoEnd time.Duration = -1

// Request is a request for a cluster before it is judged. Empty fields take the profile's default.
type Request struct {
	Principal  Principal         `json:"principal"`
	Source     Source            `json:"source"`
	Permission string            `json:"permission,omitempty"` // the actor's permission as GitHub reports it: admin, maintain, write, triage, read, none
	Bot        bool              `json:"bot,omitempty"`        // the actor is a GitHub bot, which may act for people unknown to ocpctl
	Takes      string            `json:"takes,omitempty"`      // the lowest of Permissions that is enough; empty: the first
	PR         *PullRequest      `json:"pr,omitempty"`
	ByAuthor   bool              `json:"byAuthor,omitempty"` // an identity of the requester is the pull request's author; asked only if its code is a stranger's
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

	CostCenter  string `json:"costCenter,omitempty"`  // empty: the repository's or the team's
	Environment string `json:"environment,omitempty"` // likewise
	Owner       string `json:"owner,omitempty"`       // empty: the table's, otherwise the requester

	Addons *[]string `json:"addons,omitempty"` // what the cluster gets besides OpenShift; nil: what the repository's file or the profile gives

	Priority string `json:"priority,omitempty"` // a whole number that a rule gave; empty: 0, or the lowest for a pool

	Anew string `json:"anew,omitempty"` // its name if nobody chose one and none of a pool is taken
	Pool string `json:"pool,omitempty"` // from which a waiting cluster is taken if one fits; empty: from any that is open to the team; NoPool: from none

	Account string `json:"account,omitempty"` // the catalogue's name of the cloud account, or profiles.ExclusiveAccount; empty: the one with the most room

	OffHours *bool `json:"offHours,omitempty"` // whether it sleeps outside working hours; nil: as the repository's file or the profile says

	File *profiles.RepositoryFile `json:"file,omitempty"` // the repository's file from the pull request's base branch; nil: there is none. It narrows and fills in, and never allows more
}

// Result is the result of one check.
type Result string

// The results.
const (
	Pass Result = "pass"
	Warn Result = "warn"
	Wait Result = "wait" // not now: accepted, and starts when its turn comes
	Ask  Result = "ask"  // a person has to approve it first
	Fail Result = "fail"
)

// Check is one check of policy, with its sub-checks.
type Check struct {
	Name    string  `json:"name"` // profile, platform, admin-only, repository file, permission, draft, fork, first contribution, ownership, team, cost-center, environment, add-ons, off-hours, pool, account, region, version, base-domain, ttl, price, quota, budget, rules, name, tags, smaller
	Result  Result  `json:"result"`
	Asked   string  `json:"asked,omitempty"`  // the requested value
	Have    string  `json:"have,omitempty"`   // the existing value or usage
	Accept  string  `json:"accept,omitempty"` // what would be accepted
	Message string  `json:"message"`          // for people
	Next    string  `json:"next,omitempty"`   // what to do, unless the result is a pass
	Checks  []Check `json:"checks,omitempty"` // one for each bound of a quota or budget, rule, tag

	NextSaysAccept bool `json:"nextSaysAccept,omitempty"` // Next says what would be accepted, too

	Approval *Approval `json:"approval,omitempty"` // for an Ask without sub-checks: who has to approve; nil: one platform admin within a day
}

// Summarizes reports whether the message only repeats those of the sub-checks.
func (c Check) Summarizes() bool { return len(c.Checks) > 0 && c.Result != Pass }

// Verdict is policy's answer. Grant is meaningful only when Allowed.
type Verdict struct {
	Allowed   bool      `json:"allowed"`            // accepted; it may still wait or need an approval
	Approval  *Approval `json:"approval,omitempty"` // the approval needed first; nil: none
	Waits     []Limit   `json:"waits,omitempty"`    // full limits to wait for; empty: none
	Checks    []Check   `json:"checks"`
	Grant     Grant     `json:"grant"`
	Catalogue string    `json:"catalogue,omitempty"` // hash of the catalogue that was used
}

// Approval says who has to approve and why.
type Approval struct {
	Count int           `json:"count"`          // 1 or 2 people, not counting the requester
	Self  bool          `json:"self,omitempty"` // the requester may approve too, if one approval is enough
	By    Role          `json:"by"`
	For   time.Duration `json:"for"`           // after this time it counts as refused
	Why   []string      `json:"why,omitempty"` // in a verdict: the texts of all checks that ask for it
}

// Limit is one bound of one quota, as it applies to a request.
type Limit struct {
	Quota string `json:"quota"` // the quota's name
	Scope string `json:"scope"` // person, team, repository, everywhere, cohort
	Key   string `json:"key"`   // which one; empty for everywhere
	What  string `json:"what"`  // live or creating
	Most  int    `json:"most"`

	Own map[string]int `json:"own,omitempty"` // of a cohort: how many live clusters each of its teams is guaranteed
}

// Counts is what one person, team, repository or everybody holds now.
type Counts struct {
	Live           int     `json:"live"`           // accepted and not released, except those that wait for their turn
	Creating       int     `json:"creating"`       // the part of Live that is not ready yet and still wanted
	Waiting        int     `json:"waiting"`        // waiting for their turn
	NodeHours      float64 `json:"nodeHours"`      // this month: used, plus what the living clusters will use until they end
	SpentCents     int64   `json:"spentCents"`     // this month so far, by list prices
	CommittedCents int64   `json:"committedCents"` // what the living clusters will cost until they end
}

// Usage is what is counted under the request's locks, so that two requests never take the same last place.
type Usage struct {
	Person     Counts `json:"person"`
	Team       Counts `json:"team"`
	Repository Counts `json:"repository"`
	Everywhere Counts `json:"everywhere"`

	Cohort map[string]Counts `json:"cohort,omitempty"` // of each team of the team's cohort, what is live and what waits

	Accounts AccountUsage `json:"-"` // of all teams: no answer has it whole

	Identities []string `json:"identities,omitempty"` // all of the person's principals, counted together; empty: only the requester
}

// Grant is what was granted, with every default filled in.
type Grant struct {
	Profile      string            `json:"profile"`
	Platform     string            `json:"platform"`
	Provisioner  string            `json:"provisioner,omitempty"` // the kind of its cluster
	Name         string            `json:"name"`
	FallbackName string            `json:"fallbackName"` // used if Name is taken; empty if the person chose Name
	Region       string            `json:"region"`
	Zones        []string          `json:"zones"`
	SpareZones   []string          `json:"spareZones,omitempty"`
	Version      string            `json:"version"`
	BaseDomain   string            `json:"baseDomain"`
	TTL          time.Duration     `json:"ttl"`
	MaxTTL       time.Duration     `json:"maxTtl"`
	Grace        time.Duration     `json:"grace"`    // after the pull request was closed or the label removed
	RunGrace     time.Duration     `json:"runGrace"` // after a failed run of a pipeline
	MaxTries     int               `json:"maxTries"`
	HourlyCents  int               `json:"hourlyCents"`
	OnDemand     *int              `json:"onDemandCents,omitempty"` // HourlyCents if no machine is a spot machine; nil: none is
	PriceCents   int64             `json:"priceCents"`              // until its end, by list prices
	Tags         map[string]string `json:"tags"`                    // the user's own, checked
	Ownership    Ownership         `json:"ownership"`
	Nodes        int               `json:"nodes"`              // machines
	Limits       []Limit           `json:"limits"`             // every limit that applies, for waiting
	Weight       int               `json:"weight"`             // the team's share of turns
	Priority     int               `json:"priority,omitempty"` // who waits with a higher one comes first, whatever the team
	Addons       []string          `json:"addons,omitempty"`
	OffHours     bool              `json:"offHours,omitempty"`  // it sleeps outside working hours
	Account      string            `json:"account,omitempty"`   // the catalogue's name of the cloud account; empty: the installation's own
	Exclusive    bool              `json:"exclusive,omitempty"` // nobody else's cluster is made in its account as long as it lives

	ClaimFrom ClaimTerms `json:"claimFrom,omitzero"` // which waiting cluster of a pool may be taken in its place
}
