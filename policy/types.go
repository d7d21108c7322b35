// Package policy says whether a principal may have a cluster, how long and at what price.
//
// It is pure: the answer is a Verdict that carries every check with the values compared, words for people and the
// next step. The same verdict is stored, shown on the pull request, and returned by the API.
package policy

import (
	"time"

	"github.com/ocpctl/ocpctl/profiles"
)

// Door names where a wish came in.
type Door string

// The doors.
const (
	DoorLabel   Door = "pr_label"
	DoorComment Door = "pr_comment"
	DoorAPI     Door = "api"
	DoorWeb     Door = "web"
	DoorSlack   Door = "slack"
)

// Doors lists every door.
var Doors = []Door{DoorLabel, DoorComment, DoorAPI, DoorWeb, DoorSlack}

// PullRequest is what a rule may know of the pull request a wish came from.
type PullRequest struct {
	Repo   string `json:"repo"` // owner/name
	Number int    `json:"number"`
	Author string `json:"author"`
	Fork   bool   `json:"fork"`
	Head   string `json:"head"` // SHA
	Base   string `json:"base"` // branch
	Draft  bool   `json:"draft,omitempty"`

	Association string   `json:"association,omitempty"` // of the author with the repository, in GitHub's spelling: NONE, FIRST_TIMER, FIRST_TIME_CONTRIBUTOR, MANNEQUIN, CONTRIBUTOR, COLLABORATOR, MEMBER, OWNER; empty: not known
	Labels      []string `json:"labels,omitempty"`
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
	Bot        bool              `json:"bot,omitempty"`        // the actor is a bot of GitHub's, which acts for people nobody here knows
	Takes      string            `json:"takes,omitempty"`      // the least of Permissions that is enough; empty: the first
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

	CostCenter  string `json:"costCenter,omitempty"`  // empty: the repository's or the team's
	Environment string `json:"environment,omitempty"` // likewise
	Owner       string `json:"owner,omitempty"`       // empty: the table's, else the one who asks

	File *profiles.RepositoryFile `json:"file,omitempty"` // what the repository says of itself on the pull request's base branch; nil: nothing. It narrows and fills in, and allows nothing
}

// Result of one check.
type Result string

// The results.
const (
	Pass Result = "pass"
	Warn Result = "warn"
	Wait Result = "wait" // not now: it is accepted and has its turn when there is room
	Ask  Result = "ask"  // a person has to approve it
	Fail Result = "fail"
)

// Check is one question policy asked, with the questions it is made of.
type Check struct {
	Name   string  `json:"name"` // profile, platform, admin-only, repository file, permission, draft, fork, first contribution, ownership, team, cost-center, environment, add-ons, region, version, base-domain, ttl, price, quota, budget, rules, name, tags
	Result Result  `json:"result"`
	Asked  string  `json:"asked,omitempty"`  // what was asked for
	Have   string  `json:"have,omitempty"`   // what is there already
	Accept string  `json:"accept,omitempty"` // what would be accepted
	Words  string  `json:"words"`            // for people
	Next   string  `json:"next,omitempty"`   // what to do, on anything but a pass
	Checks []Check `json:"checks,omitempty"` // one for each bound of a quota or budget, rule, tag

	Approval *Approval `json:"approval,omitempty"` // of an Ask without checks of its own: who has to agree; nil: one platform admin within a day
}

// Verdict is the answer. Grant is meaningful only when Allowed.
type Verdict struct {
	Allowed   bool      `json:"allowed"`            // accepted; it may still wait or need an approval
	Approval  *Approval `json:"approval,omitempty"` // what has to be approved first; nil: nothing
	Waits     []Limit   `json:"waits,omitempty"`    // full limits it has to wait for; empty: it need not
	Checks    []Check   `json:"checks"`
	Grant     Grant     `json:"grant"`
	Catalogue string    `json:"catalogue,omitempty"` // hash of the catalogue that judged
}

// Approval says who has to agree and why.
type Approval struct {
	Count int           `json:"count"`          // 1 or 2; the one who asked is not among them
	Self  bool          `json:"self,omitempty"` // unless one is enough and this says so
	By    Role          `json:"by"`
	For   time.Duration `json:"for"`           // then it counts as refused
	Why   []string      `json:"why,omitempty"` // of a verdict: the words of every check that asks for it
}

// Limit is one bound of one quota, as it applies to a request.
type Limit struct {
	Quota string `json:"quota"` // its name
	Scope string `json:"scope"` // person, team, repository, everywhere
	Key   string `json:"key"`   // who that is; empty for everywhere
	What  string `json:"what"`  // live or creating
	Most  int    `json:"most"`
}

// Counts is what one person, team, repository or everybody holds now.
type Counts struct {
	Live           int     `json:"live"`           // accepted and not released, but for those that wait for their turn
	Creating       int     `json:"creating"`       // of these, not ready yet and still wanted
	Waiting        int     `json:"waiting"`        // for their turn
	NodeHours      float64 `json:"nodeHours"`      // of this month: used, and to come until the living ones end
	SpentCents     int64   `json:"spentCents"`     // this month so far, by list prices
	CommittedCents int64   `json:"committedCents"` // what the living ones will cost until they end
}

// Usage is what is counted under the request's locks, so that no two requests see the same last place.
type Usage struct {
	Person     Counts `json:"person"`
	Team       Counts `json:"team"`
	Repository Counts `json:"repository"`
	Everywhere Counts `json:"everywhere"`

	Identities []string `json:"-"` // the person's principals, all counted together; empty: the one who asks alone
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
	PriceCents   int64             `json:"priceCents"` // until its end, by list prices
	Tags         map[string]string `json:"tags"`       // the user's own, checked
	Ownership    Ownership         `json:"ownership"`
	Nodes        int               `json:"nodes"`  // machines
	Limits       []Limit           `json:"limits"` // every limit that applies, for who waits
	Weight       int               `json:"weight"` // the team's share of turns
	Addons       []string          `json:"addons,omitempty"`
}
