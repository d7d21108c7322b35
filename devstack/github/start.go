package github

import (
	"embed"
	"io/fs"
	"maps"
	"strings"
	"time"
)

// firstRepo is a repository's initial state.
type firstRepo struct {
	*repository
	first  int // number of the first pull request
	titles []firstPull
}

type firstPull struct{ author, title, body string }

var shopPulls = []firstPull{
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

var apiPulls = []firstPull{
	{"will", "Orders: page through the list by cursor", "Offsets get slow after a million rows."},
	{ForkOwner, "Answer 404 rather than 500 for an unknown order", "My first change here. Comes from a fork."},
	{"maya", "Move the API to the new ingress class", "To be tried on a cluster first."},
}

// startPermissions are the roles of the demo's people. All other accounts may read a public repository.
func startPermissions() map[string]string {
	return map[string]string{"maya": "maintain", "will": "write", "rita": "read", "ada": "admin", "rob": "triage", ForkOwner: "read"}
}

const firstNumber = 41

func startRepos() []firstRepo {
	shop := newRepository(RepoID, Repo)
	shop.Contributors = []string{ForkOwner}
	api := newRepository(1002, SecondRepo)
	ledger := newRepository(1003, PrivateRepo)
	shop.Access, api.Access, ledger.Private = true, true, true
	delete(ledger.Permissions, ForkOwner)
	return []firstRepo{
		{shop, firstNumber, shopPulls}, {api, 7, apiPulls},
		{ledger, 1, []firstPull{{"maya", "Book refunds on the day they are made", "For the year's end."}}},
	}
}

// pulls returns the repository's initial pull requests, all open, seven hours apart.
func (f firstRepo) pulls(now time.Time) []PullRequest {
	var out []PullRequest
	for i, t := range f.titles {
		n := f.first + i
		opened := now.UTC().Truncate(time.Second).Add(-time.Duration(len(f.titles)-i) * 7 * time.Hour)
		pr := PullRequest{
			Number: n, Title: t.title, Body: t.body, Author: t.author, HeadOwner: Org, Open: true, Labels: []string{},
			HeadRef: branchName(t.title), HeadSHA: commitID(f.Name, n, 1), BaseSHA: commitID(f.Name, 0, 1),
			Pushes: 1, CreatedAt: opened, UpdatedAt: opened,
		}
		if t.author == ForkOwner {
			pr.HeadOwner = ForkOwner
		}
		out = append(out, pr)
	}
	return out
}

// Pulls returns the initial pull requests of Repo, all open: #41 to #49, #45 from a fork.
func Pulls(now time.Time) []PullRequest { return startRepos()[0].pulls(now) }

func startFiles(repo string) map[string]string {
	out := map[string]string{"README.md": "# " + repo + "\n\nA repository of the stand-in GitHub.\n"}
	if repo == Repo {
		maps.Copy(out, shopFiles())
	}
	return out
}

// shop are the files of Repo besides its README: workflows, and what they use.
//
//go:embed shop
var shop embed.FS

func shopFiles() map[string]string {
	out := map[string]string{}
	_ = fs.WalkDir(shop, "shop", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			raw, err := shop.ReadFile(path)
			if err != nil {
				return err
			}
			// A folder whose name begins with a dot is not embedded.
			out[strings.Replace(strings.TrimPrefix(path, "shop/"), "github/", ".github/", 1)] = string(raw)
		}
		return err
	})
	return out
}
