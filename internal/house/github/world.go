package github

import (
	"crypto/sha1" //nolint:gosec // commit ids are SHA-1; nothing is protected by it
	"fmt"
	"slices"
	"strings"
	"time"
)

// What exists in the demo's GitHub from the start.
const (
	AppID        = 4242
	AppSlug      = "ocpctl"
	Bot          = AppSlug + "[bot]" // who the App comments as
	Installation = 5001
	Org          = "acme"
	Repo         = "acme/shop"
	RepoID       = 1001
	Branch       = "main"
	Team         = "platform" // acme/platform, with maya in it
	ForkOwner    = "outsider" // owns the fork that #45 comes from
)

const (
	repoName = "shop"
	forkID   = 1945
	orgID    = 1000
	teamID   = 1500
)

// PullRequest is a pull request of the demo's repository.
type PullRequest struct {
	Number    int        `json:"number"`
	Title     string     `json:"title"`
	Body      string     `json:"body"`
	Author    string     `json:"author"`
	HeadOwner string     `json:"headOwner"` // Org, or the fork's owner
	HeadRef   string     `json:"headRef"`
	HeadSHA   string     `json:"headSha"`
	Open      bool       `json:"open"`
	Labels    []string   `json:"labels"`
	CreatedAt time.Time  `json:"createdAt"`
	UpdatedAt time.Time  `json:"updatedAt"` // whole seconds, as GitHub gives them
	ClosedAt  *time.Time `json:"closedAt,omitempty"`
}

// Fork reports whether the head lives in another repository.
func (p PullRequest) Fork() bool { return p.HeadOwner != Org }

// Has reports whether the label is set; GitHub compares labels without regard to case.
func (p PullRequest) Has(label string) bool {
	return slices.ContainsFunc(p.Labels, func(l string) bool { return strings.EqualFold(l, label) })
}

// Comment is a comment in a pull request's conversation.
type Comment struct {
	ID        int64               `json:"id"`
	Number    int                 `json:"number"` // of the pull request
	Author    string              `json:"author"`
	Body      string              `json:"body"`
	CreatedAt time.Time           `json:"createdAt"`
	UpdatedAt time.Time           `json:"updatedAt"`
	Edits     int                 `json:"edits"`
	Reactions map[string][]string `json:"reactions,omitempty"` // content → logins
}

// Check is a check run.
type Check struct {
	ID          int64      `json:"id"`
	Head        string     `json:"head"` // SHA
	Name        string     `json:"name"`
	ExternalID  string     `json:"externalId"`
	Status      string     `json:"status"`     // queued, in_progress, completed
	Conclusion  string     `json:"conclusion"` // when completed
	Title       string     `json:"title"`
	Summary     string     `json:"summary"`
	StartedAt   time.Time  `json:"startedAt"`
	CompletedAt *time.Time `json:"completedAt,omitempty"`
}

// world is everything the stand-in remembers. It is guarded by Server.mu.
type world struct {
	LastID      int64                `json:"lastId"`
	Pulls       []*PullRequest       `json:"pulls"`
	Labels      []string             `json:"labels"` // the repository's
	Comments    []*Comment           `json:"comments"`
	Checks      []*Check             `json:"checks"`
	Permissions map[string]string    `json:"permissions"` // login → role
	Deliveries  []*Delivery          `json:"deliveries"`
	Tokens      map[string]time.Time `json:"tokens"` // hash of an installation token → its end
}

// Labels known to the repository at the start: the four profiles' and some that are none of ocpctl's business.
var startLabels = []string{
	"ocp/aws-minimal-test", "ocp/aws-standard", "ocp/ibm-minimal-test", "ocp/ibm-standard",
	"bug", "enhancement", "documentation", "needs review",
}

// startPermissions are the people of the demo. Everybody else GitHub knows may read: the repository is public.
func startPermissions() map[string]string {
	return map[string]string{"maya": "maintain", "will": "write", "rita": "read", ForkOwner: "read"}
}

var startTitles = []struct{ author, title, body string }{
	{"will", "Checkout: retry the payment call once on a timeout", "The gateway answers late about twice a day. One retry with the same idempotency key is enough."},
	{"maya", "Cart service: move sessions to Redis", "Needs a real cluster to see how it behaves when a Redis pod is drained."},
	{"will", "Add an OpenShift route for the storefront", "Edge-terminated TLS, redirect from HTTP."},
	{"maya", "Upgrade the operator SDK to 1.38", "Regenerated bundle, no change in behaviour expected."},
	{ForkOwner, "Fix a typo in the product page and bump the build image", "Found while reading the code. Comes from a fork."},
	{"rita", "Docs: how to run the storefront locally", "Screenshots follow."},
	{"will", "Inventory: read replicas for the catalogue", "Measured on the staging cluster: p95 from 180 ms to 40 ms."},
	{"maya", "Network policies for every namespace", "Default deny, then what each service needs."},
	{"will", "Drop support for the v1 order API", "Nobody has called it since August."},
}

const firstNumber = 41

// Pulls returns the pull requests as they are at the start, all open: #41 to #49, #45 from a fork.
func Pulls(now time.Time) []PullRequest {
	var out []PullRequest
	for i, t := range startTitles {
		n := firstNumber + i
		opened := now.UTC().Truncate(time.Second).Add(-time.Duration(len(startTitles)-i) * 7 * time.Hour)
		pr := PullRequest{
			Number: n, Title: t.title, Body: t.body, Author: t.author, HeadOwner: Org, Open: true, Labels: []string{},
			HeadRef: branchName(t.title), HeadSHA: commitID(n, 1), CreatedAt: opened, UpdatedAt: opened,
		}
		if t.author == ForkOwner {
			pr.HeadOwner = ForkOwner
		}
		out = append(out, pr)
	}
	return out
}

func newWorld(now time.Time) *world {
	w := &world{
		LastID: 1_900_000_000, Labels: slices.Clone(startLabels),
		Permissions: startPermissions(), Tokens: map[string]time.Time{},
	}
	for _, pr := range Pulls(now) {
		w.Pulls = append(w.Pulls, &pr)
	}
	return w
}

func (w *world) id() int64 { w.LastID++; return w.LastID }

func (w *world) pull(number int) *PullRequest {
	for _, pr := range w.Pulls {
		if pr.Number == number {
			return pr
		}
	}
	return nil
}

func (w *world) comment(id int64) *Comment {
	for _, c := range w.Comments {
		if c.ID == id {
			return c
		}
	}
	return nil
}

func (w *world) conversation(number int) []*Comment {
	var out []*Comment
	for _, c := range w.Comments {
		if c.Number == number {
			out = append(out, c)
		}
	}
	return out
}

func (w *world) check(id int64) *Check {
	for _, c := range w.Checks {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// branchName makes a branch's name out of a title.
func branchName(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(words[:min(4, len(words))], "-")
}

// commitID is the SHA of a pull request's nth push, the same in every world.
func commitID(number, push int) string {
	return fmt.Sprintf("%x", sha1.Sum([]byte(fmt.Sprintf("%s#%d@%d", Repo, number, push)))) //nolint:gosec // see above
}
