package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// PullRef names a pull request.
type PullRef struct {
	Repo   string // owner/name
	Number int
}

// PullLook is the result for one pull request. Exactly one of three holds: Err says why nothing is known, Gone says that the pull
// request does not exist for the App, or PR is filled.
type PullLook struct {
	PullRef
	PR        PullRequest
	Gone      bool
	RenamedTo string // current owner/name, if it differs from the requested one
	Err       error
}

// maxPulls is how many pull requests one call queries: it costs one point of 5,000 an hour.
const maxPulls = 100

// Pulls queries up to 100 pull requests of an installation in one call, in the given order. An error, or a look with Err, decides
// nothing; only GitHub's own NOT_FOUND makes one Gone.
func (c *Client) Pulls(ctx context.Context, installation int64, refs []PullRef) ([]PullLook, error) {
	doing := fmt.Sprintf("look at %d pull requests of installation %d", len(refs), installation)
	if len(refs) == 0 {
		return nil, nil
	}
	if len(refs) > maxPulls {
		return nil, fmt.Errorf("%s: want at most %d", doing, maxPulls)
	}
	var got pullsAnswer
	if ask := pullsQuery(refs); len(ask.Variables) > 0 { // otherwise there is nothing to query
		var err error
		if got, err = c.queryGraphQL(ctx, installation, ask); err != nil {
			return nil, convertError(doing, err)
		}
	}
	out := make([]PullLook, 0, len(refs))
	for i, ref := range refs {
		look := PullLook{PullRef: ref}
		if _, _, look.Err = splitRepository(ref.Repo); look.Err == nil {
			look = got.lookAtPull(fmt.Sprintf("p%d", i), ref)
		}
		look.Err = convertError(fmt.Sprintf("look at %s#%d", ref.Repo, ref.Number), look.Err)
		out = append(out, look)
	}
	return out, nil
}

// graphURL is GraphQL's URL: beside the REST API on GitHub Enterprise Server, below it on github.com.
func (c *Client) graphURL() string {
	if root, ok := strings.CutSuffix(c.base.Path, "/api/v3/"); ok {
		return root + "/api/graphql"
	}
	return "graphql"
}

type graphRequest struct {
	Query     string         `json:"query"`
	Variables map[string]any `json:"variables"`
}

const pullFragment = `fragment pull on PullRequest {
  number state merged isDraft isCrossRepository headRefOid headRefName baseRefName authorAssociation updatedAt
  author { __typename login ... on User { databaseId } ... on Bot { databaseId } }
  labels(first: 100) { nodes { name } }
}`

// pullsQuery queries each pull request under its own alias, p0, p1 … Repository names are passed as variables. A name that no
// repository can have is left out.
func pullsQuery(refs []PullRef) graphRequest {
	var declared, asked strings.Builder
	variables := map[string]any{}
	for i, ref := range refs {
		owner, name, err := splitRepository(ref.Repo)
		if err != nil {
			continue
		}
		fmt.Fprintf(&declared, "$o%d: String!, $n%d: String!, $k%d: Int!, ", i, i, i)
		fmt.Fprintf(&asked, "  p%d: repository(owner: $o%d, name: $n%d) { nameWithOwner databaseId isArchived pullRequest(number: $k%d) { ...pull } }\n", i, i, i, i)
		variables[fmt.Sprintf("o%d", i)], variables[fmt.Sprintf("n%d", i)], variables[fmt.Sprintf("k%d", i)] = owner, name, ref.Number
	}
	return graphRequest{
		Query: fmt.Sprintf("query(%s) {\n  rateLimit { cost remaining resetAt }\n%s}\n%s",
			strings.TrimSuffix(declared.String(), ", "), asked.String(), pullFragment),
		Variables: variables,
	}
}

type pullsAnswer struct {
	Data   map[string]json.RawMessage `json:"data"`
	Errors []graphError               `json:"errors"`
}

type graphError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Path    []any  `json:"path"`
}

// concernsAlias reports whether an error concerns an alias of the response, and whether it says that the repository itself or the pull request
// does not exist, as opposed to something inside.
func (e graphError) concernsAlias(alias string) (about, notFound bool) {
	if len(e.Path) == 0 || e.Path[0] != alias {
		return false, false
	}
	exact := len(e.Path) == 1 || len(e.Path) == 2 && e.Path[1] == "pullRequest"
	return true, exact && e.Type == "NOT_FOUND"
}

func (e graphError) Error() string {
	if e.Type == "" {
		return e.Message
	}
	return e.Type + ": " + e.Message
}

// responseError returns the error that concerns the whole response: a limit, which GraphQL reports with status 200, or no data at all.
// https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
func (c *Client) responseError(ctx context.Context, installation int64, got pullsAnswer, h http.Header) error {
	in, err := c.installationState(installation)
	if err != nil {
		return err
	}
	for _, e := range got.Errors {
		if e.Type == "RATE_LIMITED" || e.Type == "RATE_LIMIT" || len(e.Path) == 0 && aboutLimits(e.Message) {
			if wait := in.limits.remainingBlock(graphQL); wait > 0 { // the transport has read its headers
				return RateLimited{RetryAfter: wait}
			}
			return RateLimited{RetryAfter: in.limits.recordLimit(ctx, graphQL, false, h)}
		}
	}
	for _, e := range got.Errors {
		if len(e.Path) == 0 {
			return e
		}
	}
	if got.Data == nil {
		return errors.New("GitHub answered without data")
	}
	var rate struct {
		Cost, Remaining int
		ResetAt         time.Time
	}
	if err := json.Unmarshal(got.Data["rateLimit"], &rate); err == nil && rate.Cost > rate.Remaining {
		in.limits.holdUntil(graphQL, rate.ResetAt) // the next call would be refused
	}
	return nil
}

type repoSeen struct {
	NameWithOwner string
	DatabaseID    int64 `json:"databaseId"`
	IsArchived    bool
	PullRequest   *pullSeen
}

type pullSeen struct {
	Number                               int
	State                                string
	Merged, IsDraft, IsCrossRepository   bool
	HeadRefOid, HeadRefName, BaseRefName string
	AuthorAssociation                    string
	UpdatedAt                            time.Time
	Author                               *struct {
		Typename   string `json:"__typename"`
		Login      string
		DatabaseID int64 `json:"databaseId"`
	}
	Labels *struct{ Nodes []struct{ Name string } }
}

// lookAtPull reads one pull request from the response.
func (a pullsAnswer) lookAtPull(alias string, ref PullRef) PullLook {
	out := PullLook{PullRef: ref}
	notFound := false
	for _, e := range a.Errors {
		about, missing := e.concernsAlias(alias)
		if about && !missing {
			out.Err = e
			return out
		}
		notFound = notFound || missing
	}
	var repo *repoSeen
	if err := json.Unmarshal(a.Data[alias], &repo); err != nil {
		out.Err = fmt.Errorf("read the answer: %w", err)
		return out
	}
	switch {
	case notFound && (repo == nil || repo.PullRequest == nil):
		out.Gone = true
	case repo == nil || repo.PullRequest == nil || repo.PullRequest.Number != ref.Number:
		out.Err = errors.New("GitHub answered only a part")
	default:
		out.PR = repo.PullRequest.toPullRequest(*repo)
	}
	if repo != nil && repo.NameWithOwner != "" && !strings.EqualFold(repo.NameWithOwner, ref.Repo) {
		out.RenamedTo = repo.NameWithOwner
	}
	return out
}

// toPullRequest converts a pull request to the form that the REST API returns.
func (p pullSeen) toPullRequest(in repoSeen) PullRequest {
	out := PullRequest{
		Repo: in.NameWithOwner, Number: p.Number, Open: p.State == "OPEN", Draft: p.IsDraft, Merged: p.Merged, Fork: p.IsCrossRepository,
		Association: p.AuthorAssociation, Head: p.HeadRefOid, HeadRef: p.HeadRefName, Base: p.BaseRefName,
		RepoID: in.DatabaseID, Archived: in.IsArchived, UpdatedAt: p.UpdatedAt.UTC(),
	}
	if p.Author != nil { // nil: the account was deleted
		out.Author, out.AuthorID = p.Author.Login, p.Author.DatabaseID
		if IsBot(p.Author.Typename) { // GraphQL leaves out the end of the login that REST writes
			out.Author += "[bot]"
		}
	}
	if p.Labels != nil {
		for _, l := range p.Labels.Nodes {
			out.Labels = append(out.Labels, l.Name)
		}
	}
	return out
}
